"""Which of a course's mistakes an assignment's callables can show."""

import pytest

from grader.diagnosis.mistakes import read_mistakes
from grader.diagnosis.taken_apart import reaching, without_harmless

COURSE = {
    "__init__.py": "",
    "scores.py": "def scores(x):\n    return x + 1\n\n\ndef unused(x):\n    return x + 2\n",
    "heads.py": "from reference.scores import scores\n\n\ndef heads(x):\n    y = scores(x)\n    return y * 3\n",
    "costs.py": "def costs(x):\n    return x - 4\n",
}
BOOK = """
[[mistake]]
id = "{id}"
title = "Something else"
explanation = "It is something else."
hint = "Is it?"
price = 1
edits = [{edits}]
"""


def edit(file, old, new):
    """An edit, in TOML."""
    return f'{{ file = "{file}.py", old = "{old}", new = "{new}" }}'


@pytest.fixture
def book(tmp_path):
    """A course of three topics, one of which uses another."""
    for name, text in COURSE.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "mistakes").mkdir()
    entries = {
        "scores-off": [edit("scores", "x + 1", "x")],
        "never-shown": [edit("scores", "x + 2", "x")],
        "heads-off": [edit("heads", "y * 3", "y")],
        "costs-off": [edit("costs", "x - 4", "x")],
        "off-everywhere": [edit("heads", "return y", "return 2 * y"), edit("costs", "return x", "return 2 * x")],
    }
    text = "".join(BOOK.format(id=id, edits=", ".join(edits)) for id, edits in entries.items())
    (tmp_path / "mistakes/all.toml").write_text(text)
    return read_mistakes(tmp_path)


def test_taken_apart_mistakes_that_no_callable_uses_are_left_out(book):
    """Those of another topic, and those of a function that nothing calls."""
    found = reaching(book, [("heads", "heads")])

    assert ["scores-off", "heads-off", "off-everywhere"] == list(found.by_id)


def test_taken_apart_modules_of_other_topics_are_left_out(book):
    """An assignment does not pay for the reference of another."""
    found = reaching(book, [("heads", "heads")])

    assert ["heads.py", "scores.py"] == sorted(found.texts)


def test_taken_apart_edits_of_other_topics_are_left_out(book):
    """A mistake made in several functions is made in those that the assignment has."""
    found = reaching(book, [("costs", "costs")])

    assert {"costs-off": ["costs.py"], "off-everywhere": ["costs.py"]} == {
        one.id: [edit.file for edit in one.edits] for one in found
    }


DECLARED = '[[harmless]]\nmistakes = ["scores-off"]\ncallables = ["Heads"]\nwhy = "Nobody sees it."\n'


@pytest.mark.parametrize(
    ("targets", "is_left_out"),
    [
        ({"Heads": [("heads", "heads")]}, True),
        ({"Other": [("heads", "heads")]}, False),
        ({"Heads": [("heads", "heads")], "Scores": [("scores", "scores")]}, False),
        ({"Heads": [("heads", "heads")], "Costs": [("costs", "costs")]}, True),
    ],
    ids=["declared", "of another name", "shown by another callable", "not used by the other callable"],
)
def test_taken_apart_harmless_mistakes_are_left_out_where_no_callable_shows_them(book, tmp_path, targets, is_left_out):
    """A declaration is about callables by their names in an assignment, and one that is not declared decides."""
    (tmp_path / "mistakes/declared.toml").write_text(DECLARED)

    found = without_harmless(read_mistakes(tmp_path), targets)

    assert is_left_out == ("scores-off" not in found.by_id)
    assert "heads-off" in found.by_id
