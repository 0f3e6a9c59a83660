"""The catalogue of mistakes reads as it should: rules its reader does not enforce. Diagnosing is tested elsewhere."""

import re
from pathlib import Path

import pytest
from sample_course import own_reference

from grader.assignment import read_assignment
from grader.diagnosis.edited import Edited
from grader.diagnosis.mistakes import read_mistakes
from grader.diagnosis.taken_apart import reaching
from grader.given import Inputs
from grader.oracle import Oracle

REFERENCE = Path(__file__).parents[1] / "reference"
ASSIGNMENTS = REFERENCE.parent / "assignments"
MISTAKES = read_mistakes(REFERENCE)

#: Entries of the published catalogue that are right code by the contract of this assignment.
RIGHT_HERE = {"M07", "M09", "G11", "N03", "N08", "P07", "H27"}
#: What shows that a sentence holds code: quotes for it, brackets, names with underscores or dots, assignments.
CODE = re.compile(r"[`_=(){}\[\]]|\w\.\w")
SENTENCE_END = re.compile(r"[.?!](?=\s|$)")

each_mistake = pytest.mark.parametrize("mistake", list(MISTAKES), ids=list(MISTAKES.by_id))


@pytest.fixture(scope="module")
def edited():
    """The edited references, with what was compiled."""
    with own_reference():
        Oracle(REFERENCE, read_assignment(ASSIGNMENTS / "attention"), Inputs(1))
        yield Edited(MISTAKES)


def test_catalogue_holds_a_hundred_mistakes():
    """Fewer would leave too many students with "not recognised"."""
    assert len(MISTAKES) >= 100


@each_mistake
def test_mistake_title_is_a_line_without_code(mistake):
    """Titles stand in tables of a report, and name the mistake in words."""
    assert not CODE.search(mistake.title)
    assert mistake.title[0].isupper()
    assert not mistake.title.endswith((".", "?", "!"))


@each_mistake
def test_mistake_hint_is_one_sentence_without_code(mistake):
    """A hint is read before the deadline: it points at the idea, and nobody can copy it."""
    assert not CODE.search(mistake.hint)
    assert 1 == len(SENTENCE_END.findall(mistake.hint))
    assert SENTENCE_END.search(mistake.hint[-1])


@each_mistake
def test_mistake_explanation_is_two_to_four_sentences(mistake):
    """An explanation says why it is wrong and what is right, and no more."""
    assert 2 <= len(SENTENCE_END.findall(mistake.explanation)) <= 4
    assert "`" not in mistake.explanation


@each_mistake
def test_mistake_catalogue_ids_are_well_formed_and_wrong_here(mistake):
    """An id is a letter and two digits, and names no code that this assignment accepts."""
    assert all(re.fullmatch(r"[A-Z]\d\d", one) for one in mistake.catalogue)
    assert not RIGHT_HERE & set(mistake.catalogue)


@pytest.mark.parametrize("name", sorted(one.name for one in ASSIGNMENTS.iterdir()))
def test_mistake_titles_of_an_assignment_are_pairwise_different(name):
    """Two mistakes with one title could not be told apart in its report."""
    callables = [one for part in read_assignment(ASSIGNMENTS / name).parts for one in part.callables.values()]
    titles = [one.title for one in reaching(MISTAKES, [tuple(one.reference.split(":")) for one in callables])]

    assert titles
    assert len(titles) == len(set(titles))


@each_mistake
def test_mistake_edits_change_the_text_and_do_not_overlap(mistake, edited):
    """All edits of a mistake are made at once, each in a place of its own."""
    assert all(edit.old != edit.new for edit in mistake.edits)
    assert edited.are_compatible([mistake.id])


@each_mistake
def test_mistake_edited_reference_can_be_run(mistake, edited):
    """A mistake is Python: it fails when it is called, not when it is read."""
    modules = edited.modules([mistake.id])

    assert {"attention", "masks", "multi_head"} <= set(modules)
