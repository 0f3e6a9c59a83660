"""Calls an assignment forbids: every way to them is caught, swallowed or not, and other calls notice nothing."""

import fnmatch
import importlib
from pathlib import Path

import pytest
import torch
from conftest import INPUT, WORK, function, make_call, tiny_assignment

from grader.assignment import read_assignment
from grader.batch import make_batches
from grader.call import Build, Payload
from grader.conversation import Conversation, TimeLimits
from grader.launch import ForkLauncher, SpawnLauncher, Zygote
from grader.outcome import Forbidden, Gradients, Raised, Returned
from grader.question import Question

RULES = read_assignment(Path(__file__).parents[1] / "assignments/attention").rules
SDPA = "torch.nn.functional.scaled_dot_product_attention"
MHA = "torch.nn.MultiheadAttention"
MHF = "torch.nn.functional.multi_head_attention_forward"
#: Lines before those of a test.
HEAD = "import functools, threading\nimport torch.nn.functional as F\nfrom torch import nn\n"


@pytest.fixture(scope="module")
def guarded():
    """A zygote with the rules of the real assignment."""
    with Zygote(1, RULES) as zygote:
        zygote.wait()
        yield ForkLauncher(zygote.controls[0])


@pytest.fixture
def talk(guarded):
    """Begin a conversation with sources, as `conftest.talk`, under the rules."""
    begun = []

    def begin(sources, **deadlines):
        files = {WORK: sources} if isinstance(sources, str) else sources
        begun.append(Conversation(guarded, files, tiny_assignment(), TimeLimits(**deadlines)))
        return begun[-1]

    yield begin
    for conversation in begun:
        conversation.close()


@pytest.fixture
def reply_of(talk):
    """The reply to one call of a function with these lines, where `x` is [2, 3] and `q` [1, 2, 2, 4], both float64."""

    def ask(body, top="", **deadlines):
        lines = "q = torch.ones(1, 2, 2, 4, dtype=torch.float64)\n" + body
        return talk(HEAD + top + function(lines), **deadlines).ask(make_call(), None).reply

    return ask


def test_guards_rules_of_the_assignment_each_name_something():
    """A misspelt rule would forbid nothing."""
    for module in {rule.rpartition(".")[0] for rule in RULES.forbidden if not rule.startswith("torch.ops.")}:
        importlib.import_module(module)  # some operators are registered only then
    operators = {name.partition(".")[0].replace("::", ".") for name in torch._C._dispatch_get_all_op_names()}
    for rule in RULES.forbidden:
        module, _, pattern = rule.rpartition(".")
        names = (
            [name.partition(".")[2] for name in operators if name.startswith(f"{module.removeprefix('torch.ops.')}.")]
            if rule.startswith("torch.ops.")
            else vars(importlib.import_module(module))
        )

        assert fnmatch.filter(names, pattern), rule


# --- every way is caught ----------------------------------------------------------------------------------------

ROUTES = {
    "onnx-function": (
        "from torch.onnx import ops\nreturn ops.attention(q, q, q, qk_matmul_output_mode=3)[0]",
        "torch.onnx.ops.attention",
    ),
    "onnx-operator": (
        "import torch.onnx.ops as late\nreturn torch.ops.onnx.Attention.opset23(q, q, q)[0]",
        "torch.ops.onnx.Attention",
    ),
    "direct": ("return F.scaled_dot_product_attention(q, q, q)", SDPA),
    "keywords": ("return F.scaled_dot_product_attention(query=q, key=q, value=q, is_causal=True)", SDPA),
    "gradients": ("q.requires_grad_()\nreturn F.scaled_dot_product_attention(q, q, q)", SDPA),
    "no-grad": ("with torch.no_grad():\n    return F.scaled_dot_product_attention(q, q, q)", SDPA),
    "inference-mode": (
        "with torch.inference_mode():\n    q = q.clone()\n    F.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "three-axes": ("F.scaled_dot_product_attention(q[0], q[0], q[0])", SDPA),
    "aten": ("torch.ops.aten.scaled_dot_product_attention(q, q, q)", SDPA),
    "aten-overload": ("torch.ops.aten.scaled_dot_product_attention.default(q, q, q)", SDPA),
    "decompose": ("torch.ops.aten.scaled_dot_product_attention.default.decompose(q, q, q)", SDPA),
    "binding": ("torch._C._nn.scaled_dot_product_attention(q, q, q)", SDPA),
    "handle": ("torch._C._jit_get_operation('aten::scaled_dot_product_attention')[0](q, q, q)", SDPA),
    "math": ("torch._scaled_dot_product_attention_math(q, q, q)", "torch.ops.aten._scaled_dot_product_attention_math"),
    "math-decompose": (
        "torch.ops.aten._scaled_dot_product_attention_math.default.decompose(q, q, q)",
        "torch.ops.aten._scaled_dot_product_attention_math",
    ),
    "fused": (
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, q, q)",
        "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
    ),
    "partial": ("functools.partial(F.scaled_dot_product_attention, is_causal=True)(q, q, q)", SDPA),
    "getattr": ("getattr(F, 'scaled_dot_' + 'product_attention')(q, q, q)", SDPA),
    "torch-function-off": ("with torch._C.DisableTorchFunction():\n    F.scaled_dot_product_attention(q, q, q)", SDPA),
    "subclass-off": (
        "with torch._C.DisableTorchFunctionSubclass():\n    F.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "tensor-subclass": (
        "class Odd(torch.Tensor):\n    pass\nq = q.as_subclass(Odd)\nF.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "vmap": ("torch.func.vmap(F.scaled_dot_product_attention)(q, q, q)", SDPA),
    "vmap-twice": ("torch.vmap(torch.vmap(F.scaled_dot_product_attention))(q, q, q)", SDPA),
    "functional-grad": ("torch.func.grad(lambda q: F.scaled_dot_product_attention(q, q, q).sum())(q)", SDPA),
    "autocast": ("with torch.autocast('cpu'):\n    F.scaled_dot_product_attention(q, q, q)", SDPA),
    "below-autograd": (
        "with torch._C._AutoDispatchBelowAutograd():\n    F.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "keys-excluded": (
        "keys = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)\n"
        "keys |= torch._C.DispatchKeySet(torch._C.DispatchKey.AutogradCPU)\n"
        "with torch._C._ExcludeDispatchKeyGuard(keys):\n    F.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "compiled": ("torch.compile(F.scaled_dot_product_attention)(q, q, q)", SDPA),
    "copied-class": (
        "import inspect\nfrom torch.nn.modules import activation\nnames = dict(vars(activation))\n"
        "exec(inspect.getsource(activation).replace('class MultiheadAttention', 'class Mine'), names)\n"
        "x = torch.ones(2, 1, 4)\nnames['Mine'](4, 2)(x, x, x)",
        MHF,
    ),
    "nested": (
        "n = torch.nested.nested_tensor([torch.ones(2, 2, 4), torch.ones(2, 3, 4)])\n"
        "F.scaled_dot_product_attention(n, n, n)",
        SDPA,
    ),
    "swallowed": ("try:\n    F.scaled_dot_product_attention(q, q, q)\nexcept BaseException:\n    pass\nreturn x", SDPA),
    "fallback": (
        "try:\n    raise ValueError\nexcept ValueError:\n    return F.scaled_dot_product_attention(q, q, q)",
        SDPA,
    ),
    "thread": (
        "def run():\n    F.scaled_dot_product_attention(q, q, q)\nthread = threading.Thread(target=run)\n"
        "thread.start()\nthread.join()\nreturn x",
        SDPA,
    ),
    "thread-of-nothing-else": (
        "thread = threading.Thread(target=F.scaled_dot_product_attention, args=(q, q, q))\n"
        "thread.start()\nthread.join()\nreturn x",
        SDPA,
    ),
    "module": ("nn.MultiheadAttention(4, 2)", MHA),
    "module-subclass": ("class Mine(nn.MultiheadAttention):\n    pass\nMine(4, 2)", MHA),
    "module-unmade": (
        "nn.MultiheadAttention.forward(nn.MultiheadAttention.__new__(nn.MultiheadAttention), x, x, x)",
        MHA,
    ),
    "module-quantizable": (
        "from torch.ao.nn.quantizable import MultiheadAttention\nMultiheadAttention._forward_impl(None, x, x, x)",
        "torch.ao.nn.quantizable.MultiheadAttention",
    ),
    "decomposition": (
        "from torch._decomp import decomposition_table as table\n"
        "table[torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default](q, q, q)",
        "torch.ops.aten._scaled_dot_product_attention_math",
    ),
    "encoder-layer": ("nn.TransformerEncoderLayer(4, 2)", "torch.nn.TransformerEncoderLayer"),
    "transformer": ("nn.modules.transformer.Transformer(4, 2)", "torch.nn.Transformer"),
    "functional": ("F.multi_head_attention_forward(x, x, x)", MHF),
    "fast-path": (
        "torch._native_multi_head_attention(*[x] * 3, 3, 1, *[x] * 4)",
        "torch.ops.aten._native_multi_head_attention",
    ),
    "encoder-fast-path": (
        "torch._transformer_encoder_layer_fwd(x, 3, 1, *[x] * 4, False, False, 1e-5, *[x] * 8)",
        "torch.ops.aten._transformer_encoder_layer_fwd",
    ),
}


@pytest.mark.parametrize("route", ROUTES)
def test_guards_route_to_a_forbidden_call_is_caught(reply_of, route):
    """Whatever the way, the reply names what was called, and nothing else."""
    body, name = ROUTES[route]

    reply = reply_of(body, call_s=20)

    assert isinstance(reply, Forbidden), reply
    assert ("forward", name) == (reply.stage, reply.name)


TOPS = {
    "alias": "from torch.nn.functional import scaled_dot_product_attention as hidden\n",
    "star": "from torch.nn.functional import *\nhidden = scaled_dot_product_attention\n",
    "partial": "hidden = functools.partial(F.scaled_dot_product_attention, attn_mask=None)\n",
    "handle": "import torch\nhidden, _ = torch._C._jit_get_operation('aten::scaled_dot_product_attention')\n",
    "script": (
        "import torch\n@torch.jit.script\ndef hidden(q, k, v):\n"
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, v)\n"
    ),
    "vars": "import torch\nhidden = vars(torch._C._nn)['scaled_dot_product_attention']\n",
}


@pytest.mark.parametrize("top", TOPS)
def test_guards_callable_captured_while_importing_is_caught_when_called(reply_of, top):
    """To hold it costs nothing; to call it does."""
    reply = reply_of("return hidden(q, q, q)", TOPS[top])

    assert isinstance(reply, Forbidden), reply
    assert ("forward", SDPA) == (reply.stage, reply.name)


def test_guards_flex_attention_is_caught_though_torch_imports_it_late(reply_of):
    """A module that a student's code imports first is guarded then."""
    top = "from torch.nn.attention.flex_attention import flex_attention\n"

    reply = reply_of("return flex_attention(q, q, q)", top, import_s=30)

    assert isinstance(reply, Forbidden), reply
    assert "torch.nn.attention.flex_attention.flex_attention" == reply.name


def test_guards_operator_behind_flex_attention_is_caught(reply_of):
    """The function is not the only way to it."""
    top = "from torch._higher_order_ops.flex_attention import flex_attention as op\n"

    reply = reply_of("return op(q, q, q, lambda s, *_: s, (), 1.0, {})", top)

    assert isinstance(reply, Forbidden), reply


def test_guards_line_of_the_student_is_told(talk):
    """The innermost line of theirs, though torch's own lie in between."""
    source = HEAD + "def helper(q):\n    return nn.Transformer(4, 2)(q)\n" + function("return helper(x)")

    reply = talk(source).ask(make_call(), None).reply

    assert (WORK, 5, "helper") == (reply.line.file, reply.line.line, reply.line.function)
    assert "    return nn.Transformer(4, 2)(q)" == reply.line.text


def test_guards_call_without_a_line_of_the_student_is_told_without(reply_of):
    """A thread that runs nothing of theirs."""
    assert reply_of(ROUTES["thread-of-nothing-else"][0]).line is None


def test_guards_call_while_building_says_so(talk):
    """A module made in `__init__`."""
    source = HEAD + "class answer(nn.Module):\n    def __init__(self, width):\n        super().__init__()\n"
    source += "        self.inner = nn.MultiheadAttention(4, 2)\n"
    call = make_call(build=Build(arguments={"width": 3}, handle=1), payload=Payload({"x": INPUT}, {}))

    reply = talk(source).ask(call, None).reply

    assert ("build", MHA, 7) == (reply.stage, reply.name, reply.line.line)


BACKWARD = """class Mine(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        try:
            torch.nn.functional.scaled_dot_product_attention(grad, grad, grad)
        except BaseException:
            pass
        return grad * 2
return Mine.apply(x)"""


def test_guards_call_in_a_backward_pass_costs_the_gradients(talk):
    """The values are judged by themselves."""
    outcome = talk(function(BACKWARD)).ask(make_call(wants=("x",)), INPUT)

    assert isinstance(outcome.reply, Returned)
    assert ("backward", SDPA) == (outcome.backward.stage, outcome.backward.name)
    assert {} == dict(outcome.gradients)


def test_guards_call_that_was_swallowed_has_no_gradients(talk):
    """Nothing of such a call is asked any further."""
    body = "try:\n    torch.nn.functional.scaled_dot_product_attention(x, x, x)\n"
    body += "except BaseException:\n    pass\nreturn x * 2"

    outcome = talk(function(body)).ask(make_call(wants=("x",)), INPUT)

    assert isinstance(outcome.reply, Forbidden)
    assert (None, {}) == (outcome.backward, dict(outcome.gradients))


# --- what else it costs -----------------------------------------------------------------------------------------


def test_guards_next_call_is_judged_by_itself(talk):
    """What one call did is not held against the next."""
    body = "if x.shape[0] == 2:\n    torch.nn.functional.scaled_dot_product_attention(x, x, x)\nreturn x"
    conversation = talk(function(body))

    replies = [conversation.ask(make_call(INPUT[:rows]), None).reply for rows in (2, 1, 2)]

    assert [Forbidden, Returned, Forbidden] == [type(reply) for reply in replies]


def test_guards_call_in_a_batch_costs_itself(talk):
    """The others of the batch keep their answers, and none is asked again."""
    body = "if x.shape[0] == 2:\n    torch.nn.functional.scaled_dot_product_attention(x, x, x)\nreturn x * 2"
    calls = [make_call(INPUT[:rows], wants=("x",)) for rows in (2, 1)]
    (batch,) = make_batches(
        Question(call=call, upstream=call.payload.tensors["arg.x"], is_visible=True) for call in calls
    )

    first, second = talk(function(body)).ask_all(batch)

    assert (Forbidden, None) == (type(first.reply), first.backward)
    assert (Returned, Gradients) == (type(second.reply), type(second.backward))


def test_guards_backward_call_in_a_batch_costs_its_gradients(talk):
    """As when it is asked alone."""
    call = make_call(wants=("x",))
    (batch,) = make_batches([Question(call=call, upstream=INPUT, is_visible=True)])

    (outcome,) = talk(function(BACKWARD)).ask_all(batch)

    assert (Returned, Forbidden) == (type(outcome.reply), type(outcome.backward))


IMPORTING = "import torch\nx = torch.ones(2, 3)\ntorch.nn.functional.scaled_dot_product_attention(x, x, x)\n"
SWALLOWING = IMPORTING.replace("torch.nn", "try:\n    torch.nn") + "except BaseException:\n    pass\n"


@pytest.mark.parametrize("top", [IMPORTING, SWALLOWING])
def test_guards_call_while_importing_costs_the_file(talk, top):
    """Swallowed or not."""
    reply = talk(top + function("return x")).ask(make_call(), None).reply

    assert ("import", SDPA, WORK) == (reply.stage, reply.name, reply.line.file)


def test_guards_call_while_importing_a_neighbour_names_it_as_the_cause(talk):
    """The file that imports it cannot run, and did not make the call."""
    reply = talk({WORK: "import other", "other.py": IMPORTING}).ask(make_call(), None).reply

    assert (("other", "work"), "other.py") == (reply.failed, reply.line.file)


def test_guards_call_that_a_neighbour_swallowed_is_not_held_against_the_importer(talk):
    """Whichever of the two is loaded first."""
    files = {WORK: "import other\n" + function("return x"), "other.py": SWALLOWING + function("return x")}

    conversations = talk(files), talk(files)
    first, second = (conversations[0].ask(make_call(part=part), None).reply for part in ("work", "other"))
    third, fourth = (conversations[1].ask(make_call(part=part), None).reply for part in ("other", "work"))

    assert (Returned, Forbidden) == (type(first), type(second))
    assert (Forbidden, Returned) == (type(third), type(fourth))


# --- honest code notices nothing --------------------------------------------------------------------------------

HONEST = {
    "script": "@torch.jit.script\ndef f(x):\n    return torch.softmax(x, -1) @ x.transpose(0, 1)\nreturn f(x)",
    "trace": "return torch.jit.trace(lambda x: torch.softmax(x, -1) * 2, x.detach())(x)",
    "vmap": "return torch.func.vmap(lambda row: torch.softmax(row, -1))(x)",
    "functional-grad": "return torch.func.grad(lambda x: torch.softmax(x, -1).square().sum())(x)",
    "own-function": "class Twice(torch.autograd.Function):\n    @staticmethod\n"
    "    def forward(ctx, x):\n        return x * 2\n"
    "    @staticmethod\n    def backward(ctx, grad):\n        return grad * 2\n"
    "return Twice.apply(x)",
    "thread": "import threading\nout = []\nthread = threading.Thread(target=lambda: out.append(torch.softmax(x, -1)))\n"
    "thread.start()\nthread.join()\nreturn out[0]",
    "own-mode": "from torch.overrides import TorchFunctionMode\nclass Own(TorchFunctionMode):\n"
    "    def __torch_function__(self, f, types, args=(), kwargs=None):\n        return f(*args, **(kwargs or {}))\n"
    "with Own():\n    return torch.softmax(x, -1)",
    "class-of-it": "assert not isinstance(torch.nn.Linear(2, 2), torch.nn.MultiheadAttention)\nreturn x",
    "causal-mask": "return x + torch.nn.Transformer.generate_square_subsequent_mask(3)[:2]",
    "named": "assert callable(torch.nn.functional.scaled_dot_product_attention)\nreturn x",
    "optimizer": "layer = torch.nn.Linear(3, 3).double()\nlayer(x).sum().backward()\n"
    "torch.optim.SGD(layer.parameters(), 0.1).step()\nreturn x",
    "masked": "return torch.einsum('ij,kj->ik', x, x).masked_fill(torch.eye(2).bool(), -torch.inf).softmax(-1)",
}


@pytest.mark.parametrize("name", HONEST)
def test_guards_honest_code_returns_its_value(talk, name):
    """Own scripts, traces, threads and modes run as ever."""
    outcome = talk(function(HONEST[name]), call_s=20).ask(make_call(), None)

    assert isinstance(outcome.reply, Returned), outcome.reply


def test_guards_call_below_the_main_block_is_not_made(talk):
    """To compare with torch while trying out is what a student should do."""
    source = function("return x") + "if __name__ == '__main__':\n    torch.nn.MultiheadAttention(4, 2)\n"

    assert isinstance(talk(source).ask(make_call(), None).reply, Returned)


def test_guards_exception_of_the_students_own_stays_one(reply_of):
    """No call was forbidden."""
    assert isinstance(reply_of("raise ValueError('no')"), Raised)


def test_guards_without_rules_forbid_nothing(launcher):
    """An assignment that forbids nothing has torch as it is."""
    source = function("return torch.nn.functional.scaled_dot_product_attention(x, x, x)")

    with Conversation(launcher, {WORK: source}, tiny_assignment(), TimeLimits()) as conversation:
        assert isinstance(conversation.ask(make_call(), None).reply, Returned)


def test_guards_worker_with_an_interpreter_of_its_own_has_them_too():
    """Where a warm process cannot be forked."""
    source = function("return torch.nn.functional.scaled_dot_product_attention(x, x, x)")
    launcher = SpawnLauncher(RULES)

    with Conversation(launcher, {WORK: source}, tiny_assignment(), TimeLimits()) as conversation:
        assert isinstance(conversation.ask(make_call(), None).reply, Forbidden)


def test_guards_leave_the_trusted_process_alone():
    """The reference is compared with torch's own attention."""
    assert (1, 2, 4) == torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 2, 4)] * 3).shape
