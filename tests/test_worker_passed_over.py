"""Files that hold much that is not asked for: a statement that fails costs no more than what it would define."""

import linecache
import traceback

import pytest

from grader.worker.load import Submission


@pytest.fixture
def loaded():
    """Load a text as `work`, whose functions `answer` and `other` are asked for, and pass over what fails, or not."""

    def load(text, *, is_passed_over=True):
        asked = ("answer", "other") if is_passed_over else ()
        submission = Submission({"work.py": text}, ["work"], ["torch"], {}, asked)
        linecache.cache["work.py"] = (len(text), None, text.splitlines(keepends=True), "work.py")
        module = type(linecache)("work")
        submission.exec_module(module)
        return module

    return load


@pytest.mark.parametrize(
    "fails",
    [
        "raise ValueError('no')",
        "import sys\nsys.exit(1)",
        "with open('/no/such/file') as file:\n    data = file.read()",
        "import pytorch_lightning as pl\nclass Model(pl.LightningModule):\n    pass",
        "for number in (1, 0):\n    1 / number",
    ],
)
def test_passed_over_statement_that_fails_costs_nothing_else(loaded, fails):
    """What stands before it and after it is there."""
    module = loaded(f"def answer():\n    return 1\n{fails}\ndef other():\n    return 2\n")

    assert (1, 2) == (module.answer(), module.other())


def test_passed_over_name_that_a_failure_has_left_out_raises_it_when_used(loaded):
    """With the student's own line."""
    module = loaded("import jaxtyping\n\ndef answer(x: jaxtyping.Int):\n    return x\n\ndef other():\n    return 2\n")

    with pytest.raises(ModuleNotFoundError, match="jaxtyping is not installed here") as raised:
        module.answer(1)
    assert ("work.py", 3) in [(line.filename, line.lineno) for line in traceback.extract_tb(raised.tb)]
    assert 2 == module.other()


def test_passed_over_name_raises_what_its_own_statement_did(loaded):
    """Not what failed first."""
    module = loaded("data = open('/no/such/file')\nclass answer(nothing.Module):\n    pass\n")

    with pytest.raises(NameError, match="nothing"):
        module.answer()


def test_passed_over_name_that_no_statement_defines_is_missing(loaded):
    """Whatever else has failed."""
    assert not hasattr(loaded("def answers():\n    return 1\n\ndata = open('/no/such/file')\n"), "answer")


def test_passed_over_future_statement_holds_for_the_whole_file(loaded):
    """Annotations are not looked at, as it says."""
    module = loaded(
        "from __future__ import annotations\nimport numpy\n\ndef answer(x: nothing.at.all):\n    return x\n"
    )

    assert 5 == module.answer(5)


def test_passed_over_file_in_which_nothing_fails_lacks_what_it_does_not_define(loaded):
    """So that the name is missing, and the report says which there are."""
    assert not hasattr(loaded("def answer():\n    return 1\n"), "other")


@pytest.mark.parametrize("text", ["def answer(:\n", "from __future__ import nonsense\n"])
def test_passed_over_text_that_is_no_python_fails(loaded, text):
    """Nobody can tell one statement of it from another."""
    with pytest.raises(SyntaxError):
        loaded(text)


def test_passed_over_failure_that_is_not_to_be_ends_the_import(loaded):
    """As in every assignment that does not say otherwise."""
    with pytest.raises(ZeroDivisionError):
        loaded("1 / 0\ndef answer():\n    return 1\n", is_passed_over=False)


def test_passed_over_what_is_no_ordinary_error_ends_the_import(loaded):
    """A forbidden call is stopped by one that no handler of a student's takes; it is not passed over."""
    with pytest.raises(BaseException, match="stopped"):
        loaded("raise BaseException('stopped')\ndef answer():\n    return 1\n")
