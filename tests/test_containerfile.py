"""The container recipe: whom it runs as, what goes in, and that its commands are those of the command line."""

import json
import re
import subprocess
import sys
from pathlib import Path

import as_user
import pytest
from test_workflows import must_parse

from grader.cli import main

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def instructions():
    """Word and rest of each instruction, with lines that go on joined."""
    lines = [line for line in TEXT.splitlines() if not line.startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.partition(" ")
            yield word, " ".join(rest.split())


RECIPE = list(instructions())
STAGES = [number for number, (word, _) in enumerate(RECIPE) if word == "FROM"]
#: What stays in the image that runs.
LAST = RECIPE[STAGES[-1] :]


def rests(word, recipe=RECIPE):
    """What stands behind each instruction of a kind."""
    return [rest for found, rest in recipe if found == word]


def ignored():
    """Lines of the file that says what is sent to the builder."""
    lines = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_containerfile_runs_as_an_ordinary_user():
    """By number, so that whoever starts it can tell that it is not root; nothing is installed after that."""
    after = LAST[[word for word, _ in LAST].index("USER") :]

    assert "10001:10001" == after[0][1]
    assert {"USER", "WORKDIR", "ENTRYPOINT", "CMD"} == {word for word, _ in after}
    assert "useradd --uid 10001" in TEXT


def test_containerfile_base_is_pinned():
    """The same image tomorrow, in both stages."""
    pinned = [re.fullmatch(r"\S+/python:3\.11-\S+@sha256:[0-9a-f]{64}(?: AS build)?", rest) for rest in rests("FROM")]

    assert all(pinned)
    assert 1 == len({rest.partition(" ")[0] for rest in rests("FROM")})


def test_containerfile_takes_nothing_but_the_package():
    """No answers, no tests, no submissions: a course is mounted when it runs."""
    copied = [name for rest in rests("COPY") if "--from" not in rest for name in rest.split()[:-1]]

    assert ["constraints.txt", "pyproject.toml", "README.md", "LICENSE", "grader"] == copied
    assert all((ROOT / name).exists() for name in copied)


def test_containerfile_only_what_is_copied_is_sent_to_the_builder():
    """What is not sent cannot end in a layer; both builders read the same list."""
    assert [
        "*",
        "!constraints.txt",
        "!pyproject.toml",
        "!README.md",
        "!LICENSE",
        "!grader",
        "**/__pycache__",
    ] == ignored()
    assert (ROOT / ".containerignore").read_bytes() == (ROOT / ".dockerignore").read_bytes()


def test_containerfile_holds_no_secret():
    """A variable of the build stays readable in the image."""
    assert [] == rests("ARG")
    assert not re.search(r"(?i)token|passw|secret|_key\b|://[^/\s]*@", TEXT)


def test_containerfile_needs_no_network_when_it_runs():
    """All that is fetched is fetched while it is built."""
    assert not re.search(r"pip|curl|wget|apt|https?:", " ".join(rest for word, rest in LAST if word != "FROM"))


@pytest.mark.parametrize(
    "words",
    [
        json.loads(rests("CMD")[0]),
        re.findall(r"\n#       grade (run .*)", TEXT)[0].split(),
        *(rest.split()[1:] for rest in rests("RUN", LAST) if rest.startswith("grade ") and rest != "grade --version"),
    ],
    ids=" ".join,
)
def test_containerfile_commands_are_those_of_the_command_line(words):
    """An option that is renamed breaks here."""
    assert ["grade"] == json.loads(rests("ENTRYPOINT")[0])
    must_parse(main, words)


@pytest.mark.skipif(not as_user.can_box(), reason="only root can make a machine that lacks something")
@pytest.mark.parametrize(("lacking", "level"), [("namespaces", "strong"), ("namespaces,landlock", "none")])
def test_containerfile_user_has_the_isolation_that_the_documentation_says(lacking, level):
    """Where a runtime's profile refuses namespaces, and where the kernel has no Landlock either."""
    doctor = [
        sys.executable,
        str(ROOT / "tests" / "without.py"),
        lacking,
        sys.executable,
        "-P",
        "-m",
        "grader",
        "doctor",
    ]

    done = subprocess.run(as_user.boxed(10001, [], doctor), cwd=ROOT, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines()[-1].startswith(f"isolation   {level}")
    assert (0 if level == "strong" else 3) == done.returncode
