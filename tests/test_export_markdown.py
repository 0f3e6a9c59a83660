"""Markdown of a class and of one student: what each may see, and no markup that is a student's."""

from datetime import date

import pytest
from markdown_it import MarkdownIt
from sample_findings import make_diagnosis
from sample_people import DECIDED, LATE, submission_of
from sample_report import HOSTILE, make_check, make_report, make_submission, sample_class

from grader.export.markdown import class_markdown, student_markdown
from grader.post.github import make_posting
from grader.render.markdown import summary_markdown
from grader.render.overview import summarise
from grader.report import Feedback
from grader.student_view import student_view


def markdown_of(submission, level="hint"):
    """What a student gets."""
    report = make_report(submission)
    return student_markdown(student_view(report, submission, Feedback(level=level), date(2026, 11, 30)))


def test_markdown_of_a_class_is_the_summary_of_the_run():
    """One text, wherever it comes from."""
    report = sample_class()

    assert summary_markdown(summarise(report, report.submissions)) == class_markdown(report, report.submissions)


def test_markdown_of_a_student_is_what_is_posted_on_github():
    """One text, wherever it is read."""
    report = make_report(make_submission(adjustments=[LATE], final_score="2.5"))
    view = student_view(report, report.submissions[0], Feedback(level="hint"), date(2026, 11, 30))

    assert "\n\n".join(make_posting(view, "attention", "").pieces) + "\n" == student_markdown(view)


def test_markdown_explains_a_mistake_where_the_level_allows():
    """A hint before."""
    submission = make_submission(diagnoses=[make_diagnosis(explanation="so it is", hint="think")])

    hint, full = markdown_of(submission), markdown_of(submission, "full")

    assert "**The scores are divided by d\\, not by the square root of d**" in hint
    assert ["think" in hint, "so it is" in hint, "so it is" in full] == [True, False, True]


def test_markdown_reason_of_a_decision_on_a_hidden_check_is_not_told():
    """It may tell what the check asks; that points were given, and for which title, may be known."""
    submission = submission_of("ada", 50, adjustments=[DECIDED])
    hidden = submission.model_copy(update={"checks": [submission.checks[0].model_copy(update={"visible": False})]})

    assert "right by hand" in markdown_of(submission)
    assert "right by hand" not in markdown_of(hidden)
    assert "- +3.50: decided by the course staff" in markdown_of(hidden)


@pytest.mark.parametrize("text", [HOSTILE, "```\n# x\n````\n<b>", "~~~\n![i](http://e.example)"])
def test_markdown_hostile_text_makes_no_markup(text):
    """In a message, a hint, a note, a diagnosis and a decision's reason."""
    adjustment = LATE.model_copy(update={"reason": text, "points": 0})
    submission = make_submission(
        id=text,
        checks=[make_check(message=text, hint=text), make_check(id="b")],
        notes=[text],
        diagnoses=[make_diagnosis(evidence=text, checks=["b"])],
        adjustments=[adjustment],
        final_score="12.5",
    )

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(markdown_of(submission, "full"))

    kinds = {child.type for token in tokens for child in token.children or ()} | {token.type for token in tokens}
    blocks = [token.content.strip() for token in tokens if token.type == "html_block"]
    assert not {"html_inline", "image", "link_open"} & kinds
    assert {"<details>", "</details>"} == {block.partition("<summary>")[0] for block in blocks}
    assert ["h2", "h3", "h3", "h3"] == [token.tag for token in tokens if token.type == "heading_open"]
    assert 3 == sum(token.type == "fence" for token in tokens)


def test_markdown_of_every_submission_of_a_class_fits_a_comment():
    """GitHub takes some 64 KB."""
    assert all(len(markdown_of(one, "full").encode()) < 60_000 for one in sample_class().submissions)


def test_markdown_says_how_far_the_code_is_from_pytorch():
    """The numbers stand below the points."""
    measured = [{"name": "output", "source": "PyTorch", "difference": 2.2e-16, "allowed": 1e-5}]

    text = markdown_of(make_submission(checks=[make_check(callable="Heads", measured=measured)]))

    assert r"- `Heads`: largest differences from PyTorch\: values 2\.2e\-16 \(allowed 1e\-05\)" in text
