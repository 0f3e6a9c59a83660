"""The way of the tensors through a call: where it departs from what is stated, and that right code never does."""

import re

import pytest
import torch
from traced_calls import ASSIGNMENT, ROOT, STYLES, WITH_A_WAY, call_of, converse, sources_of

from grader.call import Payload
from grader.diagnosis.edited import Edited
from grader.diagnosis.mistakes import Edit, Mistake, Mistakes
from grader.given import Inputs
from grader.oracle import Oracle
from grader.shapes import shapes_on_the_way, to_trace, trace_sizes
from grader.traced import gradient_cut, read_trace, weak_signature
from grader.worker.answer import Answerer
from grader.worker.trace import record

MULTI_HEAD = ("multi_head", "MultiHeadAttention")
SINGLE = ("single_head", "scaled_dot_product_attention")

#: A usual solution; tests put a mistake in the place of a line.
USUAL = """
import math
import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, bias=True):
        super().__init__()
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        return x.view(x.shape[0], -1, self.n_heads, self.d_head).transpose(1, 2)

    def forward(self, query, key, value, key_padding_mask=None, is_causal=False):
        q, k, v = self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)
        weights = scores.softmax(-1)
        context = weights @ v
        joined = context.transpose(1, 2).flatten(2)
        return self.out_proj(joined), weights
"""
SPLIT = "x.view(x.shape[0], -1, self.n_heads, self.d_head).transpose(1, 2)"


@pytest.fixture
def trace(launcher):
    """The trace of a callable of some sources."""

    def ask(sources, target=MULTI_HEAD, upstream=None, **fields):
        files = {f"{target[0]}.py": sources} if isinstance(sources, str) else sources
        with converse(launcher, files) as conversation:
            return conversation.trace(call_of(*target, **fields), upstream)

    return ask


@pytest.fixture
def way(trace):
    """The record of a callable's way, from its sources."""

    def ask(sources, target=MULTI_HEAD, **fields):
        call = call_of(*target, **fields)
        return shapes_on_the_way(trace(sources, target, **fields), call, ASSIGNMENT.callable(*target), "the call")

    return ask


def edited(old, new):
    """The usual solution with a mistake."""
    assert USUAL.count(old) == 1
    return USUAL.replace(old, new)


def departures(shapes):
    """Lines of the source that are marked, with what is said of them."""
    return [(USUAL_LINE.get(step.line), step.operation, step.departs) for step in shapes.steps if step.departs]


#: What each line of the usual solution makes.
USUAL_LINE = {
    number: line.split(" = ")[0].strip() if " = " in line else line.split()[0]
    for number, line in enumerate(USUAL.splitlines(), 1)
    if line.strip()
}


# --- right code ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_shapes_right_code_in_every_style_departs_nowhere(launcher, style):
    """Einsum, loops, folded heads, vmap, time first, threads: each is seen, and nothing is wrong with it."""
    with converse(launcher, sources_of(style)) as conversation:
        for target in WITH_A_WAY:
            call = call_of(*target)

            traced = conversation.trace(call, None)

            shapes = shapes_on_the_way(traced, call, ASSIGNMENT.callable(*target), "the call")
            assert "returned" == traced.reply.status
            assert not traced.is_cut
            assert [] == [step for step in shapes.steps if step.departs], target


@pytest.mark.parametrize("style", STYLES, ids=lambda path: path.name)
def test_shapes_stages_of_right_code_come_in_the_stated_order(launcher, style):
    """A name is given to what has it, or to nothing."""
    with converse(launcher, sources_of(style)) as conversation:
        for target in WITH_A_WAY:
            call, about = call_of(*target), ASSIGNMENT.callable(*target)

            shapes = shapes_on_the_way(conversation.trace(call, None), call, about, "the call")

            order = [station.name for station in about.way if "position" not in station.axes]
            stages = [step.stage for step in shapes.steps if step.stage in order]
            assert stages == sorted(set(stages), key=order.index), target


def test_shapes_usual_solution_is_named_in_full(way):
    """Every stated shape is found, the operations in between are there without a name."""
    shapes = way(USUAL)

    assert [
        ("linear", "[batch, query, dim]", "projections"),
        ("view", "[batch, query, head, head dim]", "split"),
        ("transpose", "[batch, head, query, head dim]", ""),
        ("linear", "[batch, key, dim]", "projections"),
        ("view", "[batch, key, head, head dim]", "split"),
        ("transpose", "[batch, head, key, head dim]", ""),
        ("linear", "[batch, key, dim]", "projections"),
        ("view", "[batch, key, head, head dim]", "split"),
        ("transpose", "[batch, head, key, head dim]", ""),
        ("transpose", "[batch, head, head dim, key]", ""),
        ("matmul", "[batch, head, query, key]", "scores"),
        ("div", "[batch, head, query, key]", ""),
        ("softmax", "[batch, head, query, key]", "weights"),
        ("matmul", "[batch, head, query, head dim]", "context"),
        ("transpose", "[batch, query, head, head dim]", ""),
        ("flatten", "[batch, query, dim]", "merged"),
        ("linear", "[batch, query, dim]", ""),
    ] == [(step.operation, step.output, step.stage) for step in shapes.steps]
    assert "batch 5, query 7, head 11, head dim 13, key 17, dim 143" == shapes.sizes
    assert "scores [batch, head, query, key]" in shapes.wanted


def test_shapes_weights_that_are_put_together_are_not_taken_for_scores(way):
    """They have the shape of the scores, and are the first to have it, but come behind a softmax."""
    code = edited(
        "        weights = scores.softmax(-1)\n",
        "        weights = torch.stack([(q[:, h] @ k[:, h].mT).softmax(-1) for h in range(self.n_heads)], 1)\n",
    )
    code = "\n".join(line for line in code.splitlines() if not line.strip().startswith("scores ="))

    stages = {step.operation: step.stage for step in way(code).steps}

    assert "" == stages["stack"]
    assert "context" in [step.stage for step in way(code).steps]


def test_shapes_folded_axes_are_named_together(way):
    """Heads in the batch are read off the length."""
    shapes = way(sources_of(next(path for path in STYLES if path.name == "time_first")))

    assert "[query, batch·head, head dim]" in [step.output for step in shapes.steps]


def test_shapes_list_of_all_heads_is_counted(way):
    """One shape, and how often."""
    shapes = way(sources_of(next(path for path in STYLES if path.name == "heads_in_a_loop")))

    joined = next(step for step in shapes.steps if step.operation == "cat")
    assert ("11 × [batch, query, head dim]",) == joined.inputs


@pytest.mark.parametrize(
    ("line", "instead"),
    [
        ("x.shape[0], -1, self.n_heads, self.d_head).transpose(1, 2)", "x.shape[0], self.n_heads, -1, self.d_head)"),
        ("scores.softmax(-1)", "scores.softmax(1)"),
        ("math.sqrt(self.d_head)", "self.d_head"),
        ("context.transpose(1, 2).flatten(2)", "context.reshape(query.shape)"),
    ],
)
def test_shapes_mistake_of_values_alone_marks_nothing(way, line, instead):
    """All shapes are right, whatever is in them."""
    assert [] == departures(way(edited(line, instead)))


def test_shapes_joined_heads_per_head_output_projection_marks_nothing(way):
    """Every head through its own columns, added up afterwards: right, though `head` is in two axes on the way."""
    code = edited("context.transpose(1, 2).flatten(2)", "context").replace(
        "self.out_proj(joined)",
        "torch.einsum('bhqd,ohd->bhqo', joined, self.out_proj.weight.unflatten(1, (self.n_heads, -1))).sum(1)"
        " + self.out_proj.bias",
    )

    assert [] == departures(way(code))


@pytest.mark.parametrize(
    "body",
    [
        # keys in blocks of five, as many as there are samples
        """
        q, k, v = self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value))
        scores = torch.cat([q @ part.mT for part in k.split(5, 2)], -1) / math.sqrt(self.d_head)
        weights = scores.softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights
        """,
        # a head's own columns chosen by a matrix of zeros and ones, [head, head, head dim]
        """
        q, k, v = self.q_proj(query), self.split(self.k_proj(key)).transpose(1, 2), self.split(self.v_proj(value))
        own = torch.eye(self.n_heads, dtype=q.dtype)[:, :, None].expand(-1, -1, self.d_head)
        wide = torch.einsum("bshd,ghd->bsghd", k, own).flatten(3)
        weights = torch.einsum("ble,bsge->bgls", q, wide).div(math.sqrt(self.d_head)).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights
        """,
        # the sum of a softmax divided out by a matrix, [query, query]
        """
        q, k, v = self.split(self.q_proj(query)), self.split(self.k_proj(key)), self.split(self.v_proj(value))
        powers = (q @ k.mT / math.sqrt(self.d_head)).exp()
        weights = torch.diag_embed(1 / powers.sum(-1)) @ powers
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights
        """,
        # all heads of all samples in one product, what is not of one head hidden
        """
        q, k, v = (self.split(one).flatten(0, 2) for one in (self.q_proj(query), self.k_proj(key), self.v_proj(value)))
        count = len(query) * self.n_heads
        own = torch.block_diag(*[torch.ones(query.shape[1], key.shape[1])] * count).bool()
        weights = (q @ k.T / math.sqrt(self.d_head)).masked_fill(~own, -math.inf).softmax(-1)
        output = (weights @ v).unflatten(0, (len(query), self.n_heads, -1)).transpose(1, 2).flatten(2)
        weights = weights.view(count, query.shape[1], count, -1).diagonal(dim1=0, dim2=2).permute(2, 0, 1)
        return self.out_proj(output), weights.unflatten(0, (len(query), -1))
        """,
        # queries, keys and values in one projection
        """
        layers = self.q_proj, self.k_proj, self.v_proj
        weight, bias = torch.cat([one.weight for one in layers]), torch.cat([one.bias for one in layers])
        all_of = nn.functional.linear(torch.cat([query, key, value], 1), weight, bias)
        all_of = all_of.unflatten(2, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        lengths = query.shape[1], key.shape[1], key.shape[1]
        q, k, v = (one.split(lengths, 2)[place] for place, one in enumerate(all_of))
        weights = (q @ k.mT / math.sqrt(self.d_head)).softmax(-1)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2)), weights
        """,
        # vmap over what selects a head, all else being of all heads
        """
        q, k, v = self.q_proj(query), self.k_proj(key), self.v_proj(value)
        own = torch.eye(self.n_heads, dtype=q.dtype).repeat_interleave(self.d_head, 1)
        scale = math.sqrt(self.d_head)
        weights = torch.vmap(lambda one: (q * one @ k.mT / scale).softmax(-1), out_dims=1)(own)
        return self.out_proj((weights @ self.split(v)).transpose(1, 2).flatten(2)), weights
        """,
    ],
    ids=["blocks", "chosen-columns", "diagonal", "block-diagonal", "one-projection", "vmap"],
)
def test_shapes_right_code_of_unusual_shapes_departs_nowhere(launcher, body):
    """Lengths that agree by chance, and axes that are there twice for a reason."""
    head, _, _ = USUAL.partition("        q, k, v = ")
    call = call_of(*MULTI_HEAD)
    with converse(launcher, {"multi_head.py": USUAL}) as conversation:
        expected = conversation.ask(call, None).tensors
    with converse(launcher, {"multi_head.py": head + body}) as conversation:
        observed = conversation.ask(call, None).tensors
        traced = conversation.trace(call, None)

    assert all(torch.allclose(observed[name], expected[name]) for name in "01")
    shapes = shapes_on_the_way(traced, call, ASSIGNMENT.callable(*MULTI_HEAD), "the call")
    assert [] == [step for step in shapes.steps if step.departs]


# --- wrong code ---------------------------------------------------------------------------------------------------


def test_shapes_heads_that_attend_to_heads_are_marked_at_the_scores(way):
    """Without the transposing, every position has its own [head, head]."""
    code = edited(SPLIT, SPLIT.replace(".transpose(1, 2)", "")).replace("key(key)", "key(query)")
    code = code.replace("q @ k.transpose(-2, -1)", "q[:, :, :, None].mul(k[:, :q.shape[1], None]).sum(-1)")

    (found,) = departures(way(code))

    assert ("scores", "sum") == found[:2]
    assert "head is here twice, as in no shape on the way; scores: [batch, head, query, key]" == found[2]


def test_shapes_heads_that_cannot_attend_to_heads_are_marked_where_it_raises(way):
    """Queries and keys of different number do not fit where heads stand in their place."""
    (found,) = departures(way(edited(SPLIT, SPLIT.replace(".transpose(1, 2)", ""))))

    assert ("scores", "matmul", "raised an error here: query of one shape stands where another has key") == found


def test_shapes_heads_never_split_are_marked_at_the_softmax(way):
    """One softmax over [batch, query, key], where every head needs its own."""
    code = edited(SPLIT, "x").replace("context.transpose(1, 2).flatten(2)", "context")

    (found,) = departures(way(code))

    assert ("weights", "softmax") == found[:2]
    assert "no axis head, and not once for each; scores: [batch, head, query, key]" == found[2]


def test_shapes_key_projected_from_the_queries_is_marked_at_the_scores(way):
    """Every query with every query; that the values do not fit comes later."""
    (found,) = departures(way(edited("self.k_proj(key)", "self.k_proj(query)")))

    assert ("scores", "matmul") == found[:2]
    assert "query is here twice, as in no shape on the way; scores: [batch, head, query, key]" == found[2]


def test_shapes_projections_of_one_argument_are_named_where_they_are_made(way):
    """The same line twice, for query and key: both are projections, and what is transposed later is no split."""
    shapes = way(edited("self.k_proj(key)", "self.k_proj(query)"))

    assert [("linear", 2, "projections"), ("view", 2, "split")] == [
        (step.operation, step.times, step.stage) for step in shapes.steps if step.times == 2 and step.stage
    ]
    assert 2 == [step.stage for step in shapes.steps].count("split")


def test_shapes_key_projected_from_the_queries_is_named_in_the_single_head_function(way):
    """The rule is the same for every callable whose way is stated."""
    code = "import torch\ndef scaled_dot_product_attention(query, key, value):\n"
    code += "    weights = (query @ query.mT).softmax(-1)\n    return weights @ value[:, :7], weights\n"

    shapes = way(code, SINGLE)

    assert ["matmul"] == [step.operation for step in shapes.steps if step.departs]


def test_shapes_output_merged_with_the_length_of_the_keys_is_marked(way):
    """The value mixed by the transposed weights has a row for every key."""
    code = edited("weights @ v", "weights.mT @ (weights @ v)")

    (found,) = departures(way(code))

    assert ("return", "linear", "returned as output, which is to be [batch, query, dim]") == found


def test_shapes_output_that_is_not_merged_is_marked_where_it_raises(way):
    """The last layer takes no single heads."""
    (found,) = departures(way(edited("context.transpose(1, 2).flatten(2)", "context")))

    assert ("return", "linear") == found[:2]
    assert "raised an error here: mat1 and mat2 shapes cannot be multiplied" in found[2]


def test_shapes_weights_of_another_shape_are_marked_where_they_were_made(way):
    """Not the output, which is right."""
    (found,) = departures(way(edited("joined), weights", "joined), weights.mean(1)")))

    assert ("return", "mean", "returned as weights, which is to be [batch, head, query, key]") == found


def test_shapes_product_that_raised_says_which_axes_are_unequal(way):
    """The keys were not transposed."""
    (found,) = departures(way(edited("k.transpose(-2, -1)", "k")))

    assert ("scores", "matmul") == found[:2]
    assert (
        "raised an error here: head dim, last of the first shape, is not key, the last but one of the second"
        == found[2]
    )


@pytest.mark.parametrize(
    ("line", "instead", "words"),
    [
        (
            "context.transpose(1, 2).flatten(2)",
            "context.reshape(5, 17, -1)",
            "its elements do not fill [batch, key, -1]",
        ),
        (
            "weights @ v",
            "torch.einsum('bhij,bhid->bhjd', weights, v)",
            "the letter i is query in one shape and key in another",
        ),
        ("weights @ v", "torch.where(weights > 0, v, 0.0)", "key of one shape stands where another has head dim"),
        ("weights @ v", "weights.index_select(9, v)", "Dimension out of range"),
    ],
)
def test_shapes_exception_names_what_does_not_fit(way, line, instead, words):
    """In names of axes where torch's words say which; else as torch says it."""
    (found,) = departures(way(edited(line, instead)))

    assert f"raised an error here: {words}" in found[2]


def test_shapes_exception_that_was_caught_is_not_marked(way):
    """It ended nothing."""
    code = edited(
        "        context = ",
        "        try:\n            q @ q\n        except RuntimeError:\n            pass\n        context = ",
    )

    assert [] == [step.operation for step in way(code).steps if step.departs]


def test_shapes_equal_lengths_name_no_axis_and_mark_what_was_returned_alone(way):
    """Nothing can be told of 4 where queries, keys and heads are four."""
    sizes = {"batch": 4, "head": 4, "query": 4, "key": 4, "head dim": 4}
    code = edited(SPLIT, SPLIT.replace(".transpose(1, 2)", ""))

    shapes = way(code.replace("context.transpose(1, 2)", "context"), sizes=sizes)
    wrong = way(edited("joined), weights", "joined), weights.mean(1)"), sizes=sizes)

    assert [] == departures(shapes)
    assert {""} == {step.stage for step in shapes.steps}
    assert "[4, 4, 4, 4]" in [step.output for step in shapes.steps]
    assert ["mean"] == [step.operation for step in wrong.steps if step.departs]


# --- sizes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", WITH_A_WAY, ids="-".join)
def test_shapes_calls_are_made_with_lengths_that_tell_axes_apart(target):
    """Different primes from 5 on, for every axis that is made of no other."""
    about = ASSIGNMENT.callable(*target)
    oracle = Oracle(ASSIGNMENT.folder.parents[1] / "reference", ASSIGNMENT, Inputs(7))
    small = {"batch": 2, "head": 2, "query": 2, "key": 3, "head dim": 2, "dim": 4, "value dim": 2}

    call = to_trace(
        call_of(*target, sizes=small),
        about,
        lambda name, shape, old: torch.ones(shape, dtype=old.dtype),
        lambda arguments: oracle.parameter_shapes(*target, arguments),
    )

    lengths = trace_sizes(about)
    assert sorted(lengths.values()) == [5, 7, 11, 13, 17][: len(lengths)]
    assert call.payload.arguments["key"].shape[1] == lengths["key"]
    assert oracle.expected(call).values["weights"].shape[-2:] == (lengths["query"], lengths["key"])


def test_shapes_call_with_one_tensor_for_all_arguments_gets_three():
    """In self-attention too, queries and keys get lengths of their own."""
    tensor = {"tensor": "query"}
    payload = Payload({"query": torch.ones(2, 3, 4)}, {})
    call = call_of(*SINGLE, payload=payload, arguments=(tensor, tensor), keywords={"value": tensor}, wants=("query",))

    made = to_trace(call, ASSIGNMENT.callable(*SINGLE), lambda name, shape, old: torch.ones(shape), lambda _: {})

    shapes = {name: tuple(tensor.shape) for name, tensor in made.payload.arguments.items()}
    assert {"query": (5, 7, 17), "key": (5, 13, 17), "value": (5, 13, 11)} == shapes
    assert ("query", "key", "value") == made.wants


# --- gradients, and what a call failed of -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "instead", "operation"),
    [
        ("scores.softmax(-1)", "scores.detach().softmax(-1)", "detach"),
        ("scores.softmax(-1)", "scores.data.softmax(-1)", "data"),
        ("scores.softmax(-1)", "torch.tensor(scores.tolist()).double().softmax(-1)", "tolist"),
    ],
)
def test_shapes_gradient_that_is_cut_off_names_line_and_operation(trace, line, instead, operation):
    """The first step after which it cannot come back."""
    code = edited(line, instead)
    number = next(number for number, text in enumerate(code.splitlines(), 1) if instead in text)

    assert ("multi_head.py", number, operation) == gradient_cut(trace(code))


@pytest.mark.parametrize(
    "instead",
    ["(scores - scores.max().detach()).softmax(-1)", "scores.softmax(-1) if scores.sum().item() else None"],
)
def test_shapes_gradient_that_comes_back_another_way_is_not_cut(trace, instead):
    """A maximum that is taken away needs no gradient, nor does what was only looked at."""
    assert gradient_cut(trace(edited("scores.softmax(-1)", instead))) is None


def test_shapes_signature_of_one_failure_is_equal_in_different_spellings(trace):
    """`@`, matmul, einsum, with operands in any order of axes."""
    spellings = ["q @ k", "torch.matmul(q, k)", "torch.einsum('bhqd,bhdk->bhqk', q, k)"]

    signatures = {weak_signature(trace(edited("q @ k.transpose(-2, -1)", one))) for one in spellings}

    assert {("raised", "product", ((5, 7, 11, 13), (5, 11, 13, 17)), False)} == signatures


def test_shapes_signature_of_another_failure_differs(trace):
    """Another operation raises, or the same on other shapes."""
    product = weak_signature(trace(edited("k.transpose(-2, -1)", "k")))
    other_shapes = weak_signature(trace(edited("weights @ v", "weights @ q")))
    other_operation = weak_signature(trace(edited("context.transpose(1, 2)", "context")))

    assert 3 == len({product, other_shapes, other_operation})


def test_shapes_signature_of_the_same_operation_before_and_after_the_weights_differs(trace):
    """Splitting the query and joining the heads can fail of the same shapes."""
    earlier = weak_signature(trace(edited("q @ k.transpose(-2, -1)", "q.reshape(5, 7, 142) @ k.transpose(-2, -1)")))
    later = weak_signature(trace(edited("context.transpose(1, 2)", "q.reshape(5, 7, 142)")))

    assert earlier is not None and later is not None
    assert earlier[:3] == later[:3]
    assert earlier != later


def test_shapes_signature_of_nan_is_where_it_first_appeared(trace):
    """Not where it was handed on."""
    code = edited("scores.softmax(-1)", "(scores * 0 - float('inf')).softmax(-1)")

    assert ("nan", "softmax", ((5, 11, 7, 17),), False) == weak_signature(trace(code))


def test_shapes_signature_of_right_code_is_none(trace):
    """There is nothing to compare."""
    assert weak_signature(trace(USUAL)) is None


def test_shapes_texts_are_made_of_the_assignment_s_words(way):
    """A page shows shapes as names in brackets, and numbers where there is no name."""
    texts = [text for step in way(USUAL).steps for text in (*step.inputs, step.output)]

    assert all(re.fullmatch(r"\[([a-z ]+(, [a-z ]+)*)?\]", text) for text in texts), texts


def test_shapes_signature_of_an_edited_reference_is_that_of_the_student_s_mistake(trace):
    """Both forgot to transpose the keys; the reference is recorded in this process, by its own files' names."""
    mistake = Mistake(
        id="key-not-transposed",
        title="The keys are not transposed",
        explanation="They must be.",
        hint="Which axes meet?",
        price=1,
        edits=(Edit(file="masks.py", old="key.transpose(-2, -1)", new="key"),),
    )
    texts = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "reference").glob("*.py")}
    modules = Edited(Mistakes([mistake], [], [], texts)).modules([mistake.id])
    answerer = Answerer(modules.__getitem__, is_own=lambda file: False)

    request = call_of(*MULTI_HEAD).request("multi_head", "MultiHeadAttention")
    traced = read_trace(record(answerer, request, is_own=lambda file: file.startswith("reference/")))

    signature = weak_signature(traced)
    assert "raised" == signature[0]
    assert signature == weak_signature(trace(edited("k.transpose(-2, -1)", "k")))
