"""Hidden checks of exercises.py."""

from grader.checks import Checks

memory = Checks("scores_memory")
attention = Checks("attention_flops")
dominant = Checks("dominant_part")
threshold = Checks("attention_dominates_from")

PARTS = ("attention", "feed-forward")


@memory.check(points=1.5, hint="how many scores does one head of one sample have?")
def test_memory_of_other_sizes(student, given):
    """One sample, one head, one token, and none of these."""
    student(1, given.whole("tokens", 50, 90), 36, 1, 4).says()
    student(given.whole("batch", 5, 9), 1, 48, given.whole("heads", 2, 4), 2).says()
    student(given.whole("batch", 5, 9), given.whole("tokens", 1000, 5000), 48, 12, 8).says()


@attention.check(points=1.5, hint="which of the six products grow with the square of the number of tokens?")
def test_flops_of_long_and_of_wide_attention(student, given):
    """Many narrow tokens, and few wide ones."""
    student(3, given.whole("many", 5000, 9000), 8, 2).says()
    student(4, given.whole("few", 5, 9), 10 * given.whole("tens", 100, 200), 5).says()


@dominant.check(points=1.5, hint="which part grows faster with the number of tokens?")
def test_part_that_dominates_other_sizes(student, given):
    """More samples and heads change nothing."""
    batch, dim = given.whole("batch", 10, 90), 4 * given.whole("quarters", 50, 90)
    for heads in (1, 4):
        for length in (1, dim, 2 * dim - 1, 2 * dim + 1, 4 * dim - 1, 8 * dim):
            student(batch, length, dim, heads).says(among=PARTS)


@threshold.check(points=1.5, hint="with how many tokens do both parts take as many operations?")
def test_tokens_from_which_attention_dominates_other_widths(student, given):
    """One element, and many."""
    for dim in (1, given.whole("dim", 1000, 9000)):
        student(dim).says()
