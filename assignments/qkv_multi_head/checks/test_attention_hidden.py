"""Hidden checks of attention.py."""

import torch

from grader.checks import Checks

attention = Checks("MultiHeadSelfAttention")


def tokens(given, batch=2, length=7, d_model=12):
    """A batch of sequences, [batch, length, d_model]."""
    return given.vectors("x", batch, length, d_model, length=2.0)


def padding():
    """[2, 7], True = padding: three at the end; one between tokens and two at the end. Token 0 is always real."""
    return torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 1]], dtype=torch.bool)


@attention.check(points=7, hint="a key is hidden when it is padding or comes later, for all heads and queries alike")
def test_four_heads_with_padding(student, given):
    """Output and weights of four heads of three, under both rules."""
    answer = student.build(given=given, d_model=12, n_heads=4)(tokens(given), padding(), gradients=True)
    answer.matches("output", "weights", source="library")


@attention.check(points=5, hint="gradients must reach x and both layers; what is masked gets none")
def test_gradients_of_four_heads_with_padding(student, given):
    """The gradients of x, qkv and out, under both rules."""
    answer = student.build(given=given, d_model=12, n_heads=4)(tokens(given), padding(), gradients=True)
    answer.gradients_match("x", "parameters", source="library")


@attention.check(points=3, hint="which of your axes could be taken for another when their lengths are equal?")
def test_as_many_samples_and_tokens_as_heads(student, given):
    """Three samples of three tokens, three heads of width three: no axis is told from another by its length."""
    mask = torch.tensor([[0, 0, 1], [0, 1, 0], [0, 0, 0]], dtype=torch.bool)
    x = tokens(given, batch=3, length=3, d_model=9)
    answer = student.build(given=given, d_model=9, n_heads=3)(x, mask, gradients=True)
    answer.matches("output", "weights", source="library")


@attention.check(points=4, hint="what is kept in the module from the first call?")
def test_second_call_with_another_length(student, given):
    """One module is called with four tokens, then with seven, then with other masks."""
    module = student.build(given=given, d_model=12, n_heads=4)
    module(tokens(given, length=4), gradients=True).matches("output", source="library")
    module(tokens(given), gradients=True).matches("output", source="library")
    module(tokens(given), padding(), gradients=True).matches("output", source="library")
    module(tokens(given), padding().flip(0), gradients=True).matches("output", source="library")


@attention.check(points=3, hint="does anything in a row depend on how many tokens follow?")
def test_beginning_of_a_sequence_gives_the_beginning_of_the_output(student, given):
    """The first four tokens alone give what they give in front of three others."""
    x = tokens(given)
    whole, part = (student.build(given=given, d_model=12, n_heads=4)(one) for one in (x, x[:, :4]))
    whole.matches("output")
    part.holds(
        "the first tokens alone give the first outputs",
        part.value("output"),
        whole.value("output")[:, :4],
        of="output",
        axes=("batch", "query", "dim"),
    )
