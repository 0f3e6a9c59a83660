"""What Jupyter understands and Python does not is emptied out of a cell; every line that stays keeps its number.

Source of the forms: IPython's documentation, "Python vs IPython", and its `core.inputtransformer2`. A form counts only
where a statement may begin, so that neither `a \\n % b` in brackets nor a line of a docstring is taken for one.
"""

import ast
import re
import warnings
from collections.abc import Collection
from typing import NamedTuple

#: Magics whose cell is Python, run among the other cells' names.
_PYTHON_CELLS = frozenset({"time", "capture", "prun", "memit", "mprun", "lprun", "debug", "pyinstrument", "wandb"})
#: Magics whose cell is written to a file: its code is the student's answer when the file's name is a Python file's.
_FILE_CELLS = frozenset({"writefile", "file"})
_CELL_MAGIC = re.compile(r"%%(\w*)[ \t]*(.*)")
_PYTHON_FILE = re.compile(r"(?:.*[/\\ ])?([^\W\d]\w*)\.py['\"]?\s*$")
_RUN = re.compile(r"%run\s+(?:-\S+\s+)*['\"]?(?:\./)?([^\W\d]\w*)(?:\.py|\.ipynb)?['\"]?\s*$")

_ESCAPED = re.compile(r"\s*(?:[%!?]|[,;/](?=\w))")
_HELP = re.compile(r"\s*%{0,2}[^\W\d][\w.*\[\]'\"]*\s*\?\??\s*(?:#.*)?$")
_ASSIGNED = re.compile(r"\s*([^=!<>#'\"()]+?)=\s*[!%](?!=)")
_WORD = re.compile(r"[^\W\d]\w*")

#: What decides how a line goes on: a string's beginning, a comment, a bracket.
_TOKEN = re.compile(r"""(?P<quote>\"{3}|'{3}|"|')|(?P<comment>\#)|(?P<open>[(\[{])|(?P<close>[)\]}])""")


class Plain(NamedTuple):
    """A cell without magics."""

    #: None: it is no Python at all, or not run where other cells see its names.
    text: str | None
    #: Its first line, when that is a magic of the whole cell.
    magic: str = ""
    #: Module that it is written to, by `%%writefile`.
    module: str = ""
    #: Names that magics would have set: `files = !ls`.
    lost: frozenset[str] = frozenset()


def plain(source: str, modules: Collection[str]) -> Plain:
    """A cell as Python. `modules`: stub files by their names without `.py`, for `%run single_head.ipynb`."""
    lines = _unindented(source.split("\n"))
    place = next((at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None)
    found = _CELL_MAGIC.match(lines[place]) if place is not None else None
    if found is None or place is None:
        text, lost = _emptied(lines, modules)
        return Plain(text, lost=lost)
    name, rest = found.groups()
    file = _PYTHON_FILE.match(rest) if name in _FILE_CELLS else None
    if name not in _PYTHON_CELLS and not file:
        return Plain(None, magic=f"%%{name}")
    text, lost = _emptied([*lines[:place], "", *lines[place + 1 :]], modules)
    return Plain(text, magic=f"%%{name}", module=file[1] if file else "", lost=lost)


def parsed(text: str) -> ast.Module:
    """The syntax tree. Raises SyntaxError for whatever Python does not take."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are told when the file is imported
        try:
            return ast.parse(text)
        except SyntaxError:
            raise
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or type(error).__name__) from None


def _unindented(lines: list[str]) -> list[str]:
    """A cell that begins with an indented line was pasted so, and Jupyter takes the indentation away."""
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return [line.removeprefix(indent) for line in lines] if indent else lines


def _emptied(lines: list[str], modules: Collection[str]) -> tuple[str, frozenset[str]]:
    """The text with magics emptied, and the names they would have set. Python that parses has none."""
    text = "\n".join(lines)
    try:
        parsed(text)
        return text, frozenset()
    except SyntaxError:
        pass
    kept: list[str] = []
    lost: set[str] = set()
    state = _State()
    is_magic_open = False  # the line before was a magic that ends in a backslash
    for line in lines:
        if is_magic_open or (state.is_fresh and _is_magic(line)):
            kept.append("" if is_magic_open else _instead(line, modules))
            if not is_magic_open and (assigned := _ASSIGNED.match(line)):
                lost.update(_WORD.findall(assigned[1]))
            is_magic_open = line.rstrip().endswith("\\")
        else:
            kept.append(line)
            state.read(line)
    return "\n".join(kept), frozenset(lost)


def _is_magic(line: str) -> bool:
    return bool(_ESCAPED.match(line) or _HELP.match(line) or _ASSIGNED.match(line))


def _instead(line: str, modules: Collection[str]) -> str:
    """Nothing; below an `if` or in a function something must stand."""
    run = _RUN.match(line)
    if run and run[1] in modules:
        return f"from {run[1]} import *"
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return f"{indent}pass" if indent else ""


class _State:
    """How far a statement goes: open brackets, an open string, a backslash."""

    def __init__(self) -> None:
        self._quote = ""
        self._depth = 0
        self._goes_on = False

    @property
    def is_fresh(self) -> bool:
        """Whether a statement may begin here."""
        return not (self._quote or self._depth or self._goes_on)

    def read(self, line: str) -> None:
        at = 0
        if self._quote:
            at = _end_of_string(line, 0, self._quote)
            if at < 0:
                return
            self._quote = ""
        while token := _TOKEN.search(line, at):
            at = token.end()
            if token["comment"]:
                line = line[: token.start()]
                break
            if token["open"]:
                self._depth += 1
            elif token["close"]:
                self._depth = max(0, self._depth - 1)
            elif (at := _end_of_string(line, at, token["quote"])) < 0:
                self._quote = token["quote"] if len(token["quote"]) == 3 or line.endswith("\\") else ""
                self._goes_on = False
                return
        self._goes_on = line.endswith("\\")


def _end_of_string(line: str, at: int, quote: str) -> int:
    """Where the string that is open ends; -1 when not on this line."""
    while at < len(line):
        if line[at] == "\\":
            at += 2
        elif line.startswith(quote, at):
            return at + len(quote)
        else:
            at += 1
    return -1
