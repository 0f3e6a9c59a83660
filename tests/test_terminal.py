"""What a TA reads when a run has ended."""

import re

import pytest
from sample_findings import make_diagnosis
from sample_report import HOSTILE, late_class, make_report, make_submission

from grader.render.overview import summarise
from grader.store import Store
from grader.terminal import Screen


@pytest.fixture
def printed(capsys, tmp_path, monkeypatch):
    """What is printed about some submissions, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")

    def result(*submissions, report=None):
        report = report or make_report(*submissions)
        Screen().result(summarise(report, report.submissions), Store(tmp_path))
        return capsys.readouterr().out

    return result


def test_terminal_mistakes_are_counted_after_the_table(printed):
    """The most frequent first, then what nobody recognised."""
    scale = make_diagnosis()
    other = make_diagnosis(mistakes=["b"], title="The softmax runs over the queries")

    text = printed(
        make_submission(id="ada", diagnoses=[other, scale], unrecognised=["masked_attention"]),
        make_submission(id="bela", diagnoses=[scale]),
    )

    assert (
        "\nMistakes in this class, by students who made them\n"
        "   2  The scores are divided by d, not by the square root of d\n"
        "   1  The softmax runs over the queries\n"
        "   1  masked_attention: wrong, but not recognised\n"
        "\n2 graded"
    ) in text
    assert text.index("bela") < text.index("Mistakes in this class")


def test_terminal_many_mistakes_are_eight_lines(printed):
    """A screen stays a screen, and says where the rest is."""
    many = [make_diagnosis(mistakes=[f"m{number}"], title=f"mistake {number}") for number in range(11)]

    text = printed(make_submission(diagnoses=many))

    assert 8 == text.count("\n   1  mistake ")
    assert "      ... and 3 more; index.html lists all of them\n" in text


def test_terminal_without_mistakes_says_nothing_of_them(printed):
    """No empty heading."""
    assert "Mistakes" not in printed(make_submission())


def test_terminal_long_title_stays_on_one_line(printed):
    """A title wider than the terminal gives way."""
    lines = printed(make_submission(diagnoses=[make_diagnosis(title="long " * 22)])).splitlines()

    line = next(line for line in lines if line.startswith("   1  long"))
    assert (80, "…") == (len(line), line[-1])


def test_terminal_hostile_text_has_no_power(printed):
    """Whatever a submission is called, no escape sequence gets through."""
    text = printed(make_submission(id=HOSTILE, unrecognised=[HOSTILE]))

    assert text.replace("\n", "").isprintable()


def test_terminal_shows_both_figures_where_a_score_was_adjusted(printed):
    """What counts comes first, and the mean has both."""
    text = printed(report=late_class())

    assert ["submission", "final", "score", "single_head", "first", "problem"] == text.splitlines()[0].split()
    assert ["ada", "13.05", "12.50", "12.50"] == text.splitlines()[1].split()[:4]
    assert ["dmitri", "70.00", "-"] == text.splitlines()[4].split()[:3]
    assert (
        "3 graded, 1 grader error, mean 20.83 of 100.00; final mean 33.26\n"
        "  2 handed in late, which takes 1.45 points in all\n"
        "  2 with points that staff decided\n"
    ) in text


def test_terminal_shows_one_figure_where_nothing_was_adjusted(printed):
    """As long as there is no policy and no override, there is nothing to read about them."""
    text = printed(make_submission())

    assert ["submission", "score"] == text.splitlines()[0].split()[:2]
    assert "1 graded, mean 12.50 of 100.00\n  " in text
    assert "late" not in text


def test_terminal_much_news_of_a_kind_is_ten_lines(capsys):
    """A table with every name misspelt does not push all else away."""
    Screen().say_some([f"line {number}" for number in range(13)])

    told = capsys.readouterr().err.splitlines()
    assert ["line 9", "... and 3 more of this kind"] == told[-2:]
    assert 11 == len(told)


def test_terminal_names_are_no_commands_to_a_runner(printed):
    """An id comes first in its row, and a log shows it at the start of a line."""
    text = printed(make_submission(id="::add-mask::100"), make_submission(id="x\n::error::y"))

    assert not re.search(r"^\s*::", text, re.MULTILINE)
    assert "::add-mask::" not in text


def test_terminal_news_with_a_name_that_breaks_lines_is_one_line(capsys):
    """What comes after the break would look like news of the grader's."""
    Screen().say("Canvas download: a\nGrading finished, everybody has 100\n::error::x")

    assert "Canvas download: a⟨U+000A⟩Grading finished" in " ".join(capsys.readouterr().err.split("\n"))
