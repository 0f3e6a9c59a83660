"""A notebook becomes the text of stub files, and notes on which cells they were made of.

It is taken apart in a process of its own (`grader.worker.notebook`), whose answer is believed in nothing: what does not
have its exact form is refused. The text is what the student's code will be, and is run like any file of theirs.
"""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.intake.tree import MIB, MOST_BYTES, Refusal
from grader.intake.unpacker import Ended, run_unpacker
from grader.record import clean_text

#: Bytes of the answer for each file: its text, when each character of it is spelt out in JSON, and notes.
_MOST_ANSWER = 6 * MOST_BYTES + MIB
#: Bytes by which comments and empty lines may make a file longer than its cells are.
_MOST_ADDED = MIB
_MOST_CELLS, _MOST_LINES = 1_000_000, 10_000_000
#: Characters of a name, and cells named in a note: more than the process sends.
_LONGEST_NAME, _MOST_NAMED = 100, 20
#: Cells of a file that are told one by one.
_MOST_TOLD = 40

_CLEAR = "clear all outputs, save it, and hand it in again"
_AGAIN = "open it in Jupyter, save it, and hand it in again"
_COUNTED = "cells counted from the top, text cells too"
#: Why nothing is taken, by the process's word for it. The name of the notebook stands before it.
_PROBLEMS = {
    "empty": f"is empty; {_AGAIN}",
    "cut": f"is only the beginning of a notebook: it ends in line {{0}}; {_AGAIN}",
    "json": f"is damaged: it is no JSON from line {{0}}, column {{1}} on; {_AGAIN}",
    "form": f"is no notebook, whatever its name says: it has no list of cells; {_AGAIN}",
    "deep": f"is nested as deeply as no notebook is; {_CLEAR}",
    "language": "is a notebook of {0}, wanted one of Python",
    "much_code": f"holds more than {MOST_BYTES // 1024} KiB of code; hand in only the cells that the task asks for",
    "memory": f"takes too much memory to read; {_CLEAR}",
}
_TOO_SLOW = f"takes too long to read; {_CLEAR}"
_ASTRAY = "cannot be taken apart, for a reason no ordinary notebook gives; hand in the cells' code as Python files"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notebook:
    """What a notebook gives."""

    #: Stub files by name (`masked.py`): their text.
    texts: Mapping[str, str] = field(default_factory=dict)
    #: Those it does not give: why.
    unreadable: Mapping[str, str] = field(default_factory=dict)
    #: Which cells were taken, and what a person ought to know.
    notes: tuple[str, ...] = ()


def read_notebook(
    data: bytes, name: str, asked: Mapping[str, Collection[str]], others: Collection[str] = ()
) -> Notebook:
    """What a notebook gives of some stub files.

    Args:
        data: its bytes.
        name: what to call it.
        asked: by stub file, the names it asks for.
        others: stub files that are not asked of this notebook, but which its cells may import.

    Raises:
        IntakeError: this machine has no process left for it.
    """
    title = _shown(name)
    modules = {file: file.removesuffix(".py") for file in (*others, *asked)}
    names = {modules[file]: sorted(asked.get(file, ())) for file in modules}
    try:
        return read_answer(_ask(data, title, names), title, asked)
    except Refusal as refused:
        return Notebook(unreadable=dict.fromkeys(asked, f"{title} {refused}"))


def _ask(data: bytes, title: str, names: Mapping[str, Collection[str]]) -> bytes:
    """The answer of the process. Raises Refusal: the notebook prevents one."""
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Refusal(f"is not UTF-8: byte 0x{data[error.start]:02x} in line {line}; {_AGAIN}") from None
    settings = {"title": title, "asked": names, "most": MOST_BYTES}
    answer = run_unpacker(data, settings, len(names) * _MOST_ANSWER, "notebook.program")
    if isinstance(answer, Ended):
        raise Refusal(_TOO_SLOW if answer is Ended.TOO_SLOW else _ASTRAY)
    return answer


def read_answer(answer: bytes, title: str, asked: Mapping[str, Collection[str]]) -> Notebook:
    """What the process says of the notebook that is called so, once it has the form it must have.

    Raises:
        Refusal: it says that nothing can be taken, or it has another form.
    """
    try:
        return _Reader(title, asked).notebook(json.loads(answer))
    except (ValueError, KeyError, IndexError, RecursionError):
        raise Refusal(_ASTRAY) from None


class _Reader:
    """Reads an answer, which may be anything, about one notebook."""

    def __init__(self, title: str, asked: Mapping[str, Collection[str]]) -> None:
        self._title = title
        self._asked = asked

    def notebook(self, answer: Any) -> Notebook:
        """Raises Refusal: nothing can be taken. Raises ValueError, KeyError or IndexError for another form."""
        match answer:
            case {"files": dict(files), "notes": list(notes), **rest} if not rest:
                return self._notebook(files, notes)
            case {"problem": [str(kind), *details], **rest} if not rest:
                raise Refusal(_problem(kind, details))
        raise ValueError("no answer")

    def _notebook(self, files: dict[str, Any], notes: list[Any]) -> Notebook:
        made = {f"{module}.py": said for module, said in files.items()}
        if not made.keys() <= self._asked.keys():
            raise ValueError("a file that was not asked for")
        texts = {}
        told = []
        for file, said in made.items():
            texts[file], note = self._file(file, said)
            told.append(note)
        missing = {file: self._nothing(file) for file in self._asked if file not in texts}
        return Notebook(
            texts={file: texts[file] for file in self._asked if file in texts},
            unreadable=missing,
            notes=(*told, *(self._note(note) for note in notes)),
        )

    def _file(self, file: str, said: Any) -> tuple[str, str]:
        """The text of a file, and which cells it was made of."""
        match said:
            case {"text": str(text), "cells": list(cells), **rest} if set(rest) == {"defines"} and cells:
                if len(text.encode()) > MOST_BYTES + _MOST_ADDED:  # half a surrogate pair raises a ValueError
                    raise ValueError("more than was asked for")
                return text, f"{file} was made of {self._title}, {_COUNTED}: {_listed(list(map(_placed, cells)))}"
        raise ValueError("no file")

    def _nothing(self, file: str) -> str:
        names = ", ".join(sorted(self._asked[file]))
        return f"no cell of {self._title} defines {'one of ' if len(self._asked[file]) > 1 else ''}{names}"

    def _note(self, said: Any) -> str:
        match said:
            case [str(kind), str(file), str(name), list(cells), int(line)] if len(name) <= _LONGEST_NAME:
                if (file and f"{file}.py" not in self._asked) or len(cells) > _MOST_NAMED:
                    raise ValueError("a note on something else")
                where = [_cell(cell) for cell in cells]
                return self._words(kind, f"{file}.py", clean_text(name), where, _count(line, 0, _MOST_LINES))
        raise ValueError("no note")

    def _words(self, kind: str, file: str, name: str, cells: list[str], line: int) -> str:
        """Raises KeyError or IndexError for what no note says."""
        title = self._title
        if kind == "missing":
            unseen = f", but for {cells[0]}, whose %% line keeps it from the others" if cells else ""
            return f"{file} lacks {name}: no cell of {title} defines it{unseen}"
        if kind == "several":
            return f"{name} is defined in {' and '.join(cells[1:])} of {title}; {file} was made with {cells[0]}"
        if kind == "too_late":
            return f"{file} may fail: {cells[0]} of {title} needs {name}, which is only defined later, in {cells[1]}"
        return {
            "left": f"{file} uses {name}, which only {cells[0]} of {title} sets; that was left out as an experiment",
            "broken_kept": f"{cells[0]} of {title} is no Python (line {line} of the cell); it was to define {name}",
            "broken_left": f"{cells[0]} of {title} was left out: it is no Python (line {line} of the cell)",
            "no_source": f"{cells[0]} of {title} was left out: it holds no text",
        }[kind]


def _problem(kind: str, details: list[Any]) -> str:
    shown = [clean_text(str(detail))[:_LONGEST_NAME] for detail in details if isinstance(detail, (str, int))]
    return _PROBLEMS[kind].format(*shown)


def _listed(places: list[str]) -> str:
    more = len(places) - _MOST_TOLD
    told = places[:_MOST_TOLD] + ([f"and {more} more"] if more > 0 else [])
    return "; ".join(told)


def _placed(said: Any) -> str:
    """`cell 5, In [3] (lines 2 to 30)`."""
    match said:
        case [cell, first, last]:
            first, last = _count(first, 1, _MOST_LINES), _count(last, 1, _MOST_LINES)
            return f"{_cell(cell)} (line{'' if first == last else 's'} {_lines(first, last)})"
    raise ValueError("no place")


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def _cell(said: Any) -> str:
    match said:
        case [position, None]:
            return f"cell {_count(position, 1, _MOST_CELLS)}"
        case [position, count]:
            return f"cell {_count(position, 1, _MOST_CELLS)}, In [{_count(count, 1, 10**15)}]"
    raise ValueError("no cell")


def _count(said: Any, least: int, most: int) -> int:
    if type(said) is not int or not least <= said <= most:
        raise ValueError("no such number")
    return said


def _shown(name: str) -> str:
    """A notebook's name where it becomes part of a line: of a comment in its code, of a note."""
    plain = "".join(one if one.isprintable() else "?" for one in clean_text(name))
    return plain if len(plain) <= _LONGEST_NAME else f"{plain[: _LONGEST_NAME - 1]}…"


def files_answered(data: bytes, asked: Mapping[str, Collection[str]]) -> Iterator[str]:
    """Stub files of which a notebook defines some name.

    Raises:
        IntakeError: this machine has no process left for it.
    """
    yield from read_notebook(data, "notebook", asked).texts
