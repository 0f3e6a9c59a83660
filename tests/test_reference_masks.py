"""The textbook of attention_masks against PyTorch: its own attention, and its own counter of operations."""

import math

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from reference import checked_attention, costs, mask_forms, reordering

SHAPES = ((2, 3, 7), (2, 5, 7), (2, 5, 4))


@pytest.fixture
def inputs():
    """Query, key and value of unrelated sizes."""
    generator = torch.Generator().manual_seed(5)
    return [torch.randn(shape, generator=generator, dtype=torch.float64) for shape in SHAPES]


@pytest.fixture
def allowed():
    """A mask in which each query has a key, [2, 3, 5]."""
    mask = torch.rand(2, 3, 5, generator=torch.Generator().manual_seed(6)) < 0.5
    mask[..., 2] = True
    return mask


# --- attention --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [None, (5,), (3, 5), (1, 3, 5), (2, 1, 5), (2, 3, 5)])
def test_checked_attention_agrees_with_the_library(inputs, allowed, shape):
    """Under masks of every shape, and without one."""
    mask = None if shape is None else allowed[tuple(slice(0, n) for n in (1, 1, 1)[: 3 - len(shape)] + shape)]
    mask = mask if mask is None else mask.reshape(shape)

    output, weights = checked_attention.scaled_dot_product_attention(*inputs, mask)

    torch.testing.assert_close(F.scaled_dot_product_attention(*inputs, attn_mask=mask), output)
    torch.testing.assert_close(weights @ inputs[2], output)


def test_checked_attention_forbidden_weights_are_exactly_zero(inputs, allowed):
    """Not merely small."""
    _, weights = checked_attention.scaled_dot_product_attention(*inputs, allowed)

    assert torch.equal(allowed, weights != 0)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"query": lambda query: query[0]}, ValueError, "three axes"),
        ({"value": lambda value: value[None]}, ValueError, "three axes"),
        ({"key": lambda key: key[:1]}, ValueError, "as many samples"),
        ({"value": lambda value: value[:1]}, ValueError, "as many samples"),
        ({"query": lambda query: query[..., :6]}, ValueError, "one width"),
        ({"value": lambda value: value[:, :4]}, ValueError, "a value for each key"),
        ({"key": lambda key: key[:, :0], "value": lambda value: value[:, :0]}, ValueError, "a key"),
        ({"query": lambda query: query[..., :0], "key": lambda key: key[..., :0]}, ValueError, "a width"),
        ({"query": lambda query: query * math.nan}, ValueError, "a score"),
        ({"query": lambda query: query * 1e200, "key": lambda key: key * 1e200}, ValueError, "a score"),
        ({"value": lambda value: value / 0}, ValueError, "a value"),
        ({"allowed": lambda allowed: allowed.int()}, TypeError, "Boolean"),
        ({"allowed": lambda allowed: allowed.double()}, TypeError, "Boolean"),
        ({"allowed": lambda allowed: allowed[:, :2]}, ValueError, "does not fit"),
        ({"allowed": lambda allowed: allowed[None]}, ValueError, "does not fit"),
        ({"allowed": lambda allowed: allowed & (torch.arange(3) < 2)[:, None]}, ValueError, "attend to nothing"),
    ],
)
@pytest.mark.parametrize("attend", [checked_attention.scaled_dot_product_attention, checked_attention.Attention(0.5)])
def test_checked_attention_refuses_what_has_no_answer(inputs, allowed, attend, change, error, said):
    """Each condition has an error of its own, in the function and in the module."""
    arguments = dict(zip(("query", "key", "value"), inputs, strict=True)) | {"allowed": allowed}
    arguments |= {name: make(arguments[name]) for name, make in change.items()}

    with pytest.raises(error, match=said):
        attend(**arguments)


def test_attention_drops_weights_in_training_only(inputs, allowed):
    """As the library's module does: the weights that are returned are those that are used."""
    module = checked_attention.Attention(dropout=0.5)
    _, before = module.eval()(*inputs, allowed)

    output, after = module.train()(*inputs, allowed)

    torch.testing.assert_close(torch.where(after != 0, before * 2, 0), after)
    torch.testing.assert_close(after @ inputs[2], output)
    assert 0 < int(((after == 0) & allowed).sum()) < int(allowed.sum())


# --- masks ------------------------------------------------------------------------------------------------------


def test_multihead_mask_hides_what_is_not_allowed(allowed):
    """Asked of the library's own module, with one head and with three."""
    for heads in (1, 3):
        module = nn.MultiheadAttention(6, heads, batch_first=True)
        mask = mask_forms.to_multihead_mask(allowed).repeat_interleave(heads, dim=0)

        _, weights = module(*map(torch.randn, ((2, 3, 6), (2, 5, 6), (2, 5, 6))), attn_mask=mask)

        assert torch.equal(allowed, weights != 0)


def test_sdpa_mask_hides_what_is_not_allowed(inputs, allowed):
    """Asked of the library's own function, whose output is the weights when the values are unit vectors."""
    each_key = torch.eye(5, dtype=torch.float64).expand(2, 5, 5)

    weights = F.scaled_dot_product_attention(*inputs[:2], each_key, attn_mask=mask_forms.to_sdpa_mask(allowed))

    assert torch.equal(allowed, weights != 0)


@pytest.mark.parametrize("translate", [mask_forms.to_multihead_mask, mask_forms.to_sdpa_mask])
def test_mask_of_numbers_is_not_translated(allowed, translate):
    """It may mean something else."""
    with pytest.raises(TypeError):
        translate(allowed.long())


def test_causal_mask_is_the_complement_of_the_librarys():
    """The library's hides with minus infinity."""
    hidden = nn.Transformer.generate_square_subsequent_mask(5)

    assert torch.equal(hidden == 0, mask_forms.causal_mask(5))


def test_padding_mask_joins_the_causal_one():
    """Both are broadcast to samples, queries and keys."""
    both = mask_forms.causal_mask(3) & mask_forms.key_padding_mask(torch.tensor([3, 1]), 3)

    assert [[[1, 0, 0], [1, 1, 0], [1, 1, 1]], [[1, 0, 0], [1, 0, 0], [1, 0, 0]]] == both.int().tolist()


# --- costs ------------------------------------------------------------------------------------------------------


def counted(module, *inputs):
    """Operations that PyTorch counts while a module runs."""
    with FlopCounterMode(display=False) as counter:
        module(*inputs)
    return counter.get_total_flops()


@pytest.mark.parametrize(("batch", "tokens", "dim", "heads"), [(2, 5, 12, 3), (3, 7, 8, 1), (1, 40, 6, 2)])
def test_attention_flops_are_those_that_pytorch_counts(batch, tokens, dim, heads):
    """In its own module, which computes attention product by product when weights are wanted."""
    module = nn.MultiheadAttention(dim, heads, batch_first=True)
    x = torch.randn(batch, tokens, dim)

    assert counted(module, x, x, x) == costs.attention_flops(batch, tokens, dim, heads)


def test_feed_forward_flops_are_those_that_pytorch_counts():
    """Two linear layers."""
    layers = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 6))

    assert counted(layers, torch.randn(2, 5, 6)) == costs.feed_forward_flops(2, 5, 6, 3)


def test_shapes_of_cross_attention_are_those_of_the_tensors(inputs):
    """Made by the products themselves."""
    query, key, value = inputs
    transposed = key.transpose(1, 2)
    scores = query @ transposed

    expected = tuple(transposed.shape), tuple(scores.shape), tuple((scores @ value).shape)

    assert expected == costs.cross_attention_shapes(2, 3, 5, 7, 4)


def test_scores_memory_is_that_of_the_tensor():
    """Bytes of a tensor of that shape."""
    scores = torch.empty(2, 3, 5, 5, dtype=torch.float16)

    assert scores.numel() * scores.element_size() == costs.scores_memory(2, 5, 12, 3, 2)


@pytest.mark.parametrize("dim", [1, 7, 64])
def test_attention_dominates_from_the_first_number_of_tokens_that_makes_it(dim):
    """Found by trying all of them."""
    first = next(tokens for tokens in range(1, 10 * dim) if costs.dominant_part(1, tokens, dim, 1) == "attention")

    assert first == costs.attention_dominates_from(dim)


# --- order ------------------------------------------------------------------------------------------------------


def attended(query, key, mask=None):
    """Output and weights of an attention whose values are its keys."""
    return checked_attention.scaled_dot_product_attention(query, key, key, mask)


def test_reordered_tokens_are_what_attention_gives():
    """Without a mask; and with one that is reordered as well."""
    tokens, order = torch.randn(2, 5, 3, dtype=torch.float64), torch.tensor([3, 0, 4, 1, 2])
    causal = mask_forms.causal_mask(5)

    for before, after in ((None, None), (causal, reordering.reorder_mask(causal, order))):
        expected = attended(tokens[:, order], tokens[:, order], after)

        torch.testing.assert_close(expected, reordering.reorder_tokens(*attended(tokens, tokens, before), order))


def test_reordered_source_is_what_attention_gives():
    """Only the weights see it."""
    query, key = torch.randn(2, 3, 4, dtype=torch.float64), torch.randn(2, 5, 4, dtype=torch.float64)
    order = torch.tensor([3, 0, 4, 1, 2])

    torch.testing.assert_close(attended(query, key[:, order]), reordering.reorder_source(*attended(query, key), order))


@pytest.mark.parametrize("order", [[1, 0, 3, 4, 2], [2, 3, 4, 0, 1], [0, 1, 2, 3, 4]])
@pytest.mark.parametrize("kind", ["all", "causal", "own", "groups", "ring"])
def test_mask_survives_a_reordering_when_outputs_follow(kind, order):
    """Tried with random tokens, the mask being left as it is."""
    mask = {
        "all": torch.ones(5, 5).bool(),
        "causal": mask_forms.causal_mask(5),
        "own": torch.eye(5).bool(),
        "groups": torch.block_diag(torch.ones(2, 2), torch.ones(3, 3)).bool(),
        "ring": torch.eye(5).roll(1, dims=1).bool(),
    }[kind]
    order = torch.tensor(order)
    tokens = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(7), dtype=torch.float64)

    follows = torch.allclose(
        attended(tokens, tokens, mask)[0][:, order], attended(tokens[:, order], tokens[:, order], mask)[0]
    )

    assert follows == reordering.survives_reordering(mask, order)
