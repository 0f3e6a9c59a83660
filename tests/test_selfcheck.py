"""`grade check`: what a student sees of their own work, from a handout, from the course, and while watching."""

import json
import os
import shutil
import signal
import threading
from datetime import date
from decimal import Decimal

import pytest
from conftest import DOUBLE, HALVE, RIGHT, Command, wait_until, write_files
from handed_out import COURSE, STUBS, hand_out, with_feedback

from grader.course import Course, CourseError
from grader.find import FindError
from grader.handout.header import Handout, HandoutError
from grader.handout.recorded import with_record
from grader.selfcheck.affected import affected_parts
from grader.selfcheck.desk import Desk
from grader.selfcheck.session import find_subject
from grader.selfcheck.words import Telling, broken, said_of
from grader.verdict import Verdict

TODAY = date(2026, 1, 1)
TRIPLED = DOUBLE.replace("x + x", "3 * x")
ALSO_ABSOLUTE = DOUBLE.replace("x + x", "3 * x.abs()")
RECORD = "grade-check/tiny"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """No test works in a course but one that says so: what a student unpacked lies in none."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def handouts(tmp_path_factory):
    """Handouts of the small course, by how much they tell."""
    levels = {name: with_feedback(f'level = "{name}"') for name in ("verdict", "hint", "full")}
    return {name: hand_out(tmp_path_factory.mktemp(name), files) for name, files in levels.items()}


@pytest.fixture
def home(handouts, tmp_path):
    """A student's own copy of the handout."""
    return shutil.copytree(handouts["hint"], tmp_path / "home")


@pytest.fixture
def at_desk(launcher):
    """Call a function with the desk of a handout's folder."""

    def run(folder, body):
        subject = find_subject(folder, None, None)
        return with_record(subject.source, lambda grading: body(Desk(grading, launcher, subject.header, subject.found)))

    return run


@pytest.fixture
def checked(at_desk, handouts, tmp_path):
    """Check files once; what was found, and the text of it."""

    def run(files, level="hint", **telling):
        folder = shutil.copytree(handouts[level], tmp_path / "checked", dirs_exist_ok=True)
        write_files(folder, files)
        found = at_desk(folder, lambda desk: desk.check(desk.read(), TODAY))
        points = {"double": Decimal(4), "halve": Decimal(1)}
        return found, "\n".join(line.plain for line in said_of(found.view, Telling(max_scores=points, **telling)))

    return run


# --- once -------------------------------------------------------------------------------------------------------------


def test_check_right_work_passes_every_visible_check(checked):
    """The points of hidden checks are said to be out."""
    found, text = checked(RIGHT)

    assert found.is_all_right
    assert "double.py            2 of 2 checks passed, 3 of 3 points" in text
    assert "Hidden checks decide about 1 more points" in text


def test_check_single_mistake_is_named_with_its_hint_and_an_example(checked):
    """From the record alone: there is no reference."""
    found, text = checked(RIGHT | {"double.py": TRIPLED})

    assert not found.is_all_right
    assert ["The element is taken three times"] == [one.title for one in found.view.diagnoses]
    assert "How often is each element taken?" in text
    (example,) = found.view.examples
    assert "x" == example.inputs[0].name
    assert example.expected[0].cells != example.observed[0].cells


def test_check_example_is_what_the_students_code_answers(checked):
    """The observed values are asked for, not looked up: three times the input, in small."""
    found, _ = checked(RIGHT | {"double.py": TRIPLED})

    (example,) = found.view.examples
    inputs, observed = (list(map(float, one.cells)) for one in (example.inputs[0], example.observed[0]))

    assert [3 * value for value in inputs] == observed


def test_check_mistake_that_only_raises_is_named(checked):
    """The operation that fails was written down."""
    found, _ = checked(RIGHT | {"double.py": "def double(x):\n    return x.matmul(x)\n"})

    assert ["Rows are taken for columns"] == [one.title for one in found.view.diagnoses]


def test_check_two_mistakes_at_once_are_not_recognised(checked):
    """A record holds one at a time; nothing is guessed."""
    found, text = checked(RIGHT | {"double.py": ALSO_ABSOLUTE})

    assert () == found.view.diagnoses
    assert "double: wrong, in a way that no known mistake explains" in text


def test_check_trait_is_named_without_a_record_of_it(checked):
    """What answers show by themselves."""
    found, text = checked(STUBS)

    assert ["Left as it was handed out"] == [one.title for one in found.view.diagnoses]
    assert "0 of 2 checks passed" in text


def test_check_explained_failures_are_told_in_a_line_each(checked):
    """What the mistake above explains needs no second explanation."""
    _, text = checked(RIGHT | {"double.py": TRIPLED})

    assert "worst" not in text
    assert "explained above" in text


def test_check_with_all_tells_explained_failures_at_length(checked):
    """Whoever asks for it."""
    _, text = checked(RIGHT | {"double.py": TRIPLED}, is_everything=True)

    assert "worst" in text
    assert "hint: what is x + x?" in text


def test_check_blocked_check_names_the_title_of_what_it_needs(checked):
    """Not an id."""
    _, text = checked(RIGHT | {"double.py": ALSO_ABSOLUTE})

    assert "needs first: Values" in text


def test_check_at_level_verdict_tells_titles_and_verdicts_only(checked):
    """No mistake, no message, no hint."""
    found, text = checked(RIGHT | {"double.py": TRIPLED}, level="verdict")

    assert () == found.view.diagnoses
    assert "Values" in text
    assert "three times" not in text and "x + x" not in text and "expected" not in text


def test_check_at_level_full_explains(checked):
    """Why it is a mistake."""
    assert "Twice is once and once again." in checked(RIGHT | {"double.py": TRIPLED}, level="full")[1]


def test_check_missing_file_costs_its_part_only(checked, handouts):
    """The others are checked."""
    found, _ = checked({"double.py": DOUBLE, "halve.py": "x = ("})

    verdicts = {check.id: check.verdict for check in found.view.checks}
    assert Verdict.PASSED is verdicts["double.values"]
    assert Verdict.IMPORT_ERROR is verdicts["halve.values"]


def test_check_printed_escape_sequences_are_spelt_out(checked):
    """A student's output has no power over the terminal."""
    _, text = checked(RIGHT | {"halve.py": "def halve(x):\n    print('\\x1b[2J')\n    return x\n"}, is_everything=True)

    assert "\x1b" not in text
    assert "U+001B" in text


# --- the handout that is used -----------------------------------------------------------------------------------------


def test_check_finds_the_handout_above_the_folder(home):
    """Whoever keeps attempts in folders of their own."""
    (home / "attempts" / "second").mkdir(parents=True)

    assert "tiny" == find_subject(home / "attempts" / "second", None, None).assignment.name


def test_check_takes_no_course_that_lies_in_the_folder(tmp_path):
    """Neither its checks nor its reference."""
    folder = write_files(tmp_path / "student", COURSE | RIGHT)

    with pytest.raises(CourseError, match="in no handout"):
        find_subject(folder, None, None)


def test_check_without_handout_or_course_says_what_to_do(tmp_path):
    """Where to go."""
    with pytest.raises(CourseError, match="unpack the handout"):
        find_subject(tmp_path, None, None)


def test_check_in_a_course_runs_no_checks_that_were_handed_in(home, tmp_path, monkeypatch):
    """A student may hand in the whole handout, its checks rewritten: staff would run them as themselves."""
    course = write_files(tmp_path / "course", COURSE)
    monkeypatch.chdir(course)

    assert Course(course.resolve()) == find_subject(home, None, None).source


def test_check_of_a_folder_in_a_course_runs_no_checks_that_were_handed_in(home, tmp_path):
    """The same where the submissions lie in the course, and the command is run elsewhere."""
    course = write_files(tmp_path / "course", COURSE)
    submission = shutil.copytree(home, course / "submissions" / "mallory")

    assert Course(course.resolve()) == find_subject(submission, None, None).source


@pytest.mark.parametrize("place", [".", "below"])
def test_check_of_a_folder_that_holds_a_course_runs_none_of_it(home, tmp_path, monkeypatch, place):
    """Not even from inside of it: a course that was handed in decides nothing."""
    write_files(home, COURSE)
    (home / "below").mkdir()
    monkeypatch.chdir(home / place)

    assert isinstance(find_subject(home, None, None).source, Handout)


def test_check_of_a_folder_that_is_not_there_says_so(tmp_path):
    """With what is wanted."""
    with pytest.raises(FindError, match="no such folder"):
        find_subject(tmp_path / "nowhere", None, None)


def test_check_with_the_handout_of_another_version_names_the_wheel(home):
    """It would not fit."""
    header = home / RECORD / "header.json"
    header.write_text(json.dumps(json.loads(header.read_text()) | {"version": "0.0.9"}))

    with pytest.raises(HandoutError, match=r"grade 0\.0\.9.*install the wheel"):
        find_subject(home, None, None)


@pytest.mark.parametrize("name", ["right.json", "right.safetensors", "mistakes.json", "mistakes.safetensors"])
def test_check_with_a_damaged_record_says_which_file(home, at_desk, name):
    """Half of it is there."""
    write_files(home, RIGHT | {"double.py": TRIPLED})
    file = home / RECORD / name
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])

    with pytest.raises(HandoutError, match=f"{name}: .*unpack the course's handout again"):
        at_desk(home, lambda desk: desk.check(desk.read(), TODAY))


def test_check_with_checks_that_were_edited_is_refused(home, at_desk):
    """The record answers the checks it was made with, and no others."""
    file = home / RECORD / "checks" / "test_double.py"
    file.write_text(file.read_text().replace('"x", 2, 3', '"x", 3, 3'))

    with pytest.raises(HandoutError, match="unpack the course's handout again"):
        at_desk(home, lambda desk: None)


# --- the command ------------------------------------------------------------------------------------------------------


def test_check_command_names_the_mistake_and_ends_with_1(home):
    """In a terminal, from cold, in the folder itself."""
    write_files(home, RIGHT | {"double.py": TRIPLED})

    done = Command(home).run("check", ".")

    assert 1 == done.returncode, done.stderr
    assert "The element is taken three times" in done.stdout


def test_check_command_in_the_course_names_two_mistakes(tmp_path):
    """With the reference at hand, sets of mistakes are found."""
    course = write_files(tmp_path / "course", COURSE)
    student = write_files(tmp_path / "student", RIGHT | {"double.py": ALSO_ABSOLUTE})

    done = Command(course).run("check", student)

    assert 1 == done.returncode, done.stderr
    assert "The element is taken three times" in done.stdout
    assert "The sign is lost" in done.stdout
    assert "secret" not in done.stdout


def test_check_command_with_a_damaged_handout_ends_with_2(home):
    """In words."""
    (home / RECORD / "header.json").write_text("{")

    done = Command(home).run("check", ".")

    assert (2, "") == (done.returncode, done.stdout)
    assert "header.json" in done.stderr and "Traceback" not in done.stderr


# --- again and again --------------------------------------------------------------------------------------------------


def test_desk_after_a_change_checks_the_changed_part_only(home, at_desk):
    """The other keeps what was found."""
    write_files(home, RIGHT)

    def body(desk):
        first = desk.check(desk.read(), TODAY)
        write_files(home, {"halve.py": "def halve(x):\n    return x\n"})
        return first, desk.check(desk.read(), TODAY)

    first, second = at_desk(home, body)

    assert (("double.py", "halve.py"), ("halve.py",)) == (first.files, second.files)
    assert ["halve.values"] == [one.id for one in second.view.checks if one.verdict is not Verdict.PASSED]
    assert 3 == len(second.view.checks)


def test_desk_after_a_syntax_error_keeps_what_was_found(home, at_desk):
    """And says what is wrong with the file."""
    write_files(home, RIGHT)

    def body(desk):
        desk.check(desk.read(), TODAY)
        write_files(home, {"halve.py": "def halve(x):\n    return x /\n"})
        return desk.check(desk.read(), TODAY)

    found = at_desk(home, body)

    assert {Verdict.PASSED} == {one.verdict for one in found.view.checks}
    assert not found.is_all_right
    assert "halve.py, line 2" in "\n".join(line.plain for line in broken(found.broken))


def test_desk_after_a_mended_syntax_error_checks_again(home, at_desk):
    """The kept result goes."""
    write_files(home, RIGHT | {"halve.py": "def halve(x):\n    return x\n"})

    def body(desk):
        desk.check(desk.read(), TODAY)
        for text in ("def halve(x):\n    return x /\n", HALVE):
            write_files(home, {"halve.py": text})
            found = desk.check(desk.read(), TODAY)
        return found

    assert at_desk(home, body).is_all_right


def test_desk_at_first_with_a_syntax_error_shows_it_as_a_result(home, at_desk):
    """There is nothing to keep."""
    write_files(home, RIGHT | {"halve.py": "def halve(x):\n    return x /\n"})

    found = at_desk(home, lambda desk: desk.check(desk.read(), TODAY))

    assert {} == found.broken
    assert Verdict.IMPORT_ERROR in {one.verdict for one in found.view.checks}


def test_affected_parts_are_those_that_import_the_changed_file(home):
    """Sooner or later, by whatever words."""
    assignment = find_subject(home, None, None).assignment
    halve = "from helper import half\n"
    before = {"double.py": "", "halve.py": halve, "helper.py": "import deeper", "deeper.py": "one = 1"}

    assert ("halve",) == affected_parts(assignment, before, before | {"deeper.py": "one = 2"})
    assert ("double",) == affected_parts(assignment, before, before | {"double.py": "pass"})
    assert () == affected_parts(assignment, before, dict(before))


class Watched:
    """`grade check --watch`, and what it has written so far."""

    def __init__(self, home):
        self.process = Command(home).start("check", ".", "--watch")
        self._text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._text += line

    def wait_for(self, text, count=1):
        """Wait until a text was written that often."""
        wait_until(lambda: self._text.count(text) >= count, f"{text!r} was written; {self._text!r}")

    def interrupt(self):
        """Press Ctrl-C; the exit code."""
        os.kill(self.process.pid, signal.SIGINT)
        return self.process.wait(60)

    def end(self):
        """Whatever came before."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


def test_check_command_watching_checks_again_at_every_save_until_ctrl_c(home):
    """The changed part; a broken file keeps the result; the end is that of an interruption."""
    write_files(home, RIGHT)
    watched = Watched(home)
    try:
        watched.wait_for("checked double.py, halve.py; waiting for a change")
        write_files(home, {"double.py": TRIPLED})
        watched.wait_for("The element is taken three times")
        watched.wait_for("checked double.py; waiting for a change")
        write_files(home, {"double.py": "def double(x):\n    return (\n"})
        watched.wait_for("double.py cannot be loaded as it is now")
        watched.wait_for("The element is taken three times", 2)
        write_files(home, {"double.py": DOUBLE})
        watched.wait_for("2 of 2 checks passed", 2)
        assert 130 == watched.interrupt()
    finally:
        watched.end()
