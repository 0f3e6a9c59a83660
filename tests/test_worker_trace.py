"""Calls that are traced: what is recorded of them, that nothing else changes, and what hostile code gets from it."""

import json

import pytest
import torch
from conftest import INPUT, function, make_call

from grader.outcome import Raised, Returned
from grader.traced import read_trace
from grader.worker.answer import Answerer
from grader.worker.trace import MOST_CHARACTERS, MOST_STEPS, record
from grader.worker.wire import Frame, ProtocolError


@pytest.fixture
def trace(talk):
    """The trace of one call of `answer`, from the lines of its body (`x` is its argument)."""

    def ask(body, *tensors, upstream=None, **limits):
        return talk(function(body), **limits).trace(make_call(*tensors, wants=("x",)), upstream)

    return ask


def rows(traced):
    """Operation, shapes in, shapes out, times."""
    return [(step.operation, step.inputs, step.outputs, step.times) for step in traced.steps]


# --- what is recorded ---------------------------------------------------------------------------------------------


def test_trace_steps_are_the_lines_of_the_student_with_their_shapes(trace):
    """A module, a function of torch's, an operator and a method: one step each, at the student's own line."""
    traced = trace("a = torch.nn.functional.softmax(x, -1)\nb = a @ x.T\nreturn torch.nn.Flatten(0)(b)")

    assert [
        ("softmax", ((2, 3),), ((2, 3),), 1),
        ("T", ((2, 3),), ((3, 2),), 1),
        ("matmul", ((2, 3), (3, 2)), ((2, 2),), 1),
        ("flatten", ((2, 2),), ((4,),), 1),
    ] == rows(traced)
    assert [("work.py", 5), ("work.py", 6), ("work.py", 6), ("work.py", 7)] == [(s.file, s.line) for s in traced.steps]


def test_trace_questions_about_a_tensor_are_no_steps(trace):
    """Shapes, dtypes, lengths and texts make nothing."""
    traced = trace("x.shape, x.dtype, x.size(0), len(x), x.ndim, x.dim(), x.requires_grad, repr(x)\nreturn x")

    assert () == traced.steps


def test_trace_operators_have_the_names_of_functions(trace):
    """Whoever writes 1 - x subtracts."""
    traced = trace("y = 1 - x\ny += 1\ny = 2 / (y * y)\ny[0] = 1\nreturn y ** 2 > -y")

    assert ["sub", "add_", "mul", "div", "setitem", "pow", "neg", "gt"] == [step.operation for step in traced.steps]


def test_trace_loop_is_counted(trace):
    """Three steps, not three thousand."""
    traced = trace("for i in range(1000):\n    a = x[0]\n    b = a * 2\n    c = b.sum()\nreturn c")

    assert [
        ("getitem", ((2, 3),), ((3,),), 1000),
        ("mul", ((3,),), ((3,),), 1000),
        ("sum", ((3,),), ((),), 1000),
    ] == rows(traced)


def test_trace_einsum_tells_its_equation(trace):
    """Which says what the shapes do not."""
    traced = trace("return torch.einsum('ij, kj -> ik', x, x)")

    assert [("einsum", "ij,kj->ik")] == [(step.operation, step.detail) for step in traced.steps]


def test_trace_sources_are_the_arguments_a_tensor_depends_on(talk):
    """Through views, lists and writing in place; a tensor that has only the shape of another depends on nothing."""
    body = "z = torch.zeros_like(x)\nz[0] = y[0]\nrow = z[1]\nrow += x[1]\nreturn torch.stack([z, z])"

    traced = talk(function(body)).trace(make_call(INPUT, INPUT), None)

    assert {"zeros_like": (), "setitem": ("y",), "stack": ("x", "y")} == {
        step.operation: step.sources for step in traced.steps if step.operation in ("zeros_like", "setitem", "stack")
    }


def test_trace_step_that_ended_the_call_is_known(trace):
    """And no other that raised."""
    traced = trace("try:\n    x @ x\nexcept RuntimeError:\n    pass\nreturn x.view(7)")

    assert isinstance(traced.reply, Raised)
    assert ["matmul", "view"] == [step.operation for step in traced.steps if step.is_raised]
    assert "view" == traced.step(traced.raised).operation


def test_trace_exception_of_the_student_was_no_step(trace):
    """Nothing of torch's ended the call."""
    traced = trace("try:\n    x @ x\nexcept RuntimeError:\n    raise ValueError('no')")

    assert traced.raised is None


def test_trace_step_that_first_made_nan_is_known(trace):
    """Not the one before, whose infinity is none, nor the one behind."""
    traced = trace("a = (x + 1) / 0\nb = a - a\nreturn b.sum()")

    assert "sub" == traced.step(traced.nan).operation


def test_trace_uninitialised_memory_is_no_nan(trace):
    """What `empty` holds is nobody's doing."""
    traced = trace("e = torch.empty(2, 3).fill_(float('nan'))\nn = torch.empty_like(x)\nreturn x")

    assert traced.step(traced.nan) is None or "fill_" == traced.step(traced.nan).operation


def test_trace_returned_values_know_the_step_that_made_them(trace):
    """In their order; an argument that is handed back was made by none."""
    traced = trace("a = x + 1\nb = a * 2\nreturn b, a, x, 3")

    assert ["mul", "add", None, None] == [
        step and step.operation for step in (traced.step(number) for number in traced.returned)
    ]


def test_trace_backward_pass_that_raises_names_the_line_of_the_forward_pass(trace):
    """The one whose result was overwritten, not the one that overwrote it."""
    traced = trace("a = x * 1\nb = a.exp()\nb += 1\nreturn b", upstream=INPUT)

    assert isinstance(traced.backward, Raised)
    assert ("work.py", 6, "Exp") == (traced.blamed.file, traced.blamed.line, traced.blamed.text)


def test_trace_backward_pass_that_succeeds_blames_nobody(trace):
    """Gradients are as ever, and stay where they are."""
    traced = trace("return x * 2", upstream=INPUT)

    assert "gradients" == traced.backward.status
    assert traced.blamed is None


def test_trace_inside_of_a_function_of_the_student_s_own_no_gradient_is_cut(trace):
    """Its forward pass runs without gradients, and its backward pass brings them."""
    body = "class Twice(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
    body += "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\nreturn Twice.apply(x).detach()"

    assert trace(body).cut is None


def test_trace_of_trusted_code_is_recorded_by_the_same_function():
    """In this process, over any modules, with the lines that the caller wants."""

    class Work:
        @staticmethod
        def answer(x):
            return x.sum()

    answerer = Answerer(lambda name: Work, is_own=lambda file: False)

    traced = read_trace(record(answerer, make_call().request("work", "answer"), is_own=lambda file: file == __file__))

    assert [("sum", ((2, 3),), ((),), 1)] == rows(traced)


# --- nothing else changes -----------------------------------------------------------------------------------------


def test_trace_values_are_those_of_the_call(talk):
    """Random numbers, floating sums and NaN included: as text, to the last digit."""
    conversation = talk(function("return (torch.rand(100).softmax(0) @ torch.randn(100) + x.sum()).item()"))

    asked, traced = conversation.ask(make_call(), None), conversation.trace(make_call(), None)

    assert isinstance(asked.reply, Returned)
    assert asked.reply.tree == traced.reply.tree


def test_trace_leaves_the_next_call_as_it_was(talk):
    """The answer before and after is one, and nothing printed meanwhile is told again."""
    conversation = talk(function("print('here')\nreturn x * 2"))
    before = conversation.ask(make_call(), None)

    conversation.trace(make_call(), None)

    after = conversation.ask(make_call(), None)
    assert before.reply == after.reply
    assert torch.equal(before.tensors["0"], after.tensors["0"])
    assert "here\n" == after.printed


def test_trace_keeps_a_mode_that_the_file_set(talk):
    """Such as a default device, which torch holds in the same list."""
    source = function("return len(torch.overrides._get_current_function_mode_stack())")
    conversation = talk("import torch\ntorch.set_default_device('cpu')\n" + source)
    before = conversation.ask(make_call(), None)

    traced = conversation.trace(make_call(), None)

    assert "2" == traced.reply.tree.text
    assert not traced.is_cut
    assert "1" == before.reply.tree.text == conversation.ask(make_call(), None).reply.tree.text


# --- where there is nothing to be told ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", ["raise ValueError", function("os._exit(0)"), function("while True:\n    pass"), "while True:\n    pass"]
)
def test_trace_of_code_that_does_not_answer_is_none(talk, source):
    """Imports that fail, crashes and loops: the worker is ended, and its code was not told to have run out of time."""
    conversation = talk(source, call_s=0.3, import_s=0.3)

    assert conversation.trace(make_call(), None) is None


def test_trace_that_runs_out_of_time_is_no_timeout_of_the_callable(talk):
    """It is asked again as often as before."""
    conversation = talk(function("while x.shape[0] == 2:\n    pass\nreturn x"), call_s=0.2)

    for _ in range(3):
        conversation.trace(make_call(), None)

    assert isinstance(conversation.ask(make_call(INPUT[:1]), None).reply, Returned)


def test_trace_of_a_submission_that_used_its_time_is_not_made(talk):
    """Traces count as calls do."""
    conversation = talk(function("while x.shape[0] == 2:\n    pass\nreturn x"), call_s=0.2, submission_s=0.2)
    conversation.ask(make_call(), None)

    assert conversation.trace(make_call(INPUT[:1]), None) is None


# --- hostile code -------------------------------------------------------------------------------------------------


def test_trace_more_steps_than_are_kept_are_cut(trace):
    """The first ones are."""
    traced = trace("\n".join(["x = x + 1"] * (MOST_STEPS + 50)) + "\nreturn x")

    assert (MOST_STEPS, True) == (len(traced.steps), traced.is_cut)
    assert list(range(5, 5 + MOST_STEPS)) == [step.line for step in traced.steps]


def test_trace_steps_that_are_too_long_for_an_answer_are_cut(trace):
    """Lists of tensors with many axes; what is kept fits."""
    body = "big = [torch.zeros([1] * 16)] * 500\n" + "\n".join(["torch.stack(big)"] * MOST_STEPS) + "\nreturn x"

    traced = trace(body)

    assert traced.is_cut
    assert 10 < len(traced.steps) < MOST_STEPS
    assert len(json.dumps([step.model_dump() for step in traced.steps])) < 2 * MOST_CHARACTERS


def test_trace_million_of_operations_is_no_answer_or_a_short_one(talk):
    """Whether there is time for them or not, the worker goes on or is replaced."""
    conversation = talk(function("for i in range(10**6 * (x.shape[0] == 2)):\n    x + i\nreturn x"), call_s=1)

    traced = conversation.trace(make_call(), None)

    assert traced is None or len(traced.steps) == 1
    assert isinstance(conversation.ask(make_call(INPUT[:1]), None).reply, Returned)


@pytest.mark.parametrize(
    "body",
    [
        "torch._C._len_torch_function_stack() and torch._C._pop_torch_function_stack()\nreturn x + 1",
        "while torch._C._len_torch_function_stack():\n    torch._C._pop_torch_function_stack()\nreturn x + 1",
        "class M(torch.overrides.TorchFunctionMode):\n"
        "    def __torch_function__(self, func, types, args=(), kwargs=None):"
        "\n        return func(*args, **kwargs or {})\nM().__enter__()\nM().__enter__()\nreturn x",
    ],
)
def test_trace_of_code_that_changes_torch_s_modes_says_that_it_is_cut(talk, body):
    """It deprives itself of a record; the next call is answered as ever."""
    conversation = talk(function(body))

    traced = conversation.trace(make_call(), None)

    assert "returned" == traced.reply.status
    assert traced.is_cut
    assert isinstance(conversation.ask(make_call(), None).reply, Returned)


def test_trace_giant_names_are_cut(trace):
    """A name in a record is short, whoever gave it."""
    body = "def f(*a):\n    return x\nf.__name__ = 'n' * 10**6\n"
    body += "torch.overrides.handle_torch_function(f, (x,), x)\n"
    body += "torch.einsum('i' + ' ' * 10**5 + 'j->ij', x)\nreturn x"

    traced = trace(body)

    assert all(len(step.operation) <= 80 and len(step.detail) <= 80 for step in traced.steps)
    assert ("einsum", "ij->ij") == (traced.steps[-1].operation, traced.steps[-1].detail)


def test_trace_tensors_that_answer_oddly_do_not_change_the_answer(trace):
    """A class whose shape raises costs its record, and nothing else."""
    body = "class Odd(torch.Tensor):\n    @property\n    def shape(self):\n        raise ValueError\n"
    body += "    @property\n    def is_nested(self):\n        raise ValueError\n"
    body += "y = x.as_subclass(Odd)\nreturn (y + 1).as_subclass(torch.Tensor) * 1"

    traced = trace(body)

    assert isinstance(traced.reply, Returned)
    assert traced.is_cut


STEP = {
    "file": "work.py",
    "line": 1,
    "operation": "add",
    "inputs": [[2]],
    "outputs": [[2]],
    "sources": [],
    "is_learned": False,
    "is_floating": True,
    "is_wrapped": False,
    "is_raised": False,
    "times": 1,
}
TRACED = {
    "status": "traced",
    "reply": {"status": "missing_name", "names": []},
    "backward": None,
    "steps": [STEP],
    "is_cut": False,
    "raised": None,
    "nan": None,
    "cut": None,
    "returned": [],
    "blamed": None,
}


def test_trace_reply_is_read():
    """The header that the refusals below spoil."""
    assert 1 == len(read_trace(Frame(TRACED, {})).steps)


@pytest.mark.parametrize(
    "header",
    [
        TRACED | {"steps": [STEP] * (MOST_STEPS + 1)},
        TRACED | {"steps": [STEP | {"times": 10**9}]},
        TRACED | {"steps": [STEP | {"times": 0}]},
        TRACED | {"steps": [STEP | {"operation": "n" * 81}]},
        TRACED | {"steps": [STEP | {"file": "n" * 301}]},
        TRACED | {"steps": [STEP | {"inputs": [[2]] * 17}]},
        TRACED | {"steps": [STEP | {"outputs": [[1] * 17]}]},
        TRACED | {"steps": [STEP | {"outputs": [[-1]]}]},
        TRACED | {"steps": [STEP | {"more": 1}]},
        TRACED | {"raised": -1},
        TRACED | {"returned": [0] * 9},
        TRACED | {"reply": TRACED},
        TRACED | {"reply": {"status": "loaded", "names": []}},
        TRACED | {"backward": {"status": "loaded", "names": []}},
        {"status": "missing_name", "names": []},
        TRACED
        | {
            "reply": {
                "status": "returned",
                "tree": {"kind": "tensor", "dtype": "float64", "shape": [1], "data": "0"},
                "changed": [],
            }
        },
    ],
)
def test_trace_reply_that_is_none_is_refused(header):
    """Too many, too long, too deep, or another answer."""
    with pytest.raises(ProtocolError):
        read_trace(Frame(header, {}))


def test_trace_number_of_a_step_that_was_not_kept_names_none():
    """A worker may say any; nothing is looked up beyond the steps."""
    assert read_trace(Frame(TRACED | {"nan": 7}, {})).step(7) is None
