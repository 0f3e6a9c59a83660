"""What a student reads: each message pinned whole, one for every fact and every way a call can fail."""

import re
from typing import get_args

import pytest
from sample_course import forbidden, line, raised

from grader import messages
from grader.compare import Mismatch
from grader.failure import (
    Asked,
    BrokenNeighbour,
    Differs,
    Fact,
    InputChanged,
    NoAnswer,
    NoFile,
    NoGradient,
    NotFinite,
    NotRaised,
    PrerequisiteFailed,
    SaysOtherwise,
    Unstable,
    WrongDtype,
    WrongShape,
    WrongStructure,
)
from grader.messages import message
from grader.outcome import Died, Garbled, MissingName, NotAsked, TimedOut, WrongParameters

ASKED = Asked(
    text="mix(query, key)",
    inputs="query [2, 3]  key [2, 3]  float64  seed 7",
    file="mix.py",
    callable="mix",
)
BARE = Asked(text="Scale(size=0)", inputs="", file="scale.py", callable="Scale")
HEAD = "  input     query [2, 3]  key [2, 3]  float64  seed 7\n"


def no_answer(failed, **fields):
    """The message of a call that failed in this way."""
    return message(NoAnswer(failed=failed, **fields), ASKED)


def not_filled_in(**fields):
    """The exception of a stub."""
    return raised(type="NotImplementedError", message="", **fields)


def mismatch(**fields):
    """Twelve of twenty elements differ, worst in row 1, column 2."""
    values = {
        "differing": 12,
        "total": 20,
        "index": (1, 2),
        "observed": 0.7314159,
        "expected": 0.4021,
        "difference": 0.3293159,
        "allowed": 1e-6,
    }
    return Mismatch(**(values | fields))


def test_messages_every_fact_has_its_words():
    """No fact can fail a check without a message."""
    assert set(get_args(Fact)) == set(messages._WORDS)


# --- the file ---------------------------------------------------------------------------------------------------


def test_messages_missing_file_names_what_is_there_and_what_is_wanted():
    """The student sees which files did arrive."""
    fact = NoFile(file="mix.py", reason="", found=("mixing.py", "scale.py"))

    assert (
        "mix.py is not in the submission\n"
        "  found     mixing.py, scale.py\n"
        "  wanted    a file named mix.py"
    ) == message(fact, None)  # fmt: skip


def test_messages_missing_file_in_an_empty_folder_says_so():
    """Nothing found is said in words, not by an empty line."""
    fact = NoFile(file="mix.py", reason="", found=())

    assert (
        "mix.py is not in the submission\n"
        "  found     no Python file\n"
        "  wanted    a file named mix.py"
    ) == message(fact, None)  # fmt: skip


def test_messages_unreadable_file_gives_the_reason():
    """A file that is there but cannot be read is not called missing."""
    fact = NoFile(file="mix.py", reason="it is larger than 1024 KiB", found=())

    assert "mix.py cannot be read\n  found     it is larger than 1024 KiB" == message(fact, None)


def test_messages_missing_neighbour_is_named():
    """A file that imports one that was not handed in points at that one, and at the import."""
    fact = BrokenNeighbour(
        file="mix.py", is_missing=True, raised=raised(frames=(line("scale.py", 1, "from mix import mix", "<module>"),))
    )

    assert (
        "not run: mix.py, which this file imports, is not in the submission\n"
        "  at        scale.py, line 1:  from mix import mix"
    ) == message(fact, ASKED)


def test_messages_unfilled_neighbour_is_named():
    """A function that calls another file's stub points at the stub."""
    fact = BrokenNeighbour(
        file="mix.py", is_missing=False, raised=not_filled_in(frames=(line(text="raise NotImplementedError"),))
    )

    assert (
        "not run: it uses mix.py, which is not filled in yet\n"
        "  at        mix.py, line 3, in mix:  raise NotImplementedError"
    ) == message(fact, ASKED)


def test_messages_broken_neighbour_shows_its_error():
    """A neighbour that does not load shows why, as it would by itself."""
    error = raised(
        type="SyntaxError", message="'(' was never closed (mix.py, line 4)", frames=(line("mix.py", 4, "x = (", ""),)
    )
    fact = BrokenNeighbour(file="mix.py", is_missing=False, raised=error)

    assert (
        "not run: mix.py, which this file imports, does not load\n"
        "  error     SyntaxError: '(' was never closed (mix.py, line 4)\n"
        "  at        mix.py, line 4:  x = ("
    ) == message(fact, ASKED)


def test_messages_forbidden_neighbour_shows_its_call():
    """A neighbour that makes a forbidden call while it is imported is named, and so is the call."""
    fact = BrokenNeighbour(file="mix.py", is_missing=False, raised=forbidden(stage="import"))

    assert (
        "not run: mix.py, which this file imports, makes a forbidden call while it is imported\n"
        "  found     mix.py, line 3 calls torch.nn.functional.mix; this assignment asks you to write that yourself\n"
        "  line      return F.mix(query, key)"
    ) == message(fact, ASKED)


def test_messages_prerequisite_names_the_check_to_mend_first():
    """A blocked check says which row to look at."""
    fact = PrerequisiteFailed(title="Output has the right form")

    assert "not judged yet: first make this one pass: Output has the right form" == message(fact, None)


# --- no answer --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stage", "when"),
    [
        ("import", " (importing the file)"),
        ("build", " (making the module)"),
        ("forward", ""),
        ("backward", " (the backward pass)"),
    ],
)
def test_messages_forbidden_call_names_what_and_where(stage, when):
    """The call, its line, and why it earns nothing."""
    assert (
        f"mix(query, key) made a forbidden call{when}\n" + HEAD + "  found     mix.py, line 3 calls "
        "torch.nn.functional.mix; this assignment asks you to write that yourself\n"
        "  line      return F.mix(query, key)"
    ) == no_answer(forbidden(stage=stage))


def test_messages_forbidden_call_without_a_line_names_what():
    """A thread may have run nothing of the student's own."""
    assert (
        "mix(query, key) made a forbidden call\n" + HEAD + "  found     the code calls torch.nn.functional.mix; "
        "this assignment asks you to write that yourself"
    ) == no_answer(forbidden(line=None))


def test_messages_exception_shows_call_inputs_error_and_line():
    """An exception shows the innermost line of the student's own."""
    failed = raised(frames=(line("mix.py", 9, "outer(query)", "mix"), line("mix.py", 3, "  query @ key ", "inner")))

    assert (
        "mix(query, key) raised an error\n" + HEAD + "  error     RuntimeError: sizes do not fit\n"
        "  at        mix.py, line 3, in inner:  query @ key"
    ) == no_answer(failed)


@pytest.mark.parametrize(
    "refused",
    [
        {"type": "PermissionError", "bases": ("PermissionError", "OSError"), "message": "[Errno 13] mine.txt"},
        {"message": "unable to open shared memory object: Operation not permitted (1)"},
    ],
)
def test_messages_exception_of_the_sandbox_says_what_is_not_allowed(refused):
    """A student who writes a file or starts a process reads that nothing is wrong with their machine."""
    lines = no_answer(raised(**refused)).splitlines()

    assert (
        "  note      submissions run without network, files to write and other processes; the task needs none of them"
    ) == lines[-1]


def test_messages_exception_without_text_or_lines_shows_its_class():
    """What is not there leaves no empty rows."""
    assert "mix(query, key) raised an error\n" + HEAD + "  error     KeyError" == no_answer(
        raised(type="KeyError", message=" \n")
    )


def test_messages_exception_of_several_lines_is_set_in():
    """Further lines of an exception's text stand under the first."""
    failed = raised(message="first\nsecond", frames=(line(text=""),))

    assert (
        "mix(query, key) raised an error\n" + HEAD + "  error     RuntimeError: first\n"
        "            second\n"
        "  at        mix.py, line 3, in mix"
    ) == no_answer(failed)


def test_messages_long_exception_is_cut_and_says_so():
    """Of a very long text the beginning is shown, and how long it was."""
    assert (
        "mix(query, key) raised an error\n" + HEAD + f"  error     RuntimeError: {'x' * 600} ... (cut, 700 characters)"
    ) == no_answer(raised(message="x" * 700))


def test_messages_message_longer_than_any_is_cut_and_says_so():
    """A page has a message for each check, and a student's code gives the names in it."""
    text = message(NoGradient(names=("x" * 300,) * 1000), ASKED)

    assert len(text) < 4100
    assert re.search(r"x \.\.\. \(cut, 302\d{3} characters\)$", text)


def test_messages_exception_while_the_module_is_made_says_so():
    """An exception of `__init__` is not taken for one of `forward`."""
    fact = NoAnswer(failed=raised(stage="build", message="no size"))

    assert "Scale(size=0) could not be made\n  error     RuntimeError: no size" == message(fact, BARE)


def test_messages_exception_in_the_backward_pass_says_so():
    """The forward pass is not blamed for an exception of the backward pass."""
    assert (
        "mix(query, key) returned a value, but its backward pass failed\n"
        + HEAD
        + "  error     RuntimeError: sizes do not fit"
    ) == no_answer(raised(stage="backward"), is_backward=True)


def test_messages_exception_during_the_import_names_the_file():
    """A file that does not load is about the file, not about a call."""
    failed = raised(
        stage="import", type="NameError", message="name 'tosh' is not defined", frames=(line(function="<module>"),)
    )

    assert (
        "mix.py does not load: importing it raised NameError\n"
        "  error     NameError: name 'tosh' is not defined\n"
        "  at        mix.py, line 3:  return query @ key"
    ) == no_answer(failed)


def test_messages_stub_is_called_not_filled_in():
    """An untouched stub is no error, only work to do."""
    failed = not_filled_in(frames=(line(text="raise NotImplementedError"),))

    assert (
        "mix is not filled in yet\n"
        "  at        mix.py, line 3, in mix:  raise NotImplementedError"
    ) == no_answer(failed)  # fmt: skip


def test_messages_operation_that_torch_lacks_is_an_error_and_no_stub():
    """Torch raises NotImplementedError for an operation on a dtype; nobody left that line unfilled."""
    failed = raised(
        type="NotImplementedError",
        message="\"softmax_lastdim_kernel_impl\" not implemented for 'Long'",
        frames=(line(text="weights = scores.softmax(-1)"),),
    )

    assert (
        "mix(query, key) raised an error\n" + HEAD + "  error     NotImplementedError: "
        "\"softmax_lastdim_kernel_impl\" not implemented for 'Long'\n"
        "  at        mix.py, line 3, in mix:  weights = scores.softmax(-1)"
    ) == no_answer(failed)


def test_messages_missing_name_shows_near_names():
    """A misspelt function is shown beside the name it must have."""
    failed = MissingName(status="missing_name", names=("torch", "mxi", "Mix"))

    assert (
        "mix.py defines no mix\n"
        "  found     torch, mxi, Mix\n"
        "  near      mxi or Mix; the name must be exactly mix"
    ) == no_answer(failed)  # fmt: skip


def test_messages_missing_name_in_an_empty_file_says_nothing_is_defined():
    """An empty file has no near names to show."""
    assert "mix.py defines no mix\n  found     nothing" == no_answer(MissingName(status="missing_name", names=()))


def test_messages_wrong_parameters_lists_missing_unknown_and_misshapen_ones():
    """Each kind of difference has a row of its own."""
    failed = WrongParameters(
        status="wrong_parameters", type="Scale", observed={"proj.weight": (3, 4), "projection.bias": (4,)}
    )
    wanted = {"proj.weight": (4, 3), "proj.bias": (4,)}

    assert (
        "Scale(size=0) has other parameters than the task names\n"
        "  missing   proj.bias [4]\n"
        "  unknown   projection.bias [4]\n"
        "  shape     proj.weight [3, 4], not [4, 3]"
    ) == message(NoAnswer(failed=failed, parameters=wanted), BARE)


def test_messages_object_that_is_no_module_says_what_it_is():
    """A class that forgot its base class is told so."""
    failed = WrongParameters(status="wrong_parameters", type="Scale", observed=None)

    assert (
        "Scale(size=0) is not a module\n"
        "  found     an object of the class Scale\n"
        "  wanted    a subclass of nn.Module"
    ) == message(NoAnswer(failed=failed), BARE)  # fmt: skip


@pytest.mark.parametrize(
    ("failed", "words"),
    [
        (TimedOut(stage="call", limit_s=2.0), "did not finish within 2 s and was stopped"),
        (TimedOut(stage="import", limit_s=0.5), "did not finish within 0.5 s and was stopped (importing the file)"),
        (TimedOut(stage="backward", limit_s=2.0), "did not finish within 2 s and was stopped (the backward pass)"),
        (Died(stage="call", exit_code=0), "ended the whole program with exit code 0 before it answered"),
        (Died(stage="call", exit_code=None), "ended the whole program before it answered"),
        (Died(stage="call", exit_code=-11), "ended the whole program by a crash (SIGSEGV) before it answered"),
        (Died(stage="call", exit_code=-99), "ended the whole program by a crash (signal 99) before it answered"),
        (
            Died(stage="import", exit_code=3),
            "ended the whole program with exit code 3 before it answered while importing the file",
        ),
        (
            Garbled(stage="call", detail="the header is not JSON"),
            "wrote into the grader's own connection, so there is no answer (the header is not JSON)",
        ),
        (
            Garbled(stage="build", detail="odd"),
            "wrote into the grader's own connection while making the module, so there is no answer (odd)",
        ),
        (NotAsked(reason="mix ran out of time 2 times"), "was not called: mix ran out of time 2 times"),
    ],
)
def test_messages_call_that_ended_says_how(failed, words):
    """Each way in which no answer came is told from the others."""
    assert f"mix(query, key) {words}\n{HEAD}".rstrip() == no_answer(failed)


def test_messages_error_that_did_not_come_says_when_it_is_wanted():
    """A value in place of an error names the error and the case."""
    fact = NotRaised(wanted="ValueError", when="when size is 0", raised=None)

    assert "Scale(size=0) returned a value\n  wanted    ValueError, when size is 0" == message(fact, BARE)


def test_messages_other_error_than_wanted_shows_both():
    """Another exception is shown beside the one the task asks for."""
    fact = NotRaised(wanted="ValueError", when="when size is 0", raised=raised(frames=(line(),)))

    assert (
        "Scale(size=0) raised RuntimeError\n"
        "  wanted    ValueError, when size is 0\n"
        "  error     RuntimeError: sizes do not fit\n"
        "  at        mix.py, line 3, in mix:  return query @ key"
    ) == message(fact, BARE)


# --- an answer of the wrong kind --------------------------------------------------------------------------------


def test_messages_wrong_structure_shows_found_and_wanted():
    """What came, and the tuple the task names."""
    fact = WrongStructure(found="None", wanted="a tuple (output, weights) of tensors")

    assert (
        "mix(query, key) returned something else than the task names\n" + HEAD + "  found     None\n"
        "  wanted    a tuple (output, weights) of tensors"
    ) == message(fact, ASKED)


def test_messages_wrong_shape_names_the_axes():
    """The wanted shape comes with what its axes mean."""
    fact = WrongShape(name="output", observed=(3, 2), expected=(2, 3), axes=("row", "column"))

    assert (
        "mix(query, key) returned output of the wrong shape\n" + HEAD + "  found     [3, 2]\n"
        "  wanted    [2, 3], that is [row, column]"
    ) == message(fact, ASKED)


def test_messages_wrong_shape_without_axes_shows_the_sizes():
    """Axes that do not fit the shape are left out."""
    fact = WrongShape(name="output", observed=(), expected=(2, 3), axes=("row",))

    assert (
        "mix(query, key) returned output of the wrong shape\n" + HEAD + "  found     []\n"
        "  wanted    [2, 3]"
    ) == message(fact, ASKED)  # fmt: skip


def test_messages_wrong_dtype_shows_found_and_wanted():
    """Both dtypes in torch's words."""
    fact = WrongDtype(name="weights", observed="float32", expected="float64")

    assert (
        "mix(query, key) returned weights of the wrong dtype\n" + HEAD + "  found     float32\n"
        "  wanted    float64"
    ) == message(fact, ASKED)  # fmt: skip


def test_messages_not_finite_counts_and_shows_the_first():
    """How many are not finite, and where the first of them is."""
    fact = NotFinite(name="output", index=(0, 2), axes=("row", "column"), value=float("nan"), count=3, total=6)

    assert (
        "mix(query, key) gave NaN or infinity in output\n"
        + HEAD
        + "  differs   3 of 6 elements (50.0 %) are not finite\n"
        "  first     row 0, column 2: observed nan"
    ) == message(fact, ASKED)


def test_messages_gradient_that_is_not_finite_says_of_what():
    """A gradient is told from the value of the same name; axes without names become an index."""
    fact = NotFinite(
        name="query", index=(0, 2), axes=(), value=float("-inf"), count=1, total=6, is_gradient=True
    )  # fmt: skip

    assert (
        "mix(query, key) gave NaN or infinity in the gradient of query\n"
        + HEAD
        + "  differs   1 of 6 elements (16.7 %) are not finite\n"
        "  first     index [0, 2]: observed -inf"
    ) == message(fact, ASKED)


def test_messages_single_number_that_is_not_finite_has_no_position():
    """A tensor without axes has no place to name."""
    fact = NotFinite(name="loss", index=(), axes=(), value=float("inf"), count=1, total=1)

    assert (
        "mix(query, key) gave NaN or infinity in loss\n"
        + HEAD
        + "  differs   1 of 1 elements (100.0 %) are not finite\n"
        "  first     observed inf"
    ) == message(fact, ASKED)


# --- wrong numbers ----------------------------------------------------------------------------------------------


def test_messages_wrong_values_show_how_many_and_the_worst():
    """Value, expectation, difference and allowance of the worst element, with named axes."""
    fact = Differs(name="output", axes=("row", "column"), mismatch=mismatch())

    assert (
        "mix(query, key) returned wrong values in output\n"
        + HEAD
        + "  differs   12 of 20 elements (60.0 %) of output\n"
        "  worst     row 1, column 2: observed 0.731416, expected 0.4021, difference 0.329 (allowed 1e-06)"
    ) == message(fact, ASKED)


def test_messages_wrong_gradient_names_the_input():
    """A gradient is told from the value of the same name; axes without names become an index."""
    fact = Differs(name="query", axes=(), mismatch=mismatch(), is_gradient=True)

    assert (
        "mix(query, key) has a wrong gradient for query\n"
        + HEAD
        + "  differs   12 of 20 elements (60.0 %) of the gradient of query\n"
        "  worst     index [1, 2]: observed 0.731416, expected 0.4021, difference 0.329 (allowed 1e-06)"
    ) == message(fact, ASKED)


def test_messages_wrong_mask_speaks_of_true_and_false():
    """The numbers behind a mask are nobody's concern."""
    fact = Differs(
        name="mask",
        axes=("query", "key"),
        mismatch=mismatch(index=(0, 1), differing=2, total=9, observed=1.0, expected=0.0, difference=1.0, allowed=0.0),
        is_boolean=True,
    )

    assert (
        "mix(query, key) returned wrong values in mask\n" + HEAD + "  differs   2 of 9 elements (22.2 %) of mask\n"
        "  first     query 0, key 1: observed True, expected False"
    ) == message(fact, ASKED)


def test_messages_broken_rule_says_the_rule():
    """A property names what ought to hold."""
    fact = Differs(
        name="row sums",
        axes=(),
        mismatch=mismatch(index=(), differing=1, total=1, observed=2.0, expected=1.0, difference=1.0, allowed=0.0),
        claim="each row sums to 1",
    )

    assert (
        "mix(query, key) breaks a rule: each row sums to 1\n"
        + HEAD
        + "  differs   1 of 1 elements (100.0 %) of row sums\n"
        "  worst     observed 2, expected 1, difference 1 (allowed 0)"
    ) == message(fact, ASKED)


def test_messages_missing_gradients_are_all_listed():
    """Every input that no gradient reached is named, and what to look for."""
    fact = NoGradient(names=("query", "key", "proj.weight"))

    assert (
        "mix(query, key) returned values that no gradient can flow back from\n"
        + HEAD
        + "  missing   the gradient of query, key and proj.weight\n"
        "  look for  .detach(), .item(), .data, torch.no_grad or a new tensor made from numbers"
    ) == message(fact, ASKED)


def test_messages_changed_input_is_named():
    """Which argument was changed, and what to do instead."""
    assert (
        "mix(query, key) changed its caller's query\n"
        + HEAD
        + "  wanted    the arguments are left as they were; compute a new tensor instead "
        "(no +=, /=, *= or functions ending in _ on an argument)"
    ) == message(InputChanged(names=("query",)), ASKED)


def test_messages_two_answers_to_equal_calls_show_by_how_much():
    """An unstable answer names the value and what usually causes it."""
    assert (
        "mix(query, key) gave two answers to two equal calls\n"
        + HEAD
        + "  differs   output by up to 0.25 between the first call and the second\n"
        "  wanted    the same answer every time: no dropout in eval mode, no layer made inside the call, "
        "no memory left uninitialised"
    ) == message(Unstable(name="output", difference=0.25), ASKED)


def test_messages_two_plain_answers_to_equal_calls_are_shown():
    """A number or word has no largest difference: both are there."""
    text = message(Unstable(name="steps", difference=float("nan"), plain=(3, 4)), ASKED)

    assert "  differs   steps: 3, then 4" == text.splitlines()[2]


def test_messages_wrong_number_stands_beside_the_right_one():
    """As of the elements of a tensor."""
    assert ("mix(query, key) returned a wrong answer for steps\n" + HEAD + "  observed  12\n  expected  24") == message(
        SaysOtherwise(name="steps", observed=12, expected=24), ASKED
    )


def test_messages_wrong_number_says_which_case_was_asked_about():
    """Where shapes do not tell."""
    text = message(SaysOtherwise(name="follows", observed=False, expected=True, case="a causal mask"), ASKED)

    assert ["  case      a causal mask", "  observed  False", "  expected  True"] == text.splitlines()[2:]


def test_messages_word_that_was_not_offered_stands_beside_all_that_were():
    """Which of them is right is not said; what a student wrote is spelt out where it cannot be printed."""
    fact = SaysOtherwise(name="part", observed="\x1b[2J", expected="one", among=("one", "two"))

    assert (
        "mix(query, key) returned a wrong answer for part\n"
        + HEAD
        + "  observed  '\\x1b[2J'\n  expected  one of 'one', 'two'"
    ) == message(fact, ASKED)
