"""Visible checks of exercise.py: students get this file.

A check is a pytest test. Its name is the row that a student reads in the report, its docstring the description.
`student` is the student's function, called in a process of its own; `given` draws inputs from the seed of the run.
"""

import torch

from grader.checks import Checks

#: The checks of one function or class, by its name in assignment.toml.
asked = Checks("exercise")


def random_scores(given):
    """Three rows of five columns: sizes that differ, so that mixing two up shows."""
    return given.normal("scores", 3, 5)


@asked.check(points=1, hint="read the shapes in the docstring once more")
def test_shape_is_that_of_the_scores(student, given):
    """One tensor comes back, with a probability for each score."""
    student(random_scores(given), 1.0).has_form()


@asked.check(points=3, hint="write the formula of the handout next to your lines and compare them one by one")
def test_probabilities_of_random_scores(student, given):
    """Three rows of five scores, with a temperature of 1 and of 2.5."""
    student(random_scores(given), 1.0).matches()
    # Equal calls are made once, whichever check asks: with `gradients`, this one serves the next check too.
    student(random_scores(given), 2.5, gradients=True).matches()


@asked.check(points=2, hint="gradients must be able to flow back from the probabilities to the scores")
def test_gradients_of_the_scores(student, given):
    """The gradients that flow back to the scores are right."""
    student(random_scores(given), 2.5, gradients=True).gradients_match("scores")


@asked.check(points=1, hint="make new tensors with the dtype of the scores, for example scores.new_zeros(...)")
def test_dtype_is_that_of_the_scores(student, given):
    """float64 in, float64 out; float32 in, float32 out."""
    # All other checks call with float64, and with float64 as PyTorch's default. Here it is float32, as usual.
    student(random_scores(given), 2.5, dtype="float32").has_dtype(torch.float64)
    student(random_scores(given).float(), 2.5, dtype="float32").has_dtype(torch.float32)


# What a function that does nothing would pass requires a check that it fails.
@asked.check(points=1, requires="probabilities_of_random_scores", hint="look for operators such as /= on an argument")
def test_scores_are_left_unchanged(student, given):
    """The caller's tensor is the same after the call."""
    student(random_scores(given), 2.5, gradients=True).leaves_inputs_unchanged()
