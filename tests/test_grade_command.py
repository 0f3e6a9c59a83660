"""`python -m grader` from beginning to end, as a person runs it: exit codes, messages, and what is left on the disk."""

import json
import os
import re
import shutil
import signal
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import (
    DOUBLE,
    HALVE,
    RIGHT,
    TINY_COURSE,
    Command,
    descendants_of,
    finish,
    is_running,
    wait_until,
    write_files,
)

WRONG = DOUBLE.replace("x + x", "x + 1")
#: A class in which everything goes wrong that a student can do by accident.
CLASS = {
    "ada": RIGHT,
    "bob": {"double.py": WRONG, "halve.py": HALVE},
    "cyd": {"double.py": "def double(x):\n    return x +\n", "halve.py": HALVE},
    "dan": {"homework/Double-1.py": DOUBLE, "homework/halve.py": HALVE},
    "eve": {"double.py": "# caf\xe9\n".encode("latin-1") + DOUBLE.encode(), "halve.py": HALVE},
    "fay": {"double.py": "import os\nos._exit(0)\n", "halve.py": HALVE},
    "gus": {"double.py": DOUBLE.replace("return", "while True: pass\n    return"), "halve.py": HALVE},
    "run": {"halve.py": "import random\ndef halve(x):\n    return x / 2 + random.random()\n"},
}
#: Never answers while its file is imported; in a course that waits.
HANGS = {"double.py": "import time\ntime.sleep(1000)\n", "halve.py": HALVE}


def hand_in(folder, students):
    """Write a folder of submissions."""
    for name, files in students.items():
        write_files(folder / name, files)
    return folder


def read(out):
    """The report, and its entries by id."""
    report = json.loads((out / "report.json").read_text())
    return report, {entry["id"]: entry for entry in report["submissions"]}


def journaled(out):
    """Ids in the journal, whole lines only."""
    path = out / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)[1:] if path.exists() else []
    return [json.loads(line)["id"] for line in lines if line.endswith("\n")]


def message_of(entry, check):
    """The message of the check of that id."""
    return next(one["message"] for one in entry["checks"] if check == one["id"])


def verdicts_of(entry):
    """Verdicts by check."""
    return {one["id"]: one["verdict"] for one in entry["checks"]}


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """The submissions of the class, a few folders deep as a download is."""
    return hand_in(tmp_path_factory.mktemp("download") / "submissions", CLASS)


@pytest.fixture(scope="module")
def both_runs(grade, handed_in, tmp_path_factory):
    """The class graded two at a time and one at a time with one seed; one level up the second time."""
    out = tmp_path_factory.mktemp("graded")
    settings = ("--seed", 5, "--timeout", 0.5)
    first = grade.run(handed_in, "-o", out / "two", "-j", 2, *settings)
    second = grade.run(handed_in.parent, "-o", out / "one", "-j", 1, *settings)
    return (first, out / "two"), (second, out / "one")


@pytest.fixture(scope="module")
def graded(both_runs):
    """The first of the two runs: what it printed, and its folder."""
    return both_runs[0]


@pytest.fixture
def earlier(graded, tmp_path):
    """A folder of a finished run, to be continued."""
    return Path(shutil.copytree(graded[1], tmp_path / "report"))


# --- a run ------------------------------------------------------------------------------------------------------


def test_grade_whole_class_exits_0_whatever_the_scores(graded):
    """Every submission was graded."""
    result, out = graded

    assert 0 == result.returncode, result.stderr
    assert {"graded"} == {entry["status"] for entry in read(out)[1].values()}


def test_grade_writes_every_report(graded):
    """What the last lines name is there, and the journal is not any more."""
    result, out = graded

    named = [Path(line.strip()) for line in result.stdout.splitlines() if line.strip().startswith(str(out))]

    assert ["index.html", "students", "grades.csv", "summary.md", "report.json"] == [path.name for path in named]
    assert all(path.exists() for path in named)
    assert sorted(CLASS) == sorted(path.stem for path in (out / "students").iterdir())
    assert not (out / "journal.jsonl").exists()


def test_grade_table_has_a_row_for_each_submission(graded):
    """The score, those of the parts, and the first problem."""
    result, _ = graded
    rows = {line.split()[0]: line.split()[1:4] for line in result.stdout.splitlines() if line.split()[:1]}

    assert ["4.00", "3.00", "1.00"] == rows["ada"]
    assert ["1.00", "0.00", "1.00"] == rows["cyd"]


@pytest.mark.parametrize("columns", [80, 64])
def test_grade_table_keeps_every_score_in_a_narrow_terminal(grade, handed_in, earlier, columns):
    """The text of the problem gives way, never a column of points."""
    environment = {**os.environ, "COLUMNS": str(columns)}

    result = grade.run(handed_in, "-o", earlier, "--resume", env=environment)

    row = next(line for line in result.stdout.splitlines() if line.startswith("cyd"))
    assert ["1.00", "0.00", "1.00"] == row.split()[1:4]


def test_grade_table_in_a_very_narrow_terminal_leaves_the_parts_out(grade, handed_in, earlier):
    """A score that has lost its decimals reads as another score."""
    environment = {**os.environ, "COLUMNS": "24"}

    result = grade.run(handed_in, "-o", earlier, "--resume", env=environment)

    lines = result.stdout.splitlines()
    assert "double" not in next(line for line in lines if line.startswith("submission"))
    assert "1.00" == next(line for line in lines if line.startswith("cyd")).split()[1]


def test_grade_says_what_it_grades_and_with_what_seed(graded):
    """Nobody has to open a file to learn that."""
    result, _ = graded

    assert "Grading 8 submissions of tiny, 2 at a time, seed 5" in result.stderr


def test_grade_one_job_and_two_give_the_same_report(both_runs):
    """A replay with the same seed is the same file, but for times."""
    texts = [
        re.sub(r'"(created|duration_s)": [^,\n]*', r'"\1": 0', (out / "report.json").read_text())
        for _, out in both_runs
    ]

    assert texts[0] == texts[1]


def test_grade_folder_one_level_up_descends(both_runs):
    """`grade submissions_example` finds the submissions below its only folder."""
    result, out = both_runs[1]

    assert 0 == result.returncode, result.stderr
    assert sorted(CLASS) == sorted(read(out)[1])


# --- what students do -------------------------------------------------------------------------------------------


def test_grade_syntax_error_shows_the_line(graded):
    """The student finds it without looking."""
    message = message_of(read(graded[1])[1]["cyd"], "double.values")

    assert "double.py, line 2:  return x +" in message
    assert "SyntaxError" in message


def test_grade_misspelt_and_nested_file_is_graded_and_noted(graded):
    """It costs nothing, and everybody is told."""
    entry = read(graded[1])[1]["dan"]

    assert 4.0 == entry["score"]
    assert ["homework/Double-1.py was read as double.py", "homework/halve.py was read as halve.py"] == entry["notes"]


def test_grade_file_that_is_not_utf8_says_where(graded):
    """The other file of the submission is graded."""
    entry = read(graded[1])[1]["eve"]

    message = message_of(entry, "double.values")

    assert "it is not UTF-8: byte 0xe9 at line 1, column 6; save the file as UTF-8" in message
    assert (1.0, "import_error") == (entry["score"], verdicts_of(entry)["double.values"])


def test_grade_exit_code_0_of_a_student_is_a_crash(graded):
    """Ending the program early earns nothing and costs one part."""
    entry = read(graded[1])[1]["fay"]

    assert "crashed" == verdicts_of(entry)["double.values"]
    assert 1.0 == entry["score"]


def test_grade_endless_loop_is_stopped_at_the_timeout_asked_for(graded):
    """`--timeout` bounds a call."""
    entry = read(graded[1])[1]["gus"]

    message = message_of(entry, "double.values")

    assert "did not finish within 0.5 s and was stopped" in message
    assert 1.0 == entry["score"]


def test_grade_missing_file_says_what_was_found(graded):
    """A part that was not handed in is not the grader's fault."""
    entry = read(graded[1])[1]["run"]

    assert "double.py is not in the submission" in message_of(entry, "double.values")
    assert "missing_file" == verdicts_of(entry)["double.values"]


# --- going on ---------------------------------------------------------------------------------------------------


def test_grade_fail_under_exits_4_when_a_score_is_below_it(grade, handed_in, earlier):
    """A limit can be put to a finished report; nothing is graded again."""
    codes = [
        grade.run(handed_in, "-o", earlier, "--resume", "--fail-under", percent).returncode for percent in ("25%", "26")
    ]

    assert [4, 4] == codes


def test_grade_only_keeps_the_others(grade, earlier):
    """One submission is graded anew with the seed of the report; the others stay to the letter."""
    before = read(earlier)
    mended = hand_in(earlier.parent / "mended", {"bob": RIGHT, "zoe": RIGHT})

    result = grade.run(mended, "-o", earlier, "--only", "bob")

    after = read(earlier)
    assert 0 == result.returncode, result.stderr
    assert (1.0, 4.0) == (before[1]["bob"]["score"], after[1]["bob"]["score"])
    assert {**before[1], "bob": after[1]["bob"]} == after[1]
    assert before[0]["seed"] == after[0]["seed"]


def test_grade_existing_report_is_not_replaced_unasked(grade, handed_in, earlier):
    """A new run never silently overwrites a report."""
    before = (earlier / "report.json").read_bytes()

    result = grade.run(handed_in, "-o", earlier)

    assert 2 == result.returncode
    assert "--resume" in result.stderr
    assert "--force" in result.stderr
    assert before == (earlier / "report.json").read_bytes()


@pytest.mark.parametrize(
    ("option", "field", "words"),
    [
        ("--resume", "torch", "torch 1.0, now "),
        ("--resume", "version", "grader 1.0, now "),
        ("--only=*", "python", "Python 1.0, now "),
    ],
)
def test_grade_report_of_other_versions_is_not_continued(grade, handed_in, earlier, option, field, words):
    """Entries made with other means do not stand side by side."""
    report, _ = read(earlier)
    report["grader"][field] = "1.0"
    (earlier / "report.json").write_text(json.dumps(report))

    result = grade.run(handed_in, "-o", earlier, option)

    assert 2 == result.returncode
    assert words in result.stderr
    assert "grade everything again with --force" in result.stderr


def test_grade_report_of_other_checks_is_not_continued(grade, handed_in, earlier, tmp_path):
    """A changed check changes the digest of the assignment."""
    course = write_files(tmp_path / "course", TINY_COURSE)
    with open(course / "assignments/tiny/checks/test_halve.py", "a") as checks:
        checks.write("# harder now\n")

    result = Command(course).run(handed_in, "-o", earlier, "--resume")

    assert 2 == result.returncode
    assert "digest of the assignment" in result.stderr


def test_grade_report_of_another_seed_is_not_continued(grade, handed_in, earlier):
    """A report has one seed."""
    result = grade.run(handed_in, "-o", earlier, "--resume", "--seed", 6)

    assert 2 == result.returncode
    assert "was graded with seed 5, not 6" in result.stderr


def test_grade_report_of_another_time_limit_is_not_continued(grade, handed_in, earlier):
    """Entries that had more time do not stand beside entries that had less."""
    result = grade.run(handed_in, "-o", earlier, "--resume", "--timeout", 7)

    assert 2 == result.returncode
    assert "limit of a call 0.5 s, now 7 s" in result.stderr


def test_grade_damaged_report_is_named(grade, handed_in, earlier):
    """A report somebody edited is not guessed at."""
    (earlier / "report.json").write_text("{")

    result = grade.run(handed_in, "-o", earlier, "--resume")

    assert 2 == result.returncode
    assert f"grade: {earlier}/report.json: " in result.stderr


def test_grade_resume_of_a_finished_run_grades_nothing(grade, handed_in, earlier):
    """Entries are kept to the letter, times included."""
    before = (earlier / "report.json").read_bytes()

    result = grade.run(handed_in, "-o", earlier, "--resume")

    assert 0 == result.returncode
    assert "8 are kept from the earlier run" in result.stderr
    assert before == (earlier / "report.json").read_bytes()


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory):
    """A run interrupted by Ctrl-C, one killed, and one that completes it: what each left behind."""
    folder = tmp_path_factory.mktemp("broken_off")
    course = {name: text.replace("import_s = 3", "import_s = 1000") for name, text in TINY_COURSE.items()}
    command = Command(write_files(folder / "course", course))
    submissions, out = folder / "class", folder / "report"
    hand_in(submissions, {"ada": RIGHT, "bob": CLASS["bob"], "hal": HANGS})
    interrupted = break_off(command, signal.SIGINT, "bob", submissions, "-o", out, "-j", 1)
    hand_in(submissions, {"cyd": RIGHT})
    killed = break_off(command, signal.SIGKILL, "cyd", submissions, "-o", out, "-j", 1, "--resume")
    hand_in(submissions, {"bob": RIGHT, "hal": RIGHT, "ivy": {"notes.txt": "sorry"}})
    resumed = command.run(submissions, "-o", out, "-j", 1, "--resume")
    return SimpleNamespace(out=out, interrupted=interrupted, killed=killed, resumed=resumed)


def break_off(command, number, last, *arguments):
    """Start a run, and send its process group a signal once this submission is in the journal."""
    out = arguments[2]
    with command.start(*arguments) as process:
        wait_until(lambda: last in journaled(out), f"{last} is in the journal")
        wait_until(lambda: len(descendants_of(process.pid)) >= 3, "an examiner, the zygote and a worker run")
        processes = [process.pid, *descendants_of(process.pid)]
        os.killpg(process.pid, number)
        result = finish(process)
    entries = [json.loads(line) for line in (out / "journal.jsonl").read_text().splitlines()[1:]]
    return SimpleNamespace(result=result, processes=processes, entries={entry["id"]: entry for entry in entries})


def test_grade_interrupted_exits_130_and_says_how_to_go_on(broken_off):
    """Ctrl-C is no error, and loses nothing that was finished."""
    result = broken_off.interrupted.result

    assert 130 == result.returncode
    assert "interrupted; what was finished is in" in result.stderr
    assert "Traceback" not in result.stderr
    assert ["ada", "bob"] == list(broken_off.interrupted.entries)


def test_grade_killed_run_keeps_what_was_finished(broken_off):
    """SIGKILL to everything at once loses the submission in flight and no other."""
    assert -signal.SIGKILL == broken_off.killed.result.returncode
    assert ["ada", "bob", "cyd"] == list(broken_off.killed.entries)


@pytest.mark.parametrize("name", ["interrupted", "killed"])
def test_grade_that_ends_leaves_no_process_behind(broken_off, name):
    """Examiners, zygote and workers end with the command, however it ends."""
    processes = getattr(broken_off, name).processes

    wait_until(lambda: not any(map(is_running, processes)), "all processes have ended")


def test_grade_resume_completes_the_run(broken_off):
    """What was missing is graded, and reports are written."""
    assert ["ada", "bob", "cyd", "hal", "ivy"] == list(read(broken_off.out)[1])
    assert (broken_off.out / "students/hal.html").exists()


def test_grade_resume_grades_what_changed_and_what_was_added(broken_off):
    """Submissions handed in later, or again, are graded; their files decide, not their times."""
    entries = read(broken_off.out)[1]

    assert [4.0, 4.0, 4.0, 4.0, 0.0] == [entry["score"] for entry in entries.values()]
    assert 1.0 == broken_off.interrupted.entries["bob"]["score"]
    assert "2 are kept from the earlier run" in broken_off.resumed.stderr


def test_grade_resume_keeps_what_is_finished_to_the_letter(broken_off):
    """The entry of the interrupted run is in the report, with its times."""
    assert broken_off.interrupted.entries["ada"] == read(broken_off.out)[1]["ada"]


def test_grade_ungradable_submission_exits_1_and_says_what_to_hand_in(broken_off):
    """An empty folder scores 0, with the reason; the others are graded."""
    entry = read(broken_off.out)[1]["ivy"]

    assert 1 == broken_off.resumed.returncode
    assert ("ungradable", 0.0) == (entry["status"], entry["score"])
    assert "none of double.py, halve.py is there" in entry["reason"]


# --- wrong usage ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corner(tmp_path_factory):
    """A folder of things that are no class."""
    folder = tmp_path_factory.mktemp("corner")
    write_files(folder, {"homework.7z": "", "used/thesis.tex": "", "run/ada/double.py": DOUBLE, "file": ""})
    (folder / "empty").mkdir()
    return folder


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], ["nothing does not exist"]),
        (["emtpy"], ["emtpy does not exist; did you mean", "empty?"]),
        (["homework.7z"], ["homework.7z is a file that is not read (only zip, tar and tar.gz archives are read)"]),
        (["empty"], ["empty holds no submission: wanted one folder, archive or notebook per student, with double.py"]),
        (["run", "-a", "tinny"], ["no assignment is called 'tinny'", "did you mean tiny?"]),
        (["run", "-a", "biology"], ["no assignment is called 'biology'", "there are: tiny"]),
        (["run", "-o", "run/report"], ["run/report lies in", "choose another folder with -o"]),
        (["run", "-o", "used"], ["used is not empty and holds no report"]),
        (["run", "-o", "file"], ["file is a file; wanted a folder for the reports (-o)"]),
        (["run", "-o", "file/report"], ["file/report: Not a directory"]),
        (["run", "--only", "adda"], ["no submission in", "matches 'adda'; near: ada"]),
        (["run", "--fail-under", "lots"], ["'lots' is no percentage; wanted a number from 0 to 100"]),
        (["run", "--fail-under", "101"], ["'101' is no percentage"]),
        (["run", "-j", "0"], ["0 is not in the range x>=1"]),
        (["run", "--timeout", "0"], ["0.0 is not in the range x>0"]),
        (["run", "--seed", "-1"], ["-1 is not in the range"]),
        (["run", "--course", "empty"], ["is in no course"]),
    ],
)
def test_grade_wrong_usage_exits_2_and_says_what_to_do(tiny_course, corner, arguments, words):
    """The message names what was given and what was wanted, and shows no traceback."""
    result = Command(corner).run("run", "--course", tiny_course, *arguments)

    assert 2 == result.returncode, result.stderr
    assert "Traceback" not in result.stderr
    assert [] == [word for word in words if word not in result.stderr], result.stderr


def test_grade_assignment_with_an_unknown_key_is_named(tmp_path):
    """An assignment that cannot be used is exit code 2, with file, key and near match."""
    file = "assignments/tiny/assignment.toml"
    course = write_files(tmp_path / "course", {**TINY_COURSE, file: TINY_COURSE[file].replace("points", "pionts", 1)})
    folder = hand_in(tmp_path / "class", {"ada": RIGHT})

    result = Command(course).run(folder, "-o", tmp_path / "report")

    assert 2 == result.returncode
    assert "assignment.toml, parts.0.pionts: unknown key; did you mean 'points'?" in result.stderr
    assert "Traceback" not in result.stderr


def test_grade_interrupted_while_the_checks_are_collected_exits_130(tmp_path):
    """pytest catches Ctrl-C; it is not taken for a fault of the assignment."""
    checks = "assignments/tiny/checks/test_halve.py"
    course = write_files(
        tmp_path / "course", {**TINY_COURSE, checks: TINY_COURSE[checks] + "raise KeyboardInterrupt\n"}
    )
    folder = hand_in(tmp_path / "class", {"ada": RIGHT})

    result = Command(course).run(folder, "-o", tmp_path / "report")

    assert 130 == result.returncode, result.stderr


def test_grade_folder_named_like_a_command_is_told_how_to_be_graded(tiny_course, corner):
    """`grade run` is the command; the message says how to mean the folder."""
    result = Command(corner).run("run")

    assert 2 == result.returncode
    assert "to grade the folder of that name: grade ./run" in result.stderr


def test_grade_folder_without_a_command_is_graded_with_a_seed_of_its_own(grade, graded, corner, tmp_path):
    """`grade FOLDER`, also of a folder named like a command, is short for `grade run FOLDER`."""
    result = grade.run(corner / "run", "-o", tmp_path / "report")

    report, entries = read(tmp_path / "report")
    assert 0 == result.returncode, result.stderr
    assert ["ada"] == list(entries)
    assert read(graded[1])[0]["seed"] != report["seed"]
