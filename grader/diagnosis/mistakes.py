"""The known mistakes of a course: `reference/mistakes/<topic>.toml`, one-place edits of the reference.

    [[mistake]]
    id = "scale-by-d"
    title = "The scores are divided by d, not by its square root"
    explanation = "..."
    hint = "..."
    price = 2
    edits = [{ file = "attention.py", old = "scores / math.sqrt(dim)", new = "scores / dim" }]

    [[alike]]
    mistakes = ["scale-by-d", "scaled-twice"]
    why = "..."

    [[variation]]
    id = "filled-with-minus-1e9"
    why = "..."
    edits = [...]

An edit's `old` occurs exactly once in its file, so it cannot drift silently. A mistake that people make in several
functions has an edit in each, and all of them are made together: a callable shows those that it reaches.
"""

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from grader.assignment import near
from grader.diagnosis.traits import TRAITS

FOLDER = "mistakes"


class MistakeError(Exception):
    """The mistakes of a course cannot be used; the text says where, what was found, what was wanted."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Edit(_Entry):
    """In `file` of the reference, `old` becomes `new`."""

    file: str
    old: Annotated[str, Field(min_length=1)]
    new: str


class Named(_Entry):
    """What is said of a mistake, and what it costs."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    #: Ids in a published catalogue of mistakes.
    catalogue: tuple[str, ...] = ()
    #: The mistake in a line.
    title: Annotated[str, Field(min_length=1, max_length=120)]
    #: Why it is one, and what is right: for after the deadline.
    explanation: str
    #: Points at the idea, and gives no code: for before the deadline.
    hint: Annotated[str, Field(min_length=1)]
    #: Points it costs, once a submission, whatever it breaks. None exactly where a trait is named, and charged, for it.
    price: Annotated[Decimal, Field(ge=0)] | None = None


class Mistake(Named):
    """One way to get it wrong."""

    explanation: Annotated[str, Field(min_length=1)]
    price: Annotated[Decimal, Field(gt=0)] | None = None
    edits: Annotated[tuple[Edit, ...], Field(min_length=1)]
    #: The trait by whose name it is known, where its answers cannot name it: random ones, say. See `traits`.
    known_as: str | None = None

    @model_validator(mode="after")
    def _is_charged_by_its_own_name(self) -> Self:
        if (self.price is None) != (self.known_as is not None):
            raise ValueError("a price, or known_as, the trait whose price is charged; one of them and not both")
        return self


class Variation(_Entry):
    """Right code written in another way than the reference, which only shows in the company of a mistake."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    why: Annotated[str, Field(min_length=1)]
    edits: Annotated[tuple[Edit, ...], Field(min_length=1)]


class Alike(_Entry):
    """Mistakes that give the same answers on every input, so that none of them can be told from the others."""

    mistakes: Annotated[tuple[str, ...], Field(min_length=2)]
    #: The callables where they do; empty: everywhere.
    callables: tuple[str, ...] = ()
    why: Annotated[str, Field(min_length=1)]


class Harmless(_Entry):
    """Mistakes of a shared topic that no input of a task shows, so that there they are right code."""

    mistakes: Annotated[tuple[str, ...], Field(min_length=1)]
    #: The callables where that is so.
    callables: Annotated[tuple[str, ...], Field(min_length=1)]
    why: Annotated[str, Field(min_length=1)]


_Edited = TypeVar("_Edited", Mistake, Variation)


class _Topic(_Entry):
    mistake: tuple[Mistake, ...] = ()
    variation: tuple[Variation, ...] = ()
    alike: tuple[Alike, ...] = ()
    harmless: tuple[Harmless, ...] = ()


class Mistakes:
    """All mistakes of a course, in the order of the files."""

    def __init__(
        self,
        all_of_them: Iterable[Mistake],
        variations: Iterable[Variation],
        alike: Iterable[Alike],
        texts: Mapping[str, str],
        harmless: Iterable[Harmless] = (),
    ) -> None:
        """`texts`: the reference's modules by file name."""
        self.by_id = {mistake.id: mistake for mistake in all_of_them}
        self.variations = tuple(variations)
        self.alike = tuple(alike)
        self.texts = dict(texts)
        self.harmless = tuple(harmless)

    def __iter__(self) -> Iterator[Mistake]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)

    def without(self, ids: Iterable[str]) -> "Mistakes":
        """The others."""
        left_out = set(ids)
        others = (one for one in self if one.id not in left_out)
        return Mistakes(others, self.variations, self.alike, self.texts, self.harmless)

    def within(self, files: Collection[str], is_wanted: Callable[[Edit], bool]) -> "Mistakes":
        """Those with a wanted edit, and of their edits and of the reference only what lies in these files."""

        def narrowed(entries: Iterable[_Edited]) -> list[_Edited]:
            wanted = (one for one in entries if any(map(is_wanted, one.edits)))
            return [
                one.model_copy(update={"edits": tuple(edit for edit in one.edits if edit.file in files)})
                for one in wanted
            ]

        texts = {file: text for file, text in self.texts.items() if file in files}
        return Mistakes(narrowed(self), narrowed(self.variations), self.alike, texts, self.harmless)

    def is_harmless(self, one: str, callable: str) -> bool:
        """Whether a mistake is declared to change no answer of a callable."""
        return any(one in group.mistakes and callable in group.callables for group in self.harmless)

    def are_alike(self, one: str, other: str, callable: str) -> bool:
        """Whether two mistakes are declared to be the same in a callable."""
        return any(
            one in group.mistakes and other in group.mistakes and (not group.callables or callable in group.callables)
            for group in self.alike
        )


def read_mistakes(reference: Path) -> Mistakes:
    """The mistakes in a course's `reference/` folder; none when it has no folder `mistakes`.

    Raises:
        MistakeError: a file is no TOML, holds a wrong or unknown field, an id twice, a trait that does not exist, an
            edit whose `old` does not occur exactly once, or two edits of one entry in one place.
    """
    texts = {file.name: file.read_text(encoding="utf-8") for file in sorted(reference.glob("*.py"))}
    mistakes: dict[str, Mistake] = {}
    variations: dict[str, Variation] = {}
    groups: list[Alike | Harmless] = []
    for file in sorted((reference / FOLDER).glob("*.toml")):
        topic = _read(file)
        for mistake in topic.mistake:
            _check(file, mistake, texts, mistakes.keys() | variations.keys())
            mistakes[mistake.id] = mistake
        for variation in topic.variation:
            _check(file, variation, texts, mistakes.keys() | variations.keys())
            variations[variation.id] = variation
        groups += [*topic.alike, *topic.harmless]
    for group in groups:
        unknown = [one for one in group.mistakes if one not in mistakes]
        if unknown:
            section = type(group).__name__.lower()
            raise MistakeError(f"{reference / FOLDER}: [[{section}]] names {unknown[0]!r}, which is no mistake")
    alike = [one for one in groups if isinstance(one, Alike)]
    harmless = [one for one in groups if isinstance(one, Harmless)]
    return Mistakes(mistakes.values(), variations.values(), alike, texts, harmless)


def _read(file: Path) -> _Topic:
    data: dict[str, Any] = {}
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
        return _Topic.model_validate(data)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MistakeError(f"{file}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise MistakeError("\n".join(_fault(file, data, fault) for fault in error.errors())) from None


def _fault(file: Path, data: Mapping[str, Any], fault: Any) -> str:
    place = ".".join(str(step) for step in fault["loc"])
    entry = _entry(data, fault["loc"])
    if fault["type"] == "extra_forbidden":
        sections: dict[str, type[_Entry]] = {
            "mistake": Mistake,
            "variation": Variation,
            "alike": Alike,
            "harmless": Harmless,
            "edits": Edit,
        }
        named = [step for step in fault["loc"][:-1] if step in sections]
        known = (sections[named[-1]] if named else _Topic).model_fields
        return f"{file}, {place}: unknown key{near(str(fault['loc'][-1]), known)}; got {fault['input']!r}{entry}"
    return f"{file}, {place}: {fault['msg']}; got {fault['input']!r}{entry}"


def _entry(data: Mapping[str, Any], place: Sequence[int | str]) -> str:
    """Which entry a place in a file lies in, in words; nothing where it has no id."""
    if len(place) < 2 or not isinstance(place[1], int):
        return ""
    found = data[str(place[0])][place[1]]
    name = found.get("id") if isinstance(found, dict) else None
    return f", in {name!r}" if isinstance(name, str) else ""


def _check(file: Path, entry: Mistake | Variation, texts: Mapping[str, str], taken: Collection[str]) -> None:
    """Hold an entry to what its fields alone do not say. `taken`: the ids of those before it."""
    if entry.id in taken:
        raise MistakeError(f"{file}: two entries are called {entry.id}; ids must differ in a course")
    if isinstance(entry, Mistake) and entry.known_as is not None and entry.known_as not in TRAITS:
        raise MistakeError(f"{file}, {entry.id}: known_as {entry.known_as!r}; there are: {', '.join(TRAITS)}")
    places: dict[str, list[tuple[int, int]]] = {}
    for edit in entry.edits:
        if edit.old == edit.new:
            raise MistakeError(f"{file}, {entry.id}: {edit.old!r} is old and new, so that it changes nothing")
        if edit.file not in texts:
            raise MistakeError(f"{file}, {entry.id}: edits {edit.file!r}; there are: {', '.join(texts)}")
        starts = list(_starts(texts[edit.file], edit.old))
        if len(starts) != 1:
            raise MistakeError(
                f"{file}, {entry.id}: {edit.old!r} occurs {len(starts)} times in {edit.file}, wanted exactly once"
            )
        others = places.setdefault(edit.file, [])
        start, end = starts[0], starts[0] + len(edit.old)
        if any(start < other_end and other_start < end for other_start, other_end in others):
            raise MistakeError(f"{file}, {entry.id}: {edit.old!r} in {edit.file} is changed by two of its edits")
        others.append((start, end))


def _starts(text: str, part: str) -> Iterator[int]:
    """Where a part begins in a text, also where it overlaps itself."""
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)
