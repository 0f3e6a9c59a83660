"""The pages: what they show, what they cannot do, and for whom."""

import re
from datetime import date
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import pytest
from sample_findings import (
    ATTENTION,
    MASK,
    QUERY,
    make_diagnosis,
    make_example,
    make_matrix,
    make_shapes,
    make_step,
)
from sample_report import (
    HOSTILE,
    graded,
    late_class,
    make_check,
    make_header,
    make_part,
    make_report,
    make_submission,
    sample_class,
)

import grader.render.html
from grader.adjustment import Adjustment
from grader.finding import Charge
from grader.render.by_hand import lay_out
from grader.render.causes import find_causes
from grader.render.html import index_page, staff_page, student_page
from grader.render.overview import summarise
from grader.render.page import page_name
from grader.report import Feedback, Flag, Grader, Status
from grader.report_json import submission_from_json, to_json
from grader.student_view import student_view
from grader.verdict import Verdict

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
TODAY = date(2026, 12, 1)
VOID = {"meta", "br", "hr", "img", "link", "input"}
FILES = {"single_head": "single_head.py", "masked": "masked.py", "multi_head": "multi_head.py"}


class Page(HTMLParser):
    """A page taken apart, which fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.ids, self.links, self.content = [], [], [], [], []
        self.attributes = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        self.links += [value for name, value in attrs if name in ("href", "src", "action", "data", "srcset")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert tag == self.open.pop()

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.content.append(data)

    @property
    def text(self):
        """What a reader sees, blanks collapsed."""
        return " ".join(" ".join(self.content).split())


def student_page_of(submission, level="hint", header=None):
    """Make the page a student gets."""
    return student_page(student_view(header or make_header(), submission, Feedback(level=level), TODAY))


def all_pages():
    """Make every page of a realistic class, and of one with late days and overrides."""
    for report in (sample_class(), late_class()):
        yield index_page(summarise(report, report.submissions))
        for submission in report.submissions:
            yield staff_page(report, submission)
            yield student_page_of(submission, "full", report)


@pytest.fixture(scope="module")
def pages():
    """Every page of a realistic class, as text."""
    return list(all_pages())


def test_page_tags_close_in_order_and_ids_are_unique(pages):
    """Each page is well formed."""
    for text in pages:
        page = Page(text)

        assert [] == page.open
        assert len(set(page.ids)) == len(page.ids)


def test_page_links_inside_a_page_lead_somewhere(pages):
    """What to fix first leads to its details."""
    for text in pages:
        page = Page(text)

        assert {link[1:] for link in page.links if link.startswith("#")} <= set(page.ids)


def test_page_runs_and_loads_nothing(pages):
    """No script, no handler, nothing remote, and a policy that would stop all of it."""
    for text in pages:
        page = Page(text)

        assert not {"script", "iframe", "object", "embed", "form", "link", "img", "base"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert not [link for link in page.links if ":" in link or link.startswith("/")]
        assert ("content", CSP) in page.attributes
        assert "url(" not in text
        assert "@import" not in text


def test_page_is_accessible_by_structure(pages):
    """Language, title, one top heading, a main landmark, and scope on every table header."""
    for text in pages:
        page = Page(text)

        assert ("lang", "en") in page.attributes
        assert [1, 1, 1] == [page.tags.count(tag) for tag in ("title", "h1", "main")]
        assert page.tags.count("th") == len([name for name, _ in page.attributes if name == "scope"])


def test_page_same_record_gives_same_bytes(pages):
    """A page is a function of the report."""
    assert pages == list(all_pages())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_style_contrast_is_readable(scheme):
    """Each text colour keeps 4.5 to 1 on each ground it stands on (WCAG 2.2, AA)."""
    style = (Path(grader.render.html.__file__).parent / "templates" / "style.html.j2").read_text()
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for block in re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    )
    colours = light if scheme == "light" else light | dark
    pairs = [
        (text, ground) for text in ("text", "quiet", "good", "bad", "wait", "link") for ground in ("page", "panel")
    ]

    low = [pair for pair in [*pairs, ("warn", "warn-page")] if contrast(*(colours[name] for name in pair)) < 4.5]

    assert [] == low


def contrast(one, other):
    """Compute the contrast of two colours as WCAG 2.2 defines it."""
    darker, lighter = sorted(map(luminance, (one, other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    """Compute the relative luminance of a colour."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def hostile_submission():
    """Build a submission with the hostile text in every field that can come from a student."""
    check = make_check(message=HOSTILE, hint=HOSTILE, output=HOSTILE)
    passed = make_check(id="p", verdict=Verdict.PASSED, score=2, message="", output=HOSTILE)
    blocked = make_check(id="b", verdict=Verdict.BLOCKED, blocked_by=HOSTILE + ".py", message="")
    return make_submission(
        id=HOSTILE,
        notes=[HOSTILE],
        diagnoses=[make_diagnosis(evidence=HOSTILE, checks=[check.id])],
        examples=[
            make_example(
                inputs=[make_matrix("x", (1,), "", "0").model_copy(update={"cells": (HOSTILE,)})],
                observed=[make_matrix("output", (1,), "", "0").model_copy(update={"cells": (HOSTILE,)})],
                remark=HOSTILE,
            )
        ],
        shapes=[make_shapes(steps=[make_step(1, HOSTILE, HOSTILE, HOSTILE, file=HOSTILE, departs=HOSTILE)])],
        checks=[check, passed, blocked],
        flags=[Flag(kind="eval", file=HOSTILE, line=1, detail=HOSTILE)],
        files=[{"name": HOSTILE, "sha256": "0" * 64}],
    )


def test_page_hostile_text_is_text():
    """Markup, reordering and control characters of a student are shown, on every page."""
    submission = hostile_submission()
    failed = make_submission(id="x", status=Status.UNGRADABLE, score=0, reason=HOSTILE)
    report = make_report(submission, failed)

    texts = [
        index_page(summarise(report, report.submissions)),
        *(staff_page(report, one) for one in report.submissions),
        *(student_page_of(one, "full") for one in report.submissions),
    ]

    for text in texts:
        assert '<script>alert("x")</script>⟨U+001B⟩[31m⟨U+202E⟩gnp.⟨U+200B⟩' in Page(text).text
        assert "script" not in Page(text).tags
        assert text.replace("\n", "").isprintable()


def test_page_hostile_text_of_a_diagnosis_is_text():
    """A cell, a line of code, an operation, a file's name: each is shown, and none is run."""
    submission = hostile_submission()
    shown = "⟨U+001B⟩[31m⟨U+202E⟩gnp.⟨U+200B⟩"

    for page in (Page(staff_page(make_header(), submission)), Page(student_page_of(submission, "full"))):
        found = [text for text in page.content if shown in text]

        assert len(found) >= 18
        assert not {"script", "img"} & set(page.tags)


def test_page_hostile_text_from_the_file_is_text():
    """The way through report.json changes nothing about that."""
    submission = submission_from_json(to_json(hostile_submission()), "x.json")

    assert staff_page(make_header(), hostile_submission()) == staff_page(make_header(), submission)


def test_student_page_names_nobody_else_and_links_nowhere():
    """The page can be sent as it is."""
    report = sample_class()

    for submission in report.submissions:
        page = Page(student_page_of(submission, "full", report))
        others = {other.id for other in report.submissions} - {submission.id}

        assert not [link for link in page.links if not link.startswith("#")]
        assert not [other for other in others if re.search(rf"\b{re.escape(other)}\b", page.text)]
        assert "staff only" not in page.text


def test_student_page_hidden_check_shows_its_title_and_verdict():
    """A hidden check is listed, and nothing that was said or asked in it."""
    hidden = make_check(
        id="t_secret", title="Large scores", visible=False, message="SECRET", output="SECRET", hint="SECRET"
    )

    text = student_page_of(make_submission(checks=[hidden]), "full")

    assert "Large scores ✗ wrong value" in Page(text).text
    assert "secret" not in text.lower()


def test_student_page_shows_message_hint_and_what_was_printed():
    """All that the level allows is on the page."""
    check = make_check(
        message="wrong\n  worst     dim 4", hint="look at the scale", output="shape 3\n", output_cut=True
    )

    page = Page(student_page_of(make_submission(checks=[check])))

    assert "wrong worst dim 4 Hint look at the scale What your code printed (the beginning) shape 3" in page.text
    assert "The rest is left out: it is too long to show." in page.text


def test_student_page_verdict_is_in_words_with_a_marker():
    """Nothing is told by colour alone."""
    checks = [make_check(id=verdict, verdict=verdict, message=verdict) for verdict in Verdict if 0 < verdict.rank < 22]

    page = Page(student_page_of(make_submission(checks=checks)))

    assert all(f"{check.verdict.marker} {check.verdict.label}" in page.text for check in checks)


def test_student_page_long_output_is_cut_on_the_page():
    """A phone is not sent a megabyte of dots."""
    text = student_page_of(make_submission(checks=[make_check(output="." * 1_000_000)]))

    assert len(text) < 30_000
    assert "(the beginning)" in text


def test_student_page_one_import_error_is_said_once():
    """Forty-five checks that fail for one reason are one thing to fix."""
    message = "single_head.py could not be loaded: SyntaxError on line 31"
    submission = graded("ada", lambda check: {"verdict": Verdict.IMPORT_ERROR, "message": message})

    text = student_page_of(submission)

    assert 1 == text.count(message)
    assert 1 == text.count('class="card"')


def test_student_page_all_passed_says_so():
    """Full marks are good news, and need no list of problems."""
    page = Page(student_page_of(graded("ada", lambda check: {})))

    assert "Every check passed." in page.text
    assert "What to fix" not in page.text


def test_student_page_grader_error_is_not_a_zero():
    """The student is told that the score is still to come, and that it is not their fault."""
    submission = make_submission(status=Status.GRADER_ERROR, score=None, reason="examiner died", parts=(), checks=())

    page = Page(student_page_of(submission))

    assert "– of 100 points" in page.text
    assert "Not graded yet The grader itself failed here." in page.text


def test_student_page_charged_once_is_explained():
    """Where the part's score is not the sum of its checks, the page says why."""
    page = Page(student_page_of(make_submission(parts=[make_part(score=20, score_checks="12.5")])))

    assert (
        "Single-head attention: 12.5 by the checks alone. A mistake seen by several checks was charged once."
        in page.text
    )


def submission_with_a_mistake(**fields):
    """Build a submission whose failed check is explained by one mistake, charged in one part, carried to the next."""
    parts = [
        make_part(score=27, charged=[Charge(mistake="scale-by-d", price=3)]),
        make_part(
            name="masked",
            title="Masked attention",
            file="masked.py",
            score=30,
            charged=[Charge(mistake="scale-by-d", price=0, carried_from=ATTENTION)],
        ),
    ]
    return make_submission(**{"parts": parts, "diagnoses": [make_diagnosis()]} | fields)


def both_pages(submission, level="full"):
    """Take apart the page for staff and the one for the student."""
    return Page(staff_page(make_header(), submission)), Page(student_page_of(submission, level))


def test_pages_mistake_comes_first_after_the_score():
    """Name, where, cost, hint and reason, before any check."""
    for page in both_pages(submission_with_a_mistake()):
        story = (
            "of 100 points What went wrong The scores are divided by d, not by the square root of d "
            f"Shows in {ATTENTION} Single-head attention: −3 points "
            f"Masked attention: carried forward from {ATTENTION} , charged once Think about How far do"
        )

        assert story in page.text
        assert "undoes that? Why A dot product" in page.text
        assert page.text.index("What went wrong") < page.text.index("What the checks say")


def test_pages_points_tell_what_was_charged_instead():
    """Each part with a charge tells the points by its checks alone, and each charge."""
    for page in both_pages(submission_with_a_mistake()):
        assert (
            "Single-head attention: 12.5 by the checks alone. Charged instead, once a mistake: "
            "−3 points: The scores are divided by d, not by the square root of d"
        ) in page.text


def test_pages_check_that_a_mistake_explains_is_folded_and_says_so():
    """Nobody looks for a second reason, or adds up points that were not charged."""
    other = make_check(id="other", title="Something else", message="raised", callable="attention_with_loops")
    for page in both_pages(submission_with_a_mistake(checks=[make_check(), other])):
        explained = "Output and weights are right ✗ wrong value single_head.py explained above"

        assert explained in page.text
        assert page.text.index("Something else ✗ wrong value single_head.py −2 points by the checks alone") < (
            page.text.index(explained)
        )
        assert 1 == len([one for one in page.attributes if one == ("open", None)])


def test_student_page_level_hint_keeps_the_explanation_for_later():
    """Before the deadline the mistake is named and hinted at."""
    text = student_page_of(submission_with_a_mistake(), "hint")

    assert "divided by d" in text
    assert "Think about" in text
    assert "A dot product" not in text


def test_student_page_level_verdict_names_no_mistake():
    """At the lowest level nothing of the diagnosis is there."""
    text = student_page_of(submission_with_a_mistake(examples=[make_example()], shapes=[make_shapes()]), "verdict")

    assert not [word for word in ("What went wrong", "divided by d", "By hand", "Charged") if word in text]


def test_pages_ids_of_a_mistake_are_for_staff_only():
    """They lead to the course's notes, and mean nothing to a student."""
    staff, student = both_pages(submission_with_a_mistake())

    assert "scale-by-d · catalogue A01 · explains 1 check" in staff.text
    assert not [word for word in ("scale-by-d", "A01") if word in student.text]


def test_pages_mistakes_that_no_input_tells_apart_are_named_all():
    """One of them is as likely as the other, and the page does not pretend to know."""
    one = make_diagnosis(mistakes=["scale-by-d", "scaled-twice"], alternatives=["The scores are scaled twice"])

    for page in both_pages(submission_with_a_mistake(diagnoses=[one])):
        assert "square root of d or: The scores are scaled twice One of these." in page.text
    assert "One of scale-by-d, scaled-twice" in Page(staff_page(make_header(), make_submission(diagnoses=[one]))).text


def test_pages_evidence_is_quoted():
    """What shows it in this code stands as it is."""
    one = make_diagnosis(evidence="single_head.py, line 24: scores / d")

    for page in both_pages(submission_with_a_mistake(diagnoses=[one])):
        assert "What shows it single_head.py, line 24: scores / d" in page.text


def test_student_page_charge_of_a_hidden_mistake_has_no_name():
    """The points are told, and what the hidden checks ask is not."""
    hidden = make_check(id="hidden-scale", visible=False)
    submission = submission_with_a_mistake(checks=[hidden], diagnoses=[make_diagnosis(checks=[hidden.id])])

    page = Page(student_page_of(submission, "full"))

    assert "−3 points: a mistake found by hidden checks" in page.text
    assert not [word for word in ("divided by", "What went wrong", "scale") if word in page.text]


def test_pages_unrecognised_callable_is_said_plainly():
    """No name is better than a wrong one, and silence is worse."""
    submission = make_submission(unrecognised=[ATTENTION])

    for page in both_pages(submission):
        assert (
            f"What went wrong Not recognised {ATTENTION} answers wrongly, in a way that no known mistake explains. "
            "The checks below show where."
        ) in page.text


def test_pages_example_shows_inputs_and_expected_beside_observed():
    """A small call can be checked by hand: every number is there, with the names of its axes."""
    submission = submission_with_a_mistake(examples=[make_example()])

    for page in both_pages(submission):
        assert f"{ATTENTION}(query, key, value) query [1, 2, 4] query ↓ dim → 0 1 2 3 0 2 0 1 0 1 0 2 0 0 key" in (
            page.text
        )
        assert (
            "expected weights [1, 2, 3] query ↓ key → 0 1 2 0 0.736 0.1 0.164 1 0.212 0.576 0.212 "
            "observed weights [1, 2, 3] query ↓ key → 0 1 2 0 differs: 0.543 differs: 0.2 differs: 0.257"
        ) in page.text
        assert "A thick frame marks what differs from the expected value." in page.text
        assert "All weights are closer to each other than they should be." in page.text
        assert "#by-hand-1" in page.links


def test_pages_example_of_another_shape_marks_the_shape():
    """Where no cell has a counterpart, none is called different."""
    flat = make_matrix("output", (4,), "dim", "1 2 3 4")

    page = Page(student_page_of(submission_with_a_mistake(examples=[make_example(observed=[flat])])))

    assert "observed output ≠ shape [4] dim → 0 1 2 3 1 2 3 4" in page.text
    assert "differs:" not in page.text


def test_pages_example_without_an_answer_says_so():
    """An exception instead of a value is no table, and its words are there."""
    page = Page(student_page_of(submission_with_a_mistake(examples=[make_example(observed=[], remark="raised: x")])))

    assert "observed output No value came back." in page.text
    assert "raised: x" in page.text


def test_pages_example_where_an_error_is_right_says_so():
    """What came back although nothing should have is shown."""
    example = make_example(expected=[], observed=[make_matrix("output", (), "", "7")])

    page = Page(student_page_of(submission_with_a_mistake(examples=[example])))

    assert "expected An error is right here. observed output 7" in page.text


def test_pages_mask_is_drawn_in_marks_and_read_in_words():
    """True and False are told apart at a glance, and by a screen reader."""
    page = Page(student_page_of(submission_with_a_mistake(examples=[make_example(inputs=[MASK])])))

    assert "0 ✓ True · False · False 1 ✓ True ✓ True · False" in page.text
    assert "✓ is True, · is False." in page.text


def test_pages_shapes_tell_each_operation_and_where_it_departs():
    """Line, operation, shapes, stage and times; the first step that departs is marked with its reason."""
    steps = [
        make_step(24, "matmul", "[2, 5, 11]; [2, 11, 7]", "[2, 5, 7]", stage="scores"),
        make_step(25, "softmax", "[2, 5, 7]", "[2, 5, 7]", times=3, departs="over the queries"),
        make_step(26, "matmul", "[2, 5, 7]; [2, 13]", ""),
    ]

    for page in both_pages(submission_with_a_mistake(shapes=[make_shapes(steps=steps, is_cut=True)])):
        assert "Shapes on the way: 3 operations, one departs" in page.text
        assert "scores [B, L, S] weights [B, L, S] output [B, L, Dv]" in page.text
        assert "24 matmul [2, 5, 11] [2, 11, 7] [2, 5, 7] scores 25 ▶ softmax × 3 [2, 5, 7] [2, 5, 7]" in page.text
        assert "Departs here: over the queries 26 matmul [2, 5, 7] [2, 13] nothing" in page.text
        assert "More operations follow; they are left out." in page.text


@pytest.mark.parametrize(("count", "is_open"), [(8, True), (9, False)])
def test_pages_long_shapes_are_folded(count, is_open):
    """Thirty operations do not push the rest off the screen."""
    steps = [make_step(line, "add", "[2]", "[2]") for line in range(count)]

    text = student_page_of(submission_with_a_mistake(shapes=[make_shapes(steps=steps)]))

    assert is_open is ('<details class="fold" open><summary>Shapes on the way' in text)


def test_pages_shapes_of_two_files_name_each():
    """A line number means nothing without its file."""
    steps = [make_step(24, "add", "[2]", "[2]"), make_step(9, "view", "[2]", "[1, 2]", file="multi_head.py")]

    page = Page(student_page_of(submission_with_a_mistake(shapes=[make_shapes(steps=steps)])))

    assert "in single_head.py 24 add [2] [2] in multi_head.py 9 view [2] [1, 2]" in page.text


def test_staff_page_shows_mistakes_of_hidden_checks_and_their_examples():
    """Staff see everything."""
    hidden = make_check(id="h", visible=False)
    submission = make_submission(
        checks=[hidden], diagnoses=[make_diagnosis(checks=["h"])], examples=[make_example()], shapes=[make_shapes()]
    )

    page = Page(staff_page(make_header(), submission))

    assert "divided by d" in page.text
    assert "Shapes on the way" in page.text
    assert "expected weights" in page.text


def test_lay_out_leading_axes_become_captions():
    """The rows are of the last axis but one; an axis of one element is no place to name."""
    laid = lay_out(make_matrix("weights", (1, 2, 2, 3), "sample head query key", "1 2 3 4 5 6 7 8 9 10 11 12"))

    assert ["head 0", "head 1"] == [grid.caption for grid in laid.grids]
    assert ("query", "key") == (laid.down, laid.across)
    assert [["7", "8", "9"], ["10", "11", "12"]] == [[cell.text for cell in row] for row in laid.grids[1].rows]


def test_lay_out_two_leading_axes_are_both_named():
    """Sample and head together say which table it is."""
    laid = lay_out(make_matrix("x", (2, 2, 1, 1), "sample head query key", "1 2 3 4"))

    assert ["sample 0, head 0", "sample 0, head 1", "sample 1, head 0", "sample 1, head 1"] == [
        grid.caption for grid in laid.grids
    ]


@pytest.mark.parametrize(
    ("shape", "cells", "rows"),
    [
        ((), "7", [["7"]]),
        ((3,), "1 2 3", [["1", "2", "3"]]),
        ((2, 1), "1 2", [["1"], ["2"]]),
        ((2, 2), "1 2 3", [["1", "2", "3"]]),
    ],
)
def test_lay_out_every_rank_is_a_table(shape, cells, rows):
    """A value, a vector and a matrix; what does not fit its shape is a row."""
    laid = lay_out(make_matrix("x", shape, "", cells))

    assert [rows] == [[[cell.text for cell in row] for row in grid.rows] for grid in laid.grids]


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 0, 3)])
def test_lay_out_empty_tensor_has_no_table(shape):
    """There is nothing to show, and no error."""
    assert () == lay_out(make_matrix("x", shape, "", "")).grids


def test_lay_out_large_tensor_is_not_shown():
    """A student's code may answer a small call with a million numbers."""
    laid = lay_out(make_matrix("x", (401,), "", "1 " * 401))

    assert (True, (), 401) == (laid.is_too_large, laid.grids, laid.count)


def test_lay_out_marks_the_cells_that_differ():
    """Only those, and only where the shapes agree."""
    other = make_matrix("query", (1, 2, 4), "sample query dim", "2 0 1 9  0 2 0 0")

    laid = lay_out(other, QUERY)

    assert ["9"] == [cell.text for row in laid.grids[0].rows for cell in row if cell.differs]
    assert (1, False) == (laid.differing, laid.shape_differs)


def test_staff_page_shows_flags_files_and_hidden_messages():
    """Staff see everything."""
    submission = make_submission(
        checks=[make_check(id="test_x.py::test_y", visible=False, message="hidden message")],
        flags=[Flag(kind="eval", file="masked.py", line=12, detail="eval(name)")],
    )

    page = Page(staff_page(make_header(), submission))

    assert "eval masked.py:12 eval(name)" in " ".join(page.text.replace(" :12", ":12").split())
    assert "hidden message" in page.text
    assert "test_x.py::test_y" in page.text
    assert "0" * 64 in page.text


def test_staff_page_links_lead_to_the_files_the_caller_writes():
    """The page lies in staff/, the student's beside it in students/."""
    page = Page(staff_page(make_header(), make_submission(id="Ada Lovelace")))

    assert {"../index.html", f"../students/{page_name('Ada Lovelace')}"} <= set(page.links)


@pytest.mark.parametrize(("isolation", "is_said"), [("strong", False), ("partial", True), ("none", True)])
def test_staff_pages_weak_isolation_is_a_banner(isolation, is_said):
    """Below strong, no page for staff lets anyone overlook it."""
    weak = Grader(version="1", python="3", torch="2", isolation=isolation, isolation_detail="no user namespaces")
    report = make_report(make_submission(), grader=weak)

    for text in (
        index_page(summarise(report, report.submissions)),
        staff_page(report, report.submissions[0]),
    ):
        assert is_said is (f"Isolation: {isolation} Student code was not kept" in Page(text).text)
        assert is_said is ("no user namespaces" in text)


def test_index_page_lists_every_submission_with_a_link():
    """Each row leads to the submission's page and tells score, parts and first problem."""
    report = make_report(make_submission(), make_submission(id="Bela B."))

    page = Page(index_page(summarise(report, report.submissions)))

    assert {"staff/ada.html", f"staff/{page_name('Bela B.')}"} <= set(page.links)
    assert "ada 12.5 12.5 graded single_head: wrong value: Output and weights are right" in page.text


def test_index_page_names_what_needs_a_person():
    """Ungradable folders, grader errors and flags are not left to be found among 400 rows."""
    report = sample_class()

    page = Page(index_page(summarise(report, report.submissions)))

    assert "Needs a person jonas-late : ungradable: no stub file found" in page.text
    assert "kwame 1 flag" in page.text


def test_index_page_shows_figures_and_most_failed_checks():
    """Mean, median, histogram and the checks that failed most are there."""
    passed = make_check(verdict=Verdict.PASSED, score=2, message="")
    report = make_report(
        make_submission(),
        make_submission(id="bela", score=100, checks=[passed]),
        make_submission(id="cyd", status=Status.GRADER_ERROR, score=None, reason="died"),
    )

    page = Page(index_page(summarise(report, report.submissions)))

    assert "Submissions 3 Mean 56.25 Median 56.25 Points 100 Ungradable 0 Grader errors 1" in page.text
    assert "Scores of 2 submissions" in page.text
    assert "Output and weights are right single_head 2 0 3" in page.text


def test_index_page_shows_the_mistakes_of_the_class():
    """What to talk about: by how many made it, with id and share, and what nobody recognised."""
    scale, other = make_diagnosis(), make_diagnosis(mistakes=["b"], title="Another")
    report = make_report(
        make_submission(id="a", diagnoses=[other, scale]),
        make_submission(id="b", diagnoses=[scale], unrecognised=["masked_attention"]),
        make_submission(id="c"),
        make_submission(id="d", status=Status.UNGRADABLE, score=0, reason="no stub file"),
    )

    page = Page(index_page(summarise(report, report.submissions)))

    assert (
        "Mistakes in this class Mistake Students Share "
        "The scores are divided by d, not by the square root of d scale-by-d 2 67% Another b 1 33% "
        "Not recognised, in masked_attention 1 33% Shares are of the 3 submissions that could be graded."
    ) in page.text


def test_summarise_mistake_counts_once_a_student():
    """One student who makes it in two parts is one student."""
    twice = [make_diagnosis(), make_diagnosis(part="masked")]

    overview = summarise(make_header(), [make_submission(diagnoses=twice)])

    assert [("scale-by-d", 1, 1.0)] == [(one.id, one.students, one.share) for one in overview.mistakes]


def test_index_page_of_an_empty_run_is_a_page():
    """Nothing to show is not an error."""
    page = Page(index_page(summarise(make_header(), [])))

    assert "Submissions 0 Mean – Median –" in page.text


def test_summarise_histogram_counts_full_marks_to_the_last_tenth():
    """0 is in the first tenth, 100 in the last, and a null score in none."""
    scores = {"a": 0, "b": "9.99", "c": 10, "d": 100, "e": 50}
    error = make_submission(id="f", status=Status.GRADER_ERROR, score=None, reason="died")

    overview = summarise(
        make_header(), [*(make_submission(id=name, score=score) for name, score in scores.items()), error]
    )

    assert (2, 1, 0, 0, 0, 1, 0, 0, 0, 1) == overview.histogram


def test_pages_show_what_counts_and_how_it_came_about():
    """The final score in front, then what the code earned and each change, for staff and for the student."""
    ada = late_class().submissions[0]

    for text in (staff_page(late_class(), ada), student_page_of(ada, "hint", late_class())):
        page = Page(text)

        assert (
            "13.05 of 100 points How these points come about 12.5 earned by the code +2 decided by staff for “Output "
            "and weights are right”: the handout was wrong −1.45 handed in 2 hours after the deadline: 10 % less "
            "13.05 count Marked as late."
        ) in page.text
        assert "As earned by the code, before what is listed at the top was added or taken." in page.text


def test_pages_total_of_a_grader_error_is_shown_as_decided():
    """The student is not told to wait for what has been decided."""
    dmitri = late_class().submissions[3]

    page = Page(student_page_of(dmitri))

    assert "– no score by the grader +70 decided by staff: handed in on paper 70 count" in page.text
    assert "Decided by staff The grader itself failed here." in page.text


def test_pages_without_adjustments_are_as_clean_as_ever():
    """Nothing is said of what was not done."""
    for text in (staff_page(make_header(), make_submission()), student_page_of(make_submission())):
        words = Page(text).text

        assert "12.5 of 100 points What" in words
        assert not [word for word in ("count", "late", "staff decided", "Handed in") if word in words.split("What")[0]]


def test_student_page_override_of_a_hidden_check_shows_its_title_only():
    """Why staff decided so may tell what it asks."""
    hidden = make_check(id="hidden", title="Very negative scores are kept", visible=False)
    fair = Adjustment(kind="override", points=2, reason="SECRET", check="hidden")
    submission = make_submission(checks=[hidden], adjustments=[fair], final_score="14.5")

    assert "SECRET" not in student_page_of(submission, "full")
    assert "+2 decided by staff for “Very negative scores are kept” 14.5" in Page(student_page_of(submission)).text
    assert "SECRET" in staff_page(make_header(), submission)


def test_pages_hostile_reason_is_text():
    """It may quote a student."""
    fair = Adjustment(kind="override", points=0, reason=HOSTILE)

    submission = make_submission(adjustments=[fair], final_score=Decimal("12.5"))
    for text in (staff_page(make_header(), submission), student_page_of(submission)):
        assert "<script" not in text
        assert "±0 decided by staff: =1+1|" in Page(text).text


def test_index_page_shows_both_figures_where_a_score_was_adjusted():
    """A column and two figures more, tags on the rows, and what was done in words."""
    report = late_class()

    page = Page(index_page(summarise(report, report.submissions)))

    assert "Mean 20.83 Median 12.5 Final mean 33.26 Final median 31.53" in page.text
    assert "1 timed by the date of a commit, which is what the student's own machine said" in page.text
    assert "ada late decided by staff 13.05 12.5 12.5 graded" in page.text
    assert "dmitri decided by staff 70 – " in page.text


def test_index_page_shows_one_figure_where_nothing_was_adjusted():
    """No column of what is the same."""
    report = make_report(make_submission())

    assert "Final" not in Page(index_page(summarise(report, report.submissions))).text


def test_find_causes_blocked_checks_join_the_end_of_their_chain():
    """Twenty blocked checks do not bury the one cause, not even through one another."""
    cause = make_check(id="cause")
    chain = [
        make_check(
            id=f"b{number}",
            verdict=Verdict.BLOCKED,
            blocked_by=f"b{number - 1}" if number else "cause",
            message="",
        )
        for number in range(20)
    ]

    causes = find_causes([*chain, cause], FILES)

    assert [(("cause",), 20)] == [(tuple(check.id for check in one.checks), len(one.held_up)) for one in causes]
    assert 42 == causes[0].lost


def test_find_causes_blocked_by_a_file_joins_what_is_wrong_with_it():
    """A part that imports a broken file waits for that file."""
    broken = make_check(id="broken", verdict=Verdict.IMPORT_ERROR, message="SyntaxError")
    blocked = make_check(id="b", part="masked", verdict=Verdict.BLOCKED, blocked_by="single_head.py", message="")

    causes = find_causes([broken, blocked], FILES)

    assert [("single_head.py", 1)] == [(cause.heading, len(cause.held_up)) for cause in causes]


@pytest.mark.parametrize("blocked_by", ["b", "c", "helper.py", None])
def test_find_causes_blocked_for_no_known_cause_is_a_cause_itself(blocked_by):
    """Circles and unknown names lose no check."""
    checks = [
        make_check(id="b", verdict=Verdict.BLOCKED, blocked_by=blocked_by, message=""),
        make_check(id="c", verdict=Verdict.BLOCKED, blocked_by="b", message=""),
    ]

    causes = find_causes(checks, FILES)

    assert {"b", "c"} == {check.id for cause in causes for check in cause.checks}


def test_find_causes_hidden_checks_of_a_broken_file_join_the_visible_ones():
    """A student sees one broken file once, though hidden checks have no message."""
    visible = make_check(id="v", verdict=Verdict.IMPORT_ERROR, message="SyntaxError")
    hidden = make_check(id="h", verdict=Verdict.IMPORT_ERROR, visible=False, message="")

    causes = find_causes([hidden, visible], FILES)

    assert [2] == [len(cause.checks) for cause in causes]


def test_find_causes_silent_hidden_checks_come_last():
    """What says nothing is no help to begin with."""
    hidden = make_check(id="h", verdict=Verdict.CRASHED, visible=False, message="")
    visible = make_check(id="v", verdict=Verdict.UNSTABLE)

    causes = find_causes([hidden, visible], FILES)

    assert [False, True] == [cause.is_silent for cause in causes]


@pytest.mark.parametrize("name", ["ada", "ada_lovelace-2", "a.b", "0"])
def test_page_name_ordinary_id_is_kept(name):
    """Most pages are found by the student's id."""
    assert f"{name}.html" == page_name(name)


AWKWARD = [
    "Ada", "ADA", "ada ", "..", ".", "-rf", ".hidden", "a/b", "a\\b", "a\nb", "con", "nul.x", "index",
    "é", "e\u0301",
    "王小明", "x" * 255, "x" * 254, "\udcff", "\udcfe", "", "ada~0123456789abcdef", "a%2e", "a&b", "?", "#",
]  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_page_name_awkward_id_gets_a_safe_name(name):
    """A page's name is a plain file name, needs no escaping in a link, and is no device."""
    page = page_name(name)

    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*~[0-9a-f]{16}\.html", page)
    assert len(page) <= 64


def test_page_name_different_ids_never_share_a_file():
    """Not even where upper and lower case are the same, and not with a name made to look like another's."""
    names = [
        *AWKWARD,
        "ada",
        "a.b",
        page_name("Ada").removesuffix(".html"),
        page_name("Ada").removesuffix(".html").lower(),
    ]

    pages = {page_name(name).casefold() for name in names}

    assert len(set(names)) == len(pages)


# --- compared with PyTorch --------------------------------------------------------------------------------------------

SOURCE = "torch.nn.MultiheadAttention"
OUTPUT = {"name": "output", "source": SOURCE, "difference": 2.2e-16, "allowed": 1e-5}
GRADIENT = {"name": "x", "is_gradient": True, "source": SOURCE, "difference": 0.33, "allowed": 7.3e-5}


def pages_of(*checks):
    """The text of the staff's page and of the student's."""
    submission = make_submission(checks=checks)
    view = student_view(make_header(), submission, Feedback(), TODAY)
    return [Page(staff_page(make_header(), submission)).text, Page(student_page(view)).text]


def test_pages_compared_with_pytorch_shows_both_differences_and_what_is_allowed():
    """For staff and students alike, and in words where one is too large."""
    for text in pages_of(make_check(callable="Heads", measured=[OUTPUT, GRADIENT])):
        section = text.partition("Compared with PyTorch")[2]
        for shown in ("Heads", SOURCE, "2.2e-16", "allowed 1e-05", "✗ 0.33", "more than the 7.3e-05 allowed"):
            assert shown in section


def test_pages_row_of_a_check_shows_its_differences_passed_or_not():
    """The numbers stand where the check does."""
    shown = f"Largest differences from {SOURCE}: output 2.2e-16 (allowed 1e-05)."

    for verdict, score in ((Verdict.PASSED, 2), (Verdict.WRONG_DTYPE, 0)):
        check = make_check(verdict=verdict, score=score, measured=[OUTPUT])
        assert [True, True] == [shown in text for text in pages_of(check)]


def test_pages_without_comparison_have_no_section_for_it():
    """An assignment that compares with its own reference alone says nothing of PyTorch."""
    assert [False, False] == ["Compared with PyTorch" in text for text in pages_of(make_check())]
