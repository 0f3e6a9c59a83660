"""A call that gave no value: its verdict, and whether another file is to blame."""

from types import MappingProxyType

import pytest
import torch
from sample_course import examination_of, forbidden, line, own_reference, raised, write_course

from grader.call import Build, Call, Payload
from grader.failure import BrokenNeighbour, CheckFailed, NoAnswer
from grader.outcome import Died, Garbled, MissingName, NotAsked, TimedOut, WrongParameters
from grader.sources import Sources
from grader.unanswered import asked, fail_unanswered
from grader.verdict import Verdict

ONES = torch.ones(2, 3, dtype=torch.float64)
CALL = Call(
    part="scale",
    name="Scale",
    arguments=({"tensor": "query"},),
    payload=Payload({"query": ONES}, {"proj.bias": torch.ones(4)}),
    build=Build(arguments={"size": 3}, handle=1),
)
UNFILLED = {"type": "NotImplementedError", "bases": ("NotImplementedError", "RuntimeError"), "message": ""}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course."""
    with own_reference():
        yield write_course(tmp_path_factory.mktemp("course"))


def failure(course, failed, *, there=("mix.py", "scale.py"), call=CALL, **options):
    """How the check of a call that failed in this way ends."""
    examination = examination_of(course, sources=Sources(texts=dict.fromkeys(there, "")))
    with pytest.raises(CheckFailed) as ended:
        fail_unanswered(examination, call, failed, asked(examination, call), **options)
    return ended.value


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [
        (raised(), Verdict.EXCEPTION),
        (raised(stage="build"), Verdict.EXCEPTION),
        (raised(stage="result"), Verdict.EXCEPTION),
        (raised(stage="backward"), Verdict.NO_GRADIENT),
        (raised(stage="import", type="SyntaxError"), Verdict.IMPORT_ERROR),
        (raised(stage="import", **UNFILLED), Verdict.IMPORT_ERROR),
        (raised(**UNFILLED), Verdict.NOT_IMPLEMENTED),
        (raised(**UNFILLED, stage="build"), Verdict.NOT_IMPLEMENTED),
        (raised(**UNFILLED, frames=(line(text="scores.softmax(-1)"),)), Verdict.EXCEPTION),
        (raised(type="MemoryError", bases=("MemoryError",)), Verdict.OUT_OF_MEMORY),
        (raised(stage="import", message="DefaultCPUAllocator: no"), Verdict.OUT_OF_MEMORY),
        (raised(stage="backward", message="DefaultCPUAllocator: no"), Verdict.OUT_OF_MEMORY),
        (forbidden(), Verdict.FORBIDDEN),
        (forbidden(stage="import", failed=("scale",)), Verdict.FORBIDDEN),
        (forbidden(stage="import"), Verdict.FORBIDDEN),
        (forbidden(stage="backward"), Verdict.FORBIDDEN),
        (MissingName(status="missing_name", names=()), Verdict.MISSING_NAME),
        (WrongParameters(status="wrong_parameters", type="S", observed={}), Verdict.WRONG_PARAMETERS),
        (TimedOut(stage="call", limit_s=2.0), Verdict.TIMEOUT),
        (Died(stage="call", exit_code=0), Verdict.CRASHED),
        (Garbled(stage="call", detail="x"), Verdict.CRASHED),
        (NotAsked(reason="x"), Verdict.BLOCKED),
    ],
)
def test_unanswered_each_way_to_fail_has_its_verdict(course, failed, verdict):
    """From an exception down to a call that was not made."""
    ended = failure(course, failed)

    assert verdict is ended.verdict
    assert failed == ended.fact.failed


def test_unanswered_backward_failure_is_known_as_such(course):
    """The fact says which pass failed."""
    assert failure(course, TimedOut(stage="backward", limit_s=2.0), is_backward=True).fact.is_backward


def test_unanswered_wrong_parameters_know_which_were_wanted(course):
    """The message compares with the parameters that were sent."""
    ended = failure(course, WrongParameters(status="wrong_parameters", type="Scale", observed={}))

    assert {"proj.bias": (4,)} == dict(ended.fact.parameters)
    assert "missing   proj.bias [4]" in str(ended)


# --- another file is to blame -----------------------------------------------------------------------------------


def test_unanswered_missing_file_that_is_imported_blocks_and_is_named(course):
    """`from mix import mix`, and no mix.py was handed in."""
    failed = raised(
        stage="import", type="ModuleNotFoundError", message="No module named 'mix'", failed=("scale",), frames=()
    )

    ended = failure(course, failed, there=("scale.py",))

    assert Verdict.BLOCKED is ended.verdict
    assert BrokenNeighbour(file="mix.py", is_missing=True, raised=failed) == ended.fact


def test_unanswered_broken_file_that_is_imported_blocks_and_is_named(course):
    """The first module whose import failed is the cause."""
    failed = raised(stage="import", type="SyntaxError", failed=("mix", "scale"))

    ended = failure(course, failed)

    assert (Verdict.BLOCKED, "mix.py", False) == (ended.verdict, ended.fact.file, ended.fact.is_missing)


def test_unanswered_broken_file_of_the_students_own_blocks_too(course):
    """It need not be one the assignment asks for."""
    ended = failure(course, raised(stage="import", failed=("extra", "scale")), there=("scale.py", "extra.py"))

    assert "extra.py" == ended.fact.file


def test_unanswered_neighbour_that_makes_a_forbidden_call_when_imported_blocks_and_is_named(course):
    """The file that imports it made none."""
    ended = failure(course, forbidden(stage="import", failed=("mix", "scale")))

    assert (Verdict.BLOCKED, "mix.py", False) == (ended.verdict, ended.fact.file, ended.fact.is_missing)


@pytest.mark.parametrize(
    "failed",
    [
        raised(stage="import", type="SyntaxError", failed=("scale",)),
        raised(stage="import", type="SyntaxError"),
        raised(stage="import", type="ModuleNotFoundError", message="No module named 'tensorflow'", failed=("scale",)),
        raised(stage="import", type="ImportError", message="cannot import name 'mxi' from 'mix'", failed=("scale",)),
        raised(
            stage="import",
            type="ModuleNotFoundError",
            message="No module named 'mix.gates'; 'mix' is not a package",
            failed=("scale",),
        ),
    ],
    ids=["own-syntax", "unknown", "package", "name", "no-package"],
)
def test_unanswered_own_import_error_blames_nobody_else(course, failed):
    """A package that is not installed, or a name that the neighbour lacks, is this file's own error."""
    ended = failure(course, failed, there=("scale.py",) if "tensorflow" in failed.message else ("mix.py", "scale.py"))

    assert Verdict.IMPORT_ERROR is ended.verdict
    assert isinstance(ended.fact, NoAnswer)


def test_unanswered_stub_of_another_file_that_is_called_blocks_and_is_named(course):
    """The file was imported well; what it holds is not filled in."""
    failed = raised(
        **UNFILLED, frames=(line("scale.py", text="mix(query, query)"), line(text="raise NotImplementedError"))
    )

    ended = failure(course, failed)

    assert (Verdict.BLOCKED, "mix.py", False) == (ended.verdict, ended.fact.file, ended.fact.is_missing)


def test_unanswered_operation_that_torch_lacks_in_another_file_blames_no_stub(course):
    """Torch's NotImplementedError in a neighbour that is filled in is an exception."""
    failed = raised(**UNFILLED, frames=(line("scale.py"), line(text="scores.softmax(-1)")))

    assert Verdict.EXCEPTION is failure(course, failed).verdict


def test_unanswered_exception_in_another_file_is_still_an_exception(course):
    """A mistake in the neighbour shows at the caller, with the neighbour's line."""
    assert Verdict.EXCEPTION is failure(course, raised(frames=(line("scale.py"), line("mix.py")))).verdict


# --- how a call is shown ----------------------------------------------------------------------------------------


def function(**fields):
    """A call of mix(query, key)."""
    values = {
        "part": "mix",
        "name": "mix",
        "arguments": ({"tensor": "query"}, {"tensor": "key"}),
        "payload": Payload(
            {"query": torch.ones(2, 3, dtype=torch.float64), "key": torch.ones(2, 3, dtype=torch.float64)}, {}
        ),
    }
    return Call(**(values | fields))


@pytest.mark.parametrize(
    ("call", "text", "inputs"),
    [
        (function(), "mix(query, key)", "query [2, 3]  key [2, 3]  float64  seed 7"),
        (
            function(keywords=MappingProxyType({"mask": None, "is_causal": True}), dtype="float32"),
            "mix(query, key, mask=None, is_causal=True)",
            "query [2, 3]  key [2, 3]  float64 (torch's default dtype: float32)  seed 7",
        ),
        (function(name="gate", arguments=(3, "x"), payload=Payload({}, {})), "gate(3, 'x')", ""),
        (CALL, "Scale(size=3)(query)", "query [2, 3]  float64  seed 7"),
        (
            function(
                name="Scale",
                part="scale",
                arguments=(),
                payload=Payload({}, {}),
                build=Build(arguments={"size": 0}, handle=1),
            ),
            "Scale(size=0)",
            "",
        ),
    ],
    ids=["function", "keywords", "plain", "module", "build"],
)
def test_unanswered_asked_shows_the_call_as_it_would_be_written(course, call, text, inputs):
    """Names for tensors, values for the rest, and the shapes that went in."""
    about = asked(examination_of(course), call)

    assert (text, inputs, call.name) == (about.text, about.inputs, about.callable)
    assert f"{call.part}.py" == about.file
