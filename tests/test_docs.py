"""The pages for students, TAs and admins, followed as a reader does: every command is run, in order, line by line.

A line is run by a shell in the folder that the page is about; what it says of its exit code is checked, and the output
that a page shows must be in what was printed. Files that a page shows are written as it shows them.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copytree, ignore_patterns

import click
import pytest
from conftest import PATIENCE_S, environment, finish, write_files
from test_authoring import ANYTHING, BLOCK, PLACE, program

from grader.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "submissions_example" / "attention"
#: Commands that are not run here, and why.
NOT_RUN = {
    "git clone https://git.example.edu/courses/attention-grader": "needs the network",
    "cd attention-grader": "follows the clone",
    "git checkout COMMIT": "follows the clone",
    "python -m venv .venv": "is for the lines below it",
    ". .venv/bin/activate": "is for the line below it",
    "python -m pip install -c constraints.txt .": "needs a package index; every run of CI does this",
}
#: Known mistakes of the course that pages are followed in: with all of them its handout takes a minute to make.
KEPT = {"scale-by-d", "scales-twice", "heads-attend-to-heads"}
_EXITS = re.compile(r"#.*\bexits with (\d+)")
_UNTIL_CTRL_C = "# until Ctrl-C"
#: What a command that watches says when it waits.
_WAITING = "waiting for a change"


@dataclass(frozen=True, slots=True)
class Step:
    """Something that a page has its reader do or see."""

    #: run, write, set or see.
    kind: str
    text: str
    path: str = ""


def steps_of(page: str) -> Iterator[Step]:
    """The steps of a page, in order: a line to run, a file to write, a section to set, output to see."""
    end = 0
    for block in BLOCK.finditer(page):
        info, text = block["info"].strip(), block["text"]
        named = PLACE.search(page[end : block.start()])
        end = block.end()
        if info == "sh":
            yield from (Step("run", line) for line in text.splitlines())
        elif info in ("csv", "toml"):
            assert named, f"the page does not say which file this is of:\n{text}"
            yield Step("write" if info == "csv" else "set", text, named[1])
        elif not info:
            yield Step("see", text)


@dataclass(slots=True)
class Reader:
    """Does what a page says, in a folder that is prepared for it."""

    folder: Path
    #: Variables of the reader's shell.
    variables: Mapping[str, str]
    #: What happens outside of the page before a line is run, the first time.
    before: dict[str, Callable[[Path], object]] = field(default_factory=dict)
    #: What the lines since the last output that the page shows have printed.
    output: str = ""
    #: Whether the next line begins afresh.
    is_seen: bool = True

    def follow(self, page: str) -> None:
        """All steps. What was prepared for them must have been of use."""
        for step in steps_of(page):
            {"run": self.run, "write": self.write, "set": self.set, "see": self.see}[step.kind](step)
        assert {} == self.before

    def run(self, step: Step) -> None:
        line = step.text.partition("#")[0].strip()
        if line in NOT_RUN:
            return
        if happens := self.before.pop(line, None):
            happens(self.folder)
        exits = _EXITS.search(step.text)
        exit_code, printed = self._until_ctrl_c(line) if _UNTIL_CTRL_C in step.text else self._whole(line)
        assert (int(exits[1]) if exits else 130 if _UNTIL_CTRL_C in step.text else 0) == exit_code, (
            f"{step.text}\n{printed}"
        )
        self.output = printed if self.is_seen else self.output + printed
        self.is_seen = False

    def write(self, step: Step) -> None:
        write_files(self.folder, {step.path: step.text})

    def set(self, step: Step) -> None:
        set_section(self.folder / step.path, step.text)

    def see(self, step: Step) -> None:
        at = 0
        for shown in step.text.split(f"{ANYTHING}\n"):
            wanted = re.escape(shown.rstrip("\n")).replace(re.escape(ANYTHING), ".*")
            found = re.compile(wanted).search(self.output, at)
            assert found, f"the page shows:\n{shown}\nand it is:\n{self.output[at:]}"
            at = found.end()
        self.is_seen = True

    def _whole(self, line: str) -> tuple[int, str]:
        place = self.folder / ".place"
        done = finish(self._start(f'{line}\npwd > "{place}"'))
        if not done.returncode:
            folder = Path(place.read_text().strip())
            place.unlink()
            self.folder = folder
        return done.returncode, "".join(f"{text.rstrip()}\n" for text in done.stdout.splitlines())

    def _until_ctrl_c(self, line: str) -> tuple[int, str]:
        process = self._start(f"exec {line}")
        assert process.stdout
        printed = ""
        hangs = threading.Timer(PATIENCE_S, process.kill)
        hangs.start()
        for text in process.stdout:
            printed += text
            if _WAITING in text:
                process.send_signal(signal.SIGINT)
        exit_code = process.wait()
        hangs.cancel()
        process.stdout.close()
        return exit_code, printed

    def _start(self, script: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            ["bash", "-euc", script],
            cwd=self.folder,
            env=environment() | {"COLUMNS": "120"} | self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )


def set_section(file: Path, text: str) -> None:
    """Put a section into a TOML file, in place of the one of its name."""
    stated = file.read_text(encoding="utf-8")
    head = text.partition("\n")[0]
    without = re.sub(rf"^{re.escape(head)}\n(?:[^\[\n].*\n)*\n?", "", stated, flags=re.M)
    file.write_text(without.replace("[rules]", f"{text}\n[rules]", 1), encoding="utf-8")


def page(name: str) -> str:
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def write_course(folder: Path) -> Path:
    """A course like that of this repository, with a few of its known mistakes and examples."""
    copytree(ROOT / "assignments", folder / "assignments", ignore=ignore_patterns("__pycache__"))
    copytree(ROOT / "reference", folder / "reference", ignore=ignore_patterns("__pycache__", "variants"))
    for file in (folder / "reference" / "mistakes").glob("*.toml"):
        entries = re.split(r"^(?=\[\[)", file.read_text(encoding="utf-8"), flags=re.M)
        file.write_text("".join(filter(_is_kept, entries)), encoding="utf-8")
    for name in ("perfect_plain", "scales_by_dim"):
        copytree(EXAMPLES / name, folder / "submissions_example" / "attention" / name)
    return folder


def _is_kept(entry: str) -> bool:
    """Whether an entry of a file of mistakes is about mistakes that are kept alone."""
    about = re.search(r"^(?:id|mistakes) = (\[[^\]]*\]|.*)", entry, re.M)
    return about is None or set(re.findall(r'"([^"]+)"', about[1])) <= KEPT


def write_download(path: Path, files: Mapping[str, str]) -> None:
    """What Canvas gives: all attachments by student, an example's files where its name is given."""
    numbers = iter(range(9000, 9999))
    with zipfile.ZipFile(path, "w") as archive:
        for student, example in files.items():
            sources = sorted((EXAMPLES / example).glob("*.py"))
            for source in sources:
                archive.writestr(f"{student}_{next(numbers)}_{source.name}", source.read_bytes())
            if not sources:
                archive.writestr(f"{student}_{next(numbers)}_{example}", b"%PDF-1.7\n")


CLASS = {
    "lindqvistada_101": "perfect_plain",
    "ångströmbo_LATE_102": "scales_by_dim",
    "mensahkwame_103": "heads_attend_to_heads",
    "oharazoë_LATE_104": "homework.pdf",
}
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,HW3 Softmax (98764),HW4 Attention (98765),Current Score
    Points Possible,,,,,10.00,100.00,(read only)
"Lindqvist, Ada",101,S1,alindqvist,CS-1,9.00,,90.00
"Ångström, Bo",102,S2,bangstrom,CS-1,8.00,,80.00
"Mensah, Kwame",103,S3,kmensah,CS-1,7.00,,70.00
"O'Hara, Zoë",104,S4,zohara,CS-1,,,
"Wang, Wei",105,S5,wwang,CS-1,9.50,,95.00
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum grade,Grade can be changed,Feedback comments
Participant 101,Ada Lindqvist,ada@uni.example,Submitted for grading,,100.00,Yes,
Participant 102,Bo Ångström,bo@uni.example,Submitted for grading,,100.00,Yes,
Participant 103,Kwame Mensah,kwame@uni.example,Submitted for grading,,100.00,Yes,
Participant 104,Zoë O'Hara,zoe@uni.example,Submitted for grading,,100.00,Yes,
Participant 105,Wei Wang,wei@uni.example,No submission,,100.00,Yes,
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands that a reader has."""
    folder = tmp_path_factory.mktemp("programs")
    program(folder, "grade", "grader")
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Path:
    """The admin's course, once the page is read."""
    folder = write_course(tmp_path_factory.mktemp("admin") / "course")
    Reader(folder, {"PATH": f"{programs}:{os.environ['PATH']}"}).follow(page("admin.md"))
    return folder


def test_docs_admin_page_leads_to_a_handout_and_a_replayed_report(course: Path) -> None:
    """Every command and output of docs/admin.md, and what it states of late days is what a report holds."""
    assert zipfile.is_zipfile(course / "attention.zip")
    assert (course / "trial/grades.csv").read_text() == (course / "replay/grades.csv").read_text()
    assert "[late]\n" in (course / "assignments/attention/assignment.toml").read_text()


def test_docs_ta_page_leads_from_a_download_to_filled_gradebooks(tmp_path: Path, programs: Path) -> None:
    """Every file, command and output of docs/ta.md; the late days are those of docs/admin.md."""
    folder = write_course(tmp_path / "course")
    (late,) = (step for step in steps_of(page("admin.md")) if step.text.startswith("[late]"))
    set_section(folder / late.path, late.text)
    write_files(folder, {"gradebook.csv": GRADEBOOK, "worksheet.csv": WORKSHEET})
    download = folder / "submissions.zip"
    write_download(download, CLASS)
    handed_in = CLASS | {"oharazoë_LATE_104": "perfect_plain"}
    reader = Reader(
        folder,
        {"PATH": f"{programs}:{os.environ['PATH']}"},
        {"grade submissions.zip --roster roster.csv --resume": lambda _: write_download(download, handed_in)},
    )

    reader.follow(page("ta.md"))

    filled = (folder / "to_canvas.csv").read_text(encoding="utf-8").splitlines()
    assert ["100.00", "90.00", "98.00", "100.00", ""] == [line.split(",")[-2] for line in filled[2:]]
    comments = (folder / "to_moodle.csv").read_text(encoding="utf-8")
    assert 4 == comments.count("<!-- grade ")


def test_docs_student_page_leads_from_the_handout_to_a_named_mistake(
    tmp_path: Path, course: Path, programs: Path
) -> None:
    """Every command and output of docs/student.md, with the handout of docs/admin.md and a student's wrong code."""
    folder = write_files(tmp_path / "home", {"attention.zip": (course / "attention.zip").read_bytes()})
    packages, python = tmp_path / "packages", tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(programs / "python")  # and no other command: `grade` is the one of the handout
    work = {file.name: file.read_bytes() for file in (EXAMPLES / "scales_by_dim").glob("*.py")}
    variables = {
        "PATH": f"{packages / 'bin'}:{python.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(packages),
        "PIP_TARGET": str(packages),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }

    Reader(folder, variables, {"grade check .": lambda home: write_files(home, work)}).follow(page("student.md"))

    assert (packages / "grader" / "__main__.py").is_file()


@pytest.mark.parametrize("name", ["student.md", "ta.md", "admin.md"])
def test_docs_page_has_commands_and_outputs(name: str) -> None:
    """The tests above are about something."""
    kinds = [step.kind for step in steps_of(page(name))]

    assert kinds.count("run") >= 3
    assert kinds.count("see") >= 1


def test_docs_commands_that_are_not_run_are_on_a_page() -> None:
    """The list of exceptions holds nothing else."""
    lines = [step.text for name in ("student.md", "ta.md", "admin.md") for step in steps_of(page(name))]

    assert set(NOT_RUN) <= set(lines)


def commands_named(text: str) -> set[str]:
    """What a page calls `grade ...`, in its text and in its blocks."""
    inline = re.findall(r"`(grade [^`\n]+)`", BLOCK.sub("", text))
    lines = [line.strip() for block in BLOCK.finditer(text) for line in block["text"].splitlines()]
    return {*inline, *(line for line in lines if re.match(r"grade [a-z./]", line))}


def unknown_in(command_line: str) -> list[str]:
    """Words that are neither commands nor options of what comes before them. Arguments may be left out on a page."""
    words = command_line.partition("#")[0].replace(",", " ").split()[1:]
    command: click.Command = main
    context = click.Context(main)
    while words and isinstance(command, click.Group) and (below := command.get_command(context, words[0])):
        command, words = below, words[1:]
    if command is main:
        command = main.get_command(context, "run") or main
    known = {option for one in (command, main) for param in one.params for option in param.opts}
    return [word for word in words if word.startswith("-") and word.partition("=")[0] not in known | {"--help", "-h"}]


PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]


@pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])
def test_docs_options_that_a_page_names_are_those_of_the_command(path: Path) -> None:
    """In the middle of a sentence, too."""
    named = commands_named(path.read_text(encoding="utf-8"))

    assert {} == {line: unknown for line in sorted(named) if (unknown := unknown_in(line))}


def headings_of(path: Path) -> set[str]:
    """What the headings of a page are linked by: small letters, hyphens for blanks."""
    heads = re.findall(r"^#+ (.*)$", BLOCK.sub("", path.read_text(encoding="utf-8")), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("path", PAGES, ids=[path.name for path in PAGES])
def test_docs_links_into_a_page_lead_to_a_heading(path: Path) -> None:
    """Where a heading is renamed, a link to it is found."""
    links = re.findall(r"\]\(([\w./-]*)#([^)]+)\)", path.read_text(encoding="utf-8"))

    assert [] == [f"{name}#{at}" for name, at in links if at not in headings_of(path.parent / name if name else path)]
