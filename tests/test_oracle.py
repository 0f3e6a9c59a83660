"""Expected answers: from the course's reference, once for each question, and its faults told as the course's."""

import sys

import pytest
import torch
from sample_course import REFERENCE, own_reference, write_course

from grader.call import Build, Call, Payload
from grader.given import Inputs
from grader.oracle import Oracle, OracleError

QUERY = torch.arange(6, dtype=torch.float64).view(2, 3)
KEY = QUERY + 1


@pytest.fixture
def course(tmp_path):
    """The tiny course."""
    with own_reference():
        yield write_course(tmp_path)


def oracle(course, seed=7):
    """An oracle over the course's reference."""
    return Oracle(course.reference, course.assignment("tiny"), Inputs(seed))


def call(**fields):
    """mix(query, key), with gradients; any field can be replaced."""
    values = {
        "part": "mix",
        "name": "mix",
        "arguments": ({"tensor": "query"}, {"tensor": "key"}),
        "payload": Payload({"query": QUERY, "key": KEY}, {}),
        "wants": ("query", "key"),
    }
    return Call(**(values | fields))


def scale(parameters, **fields):
    """Scale(size=3)(query) with these parameters."""
    return call(
        part="scale",
        name="Scale",
        arguments=({"tensor": "query"},),
        payload=Payload({"query": QUERY}, parameters),
        build=Build(arguments={"size": 3}, handle=1),
        **fields,
    )


def rewrite(course, text):
    """Put another reference in the place of the right one."""
    (course.reference / "tiny.py").write_text(text, encoding="utf-8")


def refusal(action, *arguments):
    """What the author is told."""
    with pytest.raises(OracleError) as refused:
        action(*arguments)
    return str(refused.value)


def test_oracle_values_have_the_names_of_the_assignment(course):
    """In the assignment's order."""
    expected = oracle(course).expected(call())

    assert ["output", "weights"] == list(expected.values)
    assert torch.equal(QUERY * KEY, expected.values["output"])
    assert torch.equal(QUERY + KEY, expected.values["weights"])


def test_oracle_gradients_are_those_of_the_first_value_under_the_upstream_gradient(course):
    """d(query * key)/d query is key, times what flows in."""
    expected = oracle(course).expected(call())

    assert torch.allclose(expected.upstream * KEY, expected.gradients["arg.query"])
    assert torch.allclose(expected.upstream * QUERY, expected.gradients["arg.key"])


def test_oracle_upstream_gradient_is_random_but_the_same_for_equal_questions(course):
    """Not all ones, which hide whole classes of errors; other with another seed of the run."""
    first, again = oracle(course).expected(call()).upstream, oracle(course).expected(call()).upstream

    assert torch.equal(first, again)
    assert 6 == len(set(first.flatten().tolist()))
    assert not torch.equal(first, oracle(course, seed=8).expected(call()).upstream)


def test_oracle_call_without_gradients_has_none(course):
    """Nobody computes what nobody asked for."""
    expected = oracle(course).expected(call(wants=()))

    assert ({}, None) == (dict(expected.gradients), expected.upstream)


def test_oracle_input_that_the_answer_does_not_use_has_the_gradient_zero(course):
    """Zero is what is expected of a student too."""
    rewrite(course, "def mix(query, key, mask=None):\n    return query * 2, key\n")

    assert torch.equal(torch.zeros(2, 3, dtype=torch.float64), oracle(course).expected(call()).gradients["arg.key"])


def test_oracle_module_has_the_parameters_sent_and_their_gradients(course):
    """Weights come with the call, not from the module's own initialisation."""
    parameters = {
        "proj.weight": torch.ones(4, 3, dtype=torch.float64),
        "proj.bias": torch.zeros(4, dtype=torch.float64),
    }

    expected = oracle(course).expected(scale(parameters, wants=("query",)))

    assert torch.equal(QUERY.sum(-1, keepdim=True).expand(2, 4), expected.values["output"])
    assert ["arg.query", "param.proj.bias", "param.proj.weight"] == sorted(expected.gradients)


def test_oracle_library_may_leave_a_value_out(course):
    """A source that gives no weights answers for the output alone."""
    expected = oracle(course).expected(call(), "library")

    assert ["output"] == list(expected.values)
    assert torch.equal(QUERY * KEY, expected.values["output"])


def test_oracle_equal_questions_are_answered_once(course):
    """All students of a run are asked the same."""
    asking = oracle(course)

    assert asking.expected(call()) is asking.expected(call())
    assert asking.expected(call()) is not asking.expected(call(), "library")


def test_oracle_reference_that_changes_its_inputs_does_not_change_the_question(course):
    """Students are asked with what the check gave."""
    rewrite(course, "def mix(query, key, mask=None):\n    query.zero_()\n    return query, key\n")
    asked = call()

    oracle(course).expected(asked)

    assert torch.equal(QUERY, asked.payload.arguments["query"])


def test_oracle_parameter_shapes_are_those_of_the_reference_module(course):
    """What a student's module is held to."""
    asking = oracle(course)

    assert {"proj.weight": (4, 3), "proj.bias": (4,)} == asking.parameter_shapes("scale", "Scale", {"size": 3})
    assert {"proj.weight": (3, 2), "proj.bias": (3,)} == asking.parameter_shapes("scale", "Scale", {"size": 2})


def test_oracle_modules_of_the_reference_import_each_other_by_its_name(course):
    """`from reference.other import f` finds the course's own file, whatever else is called `reference`."""
    (course.reference / "other.py").write_text("def mix(query, key, mask=None):\n    return query, key\n")
    rewrite(course, "from reference.other import mix\n")

    assert torch.equal(QUERY, oracle(course).expected(call()).values["output"])
    assert sys.modules["reference"].__file__ == str(course.reference / "__init__.py")


def test_oracle_of_a_second_course_answers_from_its_own_reference(course, tmp_path):
    """What was imported for another course is forgotten."""
    oracle(course).expected(call())
    other = write_course(tmp_path / "other")
    rewrite(other, REFERENCE.replace("query * key, query + key", "query, key"))

    assert torch.equal(QUERY, oracle(other).expected(call()).values["output"])


# --- faults of the course ---------------------------------------------------------------------------------------


def test_oracle_reference_folder_that_is_no_package_says_what_is_wanted(course):
    """An author forgot `__init__.py`."""
    (course.reference / "__init__.py").unlink()

    assert (
        f"{course.reference} is no package: wanted __init__.py and the modules that assignments name"
    ) == refusal(oracle, course)  # fmt: skip


def test_oracle_reference_package_that_does_not_load_says_why(course):
    """An author's own mistake is named with its file."""
    (course.reference / "__init__.py").write_text("import nonesuch\n")

    assert (
        f"{course.reference / '__init__.py'} cannot be imported: ModuleNotFoundError: No module named 'nonesuch'"
    ) == refusal(oracle, course)


def test_oracle_source_that_the_assignment_does_not_name_is_told(course):
    """A check compares with a library that the callable has not."""
    asking = oracle(course)
    gate = call(name="gate", arguments=(3,), payload=Payload({}, {}), wants=())

    assert (
        f"{course.assignment('tiny').where}: mix.gate has no 'library'"
    ) == refusal(asking.expected, gate, "library")  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "def mix(query, key, mask=None):\n    raise KeyError('x')\n",
            "the reference of mix did not answer: KeyError: 'x', line 2 of tiny.py: raise KeyError('x')",
        ),
        (
            "def mixed():\n    pass\n",
            "{assignment}, mix.mix.reference: {tiny} has no 'mix'; did you mean 'mixed'?",
        ),
        ("def mix(:\n", "{tiny} cannot be imported: SyntaxError: invalid syntax (tiny.py, line 1)"),
        ("1 / 0\n", "{tiny} cannot be imported: ZeroDivisionError: division by zero"),
        (
            "def mix(query, key, mask=None):\n    return query\n",
            "the reference of mix returned 1 values, the assignment names ('output', 'weights')",
        ),
        (
            "def mix(query, key, mask=None):\n    return query, None\n",
            "the reference of mix returned no tensor for weights, and no number or word",
        ),
    ],
    ids=["raises", "lacks", "syntax", "fails", "one-value", "none"],
)
def test_oracle_reference_that_cannot_answer_is_told(course, text, told):
    """A fault of the course, never of a student."""
    rewrite(course, text)

    places = {"assignment": course.assignment("tiny").where, "tiny": course.reference / "tiny.py"}
    assert told.format(**places) == refusal(oracle(course).expected, call())


def test_oracle_reference_module_that_is_not_there_is_told(course):
    """The file that names it, and the name."""
    (course.reference / "tiny.py").unlink()

    told = refusal(oracle(course).parameter_shapes, "scale", "Scale", {"size": 3})

    assert told.startswith(f"{course.assignment('tiny').where} names the reference module 'tiny': ")


def test_oracle_answer_takes_the_upstream_gradient_it_is_given(course):
    """Made from the first value; without one there are no gradients."""
    answer = oracle(course).answer(call(), lambda output: torch.full_like(output, 3))

    assert torch.equal(QUERY * KEY, answer.values["output"])
    assert torch.equal(3 * KEY, answer.gradients["arg.query"])
    assert {} == oracle(course).answer(call()).gradients


def test_oracle_error_names_what_the_reference_raised(course):
    """For whoever asks whether an exception is the right answer."""
    gate = Call(part="mix", name="gate", arguments=(-1,), payload=Payload({}, {}))

    with pytest.raises(OracleError) as failed:
        oracle(course).answer(gate)

    assert "ValueError" == failed.value.raised
