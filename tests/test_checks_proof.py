"""The proof of prove_checks.py, short enough for every run: all entries once, some of them with another seed."""

import pytest
from prove_checks import DTYPE_CHECK, entries, grade_entries, verdicts

ENTRIES = {entry.id: entry for entry in entries("attention")}
#: Every second entry that must lose no value check, and every sixteenth mistake, are graded with a second seed; `make
#: prove` does so with all of them, and fifty.
AGAIN = [entry for entry in ENTRIES.values() if entry.expect != "loses"][::2] + [
    entry for entry in list(ENTRIES.values())[::16] if entry.expect == "loses" and not entry.is_random
]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """All entries, graded in one run."""
    return grade_entries(ENTRIES.values(), seed=1, folder=tmp_path_factory.mktemp("proof"))


@pytest.fixture(scope="module")
def graded_again(tmp_path_factory):
    """Some entries, with another seed."""
    return grade_entries(AGAIN, seed=2, folder=tmp_path_factory.mktemp("again"))


@pytest.mark.parametrize("name", ENTRIES)
def test_checks_give_entry_what_it_deserves(graded, name):
    """A mistake loses points, a float32 buffer its dtype check only; right code, and what nothing can show, none."""
    complaint = ENTRIES[name].complaint(graded[name])

    assert "" == complaint


@pytest.mark.parametrize("name", [entry.id for entry in AGAIN])
def test_checks_give_equal_verdicts_with_another_seed(graded, graded_again, name):
    """No verdict depends on the seed."""
    before, after = verdicts(graded[name]), verdicts(graded_again[name])

    assert before == after


def test_checks_are_each_failed_by_some_mistake(graded):
    """A check that no mistake fails asks nothing."""
    failed = {check for name, submission in graded.items() for check in verdicts(submission)}

    assert {check.id for check in graded["plain"].checks} == failed


def test_checks_dtype_entries_lose_one_check_of_a_callable(graded):
    """One mistake, one price: each callable has one dtype check to lose."""
    lost = {name: list(verdicts(graded[name])) for name, entry in ENTRIES.items() if entry.expect == "dtype_only"}

    assert all(checks and all(check.endswith(DTYPE_CHECK) for check in checks) for checks in lost.values())
