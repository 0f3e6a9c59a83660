"""Hidden checks of single_head.py: other sizes, other inputs."""

from grader.checks import Checks

attention = Checks("scaled_dot_product_attention")
loops = Checks("attention_with_loops")
head = Checks("SingleHeadAttention")


@attention.check(points=2, hint="does anything in your code depend on one special size?")
def test_output_with_more_queries_than_keys(student, given):
    """Six queries attend to two keys, then three to four: a second call with other lengths is nothing special."""
    student(given.vectors("query", 3, 6, 5), given.vectors("key", 3, 2, 5), given.normal("value", 3, 2, 8)).matches(
        "output"
    )
    student(given.vectors("query", 2, 3, 11), given.vectors("key", 2, 4, 11), given.normal("value", 2, 4, 1)).matches(
        "output"
    )


@loops.check(points=1.5, hint="the loops run over all queries and all keys, also when there is only one")
def test_loops_equal_the_batched_function(student, given):
    """More queries than keys, and a single query and key, give what the batched function gives."""
    for queries, keys in ((6, 2), (1, 4), (1, 1)):
        answer = student(
            given.vectors("query", queries, 5), given.vectors("key", keys, 5), given.normal("value", keys, 3)
        )
        answer.matches("output", source="library")


@head.check(points=2, hint="gradients must reach the three inputs and the six parameters")
def test_head_gradients_of_inputs_and_parameters(student, given):
    """The gradients that flow back to the inputs and to the layers are right."""
    query, key, value = (
        given.vectors("query", 2, 5, 6, length=1.5),
        given.vectors("key", 2, 3, 6, length=1.5),
        given.normal("value", 2, 3, 6),
    )
    answer = student.build(given=given, d_model=6, d_head=4)(query, key, value, gradients=True)
    answer.gradients_match("query", "key", "value", "parameters")
