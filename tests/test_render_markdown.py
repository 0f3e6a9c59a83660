"""summary.md: a class on one screen."""

import pytest
from markdown_it import MarkdownIt
from sample_findings import make_diagnosis
from sample_report import HOSTILE, late_class, make_header, make_report, make_submission, sample_class

from grader.render.markdown import summary_markdown
from grader.render.overview import summarise
from grader.report import Assignment, Grader, Status


def summary_of(*submissions, **fields):
    """Make the summary of a run of these submissions."""
    report = make_report(*submissions, **fields)
    return summary_markdown(summarise(report, report.submissions))


def test_summary_whole_text_is_as_documented():
    """A small run reads like this."""
    assert (
        "# Attention\n"
        "\n"
        "**1 submission**: 1 graded. Mean **12.50**, median 12.50 of 100.00.\n"
        "\n"
        "| Submission | Score | Single-head attention | First problem |\n"
        "| :-- | --: | --: | :-- |\n"
        "| `ada` | 12.50 | 12.50 | `single_head: wrong value: Output and weights are right` |\n"
        "\n"
        "## Checks failed most\n"
        "\n"
        "| Check | Part | Failed | Blocked |\n"
        "| :-- | :-- | --: | --: |\n"
        "| Output and weights are right | single\\_head | 1 | 0 |\n"
        "\n"
        "Grader 0.1.0, torch 2.13.0, seed 7, isolation strong, assignment digest `3f1c9ab2d04e`.\n"
    ) == summary_of(make_submission())


def test_summary_counts_every_status():
    """Ungradable folders and grader errors are in the first line."""
    text = summary_of(
        make_submission(),
        make_submission(id="b", status=Status.UNGRADABLE, score=0, reason="no stub file"),
        make_submission(id="c", status=Status.GRADER_ERROR, score=None, reason="died"),
    )

    assert "**3 submissions**: 1 graded, 1 ungradable, 1 grader error. Mean **6.25**, median 6.25 of 100.00." in text
    assert "| `c` | – | 12.50 | `grader error: died` |" in text


def test_summary_of_a_large_class_says_how_many_are_left_out():
    """A hundred rows at most, and the reader knows where the rest is."""
    text = summary_of(*(make_submission(id=f"s{number}") for number in range(103)))

    assert 100 == text.count("\n| `s")
    assert "3 more left out here; all are in `grades.csv` and `index.html`." in text


def test_summary_of_an_empty_run_is_a_summary():
    """Nothing to show is not an error."""
    text = summary_markdown(summarise(make_header(), []))

    assert "**0 submissions**.\n" in text


def test_summary_weak_isolation_is_a_banner_before_the_figures():
    """Nobody reads the mean before knowing how far it can be trusted."""
    weak = Grader(version="1", python="3", torch="2", isolation="partial", isolation_detail="No <user> namespaces.")

    text = summary_of(make_submission(), grader=weak)

    assert text.index("> **Isolation: partial.**") < text.index("submission**")
    assert r"No \<user\> namespaces." in text


def test_summary_mistakes_in_this_class_come_before_the_submissions():
    """What to explain in the next lecture: mistakes by how many made them, and what nobody recognised."""
    scale, other = make_diagnosis(), make_diagnosis(mistakes=["b"], title="The softmax runs over `q`")

    text = summary_of(
        make_submission(id="a", diagnoses=[other, scale]),
        make_submission(id="b", diagnoses=[scale], unrecognised=["masked_attention"]),
        make_submission(id="c"),
        make_submission(id="d", status=Status.UNGRADABLE, score=0, reason="no stub file"),
    )

    assert (
        "## Mistakes in this class\n"
        "\n"
        "| Mistake | Students | Share | Id |\n"
        "| :-- | --: | --: | :-- |\n"
        "| The scores are divided by d, not by the square root of d | 2 | 67% | `scale-by-d` |\n"
        "| The softmax runs over \\`q\\` | 1 | 33% | `b` |\n"
        "| Not recognised, in `masked_attention` | 1 | 33% |  |\n"
        "\n"
        "| Submission |"
    ) in text


def test_summary_of_many_mistakes_says_how_many_are_left_out():
    """Ten at most, and the reader knows where the rest is."""
    many = [make_diagnosis(mistakes=[f"m{number}"]) for number in range(13)]

    text = summary_of(make_submission(diagnoses=many))

    assert 10 == text.count("| `m")
    assert "3 rarer mistakes left out here; all are in `index.html`." in text


def test_summary_hostile_text_makes_no_markup():
    """A student's characters add no link, image, HTML or column."""
    text = summary_of(make_submission(id=HOSTILE))

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)

    kinds = {child.type for token in tokens for child in token.children or ()} | {token.type for token in tokens}
    assert not {"html_inline", "html_block", "image", "link_open"} & kinds
    assert text.replace("\n", "").isprintable()


def test_summary_course_text_is_shown_as_it_stands():
    """A title with marks of Markdown or HTML in it reads as it was written."""
    title = "L<S and L>S | *both* [1] `x`"
    course = Assignment(name="a", title=title, max_score=1, digest="d")

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(summary_of(assignment=course))

    assert title == "".join(child.content for child in tokens[1].children)


def test_summary_of_a_realistic_class_is_short():
    """It fits a job summary many times over."""
    report = sample_class()

    text = summary_markdown(summarise(report, report.submissions))

    assert len(text) < 6000


@pytest.mark.parametrize(
    ("handed_in", "is_unknown"),
    [
        (None, True),
        ({"source": "roster", "extension_hours": 24}, True),
        ({"source": "platform"}, False),
        ({"source": "roster", "time": "2026-11-29T12:00:00Z"}, False),
    ],
)
def test_summary_says_of_how_many_the_time_is_unknown(handed_in, is_unknown):
    """A platform that marks what is late says of the others that they are not; an extension alone says nothing."""
    text = summary_of(make_submission(handed_in=handed_in), assignment=late_class().assignment)

    assert is_unknown is ("1 of unknown time: nothing is taken off, though there is a deadline" in text)


def test_summary_shows_both_figures_where_a_score_was_adjusted():
    """What counts in front, and what was done to it in words."""
    report = late_class()

    text = summary_markdown(summarise(report, report.submissions))

    assert (
        "Mean **20.83**, median 12.50 of 100.00. With late days and overrides: mean **33.26**, median 31.53.\n"
        "\n"
        "- 2 handed in late, which takes 1.45 points in all\n"
        "- 2 with points that staff decided\n"
        "- 1 timed by the date of a commit, which is what the student's own machine said\n"
        "- 1 of unknown time: nothing is taken off, though there is a deadline\n"
        "\n"
        "| Submission | Final | Score | Single-head attention | First problem |\n"
        "| :-- | --: | --: | --: | :-- |\n"
        "| `ada` | 13.05 | 12.50 | 12.50 | "
    ) in text
