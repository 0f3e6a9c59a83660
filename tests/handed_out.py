"""A small course with known mistakes and a hidden check, its handout, and the program that a student runs with it."""

import zipfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path

from conftest import TINY_COURSE, write_files
from sample_course import own_reference

from grader.course import Course
from grader.handout.pack import write_handout

ROOT = Path(__file__).parents[1]
MISTAKES = """
[[mistake]]
id = "tripled"
title = "The element is taken three times"
explanation = "Twice is once and once again."
hint = "How often is each element taken?"
price = 1
edits = [{ file = "double.py", old = "* 2", new = "* 3" }]

[[mistake]]
id = "of-the-absolute"
title = "The sign is lost"
explanation = "The double of a negative number is negative."
hint = "What becomes of negative numbers?"
price = 1
edits = [{ file = "double.py", old = "double(x):\\n    return x", new = "double(x):\\n    return x.abs()" }]

[[mistake]]
id = "row-by-row"
title = "Rows are taken for columns"
explanation = "A matrix product is no scaling."
hint = "Which axes does a product add up over?"
price = 2
edits = [{ file = "double.py", old = "return x * 2", new = "return x @ x" }]

[[mistake]]
id = "not-halved"
title = "Nothing is divided"
explanation = "Half is one of two equal pieces."
hint = "What is divided by what?"
price = 0.5
edits = [{ file = "double.py", old = "x / 2", new = "x / 1" }]
"""
HIDDEN = '''
from grader.checks import Checks

double = Checks("double")


@double.check(points=1)
def test_a_secret_question(student, given):
    """Nobody knows of it."""
    student(given.normal("secret", 4, 5)).matches()
'''
STUBS = {
    "double.py": 'def double(x):\n    """Twice of each."""\n    raise NotImplementedError\n',
    "halve.py": 'def halve(x):\n    """Half of each."""\n    raise NotImplementedError\n',
}
SPECIFICATION = TINY_COURSE["assignments/tiny/assignment.toml"]
COURSE = TINY_COURSE | {
    "assignments/tiny/assignment.toml": SPECIFICATION.replace("points = 3\n", "points = 4\n", 1).replace(
        "limits =", "published_seed = 77\nlimits ="
    ),
    "assignments/tiny/README.md": "# Doubling\n\nDouble it.\n",
    "assignments/tiny/checks/test_double_hidden.py": HIDDEN,
    "reference/mistakes/double.toml": MISTAKES,
    **{f"assignments/tiny/stub/{name}": text for name, text in STUBS.items()},
}


def with_feedback(text: str) -> dict[str, str]:
    """The course, with this in its section `feedback`."""
    name = "assignments/tiny/assignment.toml"
    return COURSE | {name: COURSE[name].replace("[[parts]]", f"[feedback]\n{text}\n[[parts]]", 1)}


def write_archive(folder: Path, files: Mapping[str, str], today: date = date(2026, 1, 1)) -> Path:
    """Write a course, and its handout, on that day."""
    course = Course(write_files(folder / "course", files))
    archive = folder / "tiny.zip"
    with own_reference():
        write_handout(course, course.assignment("tiny"), archive, today, lambda number, total: None)
    return archive


def hand_out(folder: Path, files: Mapping[str, str], today: date = date(2026, 1, 1)) -> Path:
    """Write a course, make its handout, and unpack that elsewhere: the student's folder."""
    with zipfile.ZipFile(write_archive(folder, files, today)) as members:
        members.extractall(folder / "home")
    return folder / "home" / "tiny"
