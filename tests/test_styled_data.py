"""The mistakes in students' own styles are what they claim to be: right solutions, and edits that still make Python."""

import pytest
from prove_checks import Entry, grade_entries
from styled_mistakes import STYLES, entries, solution

FILES = {"single_head.py", "masked.py", "multi_head.py"}
MISTAKES = [(style, *entry) for style in STYLES for entry in entries(style)]

each_style = pytest.mark.parametrize("style", STYLES)
each_mistake = pytest.mark.parametrize(
    ("style", "files"), [(style, files) for style, _, _, files in MISTAKES], ids=[f"{m[0]}-{m[2]}" for m in MISTAKES]
)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The solution of each style, graded in one run."""
    right = [Entry(id=style, expect="right", files=solution(style)) for style in STYLES]
    return grade_entries(right, seed=1, folder=tmp_path_factory.mktemp("styled"))


@each_style
def test_styled_solution_scores_full_marks(graded, style):
    """Whatever a mistake costs in this style, the style itself costs nothing."""
    assert FILES == set(solution(style))
    assert graded[style].max_score == graded[style].score


@each_mistake
def test_styled_mistake_differs_from_its_solution_and_compiles(style, files):
    """A mistake is Python: it fails when it is run, not when it is read."""
    assert solution(style) != files
    for name, text in files.items():
        compile(text, name, "exec")


@each_style
def test_styled_mistakes_are_told_apart(style):
    """A mistake is known by its title, since one of the catalogue may be made in several places."""
    titles = [title for _, title, _ in entries(style)]
    texts = [tuple(files.values()) for _, _, files in entries(style)]

    assert len(titles) == len(set(titles))
    assert len(texts) == len(set(texts))


@each_style
def test_styled_mistakes_are_many_and_some_have_no_name(style):
    """What a recogniser is measured by must ask for names, and for silence too."""
    names = [name for name, _, _ in entries(style)]

    assert 24 <= len(set(names) - {""})
    assert 8 <= names.count("")
