"""The words of checks: what they ask, how often, and of which object."""

import pytest
import torch
from sample_course import Pupil, Scripted, examination_of, forbidden, own_reference, raised, write_course
from torch import nn

from grader.checks import Checks, Student
from grader.failure import CheckFailed
from grader.given import Given
from grader.outcome import Died, Outcome
from grader.sources import Sources
from grader.verdict import Verdict

GIVEN = Given(7, "test")
QUERY, KEY = GIVEN.normal("query", 2, 3), GIVEN.normal("key", 2, 3)


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """The tiny course."""
    with own_reference():
        yield write_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def student(course):
    """A student whose callable is the one given."""

    def make(part, name, callable_, **options):
        pupil = Pupil({name: callable_})
        student = Student(examination_of(course, pupil, **options), part, name)
        student.pupil = pupil
        return student

    return make


class Scale(nn.Module):
    """What the reference does; counts its calls."""

    made = 0

    def __init__(self, size):
        super().__init__()
        Scale.made += 1
        self.proj = nn.Linear(size, size + 1)
        self.calls = 0

    def forward(self, query):
        self.calls += 1
        return self.proj(query)


def right(query, key, mask=None):
    """What the reference does."""
    return query * key, query + key


def failure(claim, *arguments, **options):
    """How a claim fails."""
    with pytest.raises(CheckFailed) as failed:
        claim(*arguments, **options)
    return failed.value


# --- markers ----------------------------------------------------------------------------------------------------


@pytest.fixture
def marker(pytestconfig):
    """The marker that a session of checks registers; unknown ones are errors in this one."""
    pytestconfig.addinivalue_line("markers", "check: a graded question")


@pytest.mark.usefixtures("marker")
def test_checks_marker_carries_what_a_check_states():
    """One name needs no tuple; numbers become their text, so that 0.1 stays 0.1."""
    mark = Checks("mix").check(points=0.1, requires="form", hint="look", title="Row").mark

    assert {"callable": "mix", "points": "0.1", "requires": ("form",), "hint": "look", "title": "Row"} == mark.kwargs


@pytest.mark.usefixtures("marker")
def test_checks_marker_takes_several_prerequisites():
    """And none, by default."""
    assert ("a", "b") == Checks("mix").check(points=1, requires=["a", "b"]).mark.kwargs["requires"]
    assert () == Checks("mix").check(points=1).mark.kwargs["requires"]


# --- asking -----------------------------------------------------------------------------------------------------


def test_checks_equal_questions_are_put_once(student):
    """Several checks look at one answer."""
    asking = student("mix", "mix", right)

    asking(QUERY, KEY).matches("output")
    asking(QUERY.clone(), KEY.clone()).matches("weights")

    assert 1 == len(asking.pupil.asked)


def test_checks_other_questions_are_put(student):
    """Gradients, dtype and keywords make another question."""
    asking = student("mix", "mix", right)

    asking(QUERY, KEY)
    asking(QUERY, KEY, gradients=True)
    asking(QUERY, KEY, mask=None)
    asking(QUERY, KEY, dtype="float32")

    assert [((), "float64"), (("query", "key"), "float64"), ((), "float64"), ((), "float32")] == [
        (call.wants, call.dtype) for call in asking.pupil.asked
    ]


def test_checks_gradients_are_asked_of_floating_inputs_that_are_no_masks(student):
    """Nobody needs the gradient of a mask, nor of whole numbers."""
    asking = student("mix", "mix", right)

    asking(QUERY, KEY, torch.zeros(2, 3), gradients=True)
    asking(QUERY, torch.ones(2, 3, dtype=torch.int64), gradients=True)

    assert [("query", "key"), ("query",)] == [call.wants for call in asking.pupil.asked]


def test_checks_tensor_given_twice_arrives_as_one_object(student):
    """Self-attention is a question of its own: code may compare by identity."""
    met = []

    def look(query, key, mask=None):
        met.append(query is key)
        return right(query, key)

    asking = student("mix", "mix", look)

    asking(QUERY, QUERY).matches()
    asking(QUERY, QUERY.clone()).matches()

    assert [True, False] == met


def test_checks_call_runs_with_the_default_dtype_of_its_inputs(student):
    """A buffer made without a dtype is float64 in a float64 call, and float32 where a check says so."""
    met = []

    def look(query, key, mask=None):
        met.append(torch.zeros(1).dtype)
        return right(query, key)

    asking = student("mix", "mix", look)
    asking(QUERY, KEY)
    asking(QUERY, KEY, dtype="float32")

    assert [torch.float64, torch.float32] == met
    assert torch.float32 == torch.get_default_dtype()


def test_checks_call_in_float32_by_wish_is_not_asked_again(student):
    """A dtype check looks at the first answer."""
    asking = student("mix", "mix", lambda query, key, mask=None: (query.float(), key.float()))

    assert Verdict.WRONG_DTYPE is failure(asking(QUERY, KEY, dtype="float32").has_dtype, torch.float64).verdict
    assert 1 == len(asking.pupil.asked)


def test_checks_more_arguments_than_the_assignment_names_are_the_authors_mistake(student):
    """No student is blamed for a check that cannot be put."""
    with pytest.raises(
        TypeError, match=r"mix is given 4 arguments; .*assignment\.toml names \('query', 'key', 'mask'\)"
    ):
        student("mix", "mix", right)(QUERY, KEY, None, None)


@pytest.mark.parametrize(
    ("sources", "verdict"),
    [
        (Sources(texts={"scale.py": ""}), Verdict.MISSING_FILE),
        (Sources(texts={"scale.py": ""}, unreadable={"mix.py": "it is not UTF-8"}), Verdict.IMPORT_ERROR),
    ],
    ids=["missing", "unreadable"],
)
def test_checks_without_the_file_nobody_is_asked(student, sources, verdict):
    """A file that is not there needs no worker; one that cannot be read is not called missing."""
    asking = student("mix", "mix", right, sources=sources)

    failed = failure(asking, QUERY, KEY)

    assert (verdict, ("scale.py",)) == (failed.verdict, failed.fact.found)
    assert verdict is failure(asking.raises, ValueError, QUERY, KEY, when="always").verdict
    assert [] == asking.pupil.asked


# --- modules ----------------------------------------------------------------------------------------------------


def test_checks_module_gets_the_parameters_drawn_for_it(student):
    """The student's own initial weights do not matter."""
    module = student("scale", "Scale", Scale).build(given=GIVEN, size=3)

    answer = module(QUERY, gradients=True)

    answer.matches()
    answer.gradients_match("query", "parameters")


def test_checks_module_can_be_given_its_parameters(student):
    """A check may copy weights from elsewhere."""
    parameters = {
        "proj.weight": torch.ones(4, 3, dtype=torch.float64),
        "proj.bias": torch.zeros(4, dtype=torch.float64),
    }

    answer = student("scale", "Scale", Scale).build(parameters=parameters, size=3)(QUERY)

    assert torch.allclose(QUERY.sum(-1, keepdim=True).expand(2, 4), answer.value("output"))


def test_checks_module_without_parameters_to_set_is_the_authors_mistake(student):
    """Initial weights would be compared with other initial weights."""
    with pytest.raises(TypeError, match="build needs the parameters, or given to draw them from"):
        student("scale", "Scale", Scale).build(size=3)


def test_checks_second_call_of_a_module_reaches_the_object_of_the_first(student):
    """What the first call left behind shows in the second."""

    class Sticky(Scale):
        def forward(self, query):
            self.first = getattr(self, "first", query.shape[0])
            return self.proj(query[: self.first])

    module = student("scale", "Scale", Sticky).build(given=GIVEN, size=3)

    module(GIVEN.normal("short", 1, 3)).matches()

    assert Verdict.WRONG_SHAPE is failure(module(QUERY).matches).verdict


def test_checks_second_call_reaches_the_same_object_even_when_the_first_was_known(student):
    """An answer looked up from another check's object does not leave this one fresh."""

    class Sticky(Scale):
        def forward(self, query):
            self.first = getattr(self, "first", query.shape[0])
            return self.proj(query[: self.first])

    asking = student("scale", "Scale", Sticky)
    asking.build(given=GIVEN, size=3)(GIVEN.normal("short", 1, 3)).matches()
    asking.build(given=GIVEN, size=3)(QUERY).matches()
    module = asking.build(given=GIVEN, size=3)

    module(GIVEN.normal("short", 1, 3)).matches()

    assert Verdict.WRONG_SHAPE is failure(module(QUERY).matches).verdict


def test_checks_second_call_in_float32_reaches_the_object_of_the_first(student):
    """The second try in float32 has the history of the first."""

    class Sticky(Scale):
        def forward(self, query):
            self.first = getattr(self, "first", query.shape[0])
            return (
                self.proj(query[: self.first]).float()
                if query.dtype == torch.float64
                else self.proj(query[: self.first])
            )

    module = student("scale", "Scale", Sticky).build(given=GIVEN, size=3)

    module(GIVEN.normal("short", 1, 3)).matches()

    assert Verdict.WRONG_SHAPE is failure(module(QUERY).matches).verdict


def test_checks_two_modules_are_two_objects(student):
    """What one call left behind does not reach another check's module."""

    class Counting(Scale):
        def forward(self, query):
            self.calls += 1
            return self.proj(query) + (self.calls - 1)

    asking = student("scale", "Scale", Counting)

    asking.build(given=GIVEN, size=3)(QUERY).matches()
    asking.build(given=GIVEN, size=3)(KEY).matches()


def test_checks_module_is_called_in_eval_mode_unless_a_check_says_train(student):
    """Only the check that compares both asks for training."""
    met = []

    class Looking(Scale):
        def forward(self, query):
            met.append(self.training)
            return self.proj(query)

    asking = student("scale", "Scale", Looking)
    asking.build(given=GIVEN, size=3)(QUERY)
    asking.build(given=GIVEN, size=3)(QUERY, mode="train")

    assert [False, True] == met


def test_checks_module_made_double_answers_in_float64(student):
    """Under the usual default dtype, `.double()` converts what was made."""
    module = student("scale", "Scale", Scale).build(given=GIVEN, size=3)

    module(QUERY, dtype="float32", is_double=True).has_dtype(torch.float64)


def test_checks_module_whose_layers_are_made_in_the_call_is_unstable(student):
    """New random weights with every call."""

    class Forgetful(Scale):
        def forward(self, query):
            return nn.Linear(3, 4)(query)

    module = student("scale", "Scale", Forgetful).build(given=GIVEN, size=3)

    assert Verdict.UNSTABLE is failure(module(QUERY).matches).verdict


class Misnamed(nn.Module):
    """A projection under another name."""

    def __init__(self, size):
        super().__init__()
        self.projection = nn.Linear(size, size + 1)


class Broken(Scale):
    """Right parameters, no forward pass."""

    def forward(self, query):
        raise KeyError("x")


@pytest.mark.parametrize("cls", [Scale, Broken])
def test_checks_right_parameters_pass_whatever_forward_does(student, cls):
    """The names of the layers are a matter of their own."""
    student("scale", "Scale", cls).build(given=GIVEN, size=3).has_its_parameters(QUERY)


def test_checks_right_parameters_pass_though_forward_makes_a_forbidden_call(course):
    """What was called is held against the checks of its values."""
    respondent = Scripted(Outcome(reply=forbidden()))
    module = Student(examination_of(course, respondent), "scale", "Scale").build(given=GIVEN, size=3)

    module.has_its_parameters(QUERY)

    assert Verdict.FORBIDDEN is failure(module(QUERY).matches).verdict


def test_checks_module_whose_making_is_forbidden_has_no_parameters(course):
    """There is no module to look at."""
    respondent = Scripted(Outcome(reply=forbidden(stage="build")))
    module = Student(examination_of(course, respondent), "scale", "Scale").build(given=GIVEN, size=3)

    assert Verdict.FORBIDDEN is failure(module.has_its_parameters, QUERY).verdict


def test_checks_forbidden_call_is_not_asked_again_in_float32(course):
    """No dtype is in the way."""
    respondent = Scripted(Outcome(reply=forbidden()))
    student = Student(examination_of(course, respondent), "mix", "mix")

    assert Verdict.FORBIDDEN is failure(student(QUERY, KEY).matches).verdict
    assert 1 == len(respondent.asked)


@pytest.mark.parametrize(
    ("cls", "verdict"),
    [
        (Misnamed, Verdict.WRONG_PARAMETERS),
        (lambda size: "no module", Verdict.WRONG_PARAMETERS),
        (lambda size: nn.Linear(size, size)[0], Verdict.EXCEPTION),
    ],
    ids=["misnamed", "no-module", "raises"],
)
def test_checks_other_parameters_fail(student, cls, verdict):
    """A wrong name, no module at all, or none that can be made."""
    module = student("scale", "Scale", cls).build(given=GIVEN, size=3)

    assert verdict is failure(module.has_its_parameters, QUERY).verdict


# --- errors the task asks for -----------------------------------------------------------------------------------


class Strict(ValueError):
    """A subclass of what is wanted."""


def raising(error):
    """A function that raises this."""

    def function(*arguments, **keywords):
        raise error

    return function


@pytest.mark.parametrize("error", [ValueError("no"), Strict("no")])
def test_checks_error_that_is_asked_for_passes(student, error):
    """The class itself, or one below it."""
    student("mix", "gate", raising(error)).raises(ValueError, -1, when="for a negative length")


@pytest.mark.parametrize(
    ("function", "verdict"),
    [
        (lambda length: abs(length), Verdict.NOT_RAISED),
        (raising(KeyError("no")), Verdict.NOT_RAISED),
        (raising(AssertionError("no")), Verdict.NOT_RAISED),
    ],
    ids=["returns", "other", "assert"],
)
def test_checks_error_that_does_not_come_fails(student, function, verdict):
    """Neither a value nor another error will do."""
    failed = failure(student("mix", "gate", function).raises, ValueError, -1, when="for a negative length")

    assert (verdict, "ValueError", "for a negative length") == (failed.verdict, failed.fact.wanted, failed.fact.when)


def test_checks_stub_is_not_blamed_for_the_wrong_error(student):
    """NotImplementedError is work to do, even where another error is wanted."""
    asking = student("mix", "gate", raising(NotImplementedError()))

    assert Verdict.NOT_IMPLEMENTED is failure(asking.raises, ValueError, -1, when="x").verdict


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        (Died(stage="call", exit_code=1), Verdict.CRASHED),
        (raised(stage="import", type="ValueError", bases=("ValueError",)), Verdict.IMPORT_ERROR),
    ],
    ids=["died", "import"],
)
def test_checks_call_without_an_answer_is_not_a_missing_error(course, reply, verdict):
    """The wanted class at import, or the end of the program, is not the error asked for."""
    asking = Student(examination_of(course, Scripted(Outcome(reply=reply))), "mix", "gate")

    assert verdict is failure(asking.raises, ValueError, -1, when="x").verdict


def test_checks_wanted_error_behind_float32_arithmetic_is_found(student):
    """A dtype that is written out costs the dtype check, not also the error the task asks for."""

    def late(query, key, mask=None):
        scores = query @ torch.eye(3, dtype=torch.float32)
        raise ValueError(f"nothing allowed in {scores.shape}")

    student("mix", "mix", late).raises(ValueError, QUERY, KEY, when="always")


def test_checks_module_that_must_refuse_an_input(student):
    """Its `forward` raises what the task asks for, or it does not."""

    class Careful(Scale):
        def forward(self, query):
            if query.ndim != 2:
                raise ValueError("axes")
            return super().forward(query)

    careful, careless = (student("scale", "Scale", cls).build(given=GIVEN, size=3) for cls in (Careful, Scale))
    query = GIVEN.normal("query", 4, 2, 3)

    careful.raises(ValueError, query, when="there are three axes")
    failed = failure(careless.raises, ValueError, query, when="there are three axes")

    assert (Verdict.NOT_RAISED, None) == (failed.verdict, failed.fact.raised)


def test_checks_module_that_must_not_be_made(student):
    """`__init__` raises what the task asks for, or it does not."""

    class Careful(Scale):
        def __init__(self, size):
            if size < 1:
                raise ValueError("size")
            super().__init__(size)

    student("scale", "Scale", Careful).build_raises(ValueError, size=0, when="for size 0")
    failed = failure(student("scale", "Scale", Scale).build_raises, ValueError, size=2, when="for size 2")

    assert (Verdict.NOT_RAISED, None) == (failed.verdict, failed.fact.raised)


class Learning(Scale):
    """Has one parameter more than the task names, and counts its calls."""

    def __init__(self, size):
        super().__init__(size)
        self.temperature = torch.nn.Parameter(torch.ones(1), requires_grad=False)
        self.times = 0

    def forward(self, query):
        self.times += 1
        return super().forward(query) * self.times


def test_checks_extra_parameter_costs_the_check_of_the_parameters_only(student):
    """One mistake, one price: what the task names is there, and is set."""
    module = student("scale", "Scale", Learning).build(given=Given(1, "x"), size=3)

    module(QUERY).matches()

    assert Verdict.WRONG_PARAMETERS is failure(module.has_its_parameters, QUERY).verdict


def test_checks_extra_parameter_that_the_task_does_not_forbid_costs_nothing(student):
    """Those that it names must still be there."""
    module = student("scale", "Scale", Learning).build(given=Given(1, "x"), size=3)
    other = student("scale", "Scale", Misnamed).build(given=GIVEN, size=3)

    module.has_its_parameters(QUERY, may_have_more=True)

    assert Verdict.WRONG_PARAMETERS is failure(other.has_its_parameters, QUERY, may_have_more=True).verdict


def test_checks_later_calls_reach_an_object_with_its_history(student):
    """The first call may have been looked up, so it is put again before the second; after that each is put once."""
    asking = student("scale", "Scale", Learning)
    module = asking.build(given=Given(1, "x"), size=3)
    module(QUERY).matches()
    before = len(asking.pupil.asked)

    for query in (QUERY + 1, QUERY + 2):
        module(query)

    digests = [call.digest for call in asking.pupil.asked]
    assert [1, 1] == [digests[before:].count(digest) for digest in digests[before:]]
    assert failure(module(QUERY + 3).matches)
