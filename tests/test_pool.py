"""Examiners and the zygote end in the middle of a run: nobody but the submission at fault loses by it."""

import json
import os
import signal

import pytest
from conftest import (
    DOUBLE,
    HALVE,
    RIGHT,
    TINY_COURSE,
    Command,
    children_of,
    finish,
    is_zygote,
    wait_until,
    workers_of,
    write_files,
)

#: Holds its examiner for the second that an import may take here.
HANGS = {"double.py": "import time\ntime.sleep(1000)\n", "halve.py": HALVE}
#: Lines of a check that has faults of its own, which two answers bring to light: one ends the examiner.
BREAKS = """    largest = float(student(given.normal("x", 2, 3)).value("y").abs().max())
    if largest > 1e12:
        __import__("os")._exit(1)
    if largest > 1e6:
        raise RuntimeError("the check is broken")
"""
#: An answer that ends the examiner whenever it is graded.
KILLS = {**RIGHT, "halve.py": HALVE.replace("0.5", "1e15")}
#: More than two examiners grade before they are replaced.
MANY = 104


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The command, in a course that gives an import one second."""
    course = {name: text.replace("import_s = 3", "import_s = 1") for name, text in TINY_COURSE.items()}
    checks = "assignments/tiny/checks/test_halve.py"
    ask = '    student(given.normal("x", 2, 3)).matches()\n'
    course[checks] = course[checks].replace(ask, BREAKS + ask)
    return Command(write_files(tmp_path_factory.mktemp("course"), course))


def hand_in(folder, students):
    """Write a folder of submissions."""
    for name, files in students.items():
        write_files(folder / name, files)
    return folder


def entries_of(out):
    """Entries by id, without what differs from run to run."""
    report = json.loads((out / "report.json").read_text())
    for entry in report["submissions"]:
        for check in entry["checks"]:
            del check["duration_s"]
    return {entry.pop("id"): entry for entry in report["submissions"]}


def verdicts_of(entry):
    """Verdicts by check."""
    return {check["id"]: check["verdict"] for check in entry["checks"]}


def find_processes(grade, last, out):
    """Examiner and zygote of a run, once that submission is in the journal and the next has a worker."""

    def look():
        journal = out / "journal.jsonl"
        if not journal.exists() or f'"id":"{last}"' not in journal.read_text():
            return None
        children = children_of(grade)
        zygotes = [pid for pid in children if is_zygote(pid)]
        examiners = [pid for pid in children if pid not in zygotes]
        return (examiners[0], zygotes[0]) if examiners and zygotes and workers_of(zygotes[0]) else None

    return wait_until(look, f"the submission after {last} is in a worker")


@pytest.fixture(scope="module")
def disturbed(command, tmp_path_factory):
    """A run in which a check breaks, then the examiner is killed under one submission, the zygote under the next."""
    folder = tmp_path_factory.mktemp("disturbed")
    wrong, huge = ({**RIGHT, "halve.py": HALVE.replace("0.5", factor)} for factor in ("0.6", "1e9"))
    students = {"ada": RIGHT, "amy": wrong, "ann": huge, "hal": HANGS, "ian": HANGS, "zoe": RIGHT}
    submissions = hand_in(folder / "class", students)
    out = folder / "report"
    with command.start(submissions, "-o", out, "-j", 1) as process:
        examiner, _ = find_processes(process.pid, "ann", out)
        os.kill(examiner, signal.SIGKILL)
        _, zygote = find_processes(process.pid, "hal", out)
        os.kill(zygote, signal.SIGKILL)
        result = finish(process)
    return result, entries_of(out)


@pytest.fixture(scope="module")
def crowded(command, tmp_path_factory):
    """A class of equal submissions, two at a time, and one that ends its examiner whenever it is graded."""
    folder = tmp_path_factory.mktemp("crowded")
    wrong = {"double.py": DOUBLE.replace("x + x", "x + 1"), "halve.py": HALVE}
    students = {f"s{number:03}": wrong for number in range(MANY)}
    submissions = hand_in(folder / "class", {"mad": KILLS} | students)
    result = command.run(submissions, "-o", folder / "report", "-j", 2)
    return result, entries_of(folder / "report")


def test_pool_killed_processes_cost_no_submission(disturbed):
    """Whatever was in flight is graded again, in new processes, and the run goes on."""
    result, entries = disturbed

    assert 1 == result.returncode, result.stderr
    assert ["ada", "amy", "ann", "hal", "ian", "zoe"] == list(entries)
    assert {"graded"} == {entry["status"] for one, entry in entries.items() if one != "ann"}


def test_pool_check_that_breaks_is_no_fault_of_the_submission_nor_the_answer_of_another(disturbed):
    """It says what broke; what the same check found in the submission before is not carried over."""
    _, entries = disturbed

    assert ("graded", "wrong_value") == (entries["amy"]["status"], verdicts_of(entries["amy"])["halve.values"])
    assert ("grader_error", None) == (entries["ann"]["status"], entries["ann"]["score"])
    assert "the check is broken" in entries["ann"]["reason"]


def test_pool_submission_graded_again_has_the_entry_it_deserves(disturbed):
    """Its first attempt left no trace."""
    _, entries = disturbed

    assert ("timeout", 1.0) == (verdicts_of(entries["hal"])["double.values"], entries["hal"]["score"])
    assert entries["hal"] == entries["ian"]


def test_pool_submissions_before_and_after_a_fault_are_graded_alike(disturbed):
    """New processes grade as the first ones did."""
    _, entries = disturbed

    assert 4.0 == entries["ada"]["score"]
    assert entries["ada"] == entries["zoe"]


def test_pool_submission_that_fails_alone_too_has_no_score(crowded):
    """A fault of the grader is never a zero, and the exit code says that somebody has to look."""
    result, entries = crowded

    assert 1 == result.returncode, result.stderr
    assert ("grader_error", None) == (entries["mad"]["status"], entries["mad"]["score"])
    assert "grade it alone with --only" in entries["mad"]["reason"]


def test_pool_submissions_beside_the_one_at_fault_are_graded(crowded):
    """Who was graded at the same moment, by chance, loses nothing."""
    _, entries = crowded

    statuses = [entry["status"] for one, entry in entries.items() if one != "mad"]

    assert ["graded"] * MANY == statuses


def test_pool_recycled_examiners_give_identical_entries(crowded):
    """An examiner that was replaced after its share grades as its predecessor."""
    _, entries = crowded

    first, *others = [entry for one, entry in entries.items() if one != "mad"]

    assert 1.0 == first["score"]
    assert [] == [other for other in others if other != first]
