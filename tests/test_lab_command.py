"""`grade lab`, as a person runs it."""

import contextlib
import json
import re
import signal
import subprocess
import sys
import zipfile

import pytest
import sample_lab
from click.testing import CliRunner
from conftest import Command, environment, finish, write_files

from grader.cli import main
from grader.lab.lab_file import must_be_usable, write

#: What starts the command where something is not installed.
WITHOUT = "import sys; sys.modules['matplotlib'] = None; from grader.__main__ import start; start()"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The command, in a course of which one assignment has experiments."""
    folder = write_files(tmp_path_factory.mktemp("course"), sample_lab.COURSE)
    own = sample_lab.COURSE[f"assignments/{sample_lab.NAME}/assignment.toml"]
    plain = re.sub(r"\[lab\].*?\n\n", "", own, flags=re.DOTALL)
    write_files(folder, {"assignments/plain/assignment.toml": plain})
    write_files(folder / "students" / "Żaneta", {sample_lab.FILE: sample_lab.RIGHT})
    (folder / "students" / "empty").mkdir()
    return Command(folder)


def in_process(folder, *arguments):
    """Run the command here, as far as nothing is measured."""
    with contextlib.chdir(folder):
        return CliRunner().invoke(main, ["lab", *map(str, arguments)])


def test_lab_of_a_right_module_writes_page_and_figures(lab, tmp_path):
    """And says what they show, in a line an experiment."""
    out = tmp_path / "out"

    done = lab.run("lab", sample_lab.NAME, "students/Żaneta", "--quick", "--seed", "5", "-o", out)

    assert 0 == done.returncode, done.stderr
    assert ["index.html", "lab.json"] == sorted(file.name for file in out.iterdir())
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1 Scaling: With the scaling, the variance of the logits stays near 1")
    assert lines[1].startswith("2 Causal mask: The future does not leak")
    assert lines[3].startswith("4 Beside PyTorch: The same as PyTorch's but for rounding")
    assert [f"  {out / 'index.html'}", f"  {out / 'lab.json'}"] == lines[4:]
    figures = json.loads((out / "lab.json").read_text())
    assert (5, "strong", "Żaneta") == (figures["seed"], figures["grader"]["isolation"], figures["subject"]["id"])


def test_lab_of_a_module_that_raises_writes_the_page_in_a_handout_too(lab, tmp_path):
    """It needs no reference. What the module says is neither markup on the page nor a command to the terminal."""
    lab.run("handout", sample_lab.NAME, "-o", tmp_path / "handout.zip")
    with zipfile.ZipFile(tmp_path / "handout.zip") as members:
        members.extractall(tmp_path)
    home = write_files(tmp_path / sample_lab.NAME, {sample_lab.FILE: sample_lab.RAISES})

    done = Command(home).run("lab", sample_lab.NAME, ".", "--quick")

    page = (home / "lab" / "index.html").read_text()
    assert 1 == done.returncode, done.stderr
    assert 4 == done.stdout.count("It could not be measured: raised an error.")
    assert "ValueError: &lt;script&gt;alert(1)&lt;/script&gt;⟨U+001B⟩[31m" in page
    assert "<script" not in page


def test_lab_that_is_interrupted_leaves_nothing(lab, tmp_path):
    """Exit code 130, as a shell counts."""
    with lab.start("lab", sample_lab.NAME, "students/Żaneta", "-o", tmp_path / "out") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Experimenting with MultiHeadSelfAttention, seed ")
        process.send_signal(signal.SIGINT)
        done = finish(process)

    assert 130 == done.returncode
    assert "interrupted; nothing was written" in done.stderr
    assert not (tmp_path / "out").exists()


def test_lab_without_what_draws_plots_says_what_to_install(lab):
    """Before anything else."""
    command = [sys.executable, "-c", WITHOUT, "lab", sample_lab.NAME, "students/Żaneta"]

    done = subprocess.run(command, cwd=lab.folder, env=environment(), capture_output=True, text=True)

    assert 2 == done.returncode
    assert (
        "grade: grade lab draws its plots with matplotlib, which is not installed here; install it: "
        "python -m pip install matplotlib\n"
    ) == done.stderr


def test_lab_output_that_is_there_is_not_replaced(lab, tmp_path):
    """Nothing is measured before that is said."""
    (tmp_path / "lab.json").write_text("{}")

    done = in_process(lab.folder, sample_lab.NAME, "students/Żaneta", "-o", tmp_path)

    assert 2 == done.exit_code
    assert "holds the figures of an earlier run; replace them with --force" in done.stderr
    assert ["{}"] == [file.read_text() for file in tmp_path.iterdir()]


def test_lab_output_that_is_there_is_replaced_where_that_is_asked_for(tmp_path):
    """Whole, and other files stay."""
    write_files(tmp_path, {"lab.json": "{}", "notes.txt": "mine"})

    must_be_usable(tmp_path, is_forced=True)
    write(tmp_path, sample_lab.sample_lab(), "<page>")

    assert ["index.html", "lab.json", "notes.txt"] == sorted(file.name for file in tmp_path.iterdir())
    assert 7 == json.loads((tmp_path / "lab.json").read_text())["seed"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plain", "students/Żaneta"], "plain has no section [lab], and so no experiments; experiments belong to: qkv"),
        (["qkv", "students/Żaneta"], "no assignment is called 'qkv'"),
        ([sample_lab.NAME, "students/nobody"], "no such folder"),
        ([sample_lab.NAME, "students/empty"], "attention.py is not in it; the experiments need MultiHeadSelfAttention"),
        ([sample_lab.NAME, "students/Żaneta", "-o", "students"], "is not empty and holds no lab.json"),
        ([sample_lab.NAME, "students/Żaneta", "-o", "reference/qkv.py"], "is a file; wanted a folder"),
        ([sample_lab.NAME], "Missing argument 'FOLDER'"),
    ],
)
def test_lab_wrong_words_are_told_and_nothing_is_written(lab, arguments, said):
    """At once, with exit code 2."""
    before = sorted(lab.folder.rglob("*"))

    done = in_process(lab.folder, *arguments)

    assert (2, True) == (done.exit_code, said in done.stderr), done.stderr
    assert before == sorted(lab.folder.rglob("*"))


def test_lab_folder_of_that_name_is_mentioned_where_it_may_be_meant(tmp_path):
    """Where the command has two words behind it, nobody means the folder that an earlier run wrote."""
    (tmp_path / "lab").mkdir()

    alone, whole = in_process(tmp_path), in_process(tmp_path, "attention", "nobody")

    assert "grade ./lab" in alone.stderr
    assert "grade ./lab" not in whole.stderr
