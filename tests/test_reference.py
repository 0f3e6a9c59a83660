"""The textbook against PyTorch: the right answers must be right before any student is measured by them."""

import doctest
import importlib.util
import math
from pathlib import Path

import pytest
import torch
from torch import nn

from reference import attention, library, masks, multi_head

STUBS = Path(__file__).parents[1] / "assignments" / "attention" / "stub"

#: batch, query, key, dim, value_dim: all different, more queries than keys, one sample, one position, dim 1.
SHAPES = [
    (2, 3, 5, 4, 6),
    (3, 5, 2, 7, 4),
    (1, 4, 3, 5, 2),
    (2, 1, 1, 3, 4),
    (2, 3, 4, 1, 5),
    (1, 1, 1, 1, 1),
]

#: d_model, n_heads, batch, query, key: one head, several, as many as elements, one sample, one position.
HEADS = [
    (6, 1, 2, 3, 5),
    (8, 2, 3, 5, 2),
    (12, 4, 2, 3, 3),
    (5, 5, 2, 2, 3),
    (6, 3, 1, 4, 2),
    (6, 2, 2, 1, 1),
]


@pytest.fixture(autouse=True)
def _seeded():
    """Start every test from the same random numbers."""
    torch.manual_seed(7)


def draw(*shape, dtype=torch.float64):
    """Return a random leaf that gradients can be asked of."""
    return torch.randn(*shape, dtype=dtype, requires_grad=True)


def draw_inputs(batch, queries, keys, dim, value_dim):
    """Return query, key and value, three unrelated tensors."""
    return draw(batch, queries, dim), draw(batch, keys, dim), draw(batch, keys, value_dim)


def draw_modules(d_model, n_heads, bias=True):
    """Return the textbook's module and the library's, in float64, with the same random weights."""
    ours = multi_head.MultiHeadAttention(d_model, n_heads, bias=bias).double()
    theirs = library.MultiHeadAttention(d_model, n_heads, bias=bias).double()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=d_model**-0.5)
    theirs.load_state_dict(ours.state_dict())
    return ours.eval(), theirs.eval()


def draw_padding(batch, keys):
    """Return a padding mask, True = ignored, in which key 0 is always real and sample 0 is full."""
    lengths = torch.randint(1, keys + 1, (batch,))
    lengths[0] = keys
    return torch.arange(keys) >= lengths[:, None]


def gradients(output, tensors):
    """Return the gradients of `output` for an upstream gradient that only depends on its shape."""
    generator = torch.Generator().manual_seed(11)
    upstream = torch.randn(output.shape, dtype=output.dtype, generator=generator)
    return torch.autograd.grad(output, tensors, upstream)


def assert_agree(observed, expected):
    """Compare tensors, or sequences of tensors, to within rounding."""
    torch.testing.assert_close(observed, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_attention_any_shape_agrees_with_library(shape):
    """Output and gradients are those of the library's function."""
    inputs = draw_inputs(*shape)

    observed, _ = attention.scaled_dot_product_attention(*inputs)
    expected, _ = library.scaled_dot_product_attention(*inputs)

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("shape", SHAPES)
def test_attention_weights_make_the_output(shape):
    """Each row of weights sums to 1, and gives the library's output when applied to the values."""
    query, key, value = draw_inputs(*shape)

    _, weights = attention.scaled_dot_product_attention(query, key, value)
    expected, _ = library.scaled_dot_product_attention(query, key, value)

    assert_agree(weights.sum(dim=-1), torch.ones(shape[0], shape[1], dtype=torch.float64))
    assert_agree(weights @ value, expected)


def test_attention_large_scores_stays_finite():
    """Scores far beyond the range of exp give a one and zeros, not inf or NaN."""
    query = torch.tensor([[[3000.0]]], dtype=torch.float64)
    key = torch.tensor([[[-1.0], [1.0], [0.0]]], dtype=torch.float64)
    value = torch.tensor([[[2.0], [4.0], [8.0]]], dtype=torch.float64)

    output, weights = attention.scaled_dot_product_attention(query, key, value)

    assert [[[0.0, 1.0, 0.0]]] == weights.tolist()
    assert [[[4.0]]] == output.tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_loops_any_shape_agree_with_library(shape):
    """The loops give output and gradients of the library's function, sample by sample."""
    inputs = [tensor[0].detach().requires_grad_() for tensor in draw_inputs(*shape)]

    observed = attention.attention_with_loops(*inputs)
    expected, _ = library.scaled_dot_product_attention(*inputs)

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("shape", SHAPES)
def test_single_head_projects_each_input_with_its_own_layer(shape):
    """The module is the library's function between three linear layers."""
    batch, queries, keys, d_model, d_head = shape
    module = attention.SingleHeadAttention(d_model, d_head).double()
    query, key, value = draw_inputs(batch, queries, keys, d_model, d_model)
    inputs = [query, key, value, *module.parameters()]

    observed, _ = module(query, key, value)
    projected = module.q_proj(query), module.k_proj(key), module.v_proj(value)
    expected, _ = library.scaled_dot_product_attention(*projected)

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


def test_mask_without_rules_allows_everything():
    """With neither lengths nor causality, every query sees every key."""
    mask = masks.attention_mask(2, 3)

    assert torch.bool == mask.dtype
    assert mask.expand(4, 2, 3).all()


@pytest.mark.parametrize(
    ("queries", "keys", "expected"),
    [
        (3, 3, [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        (2, 4, [[1, 0, 0, 0], [1, 1, 0, 0]]),
        (4, 2, [[1, 0], [1, 1], [1, 1], [1, 1]]),
        (1, 1, [[1]]),
        (1, 3, [[1, 0, 0]]),
    ],
)
def test_mask_causal_is_aligned_top_left(queries, keys, expected):
    """Query i sees keys 0 to i, whatever the lengths."""
    mask = masks.attention_mask(queries, keys, is_causal=True)

    assert [expected] == mask.int().tolist()


def test_mask_lengths_hide_the_keys_after_them():
    """Each sample keeps its own number of keys, a full one all of them, for every query."""
    mask = masks.attention_mask(2, 3, key_lengths=torch.tensor([1, 3]))

    assert [[[1, 0, 0]] * 2, [[1, 1, 1]] * 2] == mask.int().tolist()


def test_mask_lengths_and_causal_both_hold():
    """A key is allowed only if both rules allow it."""
    mask = masks.attention_mask(3, 2, key_lengths=torch.tensor([1, 2]), is_causal=True)

    assert [[[1, 0]] * 3, [[1, 0], [1, 1], [1, 1]]] == mask.int().tolist()


def test_masked_attention_by_hand():
    """Scores of 0, values 2, 4 and 8, causal: the averages 2, 3 and 14/3."""
    zeros = torch.zeros(1, 3, 4, dtype=torch.float64)
    value = torch.tensor([[[2.0], [4.0], [8.0]]], dtype=torch.float64)

    output, _ = masks.masked_attention(zeros, zeros, value, masks.attention_mask(3, 3, is_causal=True))

    assert_agree(output.flatten(), torch.tensor([2.0, 3.0, 14 / 3], dtype=torch.float64))


@pytest.mark.parametrize("kind", ["boolean", "additive"])
@pytest.mark.parametrize("mask_shape", [(3, 4, 5), (1, 4, 5), (3, 1, 5), (4, 5), (5,)])
def test_masked_attention_any_mask_agrees_with_library(kind, mask_shape):
    """Output and gradients are the library's, for both kinds of mask, however they are broadcast."""
    inputs = draw_inputs(3, 4, 5, 6, 2)
    mask = torch.rand(mask_shape) < 0.5
    mask[..., 0] = True
    if kind == "additive":
        mask = torch.randn(mask_shape, dtype=torch.float64).masked_fill(~mask, -math.inf)

    observed, _ = masks.masked_attention(*inputs, mask)
    expected, _ = library.masked_attention(*inputs, mask)

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("kind", ["boolean", "additive"])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_masked_attention_forbidden_weight_is_exactly_zero(kind, scale):
    """Not merely small, whatever the scores."""
    query, key, value = draw_inputs(2, 3, 4, 5, 6)
    allowed = masks.attention_mask(3, 4, key_lengths=torch.tensor([2, 4]), is_causal=True)
    mask = allowed if kind == "boolean" else torch.zeros(2, 3, 4).double().masked_fill(~allowed, -math.inf)

    _, weights = masks.masked_attention(query * scale, key, value, mask)

    assert 0.0 == weights[~allowed].abs().max()
    assert_agree(weights.sum(dim=-1), torch.ones(2, 3, dtype=torch.float64))


def test_masked_attention_without_mask_is_plain_attention():
    """No mask is a mask that allows everything."""
    inputs = draw_inputs(2, 3, 5, 4, 6)

    observed = masks.masked_attention(*inputs)
    expected = attention.scaled_dot_product_attention(*inputs)

    assert_agree(observed, expected)


@pytest.mark.parametrize("kind", ["boolean", "additive"])
@pytest.mark.parametrize("mask_shape", [(2, 3, 4), (3, 4), (4,), (1, 1, 1)])
def test_masked_attention_nothing_allowed_raises(kind, mask_shape):
    """One query without a key is enough, in either kind of mask, broadcast or not."""
    allowed = torch.ones(mask_shape, dtype=torch.bool)
    allowed.view(-1, mask_shape[-1])[-1] = False
    mask = allowed if kind == "boolean" else torch.zeros(mask_shape).masked_fill(~allowed, -math.inf)

    with pytest.raises(ValueError, match="nothing"):
        masks.masked_attention(*draw_inputs(2, 3, 4, 5, 6), mask)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
@pytest.mark.parametrize("is_causal", [True, False], ids=["causal", "all"])
@pytest.mark.parametrize("has_padding", [True, False], ids=["padding", "full"])
@pytest.mark.parametrize("shape", HEADS)
def test_multi_head_any_mask_agrees_with_library(shape, has_padding, is_causal, bias):
    """Output, each head's weights, and gradients of inputs and parameters are the library module's."""
    d_model, n_heads, batch, queries, keys = shape
    ours, theirs = draw_modules(d_model, n_heads, bias)
    inputs = draw_inputs(batch, queries, keys, d_model, d_model)
    padding = draw_padding(batch, keys) if has_padding else None

    observed = ours(*inputs, key_padding_mask=padding, is_causal=is_causal)
    expected = theirs(*inputs, key_padding_mask=padding, is_causal=is_causal)

    assert_agree(observed, expected)
    assert_agree(
        gradients(observed[0], [*inputs, *ours.parameters()]),
        gradients(expected[0], [*inputs, *theirs.parameters()]),
    )


def test_multi_head_self_attention_without_gradients_agrees_with_library():
    """The library's fast path, taken for one tensor three times and no gradients, gives the same."""
    ours, theirs = draw_modules(8, 2)
    x = draw(3, 5, 8)

    with torch.no_grad():
        observed = ours(x, x, x)
        expected = theirs(x, x, x)

    assert_agree(observed, expected)


@pytest.mark.parametrize("module", [multi_head.MultiHeadAttention, library.MultiHeadAttention])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no-bias"])
def test_multi_head_parameters_are_those_of_four_layers(module, bias):
    """Both modules have the same parameters under the same names, so that weights can be copied by name."""
    layers = ["q_proj", "k_proj", "v_proj", "out_proj"]
    kinds = ["weight", "bias"] if bias else ["weight"]

    names = [name for name, _ in module(6, 2, bias=bias).named_parameters()]

    assert [f"{layer}.{kind}" for layer in layers for kind in kinds] == names


@pytest.mark.parametrize("module", [multi_head.MultiHeadAttention, library.MultiHeadAttention])
def test_multi_head_uneven_heads_raises(module):
    """A width that the heads cannot share is refused, and the message names both numbers."""
    with pytest.raises(ValueError, match="got 6 and 4"):
        module(6, 4)


def test_float32_inputs_give_float32_results():
    """Nothing in the textbook fixes a dtype."""
    query, key, value = (tensor.float().detach() for tensor in draw_inputs(2, 3, 4, 6, 6))
    mask = masks.attention_mask(3, 4, is_causal=True)

    results = [
        *attention.scaled_dot_product_attention(query, key, value),
        attention.attention_with_loops(query[0], key[0], value[0]),
        *attention.SingleHeadAttention(6, 2)(query, key, value),
        *masks.masked_attention(query, key, value, mask),
        *multi_head.MultiHeadAttention(6, 2)(query, key, value, is_causal=True),
    ]

    assert {torch.float32} == {result.dtype for result in results}


def test_inputs_and_masks_are_left_unchanged():
    """The textbook obeys its own rule: arguments belong to the caller."""
    inputs = draw_inputs(2, 3, 4, 6, 6)
    lengths = torch.tensor([2, 4])
    additive = torch.zeros(4, dtype=torch.float64).masked_fill(torch.arange(4) > 2, -math.inf)
    given = [*inputs, lengths, masks.attention_mask(3, 4, lengths), additive, draw_padding(2, 4)]
    before = [tensor.detach().clone() for tensor in given]

    masks.attention_mask(3, 4, given[3], is_causal=True)
    masks.masked_attention(*inputs, given[4])
    masks.masked_attention(*inputs, given[5])
    attention.scaled_dot_product_attention(*inputs)
    attention.attention_with_loops(*(tensor[0] for tensor in inputs))
    for module in draw_modules(6, 2):
        module(*inputs, key_padding_mask=given[6], is_causal=True)

    assert all(torch.equal(old, new) for old, new in zip(before, given, strict=True))


@pytest.mark.parametrize(
    ("stub", "answers"),
    [("single_head", attention), ("masked", masks), ("multi_head", multi_head)],
    ids=["single_head", "masked", "multi_head"],
)
def test_stub_examples_hold_for_the_textbook(stub, answers, capsys):
    """The worked examples in the docstrings, which students check by hand, give what they say."""
    spec = importlib.util.spec_from_file_location(stub, STUBS / f"{stub}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    examples = doctest.DocTestFinder().find(module, stub, extraglobs=vars(answers))
    runner = doctest.DocTestRunner(verbose=False)  # whatever pytest was started with

    for example in examples:
        runner.run(example)

    assert (0, "") == (runner.failures, capsys.readouterr().out)
    assert runner.tries > 0
