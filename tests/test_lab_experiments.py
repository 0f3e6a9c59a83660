"""What is measured of right modules and of wrong ones, in real workers."""

from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path

import pytest
import sample_lab
import torch

from grader.assignment import Assignment, Callable, Limits, Part, Rules
from grader.conversation import Conversation, TimeLimits
from grader.lab.against import measure_against
from grader.lab.bench import Bench, OpponentError, Target, Unanswered, fitting_dtype
from grader.lab.drawn import Drawn
from grader.lab.future import measure_future
from grader.lab.heads import measure_heads
from grader.lab.scaling import measure_scaling
from grader.launch import ForkLauncher, Zygote
from grader.outcome import Returned
from grader.verdict import Verdict

OPPONENT = (Path(sample_lab.__file__).parents[1] / "grader/lab/opponent.py").read_text()
TARGET = Target(part="attention", file=sample_lab.FILE, name=sample_lab.CALLABLE)
DRAWN = Drawn(3)
SMALL = {"batch": 2, "length": 9}


def no_step():
    """Nobody watches."""


@pytest.fixture(scope="module")
def launchers():
    """For a student's module, and for what it is compared with."""
    with Zygote(2) as zygote:
        zygote.wait()
        yield [ForkLauncher(control) for control in zygote.controls]


@pytest.fixture
def bench_of(launchers):
    """Begin to talk with a module, given as text."""
    asked = Callable(kind="module", arguments=("x",), returns=("output", "weights"), reference="a:b")
    part = Part(name="attention", title="A", points=Decimal(1), callables={sample_lab.CALLABLE: asked})
    assignment = Assignment(folder=Path("/nowhere"), title="A", parts=(part,), limits=Limits(), rules=Rules())
    with ExitStack() as stack:

        def begin(text, target=TARGET, number=0, **options):
            files = {target.file: text}
            conversation = Conversation(launchers[number], files, assignment, TimeLimits())
            return Bench(stack.enter_context(conversation), target, 3, **options)

        yield begin


@pytest.fixture
def opponents(bench_of):
    """PyTorch's module, and the empty one in a worker of its own."""
    library = Target(
        part="opponent",
        file="opponent.py",
        name="PyTorch",
        qkv="attention.in_proj_weight",
        out="attention.out_proj.weight",
    )
    bench = bench_of(OPPONENT, library, 1, is_trusted=True)
    nothing = Target(part="opponent", file="opponent.py", name="Nothing", qkv="first", out="last")
    return bench, Bench(bench._conversation, nothing, 3, iter(range(1000, 2000)), is_trusted=True)


def scaling_of(bench, widths=(4, 32)):
    """Experiment 1, small."""
    return measure_scaling(bench, DRAWN, "float64", widths=widths, batch=16, length=9, step=no_step)


def future_of(bench):
    """Experiment 2, small."""
    return measure_future(bench, DRAWN, "float64", length=4, d_model=8, step=no_step)


def heads_of(bench, nothing, counts=(1, 2, 4)):
    """Experiment 3, small."""
    return measure_heads(bench, nothing, DRAWN, counts=counts, d_model=16, repetitions=2, step=no_step, **SMALL)


def against_of(bench, opponents):
    """Experiment 4, small."""
    sizes = {"lengths": (5, 9), "d_model": 16, "batch": 2, "repetitions": 2}
    tolerances = {"float64": 1e-5, "float32": 1e-4}
    return measure_against(bench, *opponents, DRAWN, tolerances=tolerances, step=no_step, **sizes)


# --- 1 -----------------------------------------------------------------------------------------------------------


def test_scaling_right_module_has_the_variance_of_theory(bench_of):
    """1 as it is, d with queries multiplied."""
    points = scaling_of(bench_of(sample_lab.RIGHT)).points

    assert [1.0, 4.0, 1.0, 32.0] == [one.variance_in_theory for one in points]
    assert [one.variance_in_theory for one in points] == pytest.approx([one.variance for one in points], rel=0.35)


def test_scaling_without_division_has_variance_d(bench_of):
    """As it is, already."""
    variances = [one.variance for one in scaling_of(bench_of(sample_lab.UNSCALED)).points if one.is_scaled]

    assert [4, 32] == pytest.approx(variances, rel=0.35)


def test_scaling_undone_has_less_entropy_the_wider_heads_are(bench_of):
    """Both as a number of nats, and as a share."""
    points = [one for one in scaling_of(bench_of(sample_lab.RIGHT)).points if not one.is_scaled]

    assert points[0].entropy_nats > points[1].entropy_nats > 0
    assert 1 > points[0].entropy_share > points[1].entropy_share > 0


def test_scaling_of_a_module_that_sees_the_future_is_read_over_the_allowed_keys(bench_of):
    """What it sees beyond does not change the differences of these logits."""
    right, leaks = (scaling_of(bench_of(text)).points for text in (sample_lab.RIGHT, sample_lab.LEAKS))

    assert [one.variance for one in right] == pytest.approx([one.variance for one in leaks])


def test_scaling_weights_of_zero_are_counted(bench_of):
    """They have no logarithm."""
    text = sample_lab.RIGHT.replace("softmax(dim=-1)", "softmax(dim=-1).tril(-1)")

    (first, *_) = scaling_of(bench_of(text)).points

    assert first.variance is None
    assert first.unreadable_share > 0.1


def test_scaling_gradient_that_does_not_come_leaves_the_rest(bench_of):
    """The weights are measured, and the page says what is missing, once."""
    scaling = scaling_of(bench_of(sample_lab.DETACHED))

    assert 4 == len(scaling.points)
    assert {None} == {one.gradient_median for one in scaling.points}
    assert [Verdict.NO_GRADIENT] == [one.verdict for one in scaling.problems]


def test_scaling_module_without_weights_has_gradients_all_the_same(bench_of):
    """What it returned instead is said once, and not for every width."""
    scaling = scaling_of(bench_of(sample_lab.NO_WEIGHTS))

    assert [None] * 4 == [one.variance for one in scaling.points]
    assert all(one.gradient_low < one.gradient_median < one.gradient_high for one in scaling.points)
    assert [Verdict.WRONG_TYPE] == [one.verdict for one in scaling.problems]
    assert "one tensor [16, 9, 8]" in scaling.problems[0].message


def test_scaling_module_without_weights_and_gradients_is_given_up(bench_of):
    """Nothing can be measured of it."""
    text = sample_lab.NO_WEIGHTS.replace("(weights @ v)", "(weights @ v).detach()")

    scaling = scaling_of(bench_of(text))

    assert () == scaling.points
    assert 1 == len(scaling.problems)


# --- 2 -----------------------------------------------------------------------------------------------------------


def test_future_right_module_moves_by_exactly_0_before_the_changed_token(bench_of):
    """And moves everywhere else."""
    future = future_of(bench_of(sample_lab.RIGHT))

    moved = torch.tensor(future.with_mask) != 0
    assert torch.equal(torch.ones(4, 4).tril().bool(), moved)
    assert 0.0 == future.unrest


def test_future_without_the_mask_is_seen_from_a_module_that_has_one(bench_of):
    """Just what a module without a mask does by itself."""
    right, leaks = future_of(bench_of(sample_lab.RIGHT)), future_of(bench_of(sample_lab.LEAKS))

    expected, observed = torch.tensor(leaks.with_mask), torch.tensor(right.without_mask)
    assert torch.allclose(expected, observed, atol=1e-9)
    assert torch.allclose(torch.tensor(leaks.without_mask), observed, atol=1e-9)
    assert observed.min() > 0


def test_future_needs_no_weights(bench_of):
    """The output shows it."""
    assert () == future_of(bench_of(sample_lab.NO_WEIGHTS)).problems


def test_future_module_of_two_answers_is_restless(bench_of):
    """So that nobody takes chance for a leak."""
    assert future_of(bench_of(sample_lab.RESTLESS)).unrest > 0


# --- 3 -----------------------------------------------------------------------------------------------------------


def test_heads_weights_grow_with_heads_and_widths_shrink(bench_of, opponents):
    """[batch, head, query, key] of four bytes."""
    points = heads_of(bench_of(sample_lab.RIGHT), opponents[1]).points

    assert [16, 8, 4] == [one.d_head for one in points]
    assert [2 * heads * 9 * 9 * 4 for heads in (1, 2, 4)] == [one.weights_bytes for one in points]


def test_heads_tensors_of_a_forward_pass_are_counted(bench_of, opponents):
    """By hand: what operations make, without views; Boolean masks have a byte an element."""
    (point,) = heads_of(bench_of(sample_lab.RIGHT), opponents[1], (2,)).points

    token, square = 2 * 9 * 16, 2 * 2 * 9 * 9
    projected, reshaped, scores, mixed, out = 3 * token, 3 * token, 4 * square, 2 * token, token
    assert 4 * (projected + reshaped + scores + mixed + out) + 2 * 81 == point.made_bytes
    assert not point.is_made_cut


def test_heads_of_a_module_without_weights_have_times_all_the_same(bench_of, opponents):
    """And say once what was returned."""
    heads = heads_of(bench_of(sample_lab.NO_WEIGHTS), opponents[1])

    assert [None, None, None] == [one.weights_bytes for one in heads.points]
    assert [Verdict.WRONG_TYPE] == [one.verdict for one in heads.problems]


def test_heads_some_numbers_of_which_fail_are_said(bench_of, opponents):
    """The others are measured all the same."""
    heads = heads_of(bench_of(sample_lab.TWO_OR_FOUR), opponents[1])

    assert [2, 4] == [one.n_heads for one in heads.points]
    assert ["n_heads = 1"] == [one.at for one in heads.problems]
    assert "two or four" in heads.problems[0].message


# --- 4 -----------------------------------------------------------------------------------------------------------


def test_against_right_module_agrees_with_pytorch(bench_of, opponents):
    """Output, weights and gradient, in both dtypes, and all lengths have times."""
    against = against_of(bench_of(sample_lab.RIGHT), opponents)

    assert 6 == len(against.differences)
    assert all(one.largest < one.allowed / 100 for one in against.differences)
    assert [5, 9] == [one.length for one in against.points]
    assert all(one.own_both.call_s > 0 and one.library_both.call_s > 0 for one in against.points)


@pytest.mark.parametrize("text", [sample_lab.LEAKS, sample_lab.UNSCALED], ids=["leaks", "unscaled"])
def test_against_wrong_module_differs(bench_of, opponents, text):
    """By far more than a check allows."""
    against = against_of(bench_of(text), opponents)

    assert all(one.largest > 100 * one.allowed for one in against.differences)


def test_against_output_alone_is_compared_as_far_as_it_goes(bench_of, opponents):
    """Weights are missing, and said to be once."""
    against = against_of(bench_of(sample_lab.NO_WEIGHTS), opponents)

    assert {"output", "gradient of x"} == {one.what for one in against.differences}
    assert ["weights"] == [one.at for one in against.problems]


def test_against_opponent_that_fails_is_no_fault_of_the_student(bench_of, opponents):
    """It is said to be the grader's."""
    broken = bench_of(
        "PyTorch = None\n", Target(part="opponent", file="opponent.py", name="PyTorch"), 1, is_trusted=True
    )

    with pytest.raises(OpponentError, match="what is compared with gave no answer"):
        against_of(bench_of(sample_lab.RIGHT), (broken, opponents[1]))


# --- any ---------------------------------------------------------------------------------------------------------


def test_experiments_module_that_raises_is_told_in_its_own_words(bench_of, opponents):
    """In every experiment, as a check would."""
    bench = bench_of(sample_lab.RAISES)

    experiments = [scaling_of(bench), future_of(bench), heads_of(bench, opponents[1]), against_of(bench, opponents)]

    assert {Verdict.EXCEPTION} == {one.problems[0].verdict for one in experiments}
    assert all("ValueError: <script>" in one.problems[0].message for one in experiments)


def without_times(value):
    """The same figures, but for what a clock said."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if not key.endswith("_s")}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def test_experiments_figures_but_for_times_are_the_same_every_time(bench_of, opponents):
    """To the last digit, with other workers too."""

    def figures():
        bench = bench_of(sample_lab.RIGHT)
        made = scaling_of(bench), future_of(bench), heads_of(bench, opponents[1]), against_of(bench, opponents)
        return [without_times(one.model_dump(mode="json")) for one in made]

    assert figures() == figures()


def test_bench_weights_are_sent_once_where_they_are_placed(bench_of):
    """The module keeps them: the second call gives what the first gave."""
    bench, x = bench_of(sample_lab.RIGHT), DRAWN.normal("x", 1, 3, 8)
    module = bench.module(DRAWN.weights("w", 8), 2, "float64")
    expected = bench.ask(bench.question(module, x)).output

    placed = bench.placed(module)

    assert {} == placed.parameters
    assert torch.equal(expected, bench.ask(bench.question(placed, x)).output)


def test_bench_dtype_is_float32_where_the_module_takes_no_other(bench_of):
    """And float64 where it takes both, or none."""
    x, weights = DRAWN.normal("x", 2, 3, 8), DRAWN.weights("w", 8)
    texts = (sample_lab.RIGHT, sample_lab.FLOAT32, sample_lab.RAISES)

    assert ["float64", "float32", "float64"] == [fitting_dtype(bench_of(text), weights, 2, x) for text in texts]


@pytest.mark.parametrize(
    ("change", "verdict"),
    [
        (("x.shape\n", "x.shape\n        return x[:1], x\n"), Verdict.WRONG_SHAPE),
        (("x.shape\n", "x.shape\n        return x * math.nan, x\n"), Verdict.NOT_FINITE),
        (("x.shape\n", "x.shape\n        return x * 1e200, x\n"), Verdict.WRONG_VALUE),
        (("x.shape\n", "x.shape\n        return x.long(), x\n"), Verdict.WRONG_DTYPE),
        (("x.shape\n", "x.shape\n        return None\n"), Verdict.WRONG_TYPE),
        (("x.shape\n", "x.shape\n        raise NotImplementedError\n"), Verdict.NOT_IMPLEMENTED),
        (("self.qkv", "self.other"), Verdict.WRONG_PARAMETERS),
        (("class Multi", "class Other"), Verdict.MISSING_NAME),
    ],
)
def test_bench_answer_of_another_kind_is_named(bench_of, change, verdict):
    """As a check would name it."""
    bench = bench_of(sample_lab.RIGHT.replace(*change))

    with pytest.raises(Unanswered) as told:
        _ = bench.ask(
            bench.question(bench.module(DRAWN.weights("w", 8), 2, "float64"), DRAWN.normal("x", 2, 3, 8))
        ).output

    assert verdict is told.value.verdict


def test_opponent_nothing_returns_the_shapes_of_attention(bench_of, opponents):
    """And gradients of the layers, so that the way back is as long."""
    nothing, x = opponents[1], DRAWN.normal("x", 2, 3, 8)
    module = nothing.module(DRAWN.weights("w", 8), 4, "float64")
    question = nothing.question(module, x, x)

    outcome = nothing._conversation.ask(question.call, question.upstream)

    assert isinstance(outcome.reply, Returned)
    assert [(2, 3, 8), (2, 4, 3, 3)] == [node.shape for node in outcome.reply.tree.items]
    assert {"arg.x", "param.first", "param.last"} == set(outcome.gradients)
