"""Visible checks of exercises.py."""

import torch

from grader.checks import Checks

shapes = Checks("cross_attention_shapes")
memory = Checks("scores_memory")
attention = Checks("attention_flops")
feed_forward = Checks("feed_forward_flops")
dominant = Checks("dominant_part")
threshold = Checks("attention_dominates_from")
tokens = Checks("reorder_tokens")
source = Checks("reorder_source")
mask = Checks("reorder_mask")
survives = Checks("survives_reordering")

PARTS = ("attention", "feed-forward")


def sizes(given):
    """Samples, tokens, size of a token, heads: no two alike, and the heads divide the size."""
    heads = given.whole("heads", 3, 5)
    head_dim = given.whole("head dim", 11, 19)
    return given.whole("batch", 6, 9), given.whole("tokens", 100, 400), heads * head_dim, heads


# --- costs ------------------------------------------------------------------------------------------------------


@shapes.check(points=3, hint="write the axes beneath each factor of the two products, and cross out those that meet")
def test_shapes_of_cross_attention(student, given):
    """More keys than queries, and values of another width; then sizes that nobody can have written down."""
    student(2, 3, 5, 7, 4).says()
    student(
        given.whole("batch", 10, 19),
        given.whole("queries", 20, 29),
        given.whole("keys", 30, 39),
        given.whole("dim", 40, 49),
        given.whole("value dim", 50, 59),
    ).says()


@memory.check(points=3.5, hint="how many scores has one head of one sample, and what does the size of a token change?")
def test_memory_of_the_scores(student, given):
    """In bytes, of single, double and half precision."""
    student(2, 128, 64, 8, 4).says()
    for element_bytes in (2, 4, 8):
        student(*sizes(given), element_bytes).says()


@attention.check(points=5, hint="write down the sizes of all six products; what do all heads together cost?")
def test_flops_of_attention(student, given):
    """Four projections, scores, weighted sums; each multiply-add is two operations."""
    student(1, 3, 10, 2).says()
    student(*sizes(given)).says()
    batch, length, dim, _ = sizes(given)
    student(batch, length, dim, 1).says()


@feed_forward.check(points=3.5, hint="how many weights do the two layers have, and what does each do for each token?")
def test_flops_of_the_feed_forward_part(student, given):
    """Two layers, the inner one four times as wide; each multiply-add is two operations."""
    student(1, 3, 10, 2).says()
    student(*sizes(given)).says()


@dominant.check(points=3, hint="divide both numbers of operations by what they have in common; what is left?")
def test_part_that_dominates(student, given):
    """Short, middling and long sequences, for a small and a large size of a token."""
    for dim, heads in ((64, 8), (10 * given.whole("tens", 30, 50), 5)):
        for length in (dim // 2, dim + dim // 5, 3 * dim // 2, 2 * dim - 1, 2 * dim + 1, 3 * dim, 5 * dim, 20 * dim):
            student(3, length, dim, heads).says(among=PARTS)


@threshold.check(points=3, hint="with how many tokens do both parts take as many operations? Is that number enough?")
def test_tokens_from_which_attention_dominates(student, given):
    """For a width of 64, and for two that nobody can have written down."""
    for dim in (64, given.whole("dim", 100, 300), given.whole("other dim", 400, 900)):
        student(dim).says()


# --- order ------------------------------------------------------------------------------------------------------


def attended(tokens, source):
    """Output and weights of a plain attention without learned layers."""
    weights = torch.softmax(tokens @ source.transpose(1, 2), dim=-1)
    return weights @ source, weights


@tokens.check(points=4, hint="who is at position 0 after the reordering, and at which position was that token before?")
def test_reordered_tokens(student, given):
    """Outputs follow their tokens; so do the rows of the weights, and their columns. It is what attention gives."""
    before, order = given.vectors("tokens", 2, 5, 3), given.permutation("order", 5)
    answer = student(*attended(before, before), order)
    answer.matches()
    answer.leaves_inputs_unchanged()
    output, weights = attended(before[:, order], before[:, order])
    for name, right in (("new_output", output), ("new_weights", weights)):
        answer.holds("it is what attention gives for the reordered tokens", answer.value(name), right, of=name)


@source.check(points=3, hint="the output of a query is a sum over the keys: what does a sum make of another order?")
def test_reordered_source(student, given):
    """Three queries, five keys that change places with their values. It is what attention gives."""
    queries, keys = given.vectors("queries", 2, 3, 4), given.vectors("keys", 2, 5, 4)
    order = given.permutation("order", 5)
    answer = student(*attended(queries, keys), order)
    answer.matches()
    output, weights = attended(queries, keys[:, order])
    for name, right in (("new_output", output), ("new_weights", weights)):
        answer.holds("it is what attention gives for the reordered keys", answer.value(name), right, of=name)


@mask.check(points=3, hint="a token is a row of the mask, and a column too")
def test_reordered_mask(student, given):
    """A causal mask, and one without any pattern."""
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    answer = student(causal, given.permutation("order", 5))
    answer.matches()
    answer.leaves_inputs_unchanged()
    student(given.normal("scores", 7, 7) > 0, given.permutation("order", 7)).matches()


@survives.check(points=3, hint="when is the mask that reordered tokens would need the one that is there?")
def test_mask_that_survives_reordering_or_not(student, given):
    """Everything allowed, causal, each token alone, two groups whose tokens stay within them or do not, a ring."""
    groups = torch.block_diag(torch.ones(2, 2), torch.ones(3, 3)).bool()
    ring = torch.eye(5).roll(1, dims=1).bool()
    first_key = torch.zeros(5, 5).bool()
    first_key[:, 0] = True
    any_order, within, turned = given.permutation("order", 5), torch.tensor([1, 0, 3, 4, 2]), torch.arange(5).roll(2)
    everything = torch.ones(5, 5, dtype=torch.bool)
    student(everything, any_order).says(case="everything is allowed")
    student(everything.tril(), any_order).says(case="a causal mask, and every token moves")
    student(everything.tril(), torch.arange(5)).says(case="a causal mask, and no token moves")
    student(torch.eye(5).bool(), any_order).says(case="each token may attend to itself alone")
    student(groups, within).says(case="two groups, and tokens move within their group")
    student(groups, turned).says(case="two groups, and tokens move to the other one")
    student(ring, turned).says(case="each token may attend to the next one in a ring, and the ring turns")
    student(ring, within).says(case="each token may attend to the next one in a ring, and tokens change places")
    student(first_key, any_order).says(case="all may attend to position 0 alone, and every token moves")
    student(first_key | torch.eye(5).bool(), any_order).says(case="all may attend to position 0 and to themselves")
