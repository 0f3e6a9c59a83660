"""Hidden checks of masked.py."""

import torch

from grader.checks import Checks

mask_maker = Checks("attention_mask")
attention = Checks("masked_attention")


@mask_maker.check(points=2, hint="both restrictions hold at once: a key must pass the one and the other")
def test_causal_and_padding_mask_together(student, given):
    """A key is hidden when it is padding or in the future; a second call with other lengths is nothing special."""
    answer = student(4, 6, torch.tensor([2, 6, 3]), is_causal=True)
    answer.matches_mask(3, 4, 6)
    student(5, 2, torch.tensor([1, 2]), is_causal=True).matches_mask(2, 5, 2)
    keys = given.whole("keys", 7, 15)
    student(8, keys, given.lengths("key_lengths", 5, keys), is_causal=True).matches_mask(5, 8, keys)
    answer.leaves_inputs_unchanged()


def causal(queries, keys):
    """[1, queries, keys]: each query sees its own position and earlier ones."""
    return torch.ones(1, queries, keys, dtype=torch.bool).tril()


@attention.check(points=1, hint="what must not change for a query when something after it does?")
def test_later_keys_do_not_change_earlier_outputs(student, given):
    """Under a causal mask, the last key and value are replaced: only the last output may change."""
    query, key, value = (
        given.vectors("query", 4, 4, 4),
        given.vectors("key", 4, 4, 4),
        given.normal("value", 4, 4, 4),
    )
    before = student(query, key, value, causal(4, 4), gradients=True)
    before.matches("output")
    key, value = key.clone(), value.clone()
    key[:, -1], value[:, -1] = given.vectors("other key", 4, 4), given.normal("other value", 4, 4)
    after = student(query, key, value, causal(4, 4))
    after.holds(
        "a later key changes no earlier output",
        after.value("output")[:, :-1],
        before.value("output")[:, :-1],
        of="earlier outputs",
        axes=("batch", "query", "value dim"),
    )


@attention.check(points=2, hint="if a key has no weight, nothing that is done to it can matter")
def test_forbidden_keys_get_no_gradient(student, given):
    """Keys and values that no query may attend to have gradients of exactly 0; the others have the right ones."""
    query, key, value = (
        given.vectors("query", 2, 4, 5),
        given.vectors("key", 2, 6, 5),
        given.normal("value", 2, 6, 3),
    )
    mask = torch.ones(2, 4, 6, dtype=torch.bool)
    mask[0, :, 4:] = mask[1, :, 1] = False
    answer = student(query, key, value, mask, gradients=True)
    answer.matches("output")
    answer.gradients_match("query", "key", "value")
    for name in ("key", "value"):
        forbidden = answer.gradient(name)[~mask[:, 0]]
        answer.holds(
            "a forbidden key has a gradient of exactly 0",
            forbidden,
            torch.zeros_like(forbidden),
            of=f"gradient of the forbidden {name}s",
            exactly=True,
        )
