"""A notebook's JSON becomes its cells of code.

Format 4 has `cells` with `source` and `execution_count`; formats 2 and 3 have `worksheets` whose cells of code have
`input`, `prompt_number` and a `language` (nbformat's JSON schemas, and its converters between the two). A source is a
text, or a list of lines with their ends. What else a notebook holds, outputs and pictures, is not looked at.
"""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

#: Digits of a number that is read as one; Python refuses to read some thousands.
_MOST_DIGITS = 15
#: Characters before the end within which an error of syntax means that the rest is missing.
_AT_THE_END = 8


class Cell(NamedTuple):
    """A cell of code."""

    #: Place among all cells, text and all, from 1: as a person counts who looks at the notebook.
    position: int
    #: What the notebook shows as `In [n]`; None when it was not recorded.
    number: int | None
    #: Its text, lines ending in a newline. None: it has none that can be read.
    source: str | None


class Unusable(Exception):
    """Nothing can be taken. `args`: the kind, then a line, a column or a word."""


def read_cells(text: str, most: int) -> list[Cell]:
    """The cells of code, in order.

    Args:
        text: the whole notebook.
        most: bytes that all code together may have.

    Raises:
        Unusable: it is no notebook, no Python, or too much.
    """
    notebook = _parsed(text)
    if not isinstance(notebook, dict):
        raise Unusable("form")
    _must_be_python(notebook)
    cells = [cell for cell in _cells(notebook) if cell is not None]
    if sum(len((cell.source or "").encode()) for cell in cells) > most:
        raise Unusable("much_code")
    return cells


def _parsed(text: str) -> Any:
    if not text.strip():
        raise Unusable("empty")
    try:
        return json.loads(text, parse_int=_whole, parse_float=_nothing, parse_constant=_nothing)
    except json.JSONDecodeError as error:
        is_cut = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip()) - _AT_THE_END
        raise Unusable("cut" if is_cut else "json", error.lineno, error.colno) from None
    except RecursionError:
        raise Unusable("deep") from None


def _whole(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


def _nothing(text: str) -> None:
    """Figures of plots, by the million, take no memory; no number with a point is of interest."""


def _must_be_python(notebook: dict[str, Any]) -> None:
    metadata = _dict(notebook.get("metadata"))
    for section, key in (("language_info", "name"), ("kernelspec", "language")):
        language = _dict(metadata.get(section)).get(key)
        if isinstance(language, str) and language and "python" not in language.lower():
            raise Unusable("language", language[:40])


def _cells(notebook: dict[str, Any]) -> Iterator[Cell | None]:
    """Cells of code; None for others, and for what is no cell, which a person counts as well."""
    if isinstance(notebook.get("cells"), list):
        everything = notebook["cells"]
    elif isinstance(notebook.get("worksheets"), list):
        sheets = [_dict(sheet).get("cells") for sheet in notebook["worksheets"]]
        everything = [cell for sheet in sheets if isinstance(sheet, list) for cell in sheet]
    else:
        raise Unusable("form")
    for position, cell in enumerate(everything, 1):
        yield _cell(position, cell) if isinstance(cell, dict) and cell.get("cell_type") == "code" else None


def _cell(position: int, cell: dict[str, Any]) -> Cell | None:
    # An editor's mark for a cell of another language, and that of the older formats.
    language = _dict(_dict(cell.get("metadata")).get("vscode")).get("languageId", cell.get("language"))
    if isinstance(language, str) and language and "python" not in language.lower():
        return None
    count = cell.get("execution_count", cell.get("prompt_number"))
    is_shown = isinstance(count, int) and not isinstance(count, bool) and count > 0
    return Cell(position, count if is_shown else None, _source(cell.get("source", cell.get("input"))))


def _source(source: Any) -> str | None:
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        source = "".join(source)
    if not isinstance(source, str):
        return None
    # Half a surrogate pair can be written in JSON, and is no text.
    return source.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
