"""What a report says beyond verdicts: mistakes recognised and what they cost, small examples, shapes on the way."""

from pydantic import Field

from grader.record import Record, Score, StudentText


class Charge(Record):
    """The price of one recognised mistake."""

    mistake: str
    """Id of the mistake."""
    price: Score
    """Points it costs here; 0 where its whole price was charged before."""
    carried_from: str | None = None
    """The callable in which the same mistake was charged first, if it was."""
    callable: str = ""
    """The callable that loses it."""


class Diagnosis(Record):
    """One mistake the student made, recognised by what the code answered."""

    part: str
    """Name of the part it was made in."""
    callables: tuple[str, ...]
    """Functions and classes that show it."""
    mistakes: tuple[str, ...]
    """Ids of the mistakes that no input can tell apart; the first gives title and explanation."""
    catalogue: tuple[str, ...] = ()
    """Ids in the catalogue of mistakes."""
    title: str
    """The mistake in a line."""
    alternatives: tuple[str, ...] = ()
    """The titles of the other `mistakes`, in their order, where several cannot be told apart."""
    hint: str = ""
    """What to think about, for before the deadline: points at the idea, gives no code."""
    explanation: str
    """Why it is one, for after the deadline."""
    evidence: StudentText = ""
    """What shows it in this submission, where that is more than its answers: a line of its code, calls it fails in.

    Students read it, so it quotes nothing of a hidden check.
    """
    checks: tuple[str, ...]
    """Ids of the checks it explains."""


class Matrix(Record):
    """A tensor or a plain value, small enough to be checked by hand."""

    name: str
    """Argument, parameter, returned value or gradient."""
    shape: tuple[int, ...] = ()
    """Sizes of its axes; empty for a single value."""
    axes: tuple[str, ...] = ()
    """Names of its axes; empty where they are not known."""
    cells: tuple[StudentText, ...]
    """Its elements as text, the last axis running fastest."""


class Example(Record):
    """The smallest call found in which a callable still goes wrong. Its inputs are its own, never a hidden check's."""

    part: str
    """Name of the part."""
    callable: str
    """Function or class."""
    call: str
    """What is called, as text."""
    inputs: tuple[Matrix, ...]
    """Arguments, and the parameters of a module."""
    expected: tuple[Matrix, ...]
    """Right values; empty where an error is right."""
    observed: tuple[Matrix, ...] = ()
    """What the student's code gave, in the same order; empty where it gave no value."""
    remark: StudentText = ""
    """Where it goes wrong, in words: which head, position, part of the vector; or what was raised."""


class Step(Record):
    """One tensor operation of a student's code."""

    file: StudentText
    """File of the line that made it."""
    line: int | None = None
    """Number of that line."""
    operation: StudentText
    """Name of the operation."""
    inputs: tuple[StudentText, ...]
    """Shapes of the tensors that went in, as text."""
    output: StudentText
    """Shape of what came out, as text; empty where nothing did."""
    times: int = Field(default=1, ge=1)
    """How often the line made it, in a row with these shapes."""
    stage: str = ""
    """Which of the shapes that the assignment states it is; empty where that is not certain."""
    departs: StudentText = ""
    """Set on one step at most, the first that departs from what the assignment states: how."""


class Shapes(Record):
    """The way of the tensors through one call of a callable, as the student's code took it."""

    part: str
    """Name of the part."""
    callable: str
    """Function or class."""
    call: str
    """What was called, as text."""
    sizes: str
    """The sizes of the call by the names of their axes, as text."""
    steps: tuple[Step, ...]
    """The operations in order."""
    is_cut: bool = False
    """Whether there were more."""
    wanted: tuple[str, ...] = ()
    """The shapes that the assignment states for the way, in order, as text."""
