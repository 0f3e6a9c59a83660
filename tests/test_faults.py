"""Processes killed at random moments, a full disk, a folder nobody may write: reports stay whole, nothing runs on.

Moments are chosen by what a run has done (lines of its journal, files it has loaded), by a seeded generator.
"""

import contextlib
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import (
    DOUBLE,
    HALVE,
    RIGHT,
    TINY_COURSE,
    Command,
    children_of,
    descendants_of,
    finish,
    is_running,
    is_zygote,
    wait_until,
    warm_process,
    workers_of,
    write_files,
)

from grader.report_json import from_json
from grader.store import Store
from grader.worker.sandbox.limits import adopt_orphans

#: Every import takes a moment, so that there is one to be killed in.
SLOW = "import time\ntime.sleep(0.05)\n"
STUDENTS = {
    f"s{number:02}": {
        "double.py": SLOW + DOUBLE.replace("x + x", ("x + x", "x + 1", "x * 2", "x.detach() * 2")[number % 4]),
        "halve.py": HALVE.replace("0.5", ("0.5", "0.25")[number % 2]),
    }
    for number in range(14)
}
HANGS = {"double.py": "import time\ntime.sleep(1000)\n", "halve.py": HALVE}
SETTINGS = ("--seed", 5, "-j", 2)


def with_limits(limits):
    """The tiny course with other limits."""
    course = {name: text.replace("{ import_s = 3 }", limits) for name, text in TINY_COURSE.items()}
    assert course != TINY_COURSE
    return course


@pytest.fixture(scope="module", autouse=True)
def adopting():
    """Have what a killed process leaves behind become a child of this one, so that it can be seen."""
    adopt_orphans()


@pytest.fixture
def nothing_left():
    """Waits until whatever the test started has ended, however it was started."""
    known = set(descendants_of(os.getpid()))

    def check():
        def left():
            return [pid for pid in descendants_of(os.getpid()) if pid not in known and is_running(pid)]

        wait_until(lambda: not left(), "all processes have ended")

    return check


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory):
    """A class of fourteen, right and wrong."""
    folder = tmp_path_factory.mktemp("class")
    for name, files in STUDENTS.items():
        write_files(folder / name, files)
    return folder


@pytest.fixture(scope="module")
def patient(tmp_path_factory):
    """The command, in a course in which an import may take as long as it likes."""
    return Command(write_files(tmp_path_factory.mktemp("course"), with_limits("{ import_s = 1000 }")))


@pytest.fixture(scope="module")
def finished(grade, handed_in, tmp_path_factory):
    """The folder of a run that nothing happened to. Nobody changes it."""
    out = tmp_path_factory.mktemp("finished") / "report"
    result = grade.run(handed_in, "-o", out, *SETTINGS)
    assert 0 == result.returncode, result.stderr
    return out


@pytest.fixture(scope="module")
def undisturbed(finished):
    """The report of that run, but for times."""
    return timeless(finished)


@contextlib.contextmanager
def started(command, *arguments):
    """A run; a test that fails beside it ends it, rather than wait for it."""
    with command.start(*arguments) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def timeless(out):
    """A report without what differs from run to run."""
    return re.sub(r'"(created|duration_s)": [^,\n]*', r'"\1": 0', (out / "report.json").read_text())


def entries_of(text):
    """Entries of a report by id."""
    return {entry["id"]: entry for entry in json.loads(text)["submissions"]}


def lines_of(out):
    """How many submissions are in the journal."""
    path = out / "journal.jsonl"
    return max(path.read_bytes().count(b"\n") - 1, 0) if path.exists() else 0


def must_be_whole(out):
    """What is there can be read to its end: the report, every page, every entry of the journal."""
    if (out / "report.json").exists():
        from_json((out / "report.json").read_bytes(), "report.json")
    pages = [*out.glob("*.html"), *out.glob("*/*.html")]
    assert [] == [page for page in pages if not page.read_text().rstrip().endswith("</html>")]
    if (out / "journal.jsonl").exists():
        assert set(Store(out).earlier().submissions) <= set(STUDENTS)


def must_be_tidy(out):
    """A finished run leaves its reports and nothing else."""
    names = {path.name for path in out.iterdir()}
    assert {"report.json", "index.html", "grades.csv", "summary.md", "staff", "students"} == names
    assert {f"{name}.html" for name in STUDENTS} == {path.name for path in (out / "students").iterdir()}


def find(grade, kind):
    """A process of a run by its kind, once there is one; 0 when the run has ended."""

    def look():
        if not is_running(grade):
            return [0]
        children = children_of(grade)
        zygotes = [pid for pid in children if is_zygote(pid)]
        return {
            "examiner": [pid for pid in children if pid not in zygotes],
            "zygote outside": zygotes,
            "zygote inside": [warm_process(pid) for pid in zygotes],
            "worker": [worker for pid in zygotes for worker in workers_of(pid)],
        }[kind]

    return wait_until(look, f"there is a {kind}")[0]


def disturb(process, out, kinds, rng):
    """Kill one process of each kind in turn, each once some more submissions are in the journal.

    Two are in flight; they are graded alone after the first kill, and may not be killed once more.
    """
    for kind in kinds:
        reached = lines_of(out) + rng.randint(3, 4)
        wait_until(lambda reached=reached: lines_of(out) >= reached or not is_running(process.pid), "it has gone on")
        pid = find(process.pid, kind)
        if pid:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:  # it ended in this moment
                continue


# --- killed at random -------------------------------------------------------------------------------------------


def test_faults_killed_examiners_and_zygotes_change_nothing(grade, handed_in, undisturbed, nothing_left, tmp_path):
    """Whatever was in flight is graded again; the report is that of a run nothing happened to."""
    rng = random.Random(1)
    kinds = rng.sample(["examiner", "zygote outside", "zygote inside"] * 2, 4)

    with started(grade, handed_in, "-o", tmp_path / "report", *SETTINGS) as process:
        disturb(process, tmp_path / "report", kinds, rng)
        result = finish(process)

    assert 0 == result.returncode, result.stderr
    assert undisturbed == timeless(tmp_path / "report")
    must_be_tidy(tmp_path / "report")
    nothing_left()


def test_faults_killed_workers_are_crashes_of_their_own_submissions(
    grade, handed_in, undisturbed, nothing_left, tmp_path
):
    """From outside, a killed worker is one that ended itself: it costs its own submission, and no other.

    One that is killed when all checks are done leaves them alone: what it was asked then was to explain, or to show.
    """
    with started(grade, handed_in, "-o", tmp_path / "report", *SETTINGS) as process:
        disturb(process, tmp_path / "report", ["worker"] * 4, random.Random(2))
        result = finish(process)

    before, after = entries_of(undisturbed), entries_of(timeless(tmp_path / "report"))
    touched = [name for name in before if before[name] != after[name]]
    assert 0 == result.returncode, result.stderr
    assert len(touched) <= 4
    assert all(has_crashed(after[name]) or is_only_less_explained(before[name], after[name]) for name in touched)
    nothing_left()


def has_crashed(entry):
    """Whether a check says so."""
    return "crashed" in {check["verdict"] for check in entry["checks"]}


def is_only_less_explained(before, after):
    """Whether all checks say the same, and there are no more points than before."""
    return before["checks"] == after["checks"] and before["score"] >= after["score"]


def test_faults_killed_grader_is_gone_on_from(grade, handed_in, undisturbed, nothing_left, tmp_path):
    """Three times killed, each time further on: whole files, no process, and in the end the same report."""
    rng, out, reached = random.Random(3), tmp_path / "report", 0
    for _ in range(3):
        reached += rng.randint(1, 4)
        with started(grade, handed_in, "-o", out, "--resume", *SETTINGS) as process:
            wait_until(lambda reached=reached: lines_of(out) >= reached, f"{reached} submissions are in the journal")
            process.kill()
            finish(process)
        nothing_left()
        must_be_whole(out)
        assert not (out / "report.json").exists()

    result = grade.run(handed_in, "-o", out, "--resume", *SETTINGS)

    assert 0 == result.returncode, result.stderr
    assert undisturbed == timeless(out)
    must_be_tidy(out)


def test_faults_grader_killed_beside_its_report_leaves_the_old_one_or_the_new_one(
    grade, handed_in, finished, undisturbed, nothing_left, tmp_path
):
    """Killed while it replaces a finished report, at the first sign of each of its files in turn."""
    out = Path(shutil.copytree(finished, tmp_path / "report"))
    old = {path: path.stat().st_mtime_ns for path in (out / "report.json", out / "index.html")}

    for path, time in old.items():
        with started(grade, handed_in, "-o", out, "--force", *SETTINGS) as process:
            wait_until(lambda path=path, time=time: path.stat().st_mtime_ns != time, f"{path.name} is replaced")
            process.kill()
            finish(process)
        nothing_left()
        must_be_whole(out)
        assert undisturbed == timeless(out)

    assert 0 == grade.run(handed_in, "-o", out, "--resume", *SETTINGS).returncode
    must_be_tidy(out)


def test_faults_examiner_that_hangs_is_replaced(nothing_left, tmp_path):
    """One that is stopped, or loops in a check, does not hold the run up; what it was busy with is graded again."""
    course = write_files(tmp_path / "course", with_limits("{ import_s = 0.5, call_s = 0.2, submission_s = 0.3 }"))
    write_files(tmp_path / "class/ada", {"double.py": DOUBLE, "halve.py": "import time\ntime.sleep(0.3)\n" + HALVE})
    write_files(tmp_path / "class/bob", RIGHT)

    with started(Command(course), tmp_path / "class", "-o", tmp_path / "report", "-j", 1) as process:
        wait_for("a worker is there", process, tmp_path / "report")
        os.kill(find(process.pid, "examiner"), signal.SIGSTOP)
        result = finish(process)

    entries = entries_of(timeless(tmp_path / "report"))
    assert 0 == result.returncode, result.stderr
    assert ["graded", "graded"] == [entries[name]["status"] for name in ("ada", "bob")]
    nothing_left()


def test_faults_examiner_keeps_no_connection_of_another(patient, nothing_left, tmp_path):
    """A sibling's socket that stays open here would hide the sibling's end."""
    for name in ("ada", "bob", "cyd"):
        write_files(tmp_path / "class" / name, HANGS)
    with started(patient, tmp_path / "class", "-o", tmp_path / "report", "-j", 3) as process:
        wait_for("a worker is there", process, tmp_path / "report")
        wait_until(lambda: len(workers_of(find(process.pid, "zygote outside"))) == 3, "three workers run")
        zygotes = [pid for pid in children_of(process.pid) if is_zygote(pid)]
        examiners = [pid for pid in children_of(process.pid) if pid not in zygotes]
        sockets = [sockets_of(pid) for pid in examiners]
        process.kill()
        finish(process)

    assert 3 == len(examiners)
    assert set() == set.intersection(*sockets)
    assert [3, 3, 3] == [len(own) for own in sockets]  # to the parent, to the zygote, to its worker
    nothing_left()


def sockets_of(pid):
    """The sockets a process has open."""
    links = [os.readlink(path) for path in Path(f"/proc/{pid}/fd").iterdir()]
    return {link for link in links if link.startswith("socket:")}


# --- interrupted ------------------------------------------------------------------------------------------------


def is_listening(pid):
    """Whether a process handles SIGTERM (proc(5): bit 14 of SigCgt), and is the program, not yet a fork of this one."""
    if b"-m\0grader\0" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        return False
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(re.search(r"SigCgt:\s*(\w+)", status)[1], 16) >> 14 & 1)


def wait_for(moment, process, out):
    """Wait until a run has come so far."""
    if moment in ("an examiner is there", "a worker is there"):
        wait_until((out / "journal.jsonl").exists, "the journal is begun")
    wait_until(lambda: MOMENTS[moment](process.pid), moment)


def has_loaded(name):
    """Whether a process has mapped a library; taken as read where it does not let itself be looked into."""

    def look(pid):
        try:
            return name in Path(f"/proc/{pid}/maps").read_text()
        except PermissionError:
            return True

    return look


#: Moments of a run, in their order; the last two once it has begun its journal, since others are forked before.
MOMENTS = {
    "it listens": is_listening,
    "it loads pydantic": has_loaded("pydantic_core"),
    "the zygote is there": lambda pid: any(map(is_zygote, children_of(pid))),
    "it loads torch": has_loaded("libtorch"),
    "the zygote is warm": lambda pid: any(has_loaded("libtorch")(warm_process(one)) for one in children_of(pid)),
    "an examiner is there": lambda pid: len(children_of(pid)) > 1,
    "a worker is there": lambda pid: any(workers_of(one) for one in children_of(pid) if is_zygote(one)),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_faults_interrupted_at_any_moment_exits_130(patient, nothing_left, tmp_path, moment):
    """Ctrl-C goes to all processes of a terminal; nothing of it is lost, whatever is being imported."""
    write_files(tmp_path / "class/ada", HANGS)

    with started(patient, tmp_path / "class", "-o", tmp_path / "report") as process:
        wait_for(moment, process, tmp_path / "report")
        os.killpg(process.pid, signal.SIGINT)
        result = finish(process)

    assert 130 == result.returncode, result.stderr
    assert "Traceback" not in result.stderr
    nothing_left()


@pytest.mark.parametrize("moment", ["it listens", "the zygote is there", "a worker is there"])
def test_faults_told_to_end_exits_143_and_keeps_what_was_finished(patient, nothing_left, tmp_path, moment):
    """SIGTERM, which a system sends that shuts down, ends a run as Ctrl-C does."""
    write_files(tmp_path / "class/ada", HANGS)

    with started(patient, tmp_path / "class", "-o", tmp_path / "report") as process:
        wait_for(moment, process, tmp_path / "report")
        process.terminate()
        result = finish(process)

    assert 143 == result.returncode, result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "report/.lock").exists()
    nothing_left()


def test_faults_interruption_that_a_library_caught_ends_the_run_all_the_same(nothing_left, tmp_path):
    """An exception raised while Python cleans up, or below a bare except, goes nowhere; the signal is remembered."""
    catching = (
        "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    while True:\n        pass\n"
        "except BaseException:\n    pass\n"
    )
    checks = "assignments/tiny/checks/test_halve.py"
    course = write_files(tmp_path / "course", {**TINY_COURSE, checks: catching + TINY_COURSE[checks]})
    write_files(tmp_path / "class/ada", RIGHT)

    result = Command(course).run(tmp_path / "class", "-o", tmp_path / "report")

    assert 130 == result.returncode, result.stderr
    assert not (tmp_path / "report/report.json").exists()
    nothing_left()


# --- two at once ------------------------------------------------------------------------------------------------


def test_faults_second_run_into_the_same_folder_is_refused_until_the_first_has_gone(patient, nothing_left, tmp_path):
    """Two journals in one file would be none; a lock ends with its process, however that ends."""
    write_files(tmp_path / "class/ada", HANGS)
    write_files(tmp_path / "other/bob", RIGHT)
    out = tmp_path / "report"

    with started(patient, tmp_path / "class", "-o", out) as first:
        wait_for("a worker is there", first, out)
        refused = [patient.run(tmp_path / "other", "-o", out, option) for option in ("--force", "--resume")]
        first.kill()
        finish(first)
    result = patient.run(tmp_path / "other", "-o", out, "--resume")

    words = f"{out} is in use by another run of grade; wait for its end, or name another folder with -o"
    assert [2, 2] == [one.returncode for one in refused]
    assert words in refused[0].stderr
    assert 0 == result.returncode, result.stderr
    assert ["bob"] == list(entries_of(timeless(out)))
    nothing_left()


# --- the disk ---------------------------------------------------------------------------------------------------


class SmallDisk:
    """A folder on a disk of 300 KiB; where none can be mounted, a limit on the size of each file."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.is_mounted = mount("-t", "tmpfs", "-o", "size=300k", "tmpfs", folder)
        self.words = "No space left on device" if self.is_mounted else "File too large"
        self.is_full = True

    def before(self):
        """What the command's process does before it begins."""
        if not self.is_mounted and self.is_full:
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    def make_room(self):
        """From now on there is enough."""
        self.is_full = False
        assert not self.is_mounted or mount("-o", "remount,size=20m", self.folder)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", str(self.folder)], check=True)


def mount(*arguments):
    """Whether something could be mounted; only root may."""
    return os.geteuid() == 0 and 0 == subprocess.run(["mount", *map(str, arguments)], capture_output=True).returncode


@pytest.fixture
def small_disk(tmp_path):
    """A disk that is full after a few submissions."""
    disk = SmallDisk(tmp_path / "disk")
    yield disk
    disk.close()


def test_faults_full_disk_keeps_what_was_finished_and_is_gone_on_from(grade, handed_in, undisturbed, small_disk):
    """The message names the file; nothing is half-written; with more room the report is that of any other run."""
    out = small_disk.folder / "report"

    result = grade.run(handed_in, "-o", out, *SETTINGS, preexec_fn=small_disk.before)
    kept = list(Store(out).earlier().submissions)
    lines = (out / "journal.jsonl").read_text().splitlines(keepends=True)[1:]
    again = grade.run(handed_in, "-o", out, "--resume", *SETTINGS, preexec_fn=small_disk.before)
    still_kept = set(Store(out).earlier().submissions)
    small_disk.make_room()
    resumed = grade.run(handed_in, "-o", out, "--resume", *SETTINGS)

    assert [2, 2, 0] == [result.returncode, again.returncode, resumed.returncode], resumed.stderr
    assert re.search(rf"^grade: {re.escape(str(out))}/\S+: {small_disk.words}; ", result.stderr, re.MULTILINE)
    assert "put it right and run again with --resume" in result.stderr
    assert "Traceback" not in result.stderr
    assert kept == sorted(json.loads(line)["id"] for line in lines)  # no line is torn
    assert 0 < len(kept) < len(STUDENTS)
    assert set(kept) <= still_kept
    assert undisturbed == timeless(out)
    must_be_tidy(out)


@pytest.fixture
def read_only(tmp_path):
    """A folder that cannot be written: root needs a file system for that, others a mode."""
    folder = tmp_path / "closed"
    folder.mkdir()
    is_mounted = mount("--bind", folder, folder)
    if os.geteuid() == 0 and not is_mounted:
        pytest.skip("root may write anywhere, and may mount nothing here")
    folder.chmod(0o555)
    assert not is_mounted or mount("-o", "remount,ro,bind", folder)
    yield folder
    if is_mounted:
        subprocess.run(["umount", str(folder)], check=True)
    folder.chmod(0o755)


@pytest.mark.parametrize("name", [".", "new/report"])
def test_faults_folder_that_cannot_be_written_is_named(grade, handed_in, read_only, name):
    """Said at once, with what to change; there is nothing to go on from."""
    result = grade.run(handed_in, "-o", read_only / name, *SETTINGS)

    assert 2 == result.returncode
    assert re.search(rf"grade: {re.escape(str(read_only))}\S*: (Read-only|Permission denied)", result.stderr)
    assert "or name another folder with -o" in result.stderr
    assert "--resume" not in result.stderr
    assert "Traceback" not in result.stderr
