"""The smallest example: failing calls of real submissions, shrunk in real workers."""

import tomllib
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from prove_checks import edited
from sample_course import own_reference

from grader.asking import Target, make_call
from grader.call import Build
from grader.conversation import Conversation, TimeLimits
from grader.course import Course
from grader.examination import Examination
from grader.given import Inputs
from grader.oracle import Oracle
from grader.outcome import TimedOut
from grader.shrink import MOST_CALLS, smallest_example
from grader.sources import Sources

TESTS = Path(__file__).parent
COURSE = Course(TESTS.parent)
ASSIGNMENT = COURSE.assignment("attention")
PLAIN = {path.name: path.read_text(encoding="utf-8") for path in (TESTS / "data/solutions/plain").glob("*.py")}
MISTAKES = {
    mistake["id"]: mistake["edits"]
    for mistake in tomllib.loads((TESTS / "data/mistakes/attention.toml").read_text(encoding="utf-8"))["mistake"]
}
PART_OF = {name: part.name for part in ASSIGNMENT.parts for name in part.callables}


@pytest.fixture(scope="module")
def oracle():
    """The reference."""
    with own_reference():
        yield Oracle(COURSE.reference, ASSIGNMENT, Inputs(7))


class Room:
    """An examination of one submission, and what it is asked."""

    def __init__(self, oracle, conversation, sources, seed):
        self.inputs = Inputs(seed)
        self.given = self.inputs.scope("test")
        self.oracle = oracle
        self.conversation = conversation
        self.asked = []
        self.examination = Examination(ASSIGNMENT, self.inputs, oracle, self, Sources(texts=sources))

    # the respondent of the examination: the worker, witnessed

    def ask(self, call, upstream):
        self.asked.append(call)
        outcome = self.conversation.ask(call, upstream)
        self.last = outcome
        return outcome

    def ask_all(self, batch):
        self.asked += [question.call for question in batch.questions]
        return self.conversation.ask_all(batch)

    @property
    def used_s(self):
        return self.conversation.used_s

    def begin_anew(self):
        self.conversation.begin_anew()

    # calls, as checks put them

    def attention(self, name, *more, batch=2, query=3, key=5, dim=7, value_dim=4, **options):
        """A function of query, key and value."""
        shapes = {"query": (batch, query, dim), "key": (batch, key, dim), "value": (batch, key, value_dim)}
        tensors = [self.given.vectors(argument, *shape) for argument, shape in shapes.items()]
        return self.call(name, *tensors, *more, **options)

    def multi_head(self, d_model=6, n_heads=2, batch=3, query=4, key=5, keywords=None, **options):
        """A module of several heads."""
        shapes = {"query": (batch, query, d_model), "key": (batch, key, d_model), "value": (batch, key, d_model)}
        tensors = [self.given.vectors(argument, *shape, length=1.5) for argument, shape in shapes.items()]
        return self.module("MultiHeadAttention", {"d_model": d_model, "n_heads": n_heads}, *tensors, **options)

    def module(self, name, arguments, *tensors, **options):
        """A module with random parameters."""
        shapes = self.oracle.parameter_shapes(PART_OF[name], name, arguments)
        build = Build(arguments=arguments, handle=self.examination.new_handle())
        return self.call(name, *tensors, build=build, parameters=self.given.parameters(shapes), **options)

    def call(self, name, *arguments, keywords=None, **options):
        """Any call."""
        target = Target(part=PART_OF[name], name=name)
        return make_call(self.examination, target, arguments, keywords or {}, **options)

    def shrink(self, call, **options):
        """Its smallest example."""
        return smallest_example(self.examination, call, **options)


@pytest.fixture
def room(launcher, oracle):
    """Begin with a mistake of the list, with edits (file, old, new), or with whole files."""
    with ExitStack() as stack:

        def begin(mistake=None, *edits, files=None, seed=7, **deadlines):
            changes = [dict(zip(("file", "old", "new"), edit, strict=True)) for edit in edits]
            sources = files or edited(PLAIN, [*(MISTAKES[mistake] if mistake else []), *changes])
            conversation = Conversation(launcher, sources, ASSIGNMENT, TimeLimits(**deadlines))
            return Room(oracle, stack.enter_context(conversation), sources, seed)

        yield begin


def table(matrices):
    """Shapes and cells by name; a value alone has no shape."""
    return {matrix.name: (matrix.shape, matrix.cells) for matrix in matrices}


def cells(matrices):
    """All numbers in them."""
    return [cell for matrix in matrices for cell in matrix.cells]


def is_whole(cell):
    """Whether a cell is a small whole number."""
    return cell.lstrip("-").isdigit() and abs(int(cell)) < 10


# --- wrong values -----------------------------------------------------------------------------------------------


def test_shrink_wrong_scale_gives_a_sum_for_pencil_and_paper(room):
    """One sample, one query, two keys of two numbers, all of them small and whole."""
    student = room("scales-by-d")

    example = student.shrink(student.attention("scaled_dot_product_attention", wants=None))

    assert "scaled_dot_product_attention(query, key, value)" == example.call
    assert {"query": (1, 1, 2), "key": (1, 2, 2), "value": (1, 2, 1)} == {
        matrix.name: matrix.shape for matrix in example.inputs
    }
    assert all(map(is_whole, cells(example.inputs)))
    assert ["output", "weights"] == [matrix.name for matrix in example.expected]
    assert ["output", "weights"] == [matrix.name for matrix in example.observed]
    assert "The output and weights of query 0 are wrong." == example.remark


def test_shrink_expected_values_are_those_of_the_formula(room):
    """What is shown can be checked: the softmax of query times key over the root of two."""
    student = room("scales-by-d")

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    query, key, value = (
        torch.tensor([float(cell) for cell in matrix.cells]).reshape(matrix.shape) for matrix in example.inputs
    )
    for matrices, scale in ((example.expected, 2**0.5), (example.observed, 2)):
        weights = torch.softmax(query @ key.mT / scale, -1)
        shown = [[float(cell) for cell in matrix.cells] for matrix in matrices]
        assert (weights @ value).flatten().tolist() == pytest.approx(shown[0], abs=1e-4)
        assert weights.flatten().tolist() == pytest.approx(shown[1], abs=1e-4)


def test_shrink_weights_that_are_no_weights_are_told_by_their_sum(room):
    """The sum of a row says more than its numbers."""
    student = room("sigmoid-instead-of-softmax")

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    assert example.remark.startswith("The weights of query 0 add up to 0.5, not to 1.")


def test_shrink_right_weights_stay_right(room):
    """A student whose weights are right is not shown a call that has them wrong."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v * 2"))

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    assert table(example.expected)["weights"] == table(example.observed)["weights"]
    assert "The weights are right. The output of query 0 is wrong." == example.remark


def test_shrink_mistake_of_unequal_lengths_keeps_them_unequal(room):
    """What goes wrong only with more queries than keys is shown with more queries than keys."""
    student = room(
        None, ("single_head.py", "y = p @ v", "y = p @ v if q.size(-2) <= k.size(-2) else torch.zeros_like(p @ v)")
    )

    example = student.shrink(student.attention("scaled_dot_product_attention", query=5, key=3))

    shapes = {matrix.name: matrix.shape for matrix in example.inputs}
    assert shapes["query"][1] == 2
    assert shapes["key"][1] == 1


def test_shrink_mistake_between_samples_keeps_two_and_names_the_second(room):
    """One sample alone is right."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v[:1]"))

    example = student.shrink(student.attention("scaled_dot_product_attention", batch=3))

    assert 2 == table(example.inputs)["value"][0][0]
    assert "query 0 in sample 1" in example.remark


def test_shrink_overflow_stays_one(room):
    """A NaN is not exchanged for a wrong number, and the large number that it takes is a round one."""
    student = room("softmax-overflows", ("single_head.py", "y = p @ v", "p = 2 * p\n    y = p @ v"))
    query, key = (torch.full((2, 3, 7), 37.3).double() for _ in range(2))

    example = student.shrink(
        student.call("scaled_dot_product_attention", query, key, student.given.normal("v", 2, 3, 4))
    )

    assert "nan" in cells(example.observed)
    assert "nan" not in cells(example.expected)
    assert all(float(cell) == int(float(cell)) for cell in cells(example.inputs))


# --- masks ------------------------------------------------------------------------------------------------------


def test_shrink_wrong_mask_is_shown_as_who_may_attend_to_whom(room):
    """One sample whose only key is hidden too late; the sentence names query and key."""
    student = room("mask-one-key-too-many")

    example = student.shrink(student.call("attention_mask", 3, 5, torch.tensor([5, 2, 4, 1])))

    assert "attention_mask(1, 2, key_lengths)" == example.call
    assert {"query_length": ((), ("1",)), "key_length": ((), ("2",)), "key_lengths": ((1,), ("1",))} == table(
        example.inputs
    )
    assert {"mask": ((1, 1, 2), ("True", "False"))} == table(example.expected)
    assert {"mask": ((1, 1, 2), ("True", "True"))} == table(example.observed)
    assert ("batch", "query", "key") == example.observed[0].axes
    assert "Query 0 may attend to key 1 here, and must not." == example.remark


def test_shrink_mask_that_hides_too_much_is_told_the_other_way(room):
    """The diagonal is allowed."""
    student = room("mask-causal-without-diagonal")

    example = student.shrink(student.call("attention_mask", 4, 4, keywords={"is_causal": True}))

    assert "attention_mask(1, 1, is_causal=True)" == example.call
    assert "Query 0 may not attend to key 0 here, and must." == example.remark


def test_shrink_argument_that_is_not_needed_is_left_out(room):
    """A mistake of the scores needs no mask to be seen, and no lengths to see a causal mask."""
    student = room("scales-by-d")
    mask = torch.ones(2, 3, 5, dtype=torch.bool).tril()

    example = student.shrink(student.attention("masked_attention", mask))

    assert "masked_attention(query, key, value)" == example.call
    assert ["query", "key", "value"] == [matrix.name for matrix in example.inputs]


def test_shrink_argument_that_is_needed_stays(room):
    """A mask that is obeyed the wrong way round."""
    student = room("polarity-inverted-in-masked")
    mask = torch.ones(2, 3, 5, dtype=torch.bool).tril()

    example = student.shrink(student.attention("masked_attention", mask))

    assert {"True", "False"} >= set(table(example.inputs)["mask"][1])


# --- heads ------------------------------------------------------------------------------------------------------


def test_shrink_heads_split_with_view_names_heads_and_query(room):
    """Two heads of one element, parameters that do nothing; both heads are wrong and stay wrong."""
    student = room("heads-split-with-view")

    example = student.shrink(student.multi_head())

    assert "MultiHeadAttention(d_model=2, n_heads=2)(query, key, value)" == example.call
    assert ["query", "key", "value"] == [matrix.name for matrix in example.inputs]
    assert all(map(is_whole, cells(example.inputs)))
    assert (
        "Heads 0 and 1 are wrong, for query 0. "
        "Weights that are not shown are the identity, biases that are not shown are 0."
    ) == example.remark


def test_shrink_one_wrong_head_is_named_with_its_part_of_the_output(room):
    """The second head attends to nothing but the last key."""
    student = room(None, ("multi_head.py", "    p = torch.softmax(s, dim=-1)\n", WRONG_HEAD))

    example = student.shrink(student.multi_head())

    assert example.remark.startswith("Head 1 is wrong, for query 0; element 1 of the output comes from it.")


#: Weights of head 1 that are those of another scale.
WRONG_HEAD = """\
    p = torch.softmax(s, dim=-1)
    p = torch.cat([p[:, :1], torch.softmax(3 * s, dim=-1)[:, 1:2], p[:, 2:]], dim=1)
"""


def test_shrink_wrong_merge_names_elements_and_where_they_come_from(room):
    """The weights are right, so the heads are; the output is put together wrongly."""
    student = room("heads-merged-without-transpose")

    example = student.shrink(student.multi_head())

    assert example.remark.startswith(
        "The weights are right. The output of queries 0 and 1 is wrong, in elements 0 and 1, "
        "which come from heads 0 and 1."
    )


def test_shrink_parameter_that_matters_is_shown(room):
    """A bias that is dropped must be there to be missed; all others are 0."""
    student = room("value-bias-dropped")

    example = student.shrink(student.multi_head())

    assert ["query", "key", "value", "v_proj.bias"] == [matrix.name for matrix in example.inputs]


# --- other ways to be wrong -------------------------------------------------------------------------------------


def test_shrink_exception_is_quoted(room):
    """Type and first line; the expected values stand alone."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v\n    if True: raise KeyError('first\\nsecond')"))

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    assert (1, 1, 1) == example.inputs[0].shape
    assert () == example.observed
    assert example.remark.startswith("It raised KeyError: ")


def test_shrink_long_exception_is_cut(room):
    """At 200 characters."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v\n    if True: raise ValueError('x' * 300)"))

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    assert f"It raised ValueError: {'x' * 200}..." == example.remark


def test_shrink_missing_error_has_no_expected_value(room):
    """One query that may attend to nothing is enough."""
    student = room("nothing-allowed-not-checked")
    mask = torch.ones(2, 3, 5, dtype=torch.bool)
    mask[1, 2] = False

    example = student.shrink(student.attention("masked_attention", mask))

    assert ((1, 1, 1), ("False",)) == table(example.inputs)["mask"]
    assert () == example.expected
    assert "A ValueError is right here; nothing was raised." == example.remark


def test_shrink_other_error_than_the_right_one_is_named(room):
    """An assertion is no ValueError."""
    student = room("nothing-allowed-assertion")
    mask = torch.zeros(2, 3, 5, dtype=torch.bool)

    example = student.shrink(student.attention("masked_attention", mask))

    assert example.remark.startswith("A ValueError is right here; it raised AssertionError")


def test_shrink_wrong_shape_keeps_lengths_apart(room):
    """A shape of ones would not say which axis is missing."""
    student = room(None, ("single_head.py", "y = p @ v", "y = (p @ v)[0]"))

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    observed, expected = (table(matrices)["output"][0] for matrices in (example.observed, example.expected))
    assert observed == expected[1:]
    assert len(expected) == len(set(expected))
    assert f"The shape of output is {list(observed)}; {list(expected)} is right." == example.remark


def test_shrink_missing_gradient_is_shown_with_the_upstream_gradient(room):
    """Values are right, so gradients are shown in their place."""
    student = room("key-detached")

    example = student.shrink(student.attention("scaled_dot_product_attention", wants=None))

    assert ["query", "key", "value", "upstream gradient of output"] == [matrix.name for matrix in example.inputs]
    assert ["gradient of key"] == [matrix.name for matrix in example.expected]
    assert () == example.observed
    assert "No gradient reaches key." == example.remark


def test_shrink_wrong_gradient_is_shown_beside_the_right_one(room):
    """Only the gradients that are wrong."""
    student = room("softmax-jacobian-diagonal")

    example = student.shrink(student.attention("scaled_dot_product_attention", wants=None))

    assert ["gradient of query", "gradient of key"] == [matrix.name for matrix in example.expected]
    assert ["gradient of query", "gradient of key"] == [matrix.name for matrix in example.observed]
    assert "The gradients of query and key are wrong." == example.remark


def test_shrink_wrong_gradients_of_parameters_give_way_to_those_of_arguments(room):
    """They follow from them; where they are wrong alone, they are shown."""
    student = room("softmax-jacobian-diagonal")
    alone = room("single-weight-detached")

    examples = [
        one.shrink(
            one.module(
                "SingleHeadAttention",
                {"d_model": 3, "d_head": 2},
                *(one.given.vectors(name, 2, length, 3) for name, length in (("query", 3), ("key", 4), ("value", 4))),
                wants=None,
            )
        )
        for one in (student, alone)
    ]

    assert ["gradient of query", "gradient of key"] == [matrix.name for matrix in examples[0].expected]
    assert {"weight"} == {matrix.name.rpartition(".")[2] for matrix in examples[1].expected}


def test_shrink_failing_backward_pass_is_quoted(room):
    """The values are right, and no gradient can be had."""
    student = room("exp-divided-in-place")

    example = student.shrink(student.attention("scaled_dot_product_attention", wants=None))

    assert example.remark.startswith("It raised RuntimeError in the backward pass: ")


# --- no example -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scaled_dot_product_attention", "masked_attention", "MultiHeadAttention"])
def test_shrink_right_answer_is_asked_once_and_never_shrunk(room, name):
    """There is nothing to show."""
    student = room()
    call = student.multi_head(wants=None) if name == "MultiHeadAttention" else student.attention(name, wants=None)

    assert student.shrink(call) is None
    assert 1 == len(student.asked)


def test_shrink_answer_in_float32_only_is_not_shrunk(room):
    """The dtype is a check's business, and the numbers are right."""
    for mistake in ("float32-output", "float32-scores-met-by-float64-values"):
        student = room(mistake)

        assert student.shrink(student.attention("scaled_dot_product_attention")) is None


def test_shrink_failure_that_needs_earlier_calls_is_not_shown(room):
    """An example must fail when a student tries it; this one fails from the second call on."""
    student = room(
        None,
        ("single_head.py", "def sdpa(", "seen = []\n\n\ndef sdpa("),
        ("single_head.py", "y = p @ v", "seen.append(1)\n    y = p @ v * min(len(seen), 2)"),
    )
    call = student.attention("scaled_dot_product_attention")
    student.examination.ask(call, None)

    assert student.shrink(call) is None


def test_shrink_random_answer_is_not_shown(room):
    """With other random numbers it is another answer."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v + torch.rand(1)"))

    assert student.shrink(student.attention("scaled_dot_product_attention")) is None


def test_shrink_difference_that_is_hardly_more_than_allowed_is_not_shown(room):
    """Equal numbers side by side would puzzle everybody."""
    student = room(None, ("single_head.py", "y = p @ v", "y = p @ v + 3e-5"))

    assert student.shrink(student.attention("scaled_dot_product_attention")) is None


# --- code that is no help ---------------------------------------------------------------------------------------


def test_shrink_ends_with_the_first_timeout(room):
    """Small calls hang: one is waited for, and there is no example."""
    student = room(
        None,
        ("single_head.py", "y = p @ v", "y = p @ v * 2\n    while q.size(0) == 1:\n        pass"),
        call_s=0.3,
    )

    example = student.shrink(student.attention("scaled_dot_product_attention"))

    assert example is None
    assert TimedOut(stage="call", limit_s=0.3) == student.last.reply


def test_shrink_code_that_prints_gets_the_same_example(room):
    """Its questions are put one by one; nothing else is different."""
    quiet = room("scales-by-d")
    loud = room("scales-by-d", ("single_head.py", "y = p @ v", "y = p @ v\n    print('here')"))

    examples = [student.shrink(student.attention("scaled_dot_product_attention")) for student in (quiet, loud)]

    assert examples[0] == examples[1] is not None


def test_shrink_asks_no_more_than_it_may(room):
    """And once more, to confirm."""
    student = room("heads-split-with-view")

    student.shrink(student.multi_head())
    free = len(student.asked)
    fewer = room("heads-split-with-view")
    fewer.shrink(fewer.multi_head(), most_calls=10)

    assert free <= MOST_CALLS + 1
    assert len(fewer.asked) <= 11


def test_shrink_without_time_left_asks_nothing(room):
    """Time that is used up gives no example."""
    student = room("scales-by-d")

    assert student.shrink(student.attention("scaled_dot_product_attention"), allowed_s=0) is None
    assert [] == student.asked


def test_shrink_gives_the_same_example_twice(room):
    """In another worker, by the same seed."""
    first, second = (
        student.shrink(student.multi_head()) for student in (room("heads-interleaved"), room("heads-interleaved"))
    )

    assert first == second is not None
