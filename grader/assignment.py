"""An assignment, as its `assignment.toml` states it: parts, callables, points, limits, tolerances.

Read once and checked whole: every fault names the file, the field, what was found and what was wanted.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import PydanticCustomError

from grader.digest import digest_of
from grader.fault import Fault
from grader.late import LatePolicy

FILE = "assignment.toml"
#: Folder of a course's reference with right solutions of every style, by assignment: they decide no grade.
VARIANTS = "variants"
#: Names in a message that says which there are.
_MOST_NAMED = 12
#: The axis of a station that stands for that of queries or of keys.
_POSITION = "position"


class AssignmentError(Fault):
    """An assignment cannot be used; the text says where, what was found, what was wanted."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Station(_Section):
    """A tensor that every solution has on its way, whatever its axes are called and ordered there."""

    name: str
    axes: tuple[str, ...]


class Callable(_Section):
    """A function or class a stub asks for."""

    kind: Literal["function", "module"]
    #: Names of the positional arguments of the function, or of the module's `forward`.
    arguments: tuple[str, ...]
    #: Names of the returned values; one name: the value alone, not in a tuple.
    returns: Annotated[tuple[str, ...], Field(min_length=1)]
    #: Attributes of a module that hold a value once `forward` has run; claimed like returned ones.
    keeps: tuple[str, ...] = ()
    #: Whether a mask that is returned stands for the one it is broadcast to; false where the task states its shape.
    is_broadcast: bool = True
    #: How a module's parameters are told from one another: by the names that the task gives them; or by structure,
    #: where students name the parts as they like.
    parameters: Literal["by name", "by structure"] = "by name"
    #: What a bias is that the reference has not, of a layer whose weight a check sets: `random`, as the student's code
    #: made it; or `zero`, where a layer made with its bias is to cost the check of the parameters and nothing else.
    spare_biases: Literal["random", "zero"] = "random"
    #: Names of the axes of arguments and returned values: for messages, and to make the same call with other sizes. An
    #: argument with fewer axes has the last of these; one of length 1 is broadcast.
    axes: dict[str, tuple[str, ...]] = {}
    #: Axes that are as long as another in every call: `key = "query"` where both are the tokens of one sequence.
    equal: dict[str, str] = {}
    #: Whole-number arguments, of the call or of `__init__`, that are the size of an axis: argument to axis.
    sizes: dict[str, str] = {}
    #: Axes that are made of others: `dim = ["head", "head dim"]` says that dim is their product, head outermost.
    splits: dict[str, tuple[str, ...]] = {}
    #: The shapes on the way from arguments to returned values, in order. The axis `position` is query or key.
    way: tuple["Station", ...] = ()
    #: Where right answers come from: `module:name` below the course's `reference/`.
    reference: str
    #: The same callable through PyTorch's own module; optional.
    library: str | None = None
    #: What it is called there, for people.
    library_title: str = "PyTorch"

    @property
    def values(self) -> tuple[str, ...]:
        """Names of all values of an answer: those returned, and those kept."""
        return (*self.returns, *self.keeps)

    @cached_property
    def lengths(self) -> dict[str, tuple[str, ...]]:
        """The axes of each value, as `axes` has them, by the names of those whose length they have."""
        return {name: tuple(self.equal.get(axis, axis) for axis in axes) for name, axes in self.axes.items()}

    @property
    def sources(self) -> dict[str, str]:
        """Names that a check may compare with, and where they are."""
        return {"reference": self.reference} | ({"library": self.library} if self.library else {})


class Part(_Section):
    """One stub file."""

    #: The file's name without `.py`; no `_hidden` at its end, which marks a file of hidden checks.
    name: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
    title: str
    points: Annotated[Decimal, Field(gt=0)]
    callables: Annotated[dict[str, Callable], Field(min_length=1)]

    @property
    def file(self) -> str:
        """Name of the file students hand in."""
        return f"{self.name}.py"


class Limits(_Section):
    """What a student's code may use. Seconds are wall clock but for `cpu_s`."""

    #: Importing one file.
    import_s: Annotated[float, Field(gt=0)] = 10.0
    #: One call; it takes milliseconds, so two seconds forgive a slow machine.
    call_s: Annotated[float, Field(gt=0)] = 2.0
    #: All calls and imports of one submission together.
    submission_s: Annotated[float, Field(gt=0)] = 20.0
    #: Timeouts of one callable after which it is not called again.
    timeouts: Annotated[int, Field(ge=1)] = 2
    #: Processor seconds of one worker; a second line behind the deadlines.
    cpu_s: Annotated[int, Field(ge=1)] = 30
    #: MiB of memory beyond what torch itself takes.
    memory_mib: Annotated[int, Field(ge=64)] = 1024
    #: Open files of one worker.
    files: Annotated[int, Field(ge=16)] = 64


class Tolerances(_Section):
    """Largest difference allowed, times the largest expected value of the call (or 1, when that is smaller).

    float64: correct code with a float32 softmax inside differs by up to 5.2e-7, with 1e-6 added to the denominator of
    its softmax by up to 4e-6, the mildest wrong variant by 4.7e-4. float32: ten times what correct float32 code
    differs by.
    """

    float64: Annotated[float, Field(gt=0)] = 1e-5
    float32: Annotated[float, Field(gt=0)] = 1e-4


class Feedback(_Section):
    """How much a student is told."""

    level: Literal["verdict", "hint", "full"] = "hint"
    #: The day from which everything is told, usually that after the deadline.
    full_from: date | None = None


def _forbidden_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\.[\w*?]+", name, re.ASCII):
        raise PydanticCustomError(
            "forbidden_name",
            "wanted a dotted name with its module, such as torch.nn.Linear or torch.nn.Transformer* "
            "(* and ? may stand in the last part only)",
        )
    return name


def _package_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise PydanticCustomError("package_name", "wanted the name of a package as it is imported, such as numpy")
    return name


class Rules(_Section):
    """What a student's code may not call, and what it may import."""

    #: Functions and classes by their dotted names; `*` and `?` stand for letters of the last part. An operator of
    #: torch, by whatever way it is reached, is `torch.ops.aten.NAME`.
    forbidden: tuple[Annotated[str, AfterValidator(_forbidden_name)], ...] = ()
    #: Dotted names that a person should look at, as globs without regard to capitals; `*` stands for anything.
    flagged: tuple[str, ...] = ()
    #: Whether a statement at the top of a stub file that fails costs no more than what it would have defined: for files
    #: that hold much that is not asked for.
    passes_over_failures: bool = False
    #: Installed packages, beside the standard library and the submission's own files.
    imports: tuple[Annotated[str, AfterValidator(_package_name)], ...] = ("torch", "numpy")


class Lab(_Section):
    """What `grade lab` experiments on."""

    #: Which experiments: those of a module with one projection for queries, keys and values, and a causal mask.
    kind: Literal["fused-self-attention"]
    #: The class, of any part.
    callable: str


class Assignment(_Section):
    """A whole `assignment.toml`."""

    #: The folder it was read from.
    folder: Path
    title: str
    #: Seed that students' own checks use; `grade` draws a fresh one for each run.
    published_seed: Annotated[int, Field(ge=0)] = 0
    parts: Annotated[tuple[Part, ...], Field(min_length=1)]
    limits: Limits = Limits()
    tolerances: Tolerances = Tolerances()
    feedback: Feedback = Feedback()
    rules: Rules = Rules()
    #: What handing in late costs; nothing where it is left out. Not part of the digest.
    late: LatePolicy | None = None
    #: What is experimented on; nothing where it is left out. Not part of the digest.
    lab: Lab | None = None
    #: What a callable loses whose mistakes are all known: `mistakes`, the price of each, once a submission; or
    #: `checks`, the points of every check that fails.
    scoring: Literal["checks", "mistakes"] = "mistakes"
    #: Prices of mistakes that differ here from those in the course's `reference/mistakes/`, in points.
    prices: dict[str, Annotated[Decimal, Field(ge=0)]] = {}

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def where(self) -> Path:
        """The file it was read from."""
        return self.folder / FILE

    @property
    def max_score(self) -> Decimal:
        return sum((part.points for part in self.parts), Decimal(0))

    @property
    def checks(self) -> Path:
        """Folder of the checks."""
        return self.folder / "checks"

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files students hand in, in the order of the parts."""
        return tuple(part.file for part in self.parts)

    def part(self, name: str) -> Part:
        """The part of that name. Raises AssignmentError, with near matches."""
        for part in self.parts:
            if part.name == name:
                return part
        self._unknown("part", name, [part.name for part in self.parts])

    def callable(self, part: str, name: str) -> Callable:
        """A callable of a part. Raises AssignmentError, with near matches."""
        callables = self.part(part).callables
        if name not in callables:
            self._unknown(f"callable of {part}", name, list(callables))
        return callables[name]

    def part_of(self, name: str) -> Part:
        """The first part that asks for a callable of that name. Raises AssignmentError, with near matches."""
        for part in self.parts:
            if name in part.callables:
                return part
        self._unknown("callable", name, [name for part in self.parts for name in part.callables])

    def must_know_prices(self, known: Iterable[str]) -> None:
        """Raise AssignmentError, with a near match, where `[prices]` names something that has no price.

        `known`: ids of the course's mistakes, and of the traits that cost something.
        """
        there = list(known)
        for name in self.prices:
            if name not in there:
                self._unknown("mistake with a price", name, there)

    def _unknown(self, what: str, name: str, known: list[str]) -> NoReturn:
        raise AssignmentError(f"{self.where}: no {what} is called {name!r}{near(name, known)}")

    @cached_property
    def digest(self) -> str:
        """Identity of what decides a grade: what is stated here, the checks, and what they lead to in the reference.

        `[late]` is left out: it decides nothing of what code earns, and a deadline that moves makes nobody grade again.
        So is `[lab]`, which has no part in a grade.
        """
        stated = tomllib.loads(self.where.read_text(encoding="utf-8"))
        for section in ("late", "lab"):
            stated.pop(section, None)
        callables = (callable for part in self.parts for callable in part.callables.values())
        modules = {source.partition(":")[0] for callable in callables for source in callable.sources.values()}
        return digest_of(stated, self.checks, self.folder.parents[1] / "reference", modules)


def read_assignment(folder: Path) -> Assignment:
    """The assignment in a folder.

    Raises:
        AssignmentError: `assignment.toml` is missing, is no TOML, or holds a wrong, missing or unknown field.
    """
    file = folder / FILE
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise AssignmentError(f"{file}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{file}: not valid TOML: {error}") from None
    if "folder" in data:  # a field of the record, but not of the file
        raise AssignmentError(f"{file}, folder: unknown key{near('folder', _known_keys(()))}")
    try:
        assignment = Assignment.model_validate(data | {"folder": folder.resolve()})
    except ValidationError as error:
        raise AssignmentError("\n".join(_fault(file, fault) for fault in error.errors())) from None
    names = [part.name for part in assignment.parts]
    hidden = [name for name in names if name.endswith("_hidden")]
    if hidden:
        raise AssignmentError(f"{file}, parts.name: {hidden[0]!r} ends like a file of hidden checks; rename it")
    if len(set(names)) != len(names):
        raise AssignmentError(f"{file}, parts: two parts have one name; got {names}")
    strange = [
        f"{file}, parts.{part.name}.callables.{name}.{fault}"
        for part in assignment.parts
        for name, callable in part.callables.items()
        for fault in _faults_of_axes(callable)
    ]
    if strange:
        raise AssignmentError("\n".join(strange))
    if assignment.lab:
        name = assignment.lab.callable
        if assignment.part_of(name).callables[name].kind != "module":
            raise AssignmentError(f"{file}, lab.callable: {name} is a function; wanted a module")
    return assignment


def _faults_of_axes(callable: Callable) -> Iterator[str]:
    """Names of values and of axes that nothing has."""
    values = [*callable.arguments, *callable.values]
    if callable.kind == "function" and callable.keeps:
        yield f"keeps: got {list(callable.keeps)}; only a module keeps values"
    for name in callable.axes:
        if name not in values:
            yield f"axes.{name}: no argument, and nothing that is returned{near(name, values)}"
    axes = {axis for named in callable.axes.values() for axis in named} | callable.splits.keys()
    axes |= {axis for parts in callable.splits.values() for axis in parts}
    lengths = sorted(axes - callable.equal.keys())
    for axis, other in callable.equal.items():
        if axis not in axes:
            yield f"equal.{axis}: no value has this axis{near(axis, sorted(axes))}"
        elif other not in lengths:
            yield f"equal.{axis}: got the axis {other!r}{near(other, lengths)}"
    for argument, axis in callable.sizes.items():
        if axis not in lengths:
            yield f"sizes.{argument}: got the axis {axis!r}{near(axis, lengths)}"
    for station in callable.way:
        for axis in station.axes:
            if axis not in axes | {_POSITION}:
                yield f"way.{station.name}: got the axis {axis!r}{near(axis, sorted(axes | {_POSITION}))}"


def _fault(file: Path, fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"])
    if fault["type"] == "extra_forbidden":
        return f"{file}, {place}: unknown key{near(str(fault['loc'][-1]), _known_keys(fault['loc'][:-1]))}"
    if fault["type"] == "missing":
        return f"{file}, {place}: missing; it must be given"
    found = fault["input"]
    shown = found.isoformat() if isinstance(found, date) else repr(found)  # a time is a date, too
    return f"{file}, {place}: {fault['msg']}; got {shown}"


def _known_keys(path: tuple[int | str, ...]) -> list[str]:
    """Field names of the section at a path."""
    sections: dict[str, type[BaseModel]] = {
        "parts": Part,
        "callables": Callable,
        "way": Station,
        "limits": Limits,
        "tolerances": Tolerances,
        "feedback": Feedback,
        "rules": Rules,
        "late": LatePolicy,
        "lab": Lab,
    }
    named = [step for step in path if isinstance(step, str) and step in sections]
    section = sections[named[-1]] if named else Assignment
    return [name for name in section.model_fields if name != "folder"]


def near(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or what there is; of many, the first."""
    close = difflib.get_close_matches(name, names := list(known), n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    more = len(names) - _MOST_NAMED
    return f"; there are: {', '.join(names[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}"
