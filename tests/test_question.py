"""A question as it was put: its identity in every process and run, and the object it is put to."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grader.call import Build, Call, Payload
from grader.question import Question

QUERY = torch.arange(6, dtype=torch.float64).view(2, 3)


def call(scale=1.0, handle=1, **fields):
    """Scale(size=3)(query * scale); any field can be replaced."""
    values = {
        "part": "scale",
        "name": "Scale",
        "arguments": ({"tensor": "query"},),
        "payload": Payload({"query": QUERY * scale}, {}),
        "build": Build(arguments={"size": 3}, handle=handle),
    }
    return Call(**(values | fields))


def question(one=None, *history, **fields):
    """A question about it."""
    values = {"call": one or call(), "upstream": None, "is_visible": True, "history": history}
    return Question(**(values | fields))


def test_question_key_is_that_of_an_equal_question():
    """Whoever makes it, and whichever object it is put to."""
    assert question().key == question(call(handle=9)).key


@pytest.mark.parametrize(
    "other",
    [
        call(2.0),
        call(mode="train"),
        call(dtype="float32"),
        call(wants=("query",)),
        call(seed=1),
        call(build=Build(arguments={"size": 4}, handle=1)),
        call(build=None),
        call(keywords={"mask": None}),
        call(part="mix"),
    ],
)
def test_question_key_of_another_call_is_another(other):
    """Whatever of it differs."""
    assert question(other).key != question().key


def test_question_key_does_not_depend_on_who_asks():
    """A visible and a hidden check may put the same question."""
    assert question(is_visible=False).key == question().key


def test_question_key_with_a_history_is_another():
    """What was asked before may change the answer."""
    first, second = question(call(), call(2.0)), question(call(), call(3.0))

    assert 3 == len({question().key, first.key, second.key})


def test_question_key_tells_the_order_and_length_of_a_history():
    """Twice is not once, and first is not last."""
    one, two = call(2.0), call(3.0)
    histories = [(one, two), (two, one), (one, one, two), (one,)]

    assert len(histories) == len({question(call(), *history).key for history in histories})


def test_question_key_tells_the_history_from_the_call():
    """The last of them is the one that is judged."""
    one, two = call(2.0), call(3.0)

    assert question(one, two).key != question(two, one).key


def test_question_key_is_the_same_in_another_process():
    """Python's own hashes differ from process to process; a run's report does not."""
    script = "from test_question import call, question; print(question(call(), call(2.0)).key, question(call(2.0)).key)"
    tests = Path(__file__).parent

    told = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": f"{tests}:{tests.parent}", "PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )

    assert [question(call(), call(2.0)).key, question(call(2.0)).key] == told.stdout.split()


def test_question_to_an_object_takes_call_and_history_to_it():
    """All of them meet the one module, and the question stays the same."""
    before = question(call(handle=1), call(2.0, handle=1), call(3.0, handle=1))

    after = before.to_object(5)

    assert [5, 5, 5] == [one.build.handle for one in (after.call, *after.history)]
    assert before.key == after.key
    assert [1, 1, 1] == [one.build.handle for one in (before.call, *before.history)]


def test_question_of_a_function_has_no_object():
    """Nothing is built for it."""
    before = question(call(build=None))

    assert before is before.to_object(5)


def test_question_to_an_object_keeps_the_rest():
    """Upstream gradient, visibility, how the module is converted."""
    build = Build(arguments={"size": 3}, handle=1, is_double=True, is_strict=True)
    before = question(call(build=build), upstream=QUERY, is_visible=False)

    after = before.to_object(2)

    assert (QUERY is after.upstream, False) == (True, after.is_visible)
    assert replace(build, handle=2) == after.call.build
