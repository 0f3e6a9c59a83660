"""`grade new`: which names are taken, what is written, and that nothing is overwritten or left half. No torch.

That the new assignment is right as it stands is a matter of `test_authoring.py`.
"""

import resource
import tomllib
from pathlib import Path, PurePosixPath

import pytest
from conftest import Command, write_files

from grader.assignment import read_assignment
from grader.course import find_course
from grader.diagnosis.mistakes import read_mistakes
from grader.fault import Fault
from grader.new.command import make
from grader.new.place import PlaceTaken, place
from grader.new.template import files_of, files_of_course
from grader.verification.examples import examples_of

ROOT = Path(__file__).parents[1]
OTHER = """
title = "Other"
[[parts]]
name = "half_done"
title = "Half done"
points = 1
[parts.callables.half]
kind = "function"
arguments = ["x"]
returns = ["y"]
reference = "other:half"
"""
MISTAKE = """
[[mistake]]
id = "wide-nothing-subtracted"
title = "One that the book has already"
explanation = "It has."
hint = "Has it?"
price = 1
edits = [{ file = "known.py", old = "1", new = "2" }]
"""


@pytest.fixture
def course(tmp_path):
    """A course with an assignment, a module of reference, and a known mistake."""
    files = {
        "assignments/other/assignment.toml": OTHER,
        "reference/__init__.py": "",
        "reference/known.py": "X = 1\n",
        "reference/mistakes/known.toml": MISTAKE,
    }
    return write_files(tmp_path / "course", files)


def contents(folder):
    """All files and folders below a folder, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


def refusal(name, course):
    """What is said of a name that cannot be had; and nothing is written."""
    before = contents(course) if course.is_dir() else None
    with pytest.raises(Fault) as refused:
        make(name, course)
    assert before == (contents(course) if course.is_dir() else None)
    return str(refused.value)


# --- names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("LayerNorm", "single underscores; did you mean layer_norm?"),
        ("layer-norm", "did you mean layer_norm?"),
        ("layer__norm", "did you mean layer_norm?"),
        ("größe", "single underscores, such as layer_norm"),
        ("2d", "wanted lower-case letters, digits and single underscores, such as layer_norm"),
        ("", "such as layer_norm"),
        ("../up", "did you mean up?"),
        ("x" * 41, "it has 41 characters, wanted at most 40"),
        ("lambda", "lambda is a word of Python"),
        ("match", "match is a word of Python"),
        ("sum", "sum is a function of Python itself, which the new one would hide; choose another, such as my_sum"),
        ("random", "a student's random.py would stand in the place of the module random"),
        ("torch", "a student's torch.py would stand in the place of the module torch"),
        ("variants", "reference/variants/ is a folder of its own"),
        ("norm_hidden", "_hidden at its end marks a file of hidden checks"),
        ("venv", "would stand in the place of the module venv"),
        ("conftest", "conftest is what tools leave behind"),
        ("other", "assignments/other is there already, and is left as it is"),
        ("half_done", "the assignment other asks students for half_done.py too"),
        ("halfdone", "the assignment other asks students for half_done.py too"),
        ("known", "reference/known.py is there already, and is left as it is"),
        ("wide", "the course knows a mistake wide-nothing-subtracted already"),
    ],
)
def test_new_name_that_cannot_be_had_is_told_why(course, name, told):
    """And what to do; nothing is written."""
    assert told in refusal(name, course)


def test_new_name_with_several_faults_is_told_all_of_them(course):
    """Nobody has to run it again and again."""
    text = refusal("operator", write_files(course, {"assignments/operator/notes.md": ""}))

    assert "'operator' cannot be the name of a new assignment:" in text
    assert "in the place of the module operator" in text
    assert "assignments/operator is there already" in text


def test_new_assignment_beside_one_that_cannot_be_read_is_made(course):
    """What is wrong elsewhere is another matter."""
    (course / "assignments/other/assignment.toml").write_text("title = ")
    (course / "reference/mistakes/known.toml").write_text("mistake = 3")

    make("fresh", course)


# --- what is written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["layer_norm", "scores", "total", "logits", "a", "b2_3c", "y" * 40])
def test_new_assignment_is_whole_under_any_name(tmp_path, name):
    """Each file is what it should be, each mistake can be made, and nothing of the original's name is left."""
    make(name, tmp_path / "course")

    course = find_course(tmp_path / "course")
    assignment = read_assignment(course.folder / "assignments" / name)
    mistakes = read_mistakes(course.reference)
    for at, text in contents(course.folder).items():
        assert b"exercise" not in at.encode().lower() + (text or b"").lower()
        if at.endswith(".py"):
            compile(text, at, "exec")
        if at.endswith(".toml"):
            tomllib.loads(text.decode())
    assert [name] == [part.name for part in assignment.parts] == list(assignment.parts[0].callables)
    assert len(mistakes) >= 4
    assert {"right", "one_mistake", "untouched_stub"} == set(examples_of(course, name))


def test_new_assignment_is_called_by_its_name_in_words(tmp_path):
    """A title is for people, an id of a mistake has hyphens."""
    make("layer_norm", tmp_path)

    assert "Layer norm" == read_assignment(tmp_path / "assignments/layer_norm").title
    assert all(one.id.startswith("layer-norm-") for one in read_mistakes(tmp_path / "reference"))


def test_new_example_of_an_untouched_stub_is_the_stub():
    """The example is what students get."""
    files = files_of("soft")

    stub = files[PurePosixPath("assignments/soft/stub/soft.py")]
    assert stub == files[PurePosixPath("submissions_example/soft/untouched_stub/soft.py")]


def test_new_assignment_gives_no_answer_away(tmp_path):
    """What a course may publish holds no line of the body of the reference."""
    files = files_of("soft")

    lines = files[PurePosixPath("reference/soft.py")].partition('    """\n')[2].splitlines()
    published = "".join(text for at, text in files.items() if at.is_relative_to("assignments"))
    body = [line.partition("  #")[0].strip() for line in lines]
    assert len(body) >= 5
    assert [] == [line for line in body if line in published]


def test_new_second_assignment_of_a_course_leaves_the_first_as_it_is(tmp_path):
    """Their mistakes have ids of their own."""
    make("first", tmp_path)
    before = contents(tmp_path)

    make("second", tmp_path)

    assert before.items() <= contents(tmp_path).items()
    assert ["first", "second"] == find_course(tmp_path).names
    assert {"first", "second"} == {one.id.partition("-")[0] for one in read_mistakes(tmp_path / "reference")}


def test_new_command_says_what_it_made_and_what_to_do_next(tmp_path):
    """Every file, and the commands to go on with."""
    done = Command(tmp_path).run("new", "layer_norm", "--course", "my course")

    lines = done.stdout.splitlines()
    made = {at for at, text in contents(tmp_path / "my course").items() if text is not None}
    assert (0, "") == (done.returncode, done.stderr)
    assert f"layer_norm: a working assignment of one function, in a new course {tmp_path}/my course" == lines[0]
    assert made == {line.strip() for line in lines[1 : lines.index("next")]}
    assert [f"  cd '{tmp_path}/my course'", "  grade verify layer_norm"] == lines[lines.index("next") + 1 :][:2]


def test_new_command_finds_the_course_around_it(course):
    """As the other commands do; what was made is told."""
    done = Command(course / "assignments/other").run("new", "fresh")

    assert (0, "") == (done.returncode, done.stderr)
    assert (course / "assignments/fresh/assignment.toml").is_file()
    assert f"in the course {course}" in done.stdout
    assert "cd " not in done.stdout


# --- which course -----------------------------------------------------------------------------------------------


def test_new_outside_of_a_course_is_told_how_to_make_one(tmp_path):
    """No course is begun unasked."""
    done = Command(tmp_path).run("new", "fresh")

    assert (2, "") == (done.returncode, done.stdout)
    assert "is in no course" in done.stderr
    assert "where there is no course yet, --course FOLDER makes one" in done.stderr
    assert {} == contents(tmp_path)


def test_new_course_within_a_course_is_refused(course):
    """The folder would be found as part of the outer one."""
    text = refusal("fresh", course / "assignments/inner")

    assert f"it lies in the course {course}, and courses do not lie in each other" in text


def test_new_course_that_is_a_file_is_refused(tmp_path):
    """What is there is named."""
    (tmp_path / "notes").write_text("mine")

    assert "notes: a file; wanted the folder of a course" in refusal("fresh", tmp_path / "notes")


def test_new_course_is_made_around_what_there_is(tmp_path):
    """A folder that holds other things becomes a course; they stay."""
    write_files(tmp_path, {"README.md": "mine", "reference/__init__.py": '"""Mine."""\n'})

    make("fresh", tmp_path)

    assert b"mine" == contents(tmp_path)["README.md"]
    assert b'"""Mine."""\n' == contents(tmp_path)["reference/__init__.py"]


# --- all or nothing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("at", "told"),
    [
        ("reference/fresh.py", "reference/fresh.py is there already"),
        ("reference/mistakes/fresh.toml", "reference/mistakes/fresh.toml is there already"),
        ("submissions_example/fresh/right/fresh.py", "right/fresh.py is there already"),
        ("submissions_example", "submissions_example is no folder; move it out of the way"),
    ],
)
def test_new_file_that_is_in_the_way_stays(course, at, told):
    """Nothing is overwritten, and nothing else is written."""
    write_files(course, {at: "somebody's work"})

    assert told in refusal("fresh", course)


def test_new_assignment_that_was_broken_off_is_completed(course):
    """A machine that stopped in the middle has left some files, and no assignment."""
    some = dict(list(files_of("fresh").items())[-4:])
    assert not any(at.is_relative_to("assignments") for at in some)
    write_files(course, {at.as_posix(): text for at, text in some.items()})

    make("fresh", course)

    assert {at.as_posix(): text.encode() for at, text in files_of("fresh").items()}.items() <= contents(course).items()


def test_new_assignment_that_cannot_be_written_leaves_nothing(course):
    """A disk that takes no more; the reason is told."""
    before = contents(course)

    done = Command(course).run(
        "new", "fresh", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    )

    assert 2 == done.returncode
    assert "File too large; nothing was made" in done.stderr
    assert before == contents(course)


def test_place_that_fails_in_the_middle_takes_back_what_it_moved(tmp_path):
    """The second file's folder is on another disk, which takes nothing."""
    (tmp_path / "b").symlink_to("/proc")
    before = contents(tmp_path)
    files = {PurePosixPath(at): "text" for at in ("a/first", "b/second", "last/third")}

    with pytest.raises(OSError):
        place(tmp_path, files, last=PurePosixPath("last"))

    assert before.keys() == contents(tmp_path).keys()


def test_place_folder_that_is_there_is_left_alone(tmp_path):
    """Also an empty one, or a link that leads nowhere."""
    (tmp_path / "last").symlink_to("nowhere")

    with pytest.raises(PlaceTaken, match="last is there already"):
        place(tmp_path, files_of_course(), last=PurePosixPath("last"))


def test_new_template_is_part_of_the_package():
    """What is copied must be installed: the build is told so."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["package-data"]

    (pattern,) = data["grader.new"]
    listed = {
        path for path in (ROOT / "grader/new").glob(pattern) if path.is_file() and "__pycache__" not in path.parts
    }
    assert len(listed) == len(files_of("x")) + len(files_of_course())
