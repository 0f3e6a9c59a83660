"""Proving an assignment: the command on a tiny course, what makes a claim fail, forks that die, and Ctrl-C."""

import contextlib
import multiprocessing
import os
from decimal import Decimal

import pytest
from conftest import Command, finish, wait_until
from sample_course import own_reference
from sample_mistakes import (
    CHECKS,
    GATE,
    MIX,
    RIGHT,
    SCALE,
    alike,
    entry,
    harmless,
    make_case,
    write_mistaken_course,
)

from grader.diagnosis.explanation import Explanation
from grader.diagnosis.mistakes import read_mistakes
from grader.diagnosis.traits import FLOAT32_INSIDE, GRADIENT_LOST
from grader.verification.claims import Claim, about_checks, about_mistakes, about_sets
from grader.verification.forked import ForkFailed, shared_out
from grader.verification.trials import Judged, Trial, are_told_apart, judge

# --- the command, on a course that holds and on one that does not -----------------------------------------------


#: With one that `mix` does not tell from `not-shifted`, and `Scale` does.
SOUND = (
    MIX
    + GATE
    + SCALE
    + entry("total-not-shifted", ("tiny.py", "shifted(query + key)", "(query + key)"))
    + alike("not-shifted", "total-not-shifted", callables=["mix"])
    + entry("only-another-order", ("tiny.py", "long * key", "key * long"))
    + harmless("only-another-order", callables=["mix"])
)


#: Those of `Scale`, whose output has a column more than its input: in the sample they are stated as one.
SCALE_AXES = '{ output = ["row", "column"], query = ["row", "column"] }'


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """What is said of the tiny course, which is sound."""
    course = write_mistaken_course(tmp_path_factory.mktemp("sound"), mistakes=SOUND)
    stated = course.folder / "assignments/tiny/assignment.toml"
    stated.write_text(stated.read_text().replace(SCALE_AXES, SCALE_AXES.replace("column", "wide", 1)))
    return Command(course.folder).run("verify", "tiny", "--seed", "3")


#: One that changes nothing, one that nothing names, two that are not told apart, and two that are as they should be.
FAULTY = (
    entry("harmless", ("tiny.py", "long * key", "key * long"))
    + entry("random", ("tiny.py", "tril()", "tril() & (torch.rand(3) > 0.5)"), more='known_as = "gradient-lost"\n')
    + entry("upper", ("tiny.py", "tril()", "triu()"))
    + entry("also-upper", ("tiny.py", ".tril()", ".T.triu()"))
    + entry("not-shifted", ("steps.py", "tensor + 1.0", "tensor"))
    + SCALE
    + entry("shifted-twice", ("steps.py", "tensor + 1.0", "tensor + 2.0"))
    + harmless("shifted-twice", callables=["mix", "Scale", "gate"])
)
#: A check that no answer fails.
IDLE = CHECKS["test_mix.py"].replace('.gradients_match("query", "key")', "")


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """What is said of a course with one fault of each kind."""
    course = write_mistaken_course(tmp_path_factory.mktemp("faulty"), mistakes=FAULTY)
    variant = course.reference / "variants/tiny/losing"
    variant.mkdir()
    (variant / "mix.py").write_text(RIGHT["mix.py"].replace("<=", "<"), encoding="utf-8")
    (variant / "scale.py").write_text(RIGHT["scale.py"], encoding="utf-8")
    tiny = course.folder / "assignments/tiny"
    example = course.folder / "submissions_example/tiny/ada"
    example.mkdir(parents=True)
    (example / "expected.toml").write_text('about = "Nothing is here."\nstatus = "graded"\n')
    (tiny / "stub/scale.py").write_text(RIGHT["scale.py"], encoding="utf-8")
    (tiny / "checks/test_mix.py").write_text(IDLE, encoding="utf-8")
    return Command(course.folder).run("verify", "tiny", "--seed", "3")


def test_verify_sound_course_holds(sound):
    """Everything that is tried holds, and the exit code says so."""
    assert "✗" not in sound.stdout, sound.stdout
    assert 0 == sound.returncode, sound.stderr
    assert "everything holds" in sound.stdout


def test_verify_names_the_assignment_and_the_seed(sound):
    """A run can be repeated."""
    assert "tiny, seed 3" == sound.stdout.splitlines()[0]


@pytest.mark.parametrize(
    "claim",
    [
        "1 of 1    the reference scores full marks",
        "5 of 5    the axes of assignment.toml fit every call",
        "0 of 0    every example gets what it states: write some into submissions_example/tiny/ID/",
        "1 of 1    the stub scores nothing",
        "3 of 3    every callable of the stub is seen to be unfilled",
        "1 of 1    right code of any style loses no point and gets no name",
        "13 of 13   every mistake loses points",
        "13 of 13   every mistake is named as itself, or as one declared to be like it",
        "13 of 13   a sample of the mistakes, handed in, fails and is named the same",
        "1 of 1    mistakes that are declared harmless here lose nothing",
        "15 of 15   two runs agree byte for byte",
        "6 of 6    every check is failed by some mistake",
    ],
)
def test_verify_counts_what_was_tried(sound, claim):
    """The number of those tried, and of those that hold."""
    assert claim in sound.stdout


def test_verify_faulty_course_is_told_by_the_exit_code(faulty):
    """One claim is enough."""
    assert 1 == faulty.returncode, faulty.stderr
    assert "claims do not hold" in faulty.stdout


@pytest.mark.parametrize(
    ("claim", "complaint"),
    [
        ("the axes of assignment.toml fit every call", "Scale: the axis column is 3 in query, and 4 in output"),
        ("every example gets what it states", "ada has status"),
        ("every mistake loses points", "harmless loses none"),
        ("every mistake is named as itself", "random is named"),
        ("mistakes that are named together are declared to be alike", "no question tells"),
        ("right code of any style loses no point", "variants/losing loses"),
        ("the stub scores nothing", "the stub scores"),
        ("every callable of the stub is seen to be unfilled", "Scale is not: passed, wanted not implemented"),
        ("mistakes that are declared harmless here lose nothing", "shifted-twice loses 5"),
        ("every check is failed by some mistake", "mix.gradients: no mistake fails it"),
    ],
)
def test_verify_faulty_course_is_told_what_does_not_hold(faulty, claim, complaint):
    """The claim, and what is the matter with it."""
    lines = faulty.stdout.splitlines()

    assert any(line.lstrip().startswith("✗") and claim in line for line in lines), faulty.stdout
    assert any(complaint in line and "✓" not in line for line in lines), faulty.stdout


def test_verify_faulty_course_is_told_what_holds(faulty):
    """The other claims are settled too."""
    assert any("✓" in line and "the reference scores full marks" in line for line in faulty.stdout.splitlines())


def test_verify_unknown_assignment_is_wrong_usage(tmp_path):
    """Near matches are named."""
    course = write_mistaken_course(tmp_path)

    done = Command(course.folder).run("verify", "tinny")

    assert 2 == done.returncode
    assert "grade: no assignment is called 'tinny'" in done.stderr
    assert "did you mean tiny?" in done.stderr


def test_verify_outside_of_a_course_is_wrong_usage(tmp_path):
    """Nothing is assumed."""
    done = Command(tmp_path).run("verify")

    assert (2, "") == (done.returncode, done.stdout)
    assert "is in no course" in done.stderr


@pytest.mark.parametrize(
    ("book", "said"),
    [
        (entry("one", ("tiny.py", "gone", "x")), "'gone' occurs 0 times in tiny.py"),
        (entry("one", ("tiny.py", "long * key", "long * (")), "an edit of mix in reference/tiny.py is no Python"),
    ],
)
def test_verify_mistakes_that_cannot_be_made_are_an_invalid_assignment(tmp_path, book, said):
    """Exit code 2, and no traceback."""
    course = write_mistaken_course(tmp_path, mistakes=book)

    done = Command(course.folder).run("verify", "tiny")

    assert 2 == done.returncode, done.stdout
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_verify_reference_that_loses_a_point_is_an_invalid_assignment(tmp_path):
    """There is nothing to compare with."""
    course = write_mistaken_course(tmp_path)
    check = course.folder / "assignments/tiny/checks/test_mix_hidden.py"
    check.write_text(
        CHECKS["test_mix_hidden.py"].replace("student.raises(ValueError, -1,", "student.raises(ValueError, 1,")
    )

    done = Command(course.folder).run("verify", "tiny")

    assert (2, "Traceback" in done.stderr) == (done.returncode, False)
    assert "the reference itself fails mix.refusal" in done.stderr


def in_a_fork(action):
    """A book whose only mistake does something where mistakes are shared out among forks, and nowhere else."""
    is_fork = "__import__('multiprocessing').parent_process()"
    return entry("one", ("tiny.py", "return torch.ones(", f"return {is_fork} and {action} or torch.ones("))


def test_verify_fork_that_dies_is_told(tmp_path):
    """Nothing is proved then: exit code 2, in a line."""
    course = write_mistaken_course(tmp_path, mistakes=in_a_fork("__import__('os')._exit(3)"))

    done = Command(course.folder).run("verify", "tiny")

    assert 2 == done.returncode, done.stdout
    assert "grade: job 1 of 1 was not finished" in done.stderr
    assert "Traceback" not in done.stderr


def test_verify_interrupted_ends_with_130_and_leaves_nobody(tmp_path):
    """Ctrl-C reaches the whole group, as from a terminal, while forks work."""
    course = write_mistaken_course(tmp_path, mistakes=in_a_fork("__import__('os').killpg(0, 2)"))

    with Command(course.folder).start("verify", "tiny") as process:
        done = finish(process)

    assert 130 == done.returncode, done.stdout
    assert "grade: interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    wait_until(lambda: not is_group(process.pid), "all of them have ended")


def is_group(pid):
    """Whether a process of that group is there."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- claims -----------------------------------------------------------------------------------------------------


def test_claim_with_nothing_tried_does_not_hold():
    """A proof of nothing is none."""
    assert not Claim(title="x", tried=0, held=0).holds


def test_claim_with_nothing_tried_holds_where_nothing_need_be_there():
    """Not every course has collected variants and examples."""
    assert Claim(title="x", tried=0, held=0, is_optional=True).holds


@pytest.mark.parametrize(("held", "holds"), [(10, True), (9, False)])
def test_claim_holds_when_all_do(held, holds):
    """Unless a share is enough."""
    assert holds == Claim(title="x", tried=10, held=held).holds


def test_claim_with_a_share_holds_from_it_on():
    """19 of 20 are 95 %: the bound belongs to it, whatever floating numbers make of it."""
    for tried in range(1, 401):
        needed = -(-19 * tried // 20)

        assert Claim(title="x", tried=tried, held=needed, wanted=0.95).holds
        assert not Claim(title="x", tried=tried, held=needed - 1, wanted=0.95).holds


# --- judging ----------------------------------------------------------------------------------------------------


@pytest.fixture
def mistakes(tmp_path):
    """The sample's mistakes, and two that are alike in one callable only."""
    more = alike("key-squared", "values-swapped", callables=["gate"])
    return read_mistakes(write_mistaken_course(tmp_path, mistakes=MIX + more).reference)


def explained(*slots, callable="mix", is_whole=True, traits=()):
    """What was found in a callable."""
    return Explanation(part="mix", callable=callable, mistakes=slots, is_whole=is_whole, traits=traits)


def trial(*found, made=("not-shifted",), lost=1, failed=("mix.first",)):
    """A trial in which this was found."""
    return Trial(made=frozenset(made), lost=Decimal(lost), failed=failed, explained=found)


def word(mistakes, *found, made=("not-shifted",), is_equal=False):
    """How it is judged."""
    return judge(trial(*found, made=made), mistakes, lambda made, explanation: is_equal).word


def test_judge_mistake_that_is_named_is_right(mistakes):
    """Alone, or among those that cannot be told apart."""
    assert "right" == word(mistakes, explained(("not-shifted",)))
    assert "right" == word(mistakes, explained(("key-squared", "not-shifted")))


def test_judge_mistake_that_is_named_by_one_like_it_is_right(mistakes):
    """As far as it is declared."""
    assert "right" == word(mistakes, explained(("stretch-of-three",)), made=("stretched-in-mix",))


def test_judge_mistake_that_is_named_by_one_like_it_elsewhere_is_wrong(mistakes):
    """They are alike in another callable."""
    assert "wrong" == word(mistakes, explained(("key-squared",)), made=("values-swapped",))
    assert "right" == word(mistakes, explained(("key-squared",), callable="gate"), made=("values-swapped",))


def test_judge_other_name_is_wrong(mistakes):
    """Also beside the right one."""
    judged = judge(trial(explained(("not-shifted",), ("key-squared",))), mistakes, lambda *_: False)

    assert ("wrong", (("key-squared",),)) == (judged.word, judged.strange)


def test_judge_name_in_an_unrecognised_callable_is_wrong(mistakes):
    """A wrong name is worse than none, and no equality excuses it."""
    assert "wrong" == word(mistakes, explained(("key-squared",), is_whole=False), is_equal=True)


def test_judge_other_name_that_no_input_tells_apart_is_equal(mistakes):
    """Neither right nor wrong."""
    assert "equal" == word(mistakes, explained(("key-squared",)), is_equal=True)


def test_judge_callable_that_is_not_recognised_is_unnamed(mistakes):
    """Even when another is."""
    assert "unnamed" == word(mistakes, explained(is_whole=False))
    assert "unnamed" == word(mistakes, explained(("not-shifted",)), explained(is_whole=False, callable="gate"))


def test_judge_nothing_found_is_right_where_nothing_failed(mistakes):
    """A set whose mistakes undo each other loses nothing."""
    assert "right" == word(mistakes)


def test_judge_trait_that_says_what_answers_show_is_no_name(mistakes):
    """It is true whatever was made, and names nothing."""
    assert "unnamed" == word(mistakes, explained(traits=(GRADIENT_LOST,)))


def test_judge_trait_that_says_why_is_a_wrong_name_for_another_mistake(mistakes):
    """That a dtype is fixed inside is a claim about the code."""
    assert "wrong" == word(mistakes, explained(traits=(FLOAT32_INSIDE,)))


def test_trial_is_named_by_mistakes_and_traits_once_each():
    """Over all callables."""
    one = trial(explained(("a", "b")), explained(("a", "b"), ("c",), callable="gate", traits=(GRADIENT_LOST,)))

    assert (("a", "b"), ("c",), (GRADIENT_LOST.id,)) == one.named


def claims_about(mistakes, *judged, checks=("mix.first",)):
    """By the first words of their titles."""
    claims = [*about_mistakes(mistakes, judged), about_checks(judged, checks)]
    return {claim.title: claim for claim in claims}


def test_claims_mistake_that_loses_nothing_does_not_hold(mistakes):
    """It is named in the complaint."""
    free = Judged(trial=trial(lost=0, failed=()), word="right")

    claim = claims_about(mistakes, free)["every mistake loses points"]

    assert (False, ("not-shifted loses none",)) == (claim.holds, claim.complaints)


def test_claims_mistake_that_costs_nothing_but_is_named_holds_nothing_up(mistakes):
    """Each claim is about one thing."""
    free = Judged(trial=trial(explained(("not-shifted",)), lost=0), word="right")

    held = [claim.title for claim in claims_about(mistakes, free).values() if not claim.holds]

    assert ["every mistake loses points"] == held


@pytest.mark.parametrize("verdict", ["wrong", "unnamed", "equal"])
def test_claims_mistake_that_is_not_named_as_itself_does_not_hold(mistakes, verdict):
    """For single mistakes, `equal` is not enough either: it could be declared."""
    judged = Judged(trial=trial(explained(("key-squared",), is_whole=False)), word=verdict)

    claim = claims_about(mistakes, judged)["every mistake is named as itself, or as one declared to be like it"]

    assert not claim.holds
    assert ("not-shifted is named key-squared; not recognised: mix",) == claim.complaints


def test_claims_mistakes_named_together_but_not_declared_do_not_hold(mistakes):
    """Some question should tell them apart, or somebody say that none can."""
    judged = Judged(trial=trial(explained(("not-shifted", "key-squared"))), word="right")

    claim = claims_about(mistakes, judged)["mistakes that are named together are declared to be alike"]

    assert (False, ("mix: no question tells not-shifted from key-squared",)) == (claim.holds, claim.complaints)


def test_claims_mistakes_named_together_and_declared_hold(mistakes):
    """That is what the declaration is for."""
    judged = Judged(
        trial=trial(explained(("stretch-of-three", "stretched-in-mix")), made=("stretched-in-mix",)), word="right"
    )

    assert claims_about(mistakes, judged)["mistakes that are named together are declared to be alike"].holds


def test_claims_check_that_no_mistake_fails_does_not_hold(mistakes):
    """It could be left out, or it is about a mistake that nobody has written down."""
    judged = Judged(trial=trial(explained(("not-shifted",))), word="right")

    claim = claims_about(mistakes, judged, checks=["mix.first", "mix.idle"])["every check is failed by some mistake"]

    assert (1, 2, ("mix.idle: no mistake fails it",)) == (claim.held, claim.tried, claim.complaints)


def test_claims_without_mistakes_do_not_hold(mistakes):
    """Nothing was tried."""
    assert not claims_about(mistakes)["every mistake loses points"].holds


def test_claims_about_sets_count_equal_as_named_and_tell_the_rest():
    """No name is better than a wrong one: one claim for each."""
    words = ["right"] * 18 + ["equal", "unnamed"]
    judged = [Judged(trial=trial(explained(is_whole=False)), word=one) for one in words]

    named, unmistaken = about_sets("pairs", judged, 0.95)

    assert (True, 19, 20) == (named.holds, named.held, named.tried)
    assert "18 right, 1 equal, 1 unnamed, 0 wrong" == named.detail
    assert unmistaken.holds


@pytest.mark.parametrize(("words", "holds"), [("right unnamed", True), ("right unnamed unnamed", False), ("", True)])
def test_claims_about_few_sets_hold_with_one_unnamed(words, holds):
    """A small assignment has few pairs, or none, and no share of those allows for one; but nothing is named wrongly."""
    named, unmistaken = about_sets("pairs", [Judged(trial=trial(), word=one) for one in words.split()], 0.95)

    assert holds == named.holds
    assert unmistaken.holds


def test_claims_about_sets_with_one_wrong_name_do_not_hold():
    """However many are right."""
    judged = [Judged(trial=trial(), word=one) for one in ["right"] * 199 + ["wrong"]]

    named, unmistaken = about_sets("pairs", judged, 0.95)

    assert (True, False) == (named.holds, unmistaken.holds)


def test_are_told_apart_by_some_question(tmp_path):
    """Those that are alike by none."""
    with own_reference():
        predictions = make_case(write_mistaken_course(tmp_path)).predictions

        assert are_told_apart([predictions], frozenset({"not-shifted"}), frozenset({"key-squared"}))
        assert not are_told_apart([predictions], frozenset({"stretch-of-three"}), frozenset({"stretched-in-mix"}))
        assert not are_told_apart([], frozenset({"not-shifted"}), frozenset({"key-squared"}))


# --- forks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("processes", [1, 2, 3, 50])
def test_shared_out_results_come_in_the_order_of_the_jobs(processes):
    """However many forks there are."""
    assert [number * number for number in range(7)] == list(shared_out(range(7), lambda n: n * n, processes))


def test_shared_out_nothing_gives_nothing():
    """No jobs, no results."""
    assert [] == list(shared_out([], str, 4))


def test_shared_out_fork_that_dies_is_reported_by_its_job():
    """With the jobs before it done."""
    done = []

    with pytest.raises(ForkFailed, match="job 3 of 6"):
        done.extend(shared_out(range(6), lambda n: os._exit(1) if n == 2 else n, 1))

    assert not multiprocessing.active_children()


def test_shared_out_fork_that_dies_while_another_waits_is_reported():
    """Results larger than a pipe holds: the others stand still, and must not keep the dead one's pipe open."""
    with pytest.raises(ForkFailed, match="job 2 of 8"):
        list(shared_out(range(8), lambda n: os._exit(1) if n == 1 else "x" * 1_000_000, 2))

    assert not multiprocessing.active_children()


def test_shared_out_job_that_raises_is_reported(capfd):
    """Its traceback is on standard error."""
    with pytest.raises(ForkFailed, match="job 1 of 1"):
        list(shared_out([0], lambda n: 1 // n, 1))

    assert "ZeroDivisionError" in capfd.readouterr().err


def test_shared_out_results_that_nobody_waits_for_leave_no_fork():
    """The caller stops in the middle."""
    with contextlib.closing(shared_out(range(100), lambda n: "x" * 100_000, 3)) as results:
        next(results)

    assert not multiprocessing.active_children()
