"""What students are given: all they need, and nothing that answers for them."""

import ast
import io
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from datetime import date

import pytest
from conftest import Command, write_files
from handed_out import COURSE, ROOT, hand_out, with_feedback, write_archive
from safetensors.torch import load_file

from grader.assignment import AssignmentError

RECORD = "grade-check/tiny"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The small course's handout, unpacked."""
    return hand_out(tmp_path_factory.mktemp("handout"), with_feedback('level = "hint"'))


@pytest.fixture(scope="module")
def attention(tmp_path_factory):
    """The archive of the real assignment."""
    archive = tmp_path_factory.mktemp("attention") / "attention.zip"
    done = Command(ROOT).run("handout", "attention", "-o", archive)
    assert 0 == done.returncode, done.stderr
    return archive


def names_in(folder):
    """Names of the files below a folder."""
    return {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}


def members_of(archive):
    """Names and bytes of an archive's members, those of a wheel in it too."""
    with zipfile.ZipFile(archive) as members:
        for name in members.namelist():
            data = members.read(name)
            yield name, data
            if name.endswith(".whl"):
                yield from members_of(io.BytesIO(data))


def statements(tree):
    """The statements in function bodies, without docstrings, as text."""
    for function in ast.walk(tree):
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for inner in (node for top in function.body for node in ast.walk(top)):
                is_docstring = isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant)
                if isinstance(inner, ast.stmt) and not is_docstring:
                    yield ast.unparse(inner)


def statements_below(folder):
    """Those of all Python files in a folder."""
    return {text for file in folder.glob("*.py") for text in statements(ast.parse(file.read_text(encoding="utf-8")))}


def test_handout_holds_stubs_checks_record_and_wheel_and_no_hidden_check(home):
    """That is all; the wheel is of this version."""
    stubs = {"double.py", "halve.py", "README.md", "CHECK.md"}
    checks = {f"{RECORD}/checks/test_double.py", f"{RECORD}/checks/test_halve.py"}
    record = {f"{RECORD}/{name}.safetensors" for name in ("right", "mistakes", "examples")}
    record |= {f"{RECORD}/{name}.json" for name in ("header", "right", "mistakes")}

    (wheel,) = (home / "grade-check").glob("*.whl")

    assert stubs | checks | record | {f"grade-check/{wheel.name}"} == names_in(home)


def test_handout_stubs_are_those_of_the_assignment(home):
    """Byte for byte."""
    for name in ("double.py", "halve.py"):
        assert COURSE[f"assignments/tiny/stub/{name}"] == (home / name).read_text()


def test_handout_says_how_to_check(home):
    """The wheel, and the command."""
    text = (home / "CHECK.md").read_text()

    assert "grade check ." in text
    assert next((home / "grade-check").glob("*.whl")).name in text


def test_handout_records_nothing_that_hidden_checks_draw(home):
    """Their inputs have a scope of their own, and names."""
    right = (home / RECORD / "right.json").read_text()

    assert {"double/visible", "halve/visible"} == {one["scope"] for one in json.loads(right)["drawn"]}
    assert "secret" not in right


def test_handout_says_of_mistakes_titles_and_hints_and_no_id_of_the_course(home):
    """At level hint; ids lead to the staff's notes."""
    text = (home / RECORD / "mistakes.json").read_text()
    mistakes = json.loads(text)["mistakes"]

    assert "The element is taken three times" in [one["title"] for one in mistakes]
    assert {""} == {one["explanation"] for one in mistakes}
    assert "tripled" not in text


def test_handout_rounds_what_mistakes_answer(home):
    """Whole numbers from 0 to ten thousand, times what is said beside them."""
    assert "torch.int16" == str(load_file(home / RECORD / "mistakes.safetensors")["row"].dtype)


def test_handout_twice_gives_the_same_bytes(tmp_path):
    """Whoever downloads it again can tell whether it has changed."""
    one, two = (write_archive(tmp_path / name, COURSE).read_bytes() for name in ("one", "two"))

    assert one == two


def test_handout_at_level_verdict_says_nothing_of_mistakes(tmp_path):
    """No title, no hint, no answer of one."""
    home = hand_out(tmp_path, with_feedback('level = "verdict"'))

    assert not [name for name in names_in(home) if "mistakes" in name or "examples" in name]
    assert not [file for file in home.rglob("*.json") if "taken three times" in file.read_text()]


@pytest.mark.parametrize(("today", "is_told"), [(date(2026, 5, 2), True), (date(2026, 5, 1), False)])
def test_handout_at_level_full_explains_from_its_day_on(tmp_path, today, is_told):
    """Before it the record does not hold the explanation either."""
    home = hand_out(tmp_path, with_feedback('level = "full"\nfull_from = 2026-05-02'), today)

    assert is_told == ("Twice is once and once again." in (home / RECORD / "mistakes.json").read_text())


def test_handout_of_an_assignment_without_a_stub_is_refused(tmp_path):
    """It says which one, and where."""
    files = {name: text for name, text in COURSE.items() if not name.endswith("stub/halve.py")}

    with pytest.raises(AssignmentError, match=r"stub: no halve\.py"):
        write_archive(tmp_path, files)

    assert not (tmp_path / "tiny.zip").exists()


def test_handout_of_a_course_whose_reference_fails_is_refused(tmp_path):
    """A handout is not made of what does not hold together."""
    name = "assignments/tiny/checks/test_halve.py"
    wrong = {name: "import torch\n" + COURSE[name].replace(".matches()", ".has_dtype(torch.bool)")}

    with pytest.raises(AssignmentError, match="the reference itself fails"):
        write_archive(tmp_path, COURSE | wrong)

    assert not (tmp_path / "tiny.zip").exists()


def test_handout_command_into_a_folder_that_is_not_there_is_refused(tmp_path):
    """In words, before anything is computed."""
    course = write_files(tmp_path / "course", COURSE)

    done = Command(course).run("handout", "tiny", "-o", tmp_path / "no" / "tiny.zip")

    assert (2, "") == (done.returncode, done.stdout)
    assert f"{tmp_path / 'no'}: no such folder" in done.stderr


def test_handout_command_of_an_unknown_assignment_names_the_near_one(tmp_path):
    """As every command does."""
    done = Command(write_files(tmp_path / "course", COURSE)).run("handout", "tinny")

    assert 2 == done.returncode
    assert "did you mean tiny?" in done.stderr


# --- the real assignment ----------------------------------------------------------------------------------------------


def test_handout_of_attention_holds_no_statement_of_a_function_of_the_reference(attention):
    """Neither as a statement of any file, nor as text, but for what the stubs themselves begin with."""
    given = statements_below(ROOT / "assignments" / "attention" / "stub")
    secret = statements_below(ROOT / "reference") - given
    assert len(secret) > 50

    found = {}
    for name, data in members_of(attention):
        text = data.decode("utf-8", "replace")
        there = {one for one in secret if one in text}
        if name.endswith(".py"):
            there |= secret & {ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)}
        if there:
            found[name] = there

    assert {} == found


def test_handout_of_attention_holds_no_hidden_check(attention):
    """Neither file nor title."""
    hidden = [file.read_text() for file in (ROOT / "assignments/attention/checks").glob("*_hidden.py")]
    functions = [node.name for text in hidden for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert functions

    everything = "\n".join(data.decode("utf-8", "replace") for _, data in members_of(attention))

    assert [] == [name for name in functions if name.startswith("test_") and name in everything]


def test_handout_of_attention_holds_no_edit_of_a_known_mistake(attention):
    """What is written instead would tell what is right."""
    edits = [
        edit["new"].strip()
        for file in (ROOT / "reference" / "mistakes").glob("*.toml")
        for mistake in tomllib.loads(file.read_text(encoding="utf-8"))["mistake"]
        for edit in mistake["edits"]
    ]
    record = "\n".join(
        data.decode("utf-8", "replace") for name, data in members_of(attention) if "grade-check/attention" in name
    )

    assert [] == [new for new in edits if len(new) > 12 and not new.isidentifier() and new in record]


@pytest.fixture(scope="module")
def empty_environment(attention, tmp_path_factory):
    """Runs the wheel's program in the unpacked handout; nothing of this repository is on its path."""
    place = tmp_path_factory.mktemp("student")
    with zipfile.ZipFile(attention) as members:
        members.extractall(place)
    home = place / "attention"
    (wheel,) = (home / "grade-check").glob("*.whl")
    target = ["--no-deps", "--no-index", "--quiet", "--disable-pip-version-check", "--target", str(place / "packages")]
    subprocess.run([sys.executable, "-m", "pip", "install", *target, str(wheel)], check=True)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(place / "packages"), "HOME": str(place)}

    def check(files):
        for name, text in files.items():
            (home / name).write_text(text, encoding="utf-8")
        command = [sys.executable, "-P", "-m", "grader", "check", str(home)]
        return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)

    return check


def texts_of(folder):
    """The files of a submission."""
    return {file.name: file.read_text(encoding="utf-8") for file in folder.glob("*.py")}


def test_handout_in_an_empty_environment_passes_a_solution(empty_environment):
    """Every visible check."""
    done = empty_environment(texts_of(ROOT / "submissions_example/attention/perfect_einsum"))

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "Hidden checks decide about" in done.stdout


def test_handout_in_an_empty_environment_fails_the_stub(empty_environment):
    """It says that nothing was written yet."""
    done = empty_environment(texts_of(ROOT / "assignments/attention/stub"))

    assert 1 == done.returncode
    assert "Left as it was handed out" in done.stdout
    assert "0 of 18 checks passed" in done.stdout


@pytest.mark.parametrize("name", ["scales_by_dim", "heads_attend_to_heads", "mask_polarity_inverted"])
def test_handout_in_an_empty_environment_names_a_mistake(empty_environment, name):
    """The same one that staff are told of, with an example that can be followed by hand."""
    folder = ROOT / "submissions_example/attention" / name
    (named, *_) = tomllib.loads((folder / "expected.toml").read_text(encoding="utf-8"))["mistakes"]
    titles = {
        one["id"]: one["title"]
        for file in (ROOT / "reference" / "mistakes").glob("*.toml")
        for one in tomllib.loads(file.read_text(encoding="utf-8"))["mistake"]
    }

    done = empty_environment(texts_of(folder))

    assert 1 == done.returncode
    assert titles[named["ids"][0]] in done.stdout
    assert "  expected " in done.stdout
