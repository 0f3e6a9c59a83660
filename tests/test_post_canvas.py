"""Grades and comments on Canvas, against a real server on loopback that behaves as Canvas's documents say."""

from datetime import date
from decimal import Decimal

import pytest
from fake_canvas import ASSIGNMENT, COURSE, THROTTLED, FakeCanvas
from sample_report import HOSTILE, make_report, make_submission

from grader.handed_in import Person
from grader.post import canvas
from grader.post.address import Address
from grader.post.errors import PostError, WrongUse
from grader.post.gradebook import Gradebook, Place
from grader.post.http import Client
from grader.post.outcome import State
from grader.post.token import Token
from grader.post.wanted import marker, wanted
from grader.report import Status

MARK = "[grade: attention]"
ADA, JOSE, WANG, GRACE = 101, 102, 103, 104


@pytest.fixture(scope="module")
def running():
    """A Canvas of this module."""
    server = FakeCanvas()
    yield server
    server.close()


@pytest.fixture
def lms(running):
    """Canvas before grading."""
    running.reset()
    yield running
    running.released.set()


@pytest.fixture(scope="module")
def client(running):
    """A client that does not wait in earnest."""
    address = Address.parse(running.url, "--url")
    with Client(address, Token(running.token, "CANVAS_TOKEN"), canvas.HEADERS, wait=lambda seconds: None) as client:
        yield client


@pytest.fixture
def post(lms, client):
    """Post submissions; the outcomes by label."""

    def run(*submissions, with_comments=True, max_score=Decimal(100), assignment=ASSIGNMENT):
        report = make_report(*submissions)
        outcomes = []
        book = Gradebook(client, Place(course=str(COURSE), assignment=str(assignment)), marker(report))
        tasks = wanted(report, date(2026, 11, 29), with_comments=with_comments)
        canvas.post(client, book, tasks, max_score, outcomes.append)
        return {outcome.what: outcome for outcome in outcomes}

    return run


def work(name, *people, score="12.5", **fields):
    """The submission of these students, by Canvas id."""
    owners = [Person(lms_id=str(one)) if isinstance(one, int) else one for one in people]
    return make_submission(id=name, people=owners, score=score, **fields)


def states(outcomes):
    """How each ended."""
    return {name: outcome.state for name, outcome in outcomes.items()}


def test_canvas_first_time_sends_grade_and_comment_in_one_request(lms, post):
    """As the number that counts, in points."""
    late = [{"kind": "late", "points": "-2.5", "reason": "1 day late"}]

    outcomes = post(work("ada", ADA, final_score=10, adjustments=late))

    assert ["PUT /api/v1/courses/11/assignments/22/submissions/101"] == lms.lines("^PUT")
    assert {"posted_grade": "10.00"} == lms.requests[-1].body["submission"]
    assert 10.0 == lms.score(ADA)
    (comment,) = lms.comments(ADA)
    assert comment.startswith(
        f"{MARK}\n\nAttention: 10.00 of 100.00 points\nThe code earned 12.50 points.\n- Handed in late: -2.50 points. 1"
    )
    assert (State.SENT, "10.00 (grade, was none, comment)") == (
        outcomes["ada (101)"].state,
        outcomes["ada (101)"].text,
    )


def test_canvas_second_time_sends_nothing(lms, post):
    """Whatever pages the course has."""
    lms.most_per_page = 2
    submissions = [work("ada", ADA), work("jose", JOSE), work("grace", GRACE)]
    post(*submissions)
    lms.requests.clear()

    outcomes = post(*submissions)

    assert {State.UNCHANGED} == set(states(outcomes).values())
    assert [] == lms.lines("^(PUT|POST|DELETE)")


def test_canvas_only_what_differs_is_sent(lms, post):
    """A comment whose text changed is edited, and the one grade that changed is sent."""
    post(work("ada", ADA), work("jose", JOSE))
    lms.requests.clear()

    outcomes = post(work("ada", ADA), work("jose", JOSE, score=20))

    assert [f"/submissions/{JOSE}", f"/submissions/{JOSE}/comments/5002"] == [
        line.partition("/22")[2] for line in lms.lines("^PUT")
    ]
    assert ["Attention: 20.00 of 100.00 points"] == [text.splitlines()[2] for text in lms.comments(JOSE)]
    assert "20.00 (grade, was 12.50, comment edited)" == outcomes["jose (102)"].text


def test_canvas_student_without_a_score_is_left_alone(lms, post):
    """Never a blank over a score; the grader's own fault is nobody's zero."""
    lms.submissions[ADA].update(score=80.0, entered_score=80.0)

    outcomes = post(work("ada", ADA, score=None, status=Status.GRADER_ERROR, reason="died"))

    assert {"ada": State.LEFT_ALONE} == states(outcomes)
    assert (80.0, []) == (lms.score(ADA), lms.lines("^PUT"))


def test_canvas_student_who_is_excused_is_left_alone(lms, post):
    """A grade would undo what the course decided."""
    lms.submissions[ADA]["excused"] = True

    outcomes = post(work("ada", ADA))

    assert (State.LEFT_ALONE, "excused on Canvas") == (outcomes["ada (101)"].state, outcomes["ada (101)"].text)
    assert [] == lms.lines("^PUT")


def test_canvas_score_that_staff_decided_is_sent_where_the_grader_failed(lms, post):
    """Somebody decided it: it counts."""
    override = [{"kind": "override", "points": 40, "reason": "graded by hand"}]

    post(work("ada", ADA, score=None, status=Status.GRADER_ERROR, reason="died", final_score=40, adjustments=override))

    assert 40.0 == lms.score(ADA)


def test_canvas_late_policy_of_the_course_changes_nothing_that_is_sent(lms, post):
    """What was entered is compared, not what Canvas leaves of it; and the reader is told."""
    lms.submissions[ADA]["points_deducted"] = 5.0
    post(work("ada", ADA))

    outcome = post(work("ada", ADA))["ada (101)"]

    assert (State.UNCHANGED, "12.50; Canvas itself takes 5.00 off for being late") == (outcome.state, outcome.text)
    assert 7.5 == lms.submissions[ADA]["score"]


def test_canvas_no_comments_sends_grades_only(lms, post):
    """And reads no comments either."""
    post(work("ada", ADA), with_comments=False)

    assert (12.5, []) == (lms.score(ADA), lms.comments(ADA))
    assert [] == lms.lines("users/self")


def test_canvas_comments_of_others_are_never_touched(lms, post):
    """Students may write the marker; teachers write other things."""
    lms.comment(ADA, f"{MARK}\nfull marks!", author=ADA)
    lms.comment(ADA, "well done")
    lms.comment(ADA, "[grade: other]\n\nAnother assignment's")

    post(work("ada", ADA))

    assert [f"{MARK}\nfull marks!", "well done", "[grade: other]\n\nAnother assignment's"] == lms.comments(ADA)[:3]
    assert 4 == len(lms.comments(ADA))


def test_canvas_two_old_comments_become_one(lms, post):
    """The oldest stays."""
    first = lms.comment(ADA, f"{MARK}\n\nold")
    lms.comment(ADA, f"{MARK}\n\nolder")

    outcome = post(work("ada", ADA))["ada (101)"]

    (comment,) = lms.submissions[ADA]["submission_comments"]
    assert first["id"] == comment["id"]
    assert "12.50 (grade, was none, comment edited, older comment deleted)" == outcome.text


def test_canvas_line_ends_and_blanks_of_the_server_are_no_difference(lms, post):
    """Some servers write them their own way."""
    post(work("ada", ADA))
    comment = lms.submissions[ADA]["submission_comments"][0]
    comment["comment"] = comment["comment"].replace("\n", "\r\n") + "\n"

    assert State.UNCHANGED is post(work("ada", ADA))["ada (101)"].state


# --- who is who ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "person",
    [
        Person(login="wang"),
        Person(login="WANG "),
        Person(email="Wang@Example.EDU"),
        Person(lms_id="wang@example.edu"),
        Person(lms_id="103", login="wang"),
        Person(lms_id="103", login="nobody-here"),
        Person(lms_id="7700123", email="wang@example.edu"),
    ],
)
def test_canvas_student_is_found_by_login_or_address(lms, post, person):
    """As the course's list of people has them, whatever the page."""
    lms.most_per_page = 1

    post(work("王小明", person))

    assert 12.5 == lms.score(WANG)


def test_canvas_number_of_the_school_is_not_taken_for_anothers_canvas_id(lms, post):
    """A Gradescope export has the school's numbers, and Canvas has both."""
    lms.users[2]["sis_user_id"] = "7700123"

    outcomes = post(work("wang", Person(lms_id="7700123", name="王小明", email="other@example.edu")), work("ada", ADA))

    assert {State.SENT} == set(states(outcomes).values())
    assert (12.5, 12.5) == (lms.score(WANG), lms.score(ADA))


def test_canvas_list_of_people_is_read_only_where_it_is_needed(lms, post):
    """Everybody has a number, and nothing else, after an import from Canvas."""
    post(work("ada", ADA))

    assert [] == lms.lines("/users$")


@pytest.mark.parametrize(
    ("people", "words"),
    [
        ([], "nobody knows whose it is"),
        ([Person(name="Ada Kovač")], "nobody in the course on Canvas has a name alone"),
        ([Person(login="eve")], "nobody in the course on Canvas has 'eve' as login, e-mail address or number"),
        ([Person(login="twin")], "several students of the course are 'twin'"),
        ([Person(login="jose", lms_id="101")], "101 is the Canvas id of one student, and 'jose' is another, 102"),
        ([Person(login="jose", email="ada@example.edu")], "'jose' is the name of one student, and 'ada@"),
        ([Person(login="eve", lms_id="555")], "nobody in the course on Canvas has 'eve' or '555'"),
        ([Person(lms_id="../../../users/1")], "nobody in the course on Canvas has '../../../users/1'"),
    ],
)
def test_canvas_student_who_is_not_certain_gets_nothing(lms, post, people, words):
    """Nothing is guessed, and the others get theirs."""
    for user in lms.users[2:]:
        user["sis_user_id"] = "twin"

    outcomes = post(work("x", *people), work("ada", ADA))

    (problem,) = [outcome for outcome in outcomes.values() if outcome.state is State.FAILED]
    assert problem.text.startswith(words)
    assert (12.5, 1) == (lms.score(ADA), len(lms.lines("^PUT")))


def test_canvas_student_outside_of_the_assignment_is_told(lms, post):
    """A number of another platform, or somebody who left."""
    outcomes = post(work("x", 999), work("ada", ADA))

    assert outcomes["x (999)"].text.startswith("the token may not grade student 999, or the assignment is not theirs")
    assert [State.FAILED, State.SENT] == list(states(outcomes).values())


def test_canvas_two_submissions_of_one_student_get_neither(lms, post):
    """Which of them counts is for a person to say."""
    outcomes = post(work("ada", ADA), work("ada-2", Person(login="ada"), score=20), work("jose", JOSE))

    assert [State.FAILED, State.FAILED, State.SENT] == list(states(outcomes).values())
    assert "ada-2 is of the same student 101; nothing was sent for either" == outcomes["ada (101)"].text
    assert lms.score(ADA) is None


def test_canvas_group_gets_a_grade_and_a_comment_each(lms, post):
    """Every member, whatever the course does with groups."""
    outcomes = post(work("team", ADA, JOSE, ADA))

    assert [State.SENT, State.SENT] == list(states(outcomes).values())
    assert [12.5, 12.5] == [lms.score(ADA), lms.score(JOSE)]
    assert [1, 1] == [len(lms.comments(ADA)), len(lms.comments(JOSE))]


def test_canvas_group_that_canvas_grades_as_one_is_graded_once(lms, post):
    """The first member's grade is everybody's; the others still get their comment, and a second run sends nothing."""
    group_of(lms, ADA, JOSE)

    post(work("team", ADA, JOSE))

    assert 1 == sum("submission" in request.body for request in lms.requests if request.method == "PUT")
    assert [12.5, 12.5] == [lms.score(ADA), lms.score(JOSE)]
    assert [1, 1] == [len(lms.comments(ADA)), len(lms.comments(JOSE))]
    assert {State.UNCHANGED} == set(states(post(work("team", ADA, JOSE))).values())


def test_canvas_group_with_different_scores_gets_none(lms, post):
    """One would overwrite the other."""
    group_of(lms, ADA, JOSE)

    outcomes = post(work("ada", ADA), work("jose", JOSE, score=20), work("grace", GRACE))

    assert [State.FAILED, State.FAILED, State.SENT] == list(states(outcomes).values())
    assert outcomes["ada (101)"].text.startswith(
        "Canvas gives a group one grade, and its members have different scores"
    )
    assert (None, None) == (lms.score(ADA), lms.score(JOSE))


def test_canvas_group_whose_members_are_graded_one_by_one_may_differ(lms, post):
    """As the assignment says there."""
    group_of(lms, ADA, JOSE)
    lms.assignment["grade_group_students_individually"] = True

    post(work("ada", ADA), work("jose", JOSE, score=20))

    assert (12.5, 20.0) == (lms.score(ADA), lms.score(JOSE))


def group_of(lms, *users):
    """Make them a group of the assignment."""
    lms.assignment["group_category_id"] = 5
    for user in users:
        lms.submissions[user]["group"] = {"id": 77, "name": "Team"}


# --- faults ----------------------------------------------------------------------------------------------------------


def test_canvas_throttled_goes_on_later(lms, post):
    """Its 403 is "later", whichever request it meets."""
    lms.fail("GET", 403, THROTTLED, headers={"X-Rate-Limit-Remaining": "0.0"})
    lms.fail("PUT", 403, THROTTLED, headers={"X-Rate-Limit-Remaining": "0.0"}, times=2)
    lms.fail("PUT", 429, THROTTLED, headers={"Retry-After": "0"})

    outcomes = post(work("ada", ADA), work("jose", JOSE))

    assert {State.SENT} == set(states(outcomes).values())
    assert [1, 1] == [len(lms.comments(ADA)), len(lms.comments(JOSE))]


@pytest.mark.parametrize("status", [None, 500, 502])
def test_canvas_lost_answer_makes_no_second_comment(lms, post, status):
    """It was carried out: looking again finds it, and what was sent is said."""
    lms.fail("PUT", status, is_carried_out=True)

    outcomes = post(work("ada", ADA))

    assert (State.SENT, 1, 12.5) == (outcomes["ada (101)"].state, len(lms.comments(ADA)), lms.score(ADA))


def test_canvas_failure_of_one_student_does_not_stop_the_others(lms, post):
    """It is told, with Canvas's own words."""
    lms.fail(f"PUT .*/{JOSE}$", 400, {"error": "The grade is not valid for this grading type"})

    outcomes = post(work("ada", ADA), work("jose", JOSE), work("grace", GRACE))

    assert [State.SENT, State.FAILED, State.SENT] == list(states(outcomes).values())
    assert outcomes["jose (102)"].text.endswith("answered 400, The grade is not valid for this grading type")


def test_canvas_that_is_down_is_not_asked_for_everybody(lms, post):
    """Three in a row without an answer: the rest is for another run, which goes on from there."""
    lms.fail(r"PUT .*/(102|103|104)$", 503, times=999)
    students = [work(f"s{number}", number) for number in (ADA, JOSE, WANG, GRACE)]
    lms.submissions[105] = {**lms.submissions[GRACE], "user_id": 105, "submission_comments": []}

    outcomes = post(*students, work("last", 105))

    assert [State.SENT, *[State.FAILED] * 4] == list(states(outcomes).values())
    assert outcomes["last (105)"].text.startswith("not tried, because Canvas gave no answer for those before")
    assert [] == lms.lines("PUT .*/105$")


def test_canvas_run_that_was_interrupted_goes_on(lms, post):
    """Whoever has theirs is left as they are; the others get theirs."""
    lms.fail(f"PUT .*/{JOSE}$", 400)
    students = [work("ada", ADA), work("jose", JOSE)]
    post(*students)

    outcomes = post(*students)

    assert [State.UNCHANGED, State.SENT] == list(states(outcomes).values())


def test_canvas_that_keeps_another_score_is_told(lms, post):
    """Such as a scheme of letters that rounds."""
    lms.fail("PUT", 200, {"user_id": ADA, "score": 10.0, "entered_score": 10.0})

    outcome = post(work("ada", ADA))["ada (101)"]

    assert (State.FAILED, "Canvas keeps 10.00 instead of 12.50") == (outcome.state, outcome.text)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"errors": [{"message": "Invalid access token."}]}, "the token is not accepted, or may not grade"),
        (403, {"status": "unauthorized"}, "the token may not grade in this course"),
        (404, {"errors": [{"message": "gone"}]}, "no such course or assignment, .* --url, --course and --assignment"),
        (200, b"<html>maintenance</html>", "something that is no JSON"),
    ],
)
def test_canvas_refusal_of_everything_is_explained(lms, post, status, body, words):
    """Before anything is sent."""
    lms.fail("GET", status, body)

    with pytest.raises(PostError, match=words):
        post(work("ada", ADA))

    assert [] == lms.lines("^PUT")


def test_canvas_assignment_out_of_other_points_is_refused(lms, post):
    """87 of 100 would become 87 of 10."""
    lms.assignment["points_possible"] = 10.0

    with pytest.raises(WrongUse, match=r"out of 10\.00 points, the report out of 100\.00; .* --any-points"):
        post(work("ada", ADA))

    assert [] == lms.lines("^PUT")
    assert {State.SENT} == set(states(post(work("ada", ADA), max_score=None)).values())


def test_canvas_hostile_text_is_plain_in_comments(lms, post):
    """No tag, nothing that hides or reorders."""
    post(make_submission(id=HOSTILE, people=[Person(lms_id=str(ADA))], notes=[HOSTILE]))

    (comment,) = lms.comments(ADA)
    assert "<script" not in comment and "http://" not in comment
    assert comment.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("course", "assignment"),
    [("11", "22"), ("sis_course_id:CS-101 é", "22"), ("11", "lti_context_id:ab"), ("sis_course_id:..", "22")],
)
def test_canvas_place_may_be_a_number_or_a_name_of_the_school(course, assignment):
    """As Canvas takes them; quoted in the path."""
    place = Place.parse(course, assignment)

    assert place.path.isascii() and 6 == place.path.count("/")


@pytest.mark.parametrize("text", ["", "..", "CS-101", "1/2", "٣", "1?x", "sis_course_id:a/../b", "1\n"])
def test_canvas_place_of_another_form_is_refused(text):
    """It becomes a part of addresses."""
    with pytest.raises(WrongUse, match="--course: got"):
        Place.parse(text, "22")
