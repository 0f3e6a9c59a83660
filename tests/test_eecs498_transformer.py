"""The reference of `eecs498_transformer` against PyTorch, and what its handout and its stub say."""

import doctest
import importlib.util
import math
import tomllib
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from reference import head_list, two_loops

ROOT = Path(__file__).parents[1]
ASSIGNMENT = ROOT / "assignments" / "eecs498_transformer"
EXAMPLES = ROOT / "submissions_example" / "eecs498_transformer"

#: sample, position, width: all different, more samples than positions, one sample, one position, width 1.
SHAPES = [(2, 3, 5), (4, 3, 2), (1, 4, 3), (3, 1, 2), (2, 5, 1)]


@pytest.fixture(autouse=True)
def _seeded():
    """Start every test from the same random numbers."""
    torch.manual_seed(7)


def draw(*shape):
    """A random leaf that gradients can be asked of."""
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def draw_inputs(*shape):
    """Query, key and value, three unrelated tensors."""
    return draw(*shape), draw(*shape), draw(*shape)


def draw_mask(samples, positions):
    """A mask, True = masked, that leaves every query its own position."""
    mask = torch.rand(samples, positions, positions) < 0.5
    return mask & ~torch.eye(positions, dtype=torch.bool)


def gradients(output, tensors):
    """The gradients of `output` for an upstream gradient that only depends on its shape."""
    upstream = torch.randn(output.shape, dtype=output.dtype, generator=torch.Generator().manual_seed(11))
    return torch.autograd.grad(output, tensors, upstream)


def assert_agree(observed, expected):
    """Compare tensors, or sequences of tensors, to within rounding."""
    torch.testing.assert_close(observed, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_two_loops_of_a_batch_agree_with_library(shape):
    """Output and gradients are those of the library's function."""
    inputs = draw_inputs(*shape)

    observed = two_loops.scaled_dot_product_two_loop_batch(*inputs)
    expected = F.scaled_dot_product_attention(*inputs)

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("shape", SHAPES)
def test_two_loops_of_one_sequence_agree_with_library(shape):
    """Without an axis for samples."""
    inputs = draw_inputs(*shape[1:])

    observed = two_loops.scaled_dot_product_two_loop_single(*inputs)
    expected = F.scaled_dot_product_attention(*(tensor[None] for tensor in inputs))[0]

    assert_agree(observed, expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


@pytest.mark.parametrize("shape", SHAPES)
def test_no_loop_with_a_mask_agrees_with_library(shape):
    """The library's mask says the opposite: True = may attend."""
    inputs, mask = draw_inputs(*shape), draw_mask(*shape[:2])

    observed, weights = two_loops.scaled_dot_product_no_loop_batch(*inputs, mask)
    expected = F.scaled_dot_product_attention(*inputs, attn_mask=~mask)

    assert_agree(observed, expected)
    assert_agree(weights @ inputs[2], expected)
    assert_agree(gradients(observed, inputs), gradients(expected, inputs))


def test_no_loop_fully_masked_row_is_uniform():
    """Whatever its scores are."""
    query, key, value = draw_inputs(2, 3, 5)
    mask = torch.zeros(2, 3, 3, dtype=torch.bool)
    mask[1, 2] = True

    y, weights = two_loops.scaled_dot_product_no_loop_batch(query, key, value, mask)

    assert [1 / 3] * 3 == pytest.approx(weights[1, 2].tolist())
    assert_agree(y[1, 2], value[1].mean(dim=0))


def test_no_loop_worked_example_reads_with_the_weights_of_the_lesson():
    """Values (1, 0), (0, 2), (1, 1), read with .05, .80 and .15, give (.20, 1.75)."""
    key = torch.tensor([[0.05], [0.80], [0.15]]).log().expand(3, 3)
    value = torch.tensor([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0]])
    query = torch.tensor([1.0, 0.0, 0.0]).expand(3, 3) * math.sqrt(3)

    y, weights = two_loops.scaled_dot_product_no_loop_batch(query[None], key[None], value[None])

    assert [0.05, 0.80, 0.15] == pytest.approx(weights[0, 0].tolist())
    assert [0.20, 1.75, 0.0] == pytest.approx(y[0, 0].tolist())


@pytest.mark.parametrize("num_heads", [1, 3])
def test_heads_agree_with_library(num_heads):
    """With the layers of the heads stacked, and a mask that holds for every head."""
    heads = head_list.MultiHeadAttention(num_heads, 6, 6 // num_heads).double()
    inputs, mask = draw_inputs(2, 4, 6), draw_mask(2, 4)
    layers = [[getattr(head, name) for head in heads.heads] for name in ("q", "k", "v")]

    expected, _ = F.multi_head_attention_forward(
        *(tensor.transpose(0, 1) for tensor in inputs),
        embed_dim_to_check=6,
        num_heads=num_heads,
        in_proj_weight=torch.cat([layer.weight for row in layers for layer in row]),
        in_proj_bias=torch.cat([layer.bias for row in layers for layer in row]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=0.0,
        out_proj_weight=heads.projection.weight,
        out_proj_bias=heads.projection.bias,
        attn_mask=mask.repeat_interleave(num_heads, dim=0),
    )

    assert_agree(heads(*inputs, mask), expected.transpose(0, 1))


def test_head_keeps_the_weights_of_its_last_call():
    """Those that the output was made with."""
    head = head_list.SelfAttention(6, 5, 7).double()
    query, key, value = draw_inputs(2, 4, 6)
    head(query, key, value)

    y = head(key, query, value, draw_mask(2, 4))

    assert_agree(head.weights_softmax @ head.v(value), y)


def test_head_weights_begin_like_those_of_the_library():
    """`xavier_uniform_` has the same limit, for the sizes of each layer."""
    head = head_list.SelfAttention(60, 45, 80)

    for layer in (head.q, head.k, head.v):
        like_it = nn.init.xavier_uniform_(torch.empty_like(layer.weight))
        assert float(like_it.abs().max()) == pytest.approx(layer.weight.abs().max().item(), rel=0.01)


def test_subsequent_mask_is_the_upper_triangle():
    """Once for each sample, without the diagonal."""
    mask = head_list.get_subsequent_mask(torch.zeros(2, 4, dtype=torch.int64))

    assert torch.equal(torch.ones(2, 4, 4).triu(1).bool(), mask)


def test_stub_examples_hold_for_the_reference(capsys):
    """What the docstrings promise is what is compared."""
    spec = importlib.util.spec_from_file_location("transformers", ASSIGNMENT / "stub" / "transformers.py")
    stub = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stub)
    runner = doctest.DocTestRunner(verbose=False)

    for example in doctest.DocTestFinder().find(stub, "transformers", extraglobs=vars(two_loops) | vars(head_list)):
        runner.run(example)

    assert (0, "") == (runner.failures, capsys.readouterr().out)
    assert runner.tries > 20


def test_examples_that_are_compared_with_what_is_missing_lose_nothing_for_it():
    """The loops are right, and wait for the function without loops in one check each: 18 and 19 points of 100."""
    stated = tomllib.loads((EXAMPLES / "placeholders_left_in_no_loop" / "expected.toml").read_text(encoding="utf-8"))

    loops = 18 + 19
    mask = 8
    layers_and_their_beginning = 1 + 2
    assert {"transformers": loops + mask + layers_and_their_beginning} == stated["points"]
    assert 2 == len(stated["verdicts"]["blocked"])


def test_untouched_example_is_the_stub():
    """What was handed out, handed in."""
    assert (ASSIGNMENT / "stub" / "transformers.py").read_bytes() == (
        EXAMPLES / "untouched_stub" / "transformers.py"
    ).read_bytes()
