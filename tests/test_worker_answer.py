"""One call in a worker: how a module is built, what a call runs under, how gradients are taken."""

import pytest
import torch
from conftest import INPUT, function, make_call

from grader.call import Build, Payload
from grader.outcome import Gradients, Raised, Returned, WrongParameters

MODULE = """
import torch
from torch import nn


class answer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        print(self.calls, self.training)
        return self.linear(x)
"""
WEIGHTS = {"linear.weight": torch.arange(6, dtype=torch.float64).reshape(2, 3), "linear.bias": torch.ones(2).double()}


def module_call(handle=1, weights=WEIGHTS, **fields):
    """A call of the module, with its parameters."""
    build = Build(arguments={"width": 3}, handle=handle, is_double=fields.pop("is_double", False))
    return make_call(build=build, payload=Payload({"x": INPUT}, weights), **fields)


# --- what a call runs under -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_answer_default_dtype_is_that_of_the_call(answer_of, dtype):
    """A buffer a student makes without a dtype has that of the inputs."""
    outcome = answer_of("return torch.zeros(1)", dtype=dtype)

    assert dtype == outcome.reply.tree.dtype


def test_answer_default_dtype_holds_in_the_backward_pass(answer_of):
    """A backward pass written by hand makes its buffers with the dtype of the forward pass."""
    body = "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
    body += "    @staticmethod\n    def backward(ctx, grad):\n"
    body += "        raise ValueError(torch.get_default_dtype())\nreturn Twice.apply(x)"

    outcome = answer_of(body, upstream=INPUT)

    assert "torch.float64" == outcome.backward.message


def test_answer_default_dtype_changed_by_a_call_is_put_back(talk):
    """One call's `set_default_dtype` says nothing about the next."""
    conversation = talk(function("made = torch.zeros(1)\ntorch.set_default_dtype(torch.float16)\nreturn made"))

    dtypes = [conversation.ask(make_call(), None).reply.tree.dtype for _ in range(2)]

    assert ["float64", "float64"] == dtypes


@pytest.mark.parametrize("where", ["import", "call"])
def test_answer_grad_mode_left_off_is_on_again(talk, where):
    """`torch.set_grad_enabled(False)`, forgotten in a file or in an earlier call, costs no gradient."""
    off = "torch.set_grad_enabled(False)"
    source = function("return x * 2" if where == "import" else f"y = x * 2\n{off}\nreturn y")
    conversation = talk(source + (off if where == "import" else ""))

    backwards = [conversation.ask(make_call(wants=("x",)), INPUT).backward for _ in range(2)]

    assert all(isinstance(backward, Gradients) and () == backward.missing for backward in backwards)


def test_answer_random_numbers_are_the_same_in_two_workers(talk):
    """Python's, numpy's and torch's generators are seeded for each call."""
    source = "import random, numpy\n" + function(
        "return torch.tensor([torch.rand(()), random.random(), numpy.random.rand()])"
    )

    first, second = (talk(source).ask(make_call(seed=5), None).tensors["0"] for _ in range(2))

    assert torch.equal(first, second)


def test_answer_random_numbers_do_not_depend_on_the_calls_before(talk):
    """A call draws the same numbers whatever was asked first."""
    conversation = talk(function("torch.rand(7)\nreturn torch.rand(3)"))

    first, _, third = (conversation.ask(make_call(seed=seed), None).tensors["0"] for seed in (5, 6, 5))

    assert torch.equal(first, third)


def test_answer_random_numbers_of_two_seeds_differ(talk):
    """A second call with another seed shows what is drawn at random."""
    conversation = talk(function("return torch.rand(3)"))

    first, second = (conversation.ask(make_call(seed=seed), None).tensors["0"] for seed in (5, 6))

    assert not torch.equal(first, second)


def test_answer_order_of_a_set_is_the_same_in_two_workers(talk):
    """Text is hashed alike in every run."""
    source = function("print(list({'query', 'key', 'value', 'mask'}))\nreturn x")

    first, second = (talk(source).ask(make_call(), None).printed for _ in range(2))

    assert first == second


def test_answer_input_arrives_as_it_was_sent(answer_of):
    """Values, shape and dtype of an argument survive the way."""
    sent = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(1)).to(torch.float32)

    outcome = answer_of("return x", sent)

    assert torch.equal(sent, outcome.tensors["0"])


def test_answer_tensor_given_twice_arrives_as_one_object(talk):
    """Self-attention hands over one tensor as query, key and value."""
    both = ({"tensor": "x"}, {"tensor": "x"})

    outcome = talk(function("print(x is y)\nreturn x")).ask(make_call(arguments=both), None)

    assert "True\n" == outcome.printed


# --- gradients --------------------------------------------------------------------------------------------------


def test_answer_gradient_is_that_of_the_upstream_gradient(answer_of):
    """The upstream gradient is the examiner's."""
    outcome = answer_of("return x * x", upstream=INPUT + 1)

    assert torch.equal(2 * INPUT * (INPUT + 1), outcome.gradients["arg.x"])


def test_answer_gradient_survives_an_input_changed_in_place(answer_of):
    """Inputs are handed over as copies of leaves, so that a slip on one costs the check for it alone."""
    outcome = answer_of("x *= 3\nreturn x", upstream=INPUT)

    assert torch.equal(3 * INPUT, outcome.gradients["arg.x"])
    assert ("x",) == outcome.reply.changed


@pytest.mark.parametrize("body", ["return x.detach() * 2", "return torch.ones(2, 3)", "return x.data + 1"])
def test_answer_detached_output_has_no_gradient_and_no_error(answer_of, body):
    """No gradient is a finding of its own, not an exception."""
    outcome = answer_of(body, upstream=INPUT)

    assert ("arg.x",) == outcome.backward.missing


def test_answer_input_that_is_not_used_is_missing_alone(answer_of):
    """Each input is told by itself."""
    outcome = answer_of("return x * 2", INPUT, INPUT, upstream=INPUT, wants=("x", "y"))

    assert ("arg.y",) == outcome.backward.missing
    assert {"arg.x"} == set(outcome.gradients)


def test_answer_gradient_of_an_output_written_into_afterwards_is_an_error_of_the_backward_pass(answer_of):
    """What autograd refuses is reported as autograd says it."""
    reply = answer_of("y = torch.exp(x)\ny += 1\nreturn y", upstream=INPUT).backward

    assert isinstance(reply, Raised)
    assert ("backward", "RuntimeError") == (reply.stage, reply.type)
    assert "modified by an inplace operation" in reply.message


@pytest.mark.parametrize(
    "body",
    ["return x[0]", "x + 1", "return (x > 0)", "return x.to_sparse()", "return (x, x, x)[3:]", "return 'x'"],
)
def test_answer_backward_pass_of_what_is_no_output_is_not_asked_for(answer_of, body):
    """Gradients start from a floating tensor of the right shape, or not at all."""
    outcome = answer_of(body, upstream=INPUT)

    assert isinstance(outcome.reply, Returned)
    assert outcome.backward is None


def test_answer_of_a_function_left_empty_is_that_it_is_not_filled_in(answer_of):
    """As in stubs that return None where others raise."""
    reply = answer_of("y, weights = None, None\npass\nreturn y, weights").reply

    assert isinstance(reply, Raised)
    assert reply.is_unfilled


def test_answer_backward_pass_starts_from_the_first_of_several_values(answer_of):
    """Weights may be detached."""
    outcome = answer_of("return x * 2, x.detach()", upstream=INPUT)

    assert torch.equal(2 * INPUT, outcome.gradients["arg.x"])


def test_answer_gradient_of_a_conjugate_view_is_plain(answer_of):
    """Gradients are made plain like values."""
    outcome = answer_of("return torch.complex(x, x).conj().imag", upstream=INPUT)

    assert torch.equal(-INPUT, outcome.gradients["arg.x"])


# --- modules ----------------------------------------------------------------------------------------------------


def test_answer_module_is_called_with_the_parameters_sent(talk):
    """The student's own initial weights play no part."""
    outcome = talk(MODULE).ask(module_call(wants=("x",)), torch.ones(2, 2).double())

    assert torch.equal(INPUT @ WEIGHTS["linear.weight"].T + 1, outcome.tensors["0"])
    assert {"arg.x", "param.linear.weight", "param.linear.bias"} == set(outcome.gradients)


def test_answer_calls_with_one_handle_meet_the_same_module(talk):
    """State that a module keeps between calls shows, in the mode asked for."""
    conversation = talk(MODULE)

    printed = [
        conversation.ask(module_call(handle, mode=mode), None).printed
        for handle, mode in ((1, "eval"), (1, "train"), (2, "eval"))
    ]

    assert ["1 False\n", "2 True\n", "1 False\n"] == printed


def test_answer_module_with_other_parameters_says_which_it_has(talk):
    """Names and shapes are reported, and `forward` is not called."""
    outcome = talk(MODULE).ask(module_call(weights={"weight": torch.zeros(2)}), None)

    assert isinstance(outcome.reply, WrongParameters)
    assert {"linear.weight": (2, 3), "linear.bias": (2,)} == dict(outcome.reply.observed)
    assert "" == outcome.printed


@pytest.mark.parametrize(("body", "type_name"), [("return 5", "int"), ("return x", "NoneType")])
def test_answer_class_that_is_no_module_is_told_by_its_class(talk, body, type_name):
    """A function in the place of a class is no accident of the grader's."""
    source = function(body).replace("x=None, y=None", "width, x=None")

    reply = talk(source).ask(module_call(), None).reply

    assert isinstance(reply, WrongParameters)
    assert (None, type_name) == (reply.observed, reply.type)


def test_answer_module_that_cannot_be_made_fails_while_building(talk):
    """An error of `__init__` is told from one of `forward`."""
    reply = talk(MODULE.replace("self.calls = 0", "1 / 0")).ask(module_call(), None).reply

    assert ("build", "ZeroDivisionError") == (reply.stage, reply.type)


def test_answer_module_with_lazy_parameters_is_an_error_of_building(talk):
    """`nn.LazyLinear` has no shapes yet, which the student reads in torch's own words."""
    reply = talk(MODULE.replace("nn.Linear(width, 2)", "nn.LazyLinear(2)")).ask(module_call(), None).reply

    assert ("build", True) == (reply.stage, "uninitialized parameter" in reply.message)


@pytest.mark.parametrize(("is_without", "output"), [(True, [[0.0, 0.0]]), (False, [[1.0, 1.0]])])
def test_answer_module_has_no_biases_that_nobody_set_when_asked(talk, is_without, output):
    """Of a layer whose weight is set alone; made with its bias, it else adds what was drawn."""
    source = MODULE.replace("self.calls = 0", "self.calls = 0; nn.init.ones_(self.linear.bias)")
    build = Build(arguments={"width": 3}, handle=1, is_without_spare_biases=is_without)
    payload = Payload({"x": INPUT[:1]}, {"linear.weight": torch.zeros(2, 3, dtype=torch.float64)})

    outcome = talk(source).ask(make_call(build=build, payload=payload), None)

    assert output == outcome.tensors["0"].tolist()


def test_answer_module_is_converted_to_double_when_asked(talk):
    """float32 weights of the student become float64 weights that hold what was sent."""
    outcome = talk(MODULE).ask(module_call(is_double=True, dtype="float32"), None)

    assert "float64" == outcome.reply.tree.dtype
