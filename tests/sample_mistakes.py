"""The tiny course with two modules of reference and some mistakes, to diagnose with.

`write_mistaken_course` writes it; a `Case` puts its questions to the reference, and to whoever else answers.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from sample_course import ASSIGNMENT, Pupil, write_course

from grader.assignment import Assignment
from grader.checks import Student
from grader.course import Course
from grader.diagnosis.computed import ComputedAnswers
from grader.diagnosis.confirm import Failures
from grader.diagnosis.edited import Edited
from grader.diagnosis.explain import Account, account_for
from grader.diagnosis.mistakes import Mistakes, read_mistakes
from grader.diagnosis.predict import Predictions
from grader.diagnosis.search import Budget
from grader.examination import Examination, Respondent
from grader.failure import CheckFailed
from grader.given import Given, Inputs
from grader.oracle import Oracle
from grader.question import Observation
from grader.sources import Sources
from grader.trusted import TrustedRespondent

TINY = """\
import torch
from torch import nn

from reference.steps import shifted, stretched


def mix(query, key, mask=None):
    long = stretched(query)
    first = long * key
    total = shifted(query + key)
    return first, total


def mix_again(query, key, mask=None):
    return key * query * 2.0, None


def gate(length):
    if length < 0:
        raise ValueError("length must not be negative")
    return torch.ones(length, length, dtype=torch.bool).tril()


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        if size < 1:
            raise ValueError("size must be positive")
        self.proj = nn.Linear(size, size + 1)

    def forward(self, query):
        return self.proj(shifted(query))
"""

STEPS = """\
STRETCH = 2.0


def stretched(tensor):
    return tensor * STRETCH


def shifted(tensor):
    return tensor + 1.0
"""


#: The axes of `mix`'s inputs, as the assignment states them for the first.
QUERY_AXES = 'query = ["row", "column"]'


def entry(name: str, *edits: tuple[str, str, str], price: str = "1", more: str = "") -> str:
    """A `[[mistake]]` of a file of mistakes; an edit is file, old, new. One that a trait names has no price."""
    priced = "" if "known_as" in more else f"price = {price}\n"
    return (
        f'[[mistake]]\nid = "{name}"\ntitle = "Title of {name}"\nexplanation = "Explanation of {name}."\n'
        f'hint = "Hint of {name}."\n{priced}{more}{_edits(edits)}\n'
    )


def variation(name: str, *edits: tuple[str, str, str]) -> str:
    """A `[[variation]]`."""
    return f'[[variation]]\nid = "{name}"\nwhy = "As right."\n{_edits(edits)}\n'


def alike(*names: str, callables: Iterable[str] = ()) -> str:
    """An `[[alike]]`."""
    return f'[[alike]]\nmistakes = {list(names)}\ncallables = {list(callables)}\nwhy = "The same."\n'


def harmless(*names: str, callables: Iterable[str]) -> str:
    """A `[[harmless]]`."""
    return f'[[harmless]]\nmistakes = {list(names)}\ncallables = {list(callables)}\nwhy = "Right there."\n'


def _edits(edits: Iterable[tuple[str, str, str]]) -> str:
    lines = [f"  {{ file = '''{file}''', old = '''{old}''', new = '''{new}''' }},\n" for file, old, new in edits]
    return f"edits = [\n{''.join(lines)}]\n"


#: In the order of the book. `stretched-in-mix` is like `stretch-of-three`; `stretch-forgotten` hides both;
#: `product-in-total` only raises.
MIX = "".join(
    (
        entry("stretch-of-three", ("steps.py", "STRETCH = 2.0", "STRETCH = 3.0")),
        entry("stretched-in-mix", ("tiny.py", "stretched(query)", "stretched(query) * 1.5"), price="0.5"),
        entry("not-shifted", ("steps.py", "tensor + 1.0", "tensor")),
        entry("shift-multiplied", ("steps.py", "tensor + 1.0", "tensor * 2.0")),
        entry("key-squared", ("tiny.py", "long * key", "long * key * key")),
        entry("stretch-forgotten", ("tiny.py", "long * key", "query * key")),
        entry("values-swapped", ("tiny.py", "return first, total", "return total, first")),
        entry("product-in-total", ("tiny.py", "query + key", "query @ key")),
        alike("stretch-of-three", "stretched-in-mix"),
        variation("shifted-before", ("tiny.py", "shifted(query + key)", "shifted(query) + key")),
    )
)
GATE = "".join(
    (
        entry("without-diagonal", ("tiny.py", "tril()", "tril(-1)")),
        entry("upper", ("tiny.py", "tril()", "triu()")),
        entry("negative-taken", ("tiny.py", "if length < 0:", "if length < -99:")),
    )
)
SCALE = entry("projected-twice", ("tiny.py", "self.proj(shifted(query))", "self.proj(shifted(query)) * 2"))

CHECKS = {
    "test_mix.py": '''\
from grader.checks import Checks

mix = Checks("mix")


@mix.check(points=2)
def test_first(student, given):
    """The first value is right."""
    student(given.normal("query", 2, 3), given.normal("key", 2, 3), gradients=True).matches("output")


@mix.check(points=1)
def test_second(student, given):
    """The second value is right."""
    student(given.normal("query", 4, 5), given.normal("key", 4, 5)).matches("weights")


@mix.check(points=1)
def test_gradients(student, given):
    """The gradients are right."""
    student(given.normal("query", 2, 3), given.normal("key", 2, 3), gradients=True).gradients_match("query", "key")
''',
    "test_mix_hidden.py": '''\
from grader.checks import Checks

gate = Checks("gate")


@gate.check(points=1)
def test_gate(student):
    """The gate is right."""
    student(3).matches_mask(3, 3)


@gate.check(points=1)
def test_refusal(student):
    """A negative length is refused."""
    student.raises(ValueError, -1, when="the length is negative")
''',
    "test_scale.py": '''\
from grader.checks import Checks

scale = Checks("Scale")


@scale.check(points=4)
def test_scale(student, given):
    """The output is right."""
    student.build(given=given, size=3)(given.normal("query", 2, 3)).matches()
''',
}
STUBS = {
    "mix.py": 'def mix(query, key, mask=None):\n    """Mix."""\n    raise NotImplementedError\n\n\n'
    'def gate(length):\n    """Gate."""\n    raise NotImplementedError\n',
    "scale.py": "from torch import nn\n\n\nclass Scale(nn.Module):\n    def __init__(self, size):\n"
    "        super().__init__()\n        self.proj = nn.Linear(size, size + 1)\n\n"
    "    def forward(self, query):\n        raise NotImplementedError\n",
}
#: Right code, to be handed in.
RIGHT = {
    "mix.py": "import torch\n\n\ndef mix(query, key, mask=None):\n    return query * key * 2, query + key + 1\n\n\n"
    "def gate(length):\n    if length < 0:\n        raise ValueError('negative')\n"
    "    return torch.arange(length) <= torch.arange(length)[:, None]\n",
    "scale.py": "from torch import nn\n\n\nclass Scale(nn.Module):\n    def __init__(self, size):\n"
    "        super().__init__()\n        self.proj = nn.Linear(size, size + 1)\n\n"
    "    def forward(self, query):\n        return self.proj(1 + query)\n",
}


def write_mistaken_course(folder: Path, *, mistakes: str | None = None, **files: str) -> Course:
    """Write the course into an empty folder.

    Args:
        mistakes: entries in the place of the usual ones.
        files: texts of modules of the reference, by name, in the place of the usual ones, or beside them.
    """
    course = write_course(folder)
    texts = {
        "assignments/tiny/assignment.toml": ASSIGNMENT.replace(QUERY_AXES, f"{QUERY_AXES}, key{QUERY_AXES[5:]}", 1),
        **{f"assignments/tiny/checks/{name}": text for name, text in CHECKS.items()},
        **{f"assignments/tiny/stub/{name}": text for name, text in STUBS.items()},
        **{f"reference/variants/tiny/plain/{name}": text for name, text in RIGHT.items()},
        **{f"reference/{name}.py": text for name, text in ({"tiny": TINY, "steps": STEPS} | files).items()},
    }
    books = {"gate": GATE, "mix": MIX, "scale": SCALE} if mistakes is None else {"own": mistakes}
    texts |= {f"reference/mistakes/{name}.toml": text for name, text in books.items()}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return course


Put = Callable[[Examination], None]


def put_to_mix(examination: Examination) -> None:
    """Two questions about values and gradients."""
    student, given = Student(examination, "mix", "mix"), given_by(examination)
    _put(student, given.normal("query", 2, 3), given.normal("key", 2, 3), gradients=True)
    _put(student, given.normal("long query", 4, 5), given.normal("long key", 4, 5))


def put_to_gate(examination: Examination) -> None:
    """Two masks, and the error that a negative length is to raise."""
    student = Student(examination, "mix", "gate")
    _put(student, 3)
    _put(student, 4)
    with contextlib.suppress(CheckFailed):
        student.raises(ValueError, -1, when="the length is negative")


def put_to_scale(examination: Examination) -> None:
    """Two calls of one object."""
    given = given_by(examination)
    shapes = examination.oracle.parameter_shapes("scale", "Scale", {"size": 3})
    module = Student(examination, "scale", "Scale").build(parameters=given.parameters(shapes), size=3)
    _put(module, given.normal("query", 2, 3), gradients=True)
    _put(module, given.normal("later query", 2, 3))


def given_by(examination: Examination) -> Given:
    """Inputs of a check of its own."""
    return examination.inputs.scope("questions")


def _put(asked: Callable[..., object], *arguments: object, **options: object) -> None:
    with contextlib.suppress(CheckFailed):
        asked(*arguments, **options)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A course whose questions were put to its reference."""

    course: Course
    assignment: Assignment
    inputs: Inputs
    oracle: Oracle
    mistakes: Mistakes
    edited: Edited
    put: Put
    part: str
    name: str
    rehearsed: Sequence[Observation] = field(default_factory=tuple)

    @property
    def predictions(self) -> Predictions:
        """A new one: nothing is known yet."""
        answers = ComputedAnswers(self.edited, self.oracle.target(self.part, self.name))
        return Predictions(self.assignment, answers, self.part, self.name, self.rehearsed)

    def examination(self, respondent: Respondent) -> Examination:
        """An examination that has asked nothing yet."""
        there = Sources(texts=dict.fromkeys(self.assignment.files, ""))
        return Examination(self.assignment, self.inputs, self.oracle, respondent, there)

    def asked(self, respondent: Respondent) -> Examination:
        """An examination in which the questions were put."""
        examination = self.examination(respondent)
        self.put(examination)
        return examination

    def reference(self, *made: str) -> TrustedRespondent:
        """The reference with mistakes made, as a student."""
        return TrustedRespondent(self.oracle, lambda: self.edited.modules(made))

    def account(
        self,
        student: Respondent | Callable[..., Any],
        budget: int = 1000,
        suspects: Sequence[Sequence[frozenset[str]]] = (),
    ) -> Account | None:
        """What accounts for a student's answers; a callable is a student who has written just that."""
        respondent = pupil(self.name, student) if callable(student) else student
        examination, predictions = self.asked(respondent), self.predictions
        confirm = Failures(examination, predictions).are_alike
        return account_for(predictions, examination.observations, Budget(budget), confirm, suspects)


_USUAL: Mapping[str, tuple[Put, str]] = {
    "mix": (put_to_mix, "mix"),
    "gate": (put_to_gate, "mix"),
    "Scale": (put_to_scale, "scale"),
}


def make_case(course: Course, name: str = "mix", put: Put | None = None, seed: int = 7) -> Case:
    """The case of a callable; `put` puts other questions than the usual ones."""
    assignment = course.assignment("tiny")
    inputs = Inputs(seed)
    oracle = Oracle(course.reference, assignment, inputs)
    mistakes = read_mistakes(course.reference)
    usual, part = _USUAL[name]
    case = Case(
        course=course,
        assignment=assignment,
        inputs=inputs,
        oracle=oracle,
        mistakes=mistakes,
        edited=Edited(mistakes),
        put=put or usual,
        part=part,
        name=name,
    )
    rehearsed = tuple(case.asked(TrustedRespondent(oracle)).observations.values())
    return Case(**{**vars(case), "rehearsed": rehearsed})


def pupil(name: str, written: Callable[..., Any]) -> Pupil:
    """A student who has written one callable, in a file of tests."""
    return Pupil({name: written}, is_own=lambda file: Path(file).name.startswith("test_diagnosis"))


def right_mix(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, ...]:
    """What a student would write."""
    return query * key * 2, query + key + 1
