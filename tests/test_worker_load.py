"""A submission's files become modules of a worker, and nothing else of this machine does."""

import pytest
import torch
from conftest import INPUT, function, make_call

from grader.outcome import MissingName, Raised, Returned


def raised(conversation, **fields):
    """The exception that asking gives."""
    reply = conversation.ask(make_call(**fields), None).reply
    assert isinstance(reply, Raised), reply
    return reply


def test_load_neighbour_is_imported_from_the_submission(talk):
    """The files of one submission may import each other."""
    files = {"work.py": "from other import twice as answer", "other.py": "def twice(x):\n    return x * 2\n"}

    outcome = talk(files).ask(make_call(), None)

    assert torch.equal(INPUT * 2, outcome.tensors["0"])


def test_load_helper_the_assignment_does_not_name_is_imported(talk):
    """A student may hand in further files."""
    files = {"work.py": "from my_tools import twice as answer", "my_tools.py": "def twice(x):\n    return x * 2\n"}

    outcome = talk(files).ask(make_call(), None)

    assert torch.equal(INPUT * 2, outcome.tensors["0"])


def test_load_missing_neighbour_names_it(talk):
    """An import of a file that was not handed in fails in the importing file."""
    reply = raised(talk("import other"))

    assert ("import", "ModuleNotFoundError", "No module named 'other'") == (reply.stage, reply.type, reply.message)
    assert ("work.py", 1) == (reply.frames[-1].file, reply.frames[-1].line)


def test_load_broken_neighbour_is_named_as_the_cause(talk):
    """When an imported file fails, it comes first among those that failed."""
    reply = raised(talk({"work.py": "import other", "other.py": "1 / 0"}))

    assert (("other", "work"), "ZeroDivisionError") == (reply.failed, reply.type)
    assert ("other.py", "1 / 0") == (reply.frames[-1].file, reply.frames[-1].text)


def test_load_cyclic_import_that_needs_a_name_too_early_fails(talk):
    """A cycle fails as it does in Python, and says so."""
    files = {"work.py": "from other import b\na = 1", "other.py": "from work import a\nb = 2"}

    reply = raised(talk(files))

    assert "ImportError" == reply.type
    assert "circular import" in reply.message


def test_load_cyclic_import_of_modules_alone_works(talk):
    """A cycle that Python can resolve is no fault."""
    files = {"work.py": "import other\n" + function("return other.twice(x)"), "other.py": "import work\ntwice = abs\n"}

    outcome = talk(files).ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)


@pytest.mark.parametrize("name", ["torch", "jinja2", "random", "wave"])
def test_load_student_file_named_like_an_installed_module_shadows_nothing(talk, name):
    """`torch.py` of a student is not what `import torch` finds: neither an installed package, nor the standard library.

    `torch` and `random` have been imported when a file is loaded, the others have not.
    """
    files = {
        "work.py": f"import {name}\n" + function("return torch.ones(1)"),
        f"{name}.py": "raise SystemExit('shadow')",
    }

    outcome = talk(files).ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)


def test_load_reference_cannot_be_imported(talk):
    """The answers are on no path of the worker."""
    assert "No module named 'reference'" == raised(talk("import reference")).message


def test_load_course_cannot_be_imported(talk):
    """Neither are the checks."""
    assert "No module named 'assignments'" == raised(talk("import assignments.attention.checks")).message


def test_load_grader_cannot_be_imported(talk):
    """The trusted side's code is not on the path either, however it was installed for the tests."""
    source = "import sys\nprint([name for name in sys.modules if name == 'grader' or name.startswith('grader.')])"

    outcome = talk(source + "\n" + function("return x")).ask(make_call(), None)

    assert "[]\n" == outcome.printed


def test_load_path_of_the_worker_holds_installed_packages_and_the_standard_library_alone(talk):
    """No folder of the course and no current folder is looked through."""
    source = "import os, sys\nfor folder in sys.path:\n    print([f for f in ('assignments', 'reference') if f in\n"
    source += "        (os.listdir(folder) if os.path.isdir(folder) else [])], folder in ('', '/', os.getcwd()))\n"

    printed = talk(source + function("return x")).ask(make_call(), None).printed

    assert {"[] False"} == set(printed.splitlines())


def test_load_environment_holds_nothing_of_the_graders(talk, monkeypatch):
    """Variables of the person who grades do not reach students' code."""
    source = "import os\nprint(sorted(os.environ))\n" + function("return x")

    printed = talk(source).ask(make_call(), None).printed

    assert "'PYTHONHASHSEED'" in printed
    assert not any(name in printed for name in ("'HOME'", "'PATH'", "'USER'", "'VIRTUAL_ENV'"))


def test_load_missing_callable_lists_what_the_file_defines(talk):
    """The names there are make a near match possible."""
    reply = talk("anwser = abs\n_hidden = 1\n").ask(make_call(), None).reply

    assert isinstance(reply, MissingName)
    assert ("anwser",) == reply.names


def test_load_hostile_names_in_the_module_are_reported_short(talk):
    """Names that are too long, or no strings, cost nothing but themselves."""
    source = "globals()['a' * 3000] = globals()[5] = 1\n"

    reply = talk(source).ask(make_call(), None).reply

    assert isinstance(reply, MissingName)
    assert {"5", "a" * 200} == set(reply.names)


def test_load_module_that_replaces_itself_is_an_import_error(talk):
    """A trick with `sys.modules` is the student's own fault, and costs no worker."""
    reply = raised(talk("import sys\nclass Odd:\n    __slots__ = ()\nsys.modules[__name__] = Odd()\n"))

    assert ("import", "TypeError") == (reply.stage, reply.type)


def test_load_syntax_error_tells_file_line_and_text(talk):
    """What Python's compiler says is reported with the line."""
    reply = raised(talk("def answer(x):\n    return x +\n"))

    assert ("import", "SyntaxError") == (reply.stage, reply.type)
    assert ("work.py", 2, "    return x +") == (reply.frames[0].file, reply.frames[0].line, reply.frames[0].text)


def test_load_null_byte_in_a_file_is_an_import_error(talk):
    """A file that is no Python at all is reported like any other that does not load."""
    assert "import" == raised(talk("answer = 1\0")).stage


def test_load_system_exit_while_importing_is_an_import_error(talk):
    """`sys.exit` in a file ends nothing."""
    reply = raised(talk("import sys\nsys.exit(0)\n"))

    assert ("import", "SystemExit", "0") == (reply.stage, reply.type, reply.message)


def test_load_failed_import_is_not_tried_again(talk):
    """The second question gives the same answer, from memory."""
    conversation = talk("print('once')\n1 / 0\n")

    first, second = (conversation.ask(make_call(), None) for _ in range(2))

    assert first.reply is second.reply
    assert ("once\n", "") == (first.printed, second.printed)


def test_load_file_larger_than_a_reply_may_be_is_loaded(talk):
    """What a student hands in is limited where it is read, not by the frames of the answers."""
    source = f"TABLE = '{'x' * 700_000}'\n" + function("return x * len(TABLE)")

    outcome = talk(source).ask(make_call(), None)

    assert torch.equal(INPUT * 700_000, outcome.tensors["0"])


def test_load_main_block_is_not_run(talk):
    """What a student tries out below `if __name__ == "__main__"` stays there."""
    outcome = talk(function("return x") + "if __name__ == '__main__':\n    1 / 0\n").ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)


def test_load_input_meets_the_end_of_file(talk):
    """Code that asks a person raises at once instead of waiting for its deadline."""
    assert "EOFError" == raised(talk("input('name? ')")).type


def test_load_source_of_a_function_can_be_inspected(talk):
    """`inspect` and `torch.jit` find the lines, though there is no file."""
    source = "import inspect\n" + function("print(inspect.getsource(answer).splitlines()[0])\nreturn x")

    outcome = talk(source).ask(make_call(), None)

    assert "def answer(x=None, y=None):\n" == outcome.printed


def test_load_numbers_drawn_while_importing_are_the_same_in_two_workers(talk):
    """A file that draws at import time is graded alike in every run."""
    source = "import random, numpy, torch\nDRAWN = (random.random(), numpy.random.rand(), float(torch.rand(1)))\n"

    printed = [talk(source + function("print(DRAWN)\nreturn x")).ask(make_call(), None).printed for _ in range(2)]

    assert printed[0] == printed[1]


def test_load_default_dtype_set_by_a_file_does_not_last(talk):
    """One file's `set_default_dtype` decides nothing about calls, nor about other files."""
    files = {
        "work.py": "import torch\ntorch.set_default_dtype(torch.float16)\n" + function("return torch.zeros(1)"),
        "other.py": "import torch\nprint(torch.get_default_dtype())\n" + function("return torch.zeros(1)"),
    }
    conversation = talk(files)

    first = conversation.ask(make_call(dtype="float32"), None)
    second = conversation.ask(make_call(part="other"), None)

    assert ("float32", "float64") == (first.reply.tree.dtype, second.reply.tree.dtype)
    assert "torch.float32\n" == second.printed
