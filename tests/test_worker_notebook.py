"""Which cells, and which statements of them, a stub file is made of. Taken apart in this process, for speed."""

import ast
import json
import textwrap
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_notebook import code, colab, format_3, jupyter, text, vscode

from grader.intake.notebook import read_answer
from grader.worker.notebook.program import take_apart

VARIANTS = Path(__file__).parents[1] / "reference/variants/attention"
ASKED = {
    "single_head": ["scaled_dot_product_attention", "attention_with_loops", "SingleHeadAttention"],
    "masked": ["attention_mask", "masked_attention"],
    "multi_head": ["MultiHeadAttention"],
}
MIX = {"mix": ["mix", "gate"]}


def taken(*cells, asked=MIX, form=jupyter):
    """The answer about a notebook of these cells."""
    cells = [textwrap.dedent(cell) if isinstance(cell, str) else cell for cell in cells]
    return take_apart(form(*cells), "hw.ipynb", asked, 1024 * 1024)


def lines_of(answer, file="mix"):
    """The lines of a file that hold anything, without the titles of cells."""
    return [
        line for line in answer["files"][file]["text"].split("\n") if line.strip() and not line.startswith("# cell")
    ]


def kinds(answer):
    """What the notes are about: kind, name, and the places of cells."""
    return [(kind, name, [cell[0] for cell in cells]) for kind, _, name, cells, _ in answer["notes"]]


@pytest.mark.parametrize("form", [jupyter, colab, vscode, format_3])
def test_notebook_of_every_tool_gives_the_same_code(form):
    """The definitions, and what they use."""
    answer = taken("import math\n", "def gate():\n    return math.pi\n", "print(gate())", form=form)

    assert ["import math", "def gate():", "    return math.pi"] == lines_of(answer)


def test_notebook_cells_are_counted_as_people_see_them():
    """Text cells count; the number of a run is beside it, where there is one. Lines are those of the file."""
    answer = taken(text("# Homework"), code("import math", 7), text("a"), code("def mix():\n    return math.pi\n"))

    assert [[[2, 7], 2, 2], [[4, None], 5, 6]] == answer["files"]["mix"]["cells"]
    assert "# cell 2 of hw.ipynb, In [7]\nimport math\n\n# cell 4 of hw.ipynb\ndef mix():" in lines(answer)


def lines(answer):
    return answer["files"]["mix"]["text"]


def test_notebook_experiments_beside_a_definition_are_left_out():
    """Calls, prints, asserts, loops and tensors that nothing needs; the lines stay where they were."""
    answer = taken(
        """\
        import torch
        query = torch.randn(2, 3)
        def mix(query):
            return query * HALF
        HALF = 0.5; print(mix(query)); assert True
        for one in range(3):
            print(one)
        mix(query)
        """
    )

    assert "# cell 1 of hw.ipynb, In [1]\n\n\ndef mix(query):\n    return query * HALF\nHALF = 0.5; pass; pass\n" == (
        lines(answer)
    )


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        "!pip install torch \\\n    --quiet",
        "?mix",
        "mix?",
        "torch.nn.Linear??",
        "files = !ls",
        "took = %timeit -o mix(1)",
        "%timeit mix(1)",
        "  ",
    ],
)
def test_notebook_magics_are_left_out(magic):
    """At the top, and in a function, where something must stand in their place."""
    answer = taken(f"{magic}\ndef mix():\n    {magic}\n    return 1\n{magic}\n")

    assert ["def mix():", "    return 1"] == [line for line in lines_of(answer) if line.strip() != "pass"]
    assert ast.parse(lines(answer))


def test_notebook_what_only_looks_like_a_magic_stays():
    """In a docstring, in brackets, after a backslash."""
    source = 'def mix(a, b):\n    """\n%matplotlib\n!ls\nwhat?\n    """\n    c = (a\n% b)\n    return c \\\n% a\n'

    answer = taken("%load_ext x\n" + source)

    assert source.strip() in lines(answer)


@pytest.mark.parametrize("magic", ["%%time", "# a comment\n%%capture out", "\n%%time"])
def test_notebook_cell_that_is_timed_is_python(magic):
    """Its names are seen by the other cells."""
    assert ["def mix():", "    return 1"] == lines_of(taken(f"{magic}\ndef mix():\n    return 1"))[-2:]


@pytest.mark.parametrize("magic", ["%%bash", "%%timeit", "%%script false", "%%html", "%%python3"])
def test_notebook_cell_of_another_kind_gives_nothing(magic):
    """What it defines is seen nowhere; where a name is missing, it is told why."""
    answer = taken(f"{magic}\ndef mix():\n    return 1", "def gate():\n    return 1")

    assert ["gate"] == answer["files"]["mix"]["defines"]
    assert [("missing", "mix", [1])] == kinds(answer)


def test_notebook_cell_that_is_written_to_a_file_is_its_code():
    """As `%%writefile mix.py`; importing from it is satisfied by the definition."""
    answer = taken(
        "%%writefile helpers.py\ndef half(x): return x / 2", "from helpers import half\ndef mix(x): return half(x)"
    )

    assert ["def half(x): return x / 2", "def mix(x): return half(x)"] == lines_of(answer)


def test_notebook_that_runs_another_imports_it():
    """`%run` of a part's own notebook; only where a name is found nowhere else."""
    asked = MIX | {"scale": []}
    run = "%run ./scale.ipynb"

    assert "from scale import *" in lines_of(taken(run, "def mix(x): return half(x)", asked=asked))
    assert "from scale import *" not in lines_of(taken(run, "def mix(x): return abs(x)", asked=asked))


def test_notebook_imports_between_parts_of_one_notebook_are_satisfied():
    """There is no such file on the side of the grader, but the definition is."""
    answer = taken(
        "def gate(): return 1",
        "from mix import gate\nfrom other import far\nclass Scale:\n    def forward(self): return gate(), far",
        asked=MIX | {"scale": ["Scale"]},
    )

    assert "def gate(): return 1" == lines_of(answer, "scale")[0]
    assert not [line for line in lines_of(answer, "scale") if "from mix" in line]
    assert "from other import far" in lines_of(answer, "scale")


def test_notebook_last_definition_wins_and_the_others_are_told():
    """Of a name that is asked for."""
    answer = taken("def mix(): return 1", "mix()", "def mix(): return 2")

    assert ["def mix(): return 2"] == lines_of(answer)
    assert ("several", "mix", [3, 1, 3]) in kinds(answer)


@pytest.mark.parametrize(
    "experiment", ["mix = mix(3)", "mix, w = mix(3), 1", "from torch import mix", "mix = torch.ones(3)"]
)
def test_notebook_experiment_that_takes_a_functions_name_does_not_replace_it(experiment):
    """A variable may be called like the function that it came from."""
    assert ["def mix(): return 1"] == lines_of(taken("def mix(): return 1", experiment))


@pytest.mark.parametrize("alias", ["mix = fast", "mix = lambda: 1", "mix = functools.partial(fast, 1)"])
def test_notebook_function_made_of_another_replaces_it(alias):
    """That is a definition, too."""
    answer = taken("import functools\ndef fast(x=1): return x", "def mix(): return 1", alias)

    assert alias in lines_of(answer)
    assert "def mix(): return 1" not in lines_of(answer)


def test_notebook_helper_that_was_improved_is_the_improved_one():
    """It can be called in the same way."""
    answer = taken("def half(x): return x", "def mix(x): return half(x)", "def half(x, eps=0): return x / 2")

    assert ["def mix(x): return half(x)", "def half(x, eps=0): return x / 2"] == lines_of(answer)


def test_notebook_helper_of_another_section_is_not_taken():
    """A name that is used anew for something else."""
    answer = taken(
        "def half(x): return x / 2\nEPS = 1",
        "def mix(x): return half(x) + EPS",
        "def half(x, y): return x / y\nEPS = 2",
        "class Scale:\n    def forward(self): return half(1, 2) + EPS",
        asked=MIX | {"scale": ["Scale"]},
    )

    assert ["def half(x): return x / 2", "EPS = 1"] == lines_of(answer)[:2]
    assert ["def half(x, y): return x / y", "EPS = 2"] == lines_of(answer, "scale")[:2]


def test_notebook_class_that_grows_over_cells_is_whole():
    """By inheritance from itself, by assignment, by `setattr`, by a decorator."""
    cells = [
        "class mix: pass",
        "class mix(mix):\n    a = 1",
        "def show(self): return 1\nmix.show = show",
        "setattr(mix, 'b', 2)",
        "@add_to(mix)\ndef forward(self): return 1",
        "mix()",
    ]

    answer = taken("def add_to(cls): return lambda f: setattr(cls, f.__name__, f)", *cells)

    assert [line for cell in cells[:-1] for line in cell.split("\n")] == lines_of(answer)[1:]


def test_notebook_table_that_is_filled_in_is_whole():
    """In a loop, or by a call; what a loop prints is left out, and a loop that only trains."""
    answer = taken(
        """\
        TABLE, NAMES = [0, 0], []
        for one in range(2):
            if one:
                TABLE[one] = one
            print(one)
        NAMES.append("a")
        for epoch in range(2):
            loss = mix() + epoch
            loss.backward()
        def mix(): return TABLE, NAMES
        """
    )

    assert [
        "TABLE, NAMES = [0, 0], []",
        "for one in range(2):",
        "    if one:",
        "        TABLE[one] = one",
        "    pass",
        'NAMES.append("a")',
        "def mix(): return TABLE, NAMES",
    ] == lines_of(answer)


def test_notebook_imports_of_one_package_go_together():
    """Each adds a module to it; the same import again adds nothing."""
    answer = taken("import os", "import os", "import os.path", "import os as system", "def mix(): return os.path")

    assert ["import os", "import os.path", "def mix(): return os.path"] == lines_of(answer)


def test_notebook_function_that_is_registered_stays():
    """Nothing but its decorator says whose it is."""
    answer = taken(
        "import functools\n@functools.singledispatch\ndef mix(x): return 1\n@mix.register\ndef _(x: int): return 2"
    )

    assert "def _(x: int): return 2" in lines_of(answer)


def test_notebook_branch_that_binds_a_needed_name_stays_without_its_experiments():
    """An optional import, a choice of a device."""
    answer = taken(
        """\
        try:
            import einops
            print("there")
        except ImportError:
            !pip install einops
            einops = None
        if True: print(1)
        def mix(): return einops
        """
    )

    assert ["try:", "    import einops", "    pass", "except ImportError:", "    pass", "    einops = None"] == (
        lines_of(answer)[:6]
    )
    assert ["def mix(): return einops"] == lines_of(answer)[6:]


@pytest.mark.parametrize(
    "cell",
    [
        'table = open("table.txt").read()',
        "table = await fetch()",
        "for table in range(3): pass",
        'if __name__ == "__main__":\n    table = 1',
        "table = !cat table",
        "table = pd.read_csv('x.csv')",
    ],
)
def test_notebook_name_that_only_an_experiment_sets_is_told(cell):
    """Its use will fail, and here is why."""
    answer = taken(cell, "def mix(): return table")

    assert ["def mix(): return table"] == lines_of(answer)
    assert [("left", "table", [1]), ("missing", "gate", [])] == sorted(kinds(answer))


def test_notebook_name_that_is_bound_too_late_is_told():
    """Cells can be run in any order; they are taken in theirs."""
    answer = taken("class mix(Base): pass", "class Base: pass")

    assert ["class mix(Base): pass", "class Base: pass"] == lines_of(answer)
    assert ("too_late", "Base", [1, 2]) in kinds(answer)


def test_notebook_cell_that_does_not_parse_is_kept_when_it_was_to_define_a_name():
    """Its student sees the error, in its line; another broken cell is left out."""
    answer = taken("print 1", "x = 1\n%time\n\ndef mix(:\n    return 1", "def gate(): return 1")

    assert "def mix(:" in lines_of(answer)
    assert "def mix(:" == lines(answer).split("\n")[answer["files"]["mix"]["cells"][0][1] - 1 + 3]
    assert ["broken_kept", "", "mix", [[2, 2]], 4] in answer["notes"]
    assert ["broken_left", "", "", [[1, 1]], 1] in answer["notes"]


def test_notebook_broken_retry_does_not_replace_a_definition():
    """Such a cell never ran."""
    answer = taken("def mix(): return 1", "def mix(): return (")

    assert ["def mix(): return 1"] == lines_of(answer)


def test_notebook_import_from_the_future_stands_first():
    """It holds for all cells after it, and is allowed nowhere else in a file."""
    answer = taken("import math", "from __future__ import annotations\nX = 1", "def mix(a: Late): return math, X")

    assert "from __future__ import annotations" == lines_of(answer)[0]
    assert 1 == lines(answer).count("__future__")
    compile(lines(answer), "mix.py", "exec")


def test_notebook_statements_on_one_line_are_told_apart():
    """Columns count bytes, and a statement may end lines after it began."""
    answer = taken('A = "é"; print("é", """\n"""); B = 2; print(B) # end\ndef mix(): return A, B')

    assert ['A = "é"; pass; B = 2; pass # end', "def mix(): return A, B"] == lines_of(answer)
    assert 5 == len(lines(answer).split("\n"))


def test_notebook_definition_that_is_left_is_left_whole():
    """With its decorators, and a comment behind it."""
    answer = taken("@cache\n@once(\n 1)\ndef unused(): pass  # yes\ndef mix(): return 1")

    assert ["def mix(): return 1"] == lines_of(answer)


def test_notebook_indented_cell_is_taken_as_jupyter_takes_it():
    """Pasted from somewhere."""
    answer = taken(code("    def mix():\n        return 1\n    mix()", 1))

    assert ["def mix():", "    return 1"] == lines_of(answer)


def test_notebook_names_of_local_variables_are_no_needs():
    """A function's `query` is not the one of an experiment, in whatever scope it is."""
    answer = taken(
        "query = 1\nkey = 2\nvalue = 3\nself = 4",
        "class mix:\n    def f(self, query):\n        key = 1\n        return [value for value in query], key",
    )

    assert 4 == len(lines_of(answer))


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", ["empty"]),
        (b"  \n", ["empty"]),
        (b"[]", ["form"]),
        (b'"cells"', ["form"]),
        (b'{"cells": 5}', ["form"]),
        (b"[" * 10**6, ["deep"]),
        (jupyter("def mix(): pass")[:-200], ["cut", 16, 16]),
        (b'{"cells": [{"cell_type":\n', ["cut", 2, 1]),
        (b'{"cells": [\n<<<<<<< HEAD\n]}' + b" " * 50 + b"{}", ["json", 2, 1]),
        (jupyter("x", metadata={"language_info": {"name": "R"}}), ["language", "R"]),
        (jupyter("x", metadata={"kernelspec": {"language": "julia"}}), ["language", "julia"]),
        (jupyter("#" * 1024 * 1024 + "\n"), ["much_code"]),
    ],
)
def test_notebook_that_is_none_says_why(data, problem):
    """Also one that was half saved, or merged by git."""
    assert problem == take_apart(data, "hw.ipynb", MIX, 1024 * 1024)["problem"]


@pytest.mark.parametrize(
    "cell",
    [
        5,
        None,
        [],
        {"cell_type": "code"},
        {"cell_type": "code", "source": 5},
        {"cell_type": "code", "source": {"a": 1}},
        {"cell_type": "code", "source": ["a", 5]},
        {"cell_type": ["code"], "source": "a"},
        {"cell_type": "raw", "source": "def mix(): return 2"},
        {"cell_type": "code", "source": "\ud800 = 1", "execution_count": True},
        {"cell_type": "code", "source": "a\0b", "execution_count": 10**400},
        {"cell_type": "code", "source": "(" * 5000},
        {"cell_type": "code", "source": "x = " + "-" * 50_000 + "1"},
        {"cell_type": "code", "source": "a" * 10**6 + " = 1", "metadata": 5},
    ],
)
def test_notebook_cell_of_a_wrong_form_hides_no_other(cell):
    """It is counted, and that is all."""
    data = json.dumps({"cells": [cell, code("def mix(): return 1")], "metadata": [], "nbformat": "x"}).encode()

    answer = take_apart(data, "hw.ipynb", MIX, 2 * 1024 * 1024)

    assert ["def mix(): return 1"] == lines_of(answer)
    assert [[[2, None], 2, 2]] == answer["files"]["mix"]["cells"]


def test_notebook_with_duplicate_keys_nan_and_a_mark_of_utf_8_is_read():
    """As Jupyter reads it: the last of two keys counts."""
    cell = b'{"cell_type": "code", "source": "mix = lambda: 1"}'
    data = b'\xef\xbb\xbf{"cells": 1, "x": [NaN, -Infinity, 1e999], "cells": [' + cell + b"]}"

    assert ["mix = lambda: 1"] == lines_of(take_apart(data, "hw.ipynb", MIX, 1024))


# --- right solutions, cut into cells ------------------------------------------------------------------------------

STYLES = sorted(folder.name for folder in VARIANTS.iterdir() if folder.is_dir())
EXPERIMENTS = [
    "print(1)",
    "query = torch.randn(2, 3)\nkey, value = query.clone(), query",
    "mask = attention_mask = torch.ones(3, 3).tril()",
    "for head in range(2):\n    %time head\n    print(head)",
    'assert torch.allclose(query, query), f"{query!r} é"',
    "import matplotlib.pyplot as plt\nplt.imshow(weights); plt.show()",
    "if True:\n    !nvidia-smi",
    "with torch.no_grad():\n    out = MultiHeadAttention(8, 2)(query, key, value)",
    "out = await scores()",
    "weights?",
    "files = !ls \\\n  -l",
    '"""A text about\n%matters\n"""',
    "del query",
    "model = train(5); model.weight = 3",
]
CELLS = ["%%bash\nif [ 1 ]; then\n  ls\nfi", "def broken(:\n  pass", "%%timeit\ndef attention_mask(): pass", "", "1 +"]
QUICK = settings(max_examples=30, deadline=None, database=None, derandomize=True)


def blocks_of(path):
    """The statements of a file, with comments before them."""
    source = path.read_text(encoding="utf-8")
    lines = source.split("\n")
    start = 0
    for node in ast.parse(source).body:
        yield "\n".join(lines[start : node.end_lineno])
        start = node.end_lineno


def statements_of(source):
    """What a file says, in a form that can be compared: no docstring, no `pass` in the place of an experiment."""
    return [ast.dump(node) for node in ast.parse(source).body if not isinstance(node, (ast.Expr, ast.Pass))]


@st.composite
def cut_into_cells(draw, blocks):
    """Cells with these statements in order, and experiments strewn between."""
    cells, cell = [], []
    for block in blocks:
        cell += draw(st.lists(st.sampled_from(EXPERIMENTS), max_size=2))
        cell.append(block)
        if draw(st.booleans()):
            cells.append("\n".join(["%%time"] * draw(st.booleans()) + cell))
            cells += draw(st.lists(st.sampled_from(CELLS), max_size=1))
            cell = []
    return [*cells, "\n".join(cell)]


@QUICK
@given(st.data())
def test_notebook_of_a_right_solution_gives_its_code_however_it_is_cut(data):
    """Every style, one part a notebook: exactly the statements of the file, whatever stands between them."""
    path = VARIANTS / data.draw(st.sampled_from(STYLES)) / f"{data.draw(st.sampled_from(list(ASKED)))}.py"
    blocks = list(blocks_of(path))
    whole = statements_of(path.read_text(encoding="utf-8"))
    asked = {path.stem: ASKED[path.stem]}

    clean = taken("\n".join(blocks), asked=asked)["files"][path.stem]
    strewn = taken(*data.draw(cut_into_cells(blocks)), asked=asked)["files"][path.stem]

    assert statements_of(clean["text"]) == statements_of(strewn["text"])
    assert [one for one in whole if "FunctionDef" in one or "ClassDef" in one] == [
        one for one in statements_of(strewn["text"]) if "FunctionDef" in one or "ClassDef" in one
    ]
    assert sorted(ASKED[path.stem]) == strewn["defines"]


@QUICK
@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_notebook_of_any_cell_gives_an_answer_that_is_accepted(source):
    """Whatever a cell holds, what is said of it has the form that is wanted."""
    answer = taken(code([source]), code("def mix(): return 1"))

    assert {"mix.py"} == set(read_answer(json.dumps(answer).encode(), "hw.ipynb", {"mix.py": MIX["mix"]}).texts)


@pytest.mark.parametrize("style", STYLES)
def test_notebook_of_all_parts_gives_each_its_own(style):
    """One notebook for three files that name helpers alike, with experiments after each statement."""
    cells = []
    for part in ASKED:
        for block in blocks_of(VARIANTS / style / f"{part}.py"):
            cells += [block, EXPERIMENTS[len(cells) % len(EXPERIMENTS)], text("And then?")]

    answer = taken(*cells, asked=ASKED)

    for part in ASKED:
        wanted = [one for one in statements_of((VARIANTS / style / f"{part}.py").read_text()) if "Def(" in one]
        found = statements_of(answer["files"][part]["text"])
        assert [one for one in found if one in wanted] == wanted
