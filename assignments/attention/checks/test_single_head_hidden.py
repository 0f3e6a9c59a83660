"""Hidden checks of single_head.py: other sizes, other inputs."""

import torch

from grader.checks import Checks

attention = Checks("scaled_dot_product_attention")
loops = Checks("attention_with_loops")
head = Checks("SingleHeadAttention")


@attention.check(points=2, hint="does anything in your code depend on one special size?")
def test_output_with_more_queries_than_keys(student, given):
    """Six queries attend to two keys, three to four, twice, three to three of size three: no size is special."""
    student(given.vectors("query", 3, 6, 5), given.vectors("key", 3, 2, 5), given.normal("value", 3, 2, 8)).matches(
        "output"
    )
    for name in ("key", "other key"):
        key, value = given.vectors(name, 2, 4, 11), given.normal("value", 2, 4, 1)
        student(given.vectors("query", 2, 3, 11), key, value).matches("output")
    # Where all sizes are equal, mixing two up raises nothing and shows in the numbers.
    query, key = given.vectors("query", 3, 3, 3), given.vectors("key", 3, 3, 3)
    student(query, key, given.normal("value", 3, 3, 3), gradients=True).matches("output")


@loops.check(points=1.5, hint="the loops run over all queries and all keys, also when there is only one")
def test_loops_equal_the_batched_function(student, given):
    """More queries than keys, and a single query and key, give what the batched function gives."""
    for queries, keys in ((6, 2), (1, 4), (1, 1)):
        answer = student(
            given.vectors("query", queries, 5), given.vectors("key", keys, 5), given.normal("value", keys, 3)
        )
        answer.matches("output", source="library")


@head.check(points=1.5, hint="gradients must reach the three inputs and the six parameters")
def test_head_gradients_of_inputs_and_parameters(student, given):
    """The gradients that flow back to the inputs and to the layers are right."""
    query, key, value = (
        given.vectors("query", 2, 5, 6, length=1.5),
        given.vectors("key", 2, 3, 6, length=1.5),
        given.normal("value", 2, 3, 6),
    )
    answer = student.build(given=given, d_model=6, d_head=4)(query, key, value, gradients=True)
    answer.gradients_match("query", "key", "value", "parameters")


@head.check(points=1, hint="what is special about your code when there is one sample, a large score, or a second call?")
def test_head_with_special_inputs(student, given):
    """One sample, one position, large scores, train(), and a second call with other inputs are nothing special."""
    query, key, value = (given.vectors(name, 2, 3, 6, length=1.5) for name in ("query", "key", "value"))
    module = student.build(given=given, d_model=6, d_head=7)
    for answer in (module(query[:1], key[:1], value[:1]), module(query[:, :1], key[:, :1], value[:, :1])):
        answer.has_form()
        answer.matches("output")
    module(query, key, value).matches("output")
    module(query, key, value, mode="train").matches("output")
    equal = [given.vectors(name, 3, 3, 3, length=1.5) for name in ("query", "key", "value")]
    student.build(given=given, d_model=3, d_head=3)(*equal, gradients=True).matches("output")
    parameters = given.parameters({"v_proj.weight": (6, 6), "v_proj.bias": (6,)})
    for name in ("q_proj", "k_proj"):  # so that the scores are what the inputs say
        parameters |= {f"{name}.weight": torch.eye(6, dtype=torch.float64)}
        parameters |= {f"{name}.bias": torch.zeros(6, dtype=torch.float64)}
    rows, columns = torch.tensor([400.0, 3000.0, -500.0]), torch.tensor([2.0, 0.0, 1.0])
    first = torch.tensor([1.0, 0, 0, 0, 0, 0], dtype=torch.float64)
    large = ((rows[:, None] * first).repeat(2, 1, 1), (columns[:, None] * first).repeat(2, 1, 1))
    student.build(parameters=parameters, d_model=6, d_head=6)(*large, value).matches("output")
