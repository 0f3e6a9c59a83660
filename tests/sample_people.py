"""A class whose people are known, with what the tools around a course hold about them. All of them are invented.

`people_report` fits `canvas_export` and `moodle_worksheet`: a group, late days, a decision of staff, somebody whom the
grader failed on, a name that two have, names of several scripts, somebody who has left the course, and somebody who
handed nothing in.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sample_report import graded, make_check, make_part, make_report, make_submission

from grader.adjustment import Adjustment
from grader.handed_in import HandIn, Person
from grader.report import Report, Status, Submission
from grader.verdict import Verdict

ADA = Person(name="Ada Lindqvist", email="ada@uni.example", lms_id="101", login="alindqvist")
BO = Person(name="Bo Ångström", email="bo@uni.example", lms_id="102", login="bangstrom")
ZOE = Person(name="Zoë O'Hara, Jr.", email="zoe@uni.example", lms_id="103", login="zohara")
WEI = Person(name="王小明", email="wei@uni.example", lms_id="104", login="xwang")
JANE_ONE = Person(name="Jane Doe", email="jane1@uni.example", lms_id="105", login="jdoe1")
JANE_TWO = Person(name="Jane Doe", email="jane2@uni.example", lms_id="106", login="jdoe2")
LEFT = Person(name="Lee Left", email="lee@uni.example", lms_id="199", login="lleft")
LATE = Adjustment(kind="late", points="-10", reason="2 days late, 5 points a day")
DECIDED = Adjustment(
    kind="override", points="3.5", reason="right by hand, =1+1", check="test_single_head.py::test_values"
)


def people_report(**fields: Any) -> Report:
    """Build the report of the class."""
    return make_report(
        submission_of("ada", 92, [ADA], handed_in=HandIn(source="platform", is_marked_late=True), adjustments=[LATE]),
        submission_of("group-7", "87.5", [BO, ZOE]),
        submission_of("wang", "66.67", [WEI], adjustments=[DECIDED]),
        submission_of("doe", 100, [JANE_TWO]),
        submission_of("left", 50, [LEFT]),
        make_submission(
            id="jane", status=Status.GRADER_ERROR, score=None, reason="it died", people=[JANE_ONE], parts=(), checks=()
        ),
        **fields,
    )


def submission_of(name: str, score: float | str, people: Sequence[Person] = (), **fields: Any) -> Submission:
    """Build a graded submission of one part and one check that has all of these points or some."""
    points = Decimal(str(score))
    changed = sum((one.points for one in fields.get("adjustments", ())), Decimal(0))
    is_whole = points == 100
    check = make_check(
        score=points,
        max_score=100,
        verdict=Verdict.PASSED if is_whole else Verdict.WRONG_VALUE,
        **({"message": ""} if is_whole else {}),
    )
    part = make_part(score=points, max_score=100, score_checks=points)
    known = {"score": points, "final_score": points + changed, "people": people, "parts": [part], "checks": [check]}
    return make_submission(id=name, **known | fields)


def alone(name: str = "ada", **fields: Any) -> Report:
    """Build the report of one perfect submission of all parts."""
    return make_report(graded(name, lambda check: {}, **fields))


CANVAS_HEAD = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Notes,HW3 Softmax (500),Attention (501),Attention revisited (502),"
    "Homework Current Score,Homework Final Score,Current Score (2026),Final Score"
)


def canvas_export(**cells: str) -> str:
    """Write the course's gradebook as Canvas exports it; `cells` are the scores of Attention (501), by login."""
    scores = {"bangstrom": "80.00", "jdoe1": "55.00", "nohomework": "12.50", "excused": "EX", "other": "N/A"} | cells
    return (
        f"{CANVAS_HEAD}\n"
        ",,,,,,,Manual Posting,,,,,\n"
        "    Points Possible,,,,,,10.00,100.00,5.00,(read only),(read only),(read only),(read only)\n"
        f"{_canvas_row('Lindqvist, Ada', 101, 'S1', 'alindqvist', scores)}\n"
        f"{_canvas_row('Ångström, Bo', 102, 'S2', 'bangstrom', scores)}\n"
        f"{_canvas_row('O’Hara, Zoë', 103, 'S3', 'zohara', scores)}\n"
        f"{_canvas_row('王, 小明', 104, 'S4', 'xwang', scores)}\n"
        f"{_canvas_row('Doe, Jane', 105, 'S5', 'jdoe1', scores)}\n"
        f"{_canvas_row('Doe, Jane', 106, 'S6', 'jdoe2', scores)}\n"
        f"{_canvas_row('Homework, None', 107, 'S7', 'nohomework', scores)}\n"
        f"{_canvas_row('Student, Test', 108, '', '3f1c9ab2d04e', scores)}\n"
    )


def _canvas_row(name: str, number: int, school: str, login: str, scores: dict[str, str]) -> str:
    """A student with a note of several lines, and a score that Canvas writes in quotes."""
    return (
        f'"{name}",{number},{school},{login},"CS-1, spring and CS-2","a ""note"",\nof two lines",'
        f'9.00,{scores.get(login, "")},,"87.00",87.00,91.5,91.50'
    )


MOODLE_HEAD = (
    "Identifier,Full name,ID number,Email address,Status,Grade,Maximum grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
)
_MODIFIED = '"Monday, 30 November 2026, 5:50 PM"'


def moodle_worksheet(*, head: str = MOODLE_HEAD, maximum: str = "100.00", changeable: str = "Yes", **rows: str) -> str:
    """Write the grading worksheet as Moodle does; `rows` are grade and comment, by the name of an address."""
    known = {"bo": '80.00,{rest},"<p>Nice, Bo</p>"'} | rows
    lines = [
        _moodle_row(101, "Ada Lindqvist", "ada", known),
        _moodle_row(102, "Bo Ångström", "bo", known),
        _moodle_row(103, "Zoë O'Hara", "zoe", known),
        _moodle_row(104, "小明 王", "wei", known),
        _moodle_row(105, "Jane Doe", "jane1", known),
        _moodle_row(106, "Jane Doe", "jane2", known),
        _moodle_row(107, "None Homework", "none", known),
    ]
    rest = f"{maximum},{changeable},{_MODIFIED},-"
    return "".join(line.replace("{rest}", rest) + "\r\n" for line in [head, *lines])


def _moodle_row(number: int, name: str, address: str, rows: dict[str, str]) -> str:
    start = f'Participant {number},"{name}",,{address}@uni.example,"Submitted for grading - "'
    return f"{start},{rows.get(address, ',{rest},')}"
