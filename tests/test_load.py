"""A class of sixty of which eighteen are hostile: `benchmarks/load.py` is the same with a thousand."""

import pytest
from load_run import FAULTS, HONEST, is_contained, run_load, write_load

#: Each fault once, and three of them twice.
COUNT = 60
#: KiB that a process may seem to grow by when it does not: what it touches for the first time late.
SLACK_KIB = 3072


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """One run over the class, two at a time."""
    folder = tmp_path_factory.mktemp("load")
    command, submissions = write_load(folder, COUNT, call_s=1.0)
    return run_load(command, submissions, folder / "report", jobs=2)


def test_load_every_submission_is_graded(seen):
    """No fault of a student is one of the grader."""
    assert 0 == seen.exit_code, seen.errors
    assert {**dict.fromkeys(FAULTS, 1), **dict.fromkeys(list(FAULTS)[:3], 2)} == {
        kind: len(entries) for kind, entries in seen.entries.items() if kind in FAULTS
    }
    assert COUNT == sum(map(len, seen.entries.values()))


@pytest.mark.parametrize("kind", HONEST)
def test_load_honest_entries_are_identical_whoever_was_graded_beside(seen, kind):
    """Not a byte of an entry but its times depends on what others did at the same moment."""
    first, *others = seen.entries[kind]

    assert [] == [other for other in others if other != first]
    assert {"right": 4.0, "wrong": 1.0, "detached": 3.0, "raising": 1.0}[kind] == first["score"]


@pytest.mark.parametrize("kind", FAULTS)
def test_load_fault_is_contained(seen, kind):
    """It has a verdict that says what happened, and costs the part it is in."""
    entries = seen.entries[kind]

    assert [] == [entry for entry in entries if not is_contained(kind, entry)]


def test_load_one_zygote_lasts_the_whole_run(seen):
    """None had to be replaced."""
    assert 1 == len(seen.zygotes)


def test_load_descriptors_and_processes_do_not_grow(seen):
    """In the last quarter no more is left open or running than in the second."""
    names = ("descriptors", "zygote_descriptors", "processes")

    assert [] == [name for name in names if getattr(seen.late, name) > getattr(seen.early, name)], seen


def test_load_memory_does_not_grow(seen):
    """Neither the grader nor the process that workers are forked from."""
    assert seen.late.grader_kib <= seen.early.grader_kib + SLACK_KIB
    assert seen.late.zygote_kib <= seen.early.zygote_kib + SLACK_KIB
