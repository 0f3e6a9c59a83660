"""A notebook becomes stub files, through a real process; what it answers is believed in nothing."""

import json
import os

import pytest
from conftest import children_of
from sample_notebook import PLOT, code, jupyter, text

from grader.intake.notebook import Notebook, files_answered, read_answer, read_notebook
from grader.intake.tree import MIB, Refusal

ASKED = {"mix.py": ["gate", "mix"]}
MIX = "def mix():\n    return 1\n"
GATE = "def gate():\n    return 1\n"
RIGHT = {
    "files": {"mix": {"text": "mix = 1", "defines": ["mix"], "cells": [[[1, 1], 1, 1]]}},
    "notes": [["missing", "mix", "gate", [], 0]],
}


def reason(data, **options):
    """Why nothing is taken of a notebook."""
    found = read_notebook(data, "hw.ipynb", ASKED, **options)

    assert ({}, {"mix.py"}) == (found.texts, set(found.unreadable))
    return found.unreadable["mix.py"]


def test_intake_notebook_gives_a_stub_and_says_of_which_cells():
    """A student reads it, and finds the cell that an error is in."""
    found = read_notebook(jupyter(text("# Hi"), MIX, "mix()", GATE, MIX), "hw.ipynb", ASKED)

    assert {"mix.py": f"# cell 4 of hw.ipynb, In [4]\n{GATE}\n# cell 5 of hw.ipynb, In [5]\n{MIX}"} == found.texts
    assert {} == found.unreadable
    assert (
        "mix.py was made of hw.ipynb, cells counted from the top, text cells too: cell 4, In [4] (lines 2 to 3); "
        "cell 5, In [5] (lines 6 to 7)",
        "mix is defined in cell 2, In [2] and cell 5, In [5] of hw.ipynb; mix.py was made with cell 5, In [5]",
    ) == found.notes


def test_intake_notebook_says_what_is_wrong_with_it():
    """Everything a person ought to know, in words."""
    cells = [
        "print 1",
        "data = open('x')",
        "class Both(Late): pass",
        "class Late: pass",
        "def mix(): return data, Both",
        {"cell_type": "code", "source": 5},
        "%%timeit\ndef gate(): pass",
    ]

    assert (
        "mix.py lacks gate: no cell of hw.ipynb defines it, but for cell 7, In [7], whose %% line keeps it from the "
        "others",
        "mix.py uses data, which only cell 2, In [2] of hw.ipynb sets; that was left out as an experiment",
        "mix.py may fail: cell 3, In [3] of hw.ipynb needs Late, which is only defined later, in cell 4, In [4]",
        "cell 1, In [1] of hw.ipynb was left out: it is no Python (line 1 of the cell)",
        "cell 6 of hw.ipynb was left out: it holds no text",
    ) == read_notebook(jupyter(*cells), "hw.ipynb", ASKED).notes[1:]


def test_intake_notebook_without_the_names_is_unreadable_for_the_stub():
    """What was looked for is said."""
    assert "no cell of hw.ipynb defines one of gate, mix" == reason(jupyter("x = 1"))


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b"", "hw.ipynb is empty; open it in Jupyter, save it, and hand it in again"),
        (jupyter(MIX)[:-200], "hw.ipynb is only the beginning of a notebook: it ends in line 17; open it in Jupyter, "),
        (
            b'{x: "' + b"a" * 99 + b'"}',
            "hw.ipynb is damaged: it is no JSON from line 1, column 2 on; open it in Jupyter, ",
        ),
        (b"{}", "hw.ipynb is no notebook, whatever its name says: it has no list of cells; open it in Jupyter"),
        ("é".encode("latin-1"), "hw.ipynb is not UTF-8: byte 0xe9 in line 1; open it in Jupyter, save it, and hand"),
        (b"[" * 10**6, "hw.ipynb is nested as deeply as no notebook is; clear all outputs, save it, and hand it"),
        (b"[]," * 6 * MIB, "hw.ipynb is damaged"),
        (jupyter("x", metadata={"language_info": {"name": "R" * 99}}), f"hw.ipynb is a notebook of {'R' * 40}, wanted"),
        (jupyter("#" * 2 * MIB), "hw.ipynb holds more than 1024 KiB of code; hand in only the cells that the task"),
    ],
)
def test_intake_notebook_that_cannot_be_taken_says_why_and_what_to_do(data, wanted):
    """Whatever was handed in; nothing of it is read in this process."""
    assert reason(data).startswith(wanted)


def test_intake_notebook_that_takes_too_much_memory_says_so(monkeypatch):
    """A list takes thirty times the room of its two brackets."""
    monkeypatch.setattr("grader.intake.unpacker._MEMORY_MIB", 48)

    assert "hw.ipynb takes too much memory to read; clear all outputs, save it, and hand it in again" == reason(
        b"[" + b"[]," * MIB + b"[]]"
    )


def test_intake_notebook_of_many_pictures_is_read():
    """Its code is what counts."""
    huge = PLOT | {"data": {"image/png": "iVBORw0KGgo=" * (18 * MIB // 12)}}

    assert {"mix.py"} == set(read_notebook(jupyter(code(MIX, 1, [huge])), "hw.ipynb", ASKED).texts)


def test_intake_notebook_that_takes_too_long_is_ended(monkeypatch):
    """By the kernel; no process remains."""
    monkeypatch.setattr("grader.intake.unpacker._CPU_S", 1)
    before = children_of(os.getpid())

    found = reason(jupyter("x = [" + "[y for y in z], " * 60_000 + "]\nmix = x"))

    assert "hw.ipynb takes too long to read; clear all outputs, save it, and hand it in again" == found
    assert before == children_of(os.getpid())


def test_intake_notebook_with_a_name_that_does_something_has_it_spelt_out():
    """A line break in it would be code; half a surrogate pair is no text."""
    found = read_notebook(jupyter(MIX), f"a\nimport os\udcff{'x' * 300}.ipynb", ASKED)

    title = f"a?import os\\xff{'x' * 84}…"
    assert f"# cell 1 of {title}, In [1]\n{MIX}" == found.texts["mix.py"]
    assert found.notes[0].startswith(f"mix.py was made of {title}, cells")


def test_intake_notebook_with_a_name_of_a_megabyte_is_cut_in_notes():
    """Which are for reading."""
    name = "a" * 200_000

    notes = read_notebook(jupyter(f"{name} = open('x')\ndef mix(): return {name}"), "hw.ipynb", ASKED).notes

    assert (
        f"mix.py uses {'a' * 60}, which only cell 1, In [1] of hw.ipynb sets; that was left out as an experiment"
        in (notes)
    )


def test_intake_notebook_may_import_a_part_that_another_file_gives():
    """`others` are known by name, so that running them becomes importing them."""
    data = jupyter("%run scale.ipynb\ndef mix(): return Scale")

    assert "from scale import *" in read_notebook(data, "hw.ipynb", ASKED, ["scale.py"]).texts["mix.py"]


def test_intake_notebook_answers_the_files_of_which_it_defines_a_name():
    """To tell which assignment a class answers."""
    asked = {"mix.py": ["mix"], "scale.py": ["Scale"], "other.py": ["other"]}

    assert ["mix.py", "other.py"] == list(files_answered(jupyter(MIX, "other = lambda: 1"), asked))
    assert [] == list(files_answered(b"", asked))


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"{}",
        b"[" * 10**5,
        b"\xff",
        RIGHT | {"more": 1},
        RIGHT | {"files": []},
        RIGHT | {"files": {"other": RIGHT["files"]["mix"]}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"text": 5}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"text": "\ud800"}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"text": "x" * (2 * MIB + 1)}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"cells": []}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"cells": [[[0, 1], 1, 1]]}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"cells": [[[1, True], 1, 1]]}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"cells": [[[1, 1], "1", 1]]}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"cells": [[[1, 1], 1, 10**9]]}}},
        RIGHT | {"files": {"mix": RIGHT["files"]["mix"] | {"more": 1}}},
        RIGHT | {"notes": [["praised", "mix", "gate", [], 0]]},
        RIGHT | {"notes": [["left", "mix", "gate", [], 0]]},
        RIGHT | {"notes": [["left", "mix", "x" * 101, [[1, 1]], 0]]},
        RIGHT | {"notes": [["left", "other", "x", [[1, 1]], 0]]},
        RIGHT | {"notes": [["left", "mix", "x", [[1, 1]] * 21, 0]]},
        RIGHT | {"notes": [["left", "mix", "x", [[1, 1]], -1]]},
        RIGHT | {"notes": [["left", "mix", "x", [[1, 1]]]]},
        {"problem": []},
        {"problem": ["praised"]},
        {"problem": ["cut"]},
    ],
)
def test_intake_notebook_answer_of_another_form_is_refused(answer):
    """Whatever became of the process that gave it."""
    said = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    with pytest.raises(Refusal, match="cannot be taken apart, for a reason no ordinary notebook gives"):
        read_answer(said, "hw.ipynb", ASKED)


def test_intake_notebook_answer_of_the_right_form_is_taken():
    """What the others are variations of."""
    found = read_answer(json.dumps(RIGHT).encode(), "hw.ipynb", ASKED)

    assert isinstance(found, Notebook)
    assert {"mix.py": "mix = 1"} == found.texts
    assert "mix.py lacks gate: no cell of hw.ipynb defines it" == found.notes[1]
