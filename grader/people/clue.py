"""Looking somebody up by all that is known of them: the surest clue decides, and must not be contradicted."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


class Index(Generic[T]):
    """A list of people, by one thing that each may be found by."""

    def __init__(self, people: Iterable[tuple[T, Iterable[str]]]) -> None:
        found: dict[str, list[T]] = defaultdict(list)
        for person, keys in people:
            for key in dict.fromkeys(keys):
                found[key].append(person)
        self._found = {key: tuple(those) for key, those in found.items() if key}

    def find(self, keys: Iterable[str]) -> tuple[T, ...]:
        """All that have one of these keys, each once."""
        found: list[T] = []
        for key in keys:
            found += (one for one in self._found.get(key, ()) if one not in found)
        return tuple(found)

    def items(self) -> Iterable[tuple[str, tuple[T, ...]]]:
        """All keys, and who has them."""
        return self._found.items()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clue(Generic[T]):
    """What somebody was looked for by, and who has it: nobody, one, or several."""

    way: str
    text: str = ""
    found: tuple[T, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contradiction(Generic[T]):
    """Clues lead to different people, so that one of them is wrong, and nobody knows which."""

    first: Clue[T]
    against: tuple[Clue[T], ...]


def follow(clues: Iterable[Clue[T]]) -> tuple[T, ...] | Contradiction[T]:
    """Who the surest clue that leads anywhere leads to, if no other clue leads to other people only.

    Args:
        clues: the surest first. A name is no clue beside a number: others may have it too.

    Returns:
        Nobody, one, or several who cannot be told apart.
    """
    leading = [clue for clue in clues if clue.found]
    if not leading:
        return ()
    first, *others = leading
    against = tuple(clue for clue in others if not set(clue.found) & set(first.found))
    return Contradiction(first=first, against=against) if against else first.found
