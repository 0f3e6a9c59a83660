"""The solutions and mistakes that tests grade are what they claim to be; grading them is another test."""

import tomllib
from pathlib import Path

import pytest

DATA = Path(__file__).parent / "data"
VARIANTS = Path(__file__).parents[1] / "reference/variants/attention"
FILES = ("single_head.py", "masked.py", "multi_head.py")
PLAIN = {name: (DATA / "solutions" / "plain" / name).read_text() for name in FILES}
ATTENTION = tomllib.loads((DATA / "mistakes" / "attention.toml").read_text())
MISTAKES = ATTENTION["mistake"]
STYLES = sorted(path for path in VARIANTS.iterdir() if path.is_dir())

each_mistake = pytest.mark.parametrize("mistake", MISTAKES, ids=[mistake["id"] for mistake in MISTAKES])
each_style = pytest.mark.parametrize("style", STYLES, ids=[style.name for style in STYLES])


@each_mistake
def test_mistake_old_text_occurs_exactly_once(mistake):
    """An edit that could apply in two places, or in none, would be another mistake than the one it names."""
    counts = [PLAIN[edit["file"]].count(edit["old"]) for edit in mistake["edits"]]

    assert counts
    assert {1} == set(counts)


@each_mistake
def test_mistake_edited_solution_differs_and_compiles(mistake):
    """A mistake is Python: it fails when it is run, not when it is read."""
    edited = dict(PLAIN)

    for edit in mistake["edits"]:
        edited[edit["file"]] = edited[edit["file"]].replace(edit["old"], edit["new"])

    assert PLAIN != edited
    for name, source in edited.items():
        compile(source, name, "exec")


@each_mistake
def test_mistake_states_what_it_must_cost(mistake):
    """Anything but a plain loss of points needs a reason."""
    assert mistake["title"]
    assert mistake["expect"] in {"loses", "right", "dtype_only", "unobservable"}
    assert mistake["expect"] == "loses" or mistake["why"]


def test_mistakes_have_unique_ids():
    """A report of the mistakes names each by its id."""
    ids = [mistake["id"] for mistake in MISTAKES]

    assert len(ids) == len(set(ids))


def test_mistakes_not_expressible_are_listed_once_and_with_a_reason():
    """An entry of the catalogue is either tried or explained, never both."""
    tried = {entry for mistake in MISTAKES for entry in mistake["catalogue"]}
    explained = [entry for item in ATTENTION["not_expressible"] for entry in item["catalogue"]]

    assert all(item["why"] for item in ATTENTION["not_expressible"])
    assert len(explained) == len(set(explained))
    assert not tried & set(explained)


@each_style
def test_style_is_complete_and_compiles(style):
    """Each style answers all three files."""
    for name in FILES:
        compile((style / name).read_text(), name, "exec")

    assert set(FILES) == {path.name for path in style.glob("*.py")}


def test_styles_are_pairwise_different():
    """Each style is another way of writing it, in every file."""
    for name in FILES:
        sources = [(style / name).read_text() for style in STYLES]

        assert len(sources) == len(set(sources))
