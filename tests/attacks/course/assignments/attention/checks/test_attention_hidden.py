"""Hidden checks, with other sizes."""

from grader.checks import Checks

attention = Checks("attention")
#: What nobody but staff may know.
SECRET = "@HIDDEN_SECRET@"


@attention.check(points=4)
def test_other_sizes(student, given):
    """More queries than keys."""
    answer = student(
        given.vectors("query", 3, 6, 5), given.vectors("key", 3, 2, 5), given.normal("value", 3, 2, 8), gradients=True
    )
    answer.matches()
    answer.gradients_match("query", "key", "value")
