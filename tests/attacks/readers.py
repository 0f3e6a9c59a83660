"""What could hurt whoever opens a report, looked for in the files and on the terminal of a finished run.

Whatever a student wrote may stand in a report, but as text: nothing that runs, loads, links, redraws the terminal,
reverses what is read, or computes in a spreadsheet.
"""

import csv
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

#: Controls but tab and newline, C1 controls, and what reorders or hides characters.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_FORMULA = re.compile(r"\s*[=+\-@\t\r|%]")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_AROUND = 60
Finding = tuple[str, str]


def dangers(report: Path, printed: str) -> Iterator[Finding]:
    """What is dangerous, and the text around it, from which its author is known."""
    yield from _controls("terminal", printed)
    for page in sorted(report.rglob("*.html")):
        text = page.read_text(encoding="utf-8")
        yield from _controls(f"page {page.parent.name}", text)
        yield from ((f"page {page.parent.name}: {what}", around) for what, around in _active(text))
    table = (report / "grades.csv").read_text(encoding="utf-8")
    yield from _controls("grades.csv", table.replace("\r\n", "\n"))
    yield from _cells(table)
    summary = (report / "summary.md").read_text(encoding="utf-8")
    yield from _controls("summary.md", summary)
    yield from ((f"summary.md: {what}", around) for what, around in _active(_rendered(summary)))
    yield from _controls("report.json", (report / "report.json").read_text(encoding="utf-8"))


def _rendered(markdown: str) -> str:
    """As a site shows it that lets HTML through."""
    page: str = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return page


def _controls(where: str, text: str) -> Iterator[Finding]:
    for match in _CONTROL.finditer(text):
        yield f"{where}: character U+{ord(match[0]):04X}", text[max(match.start() - _AROUND, 0) :][: 2 * _AROUND]


def _cells(table: str) -> Iterator[Finding]:
    for row in csv.reader(table.splitlines()):
        for cell in row:
            if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
                yield "grades.csv: a formula", ",".join(row)


def _active(page: str) -> list[Finding]:
    parser = _Page()
    parser.feed(page)
    parser.close()
    return parser.found


class _Page(HTMLParser):
    """Elements and attributes that do something, or ask somebody else for something."""

    _ALLOWED = re.compile(
        "html|head|meta|title|style|body|main|header|footer|nav|section|article|h[1-6]|p|pre|code|span|div|br|hr|em|strong|"
        "b|i|small|table|caption|colgroup|col|thead|tbody|tfoot|tr|th|td|ul|ol|li|dl|dt|dd|details|summary|a|abbr|time|"
        "blockquote|figure|figcaption"
    )

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Finding] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        around = f"{tag} {attributes}"
        if not self._ALLOWED.fullmatch(tag):
            self.found.append((f"the element {tag}", around))
        for name, value in attributes:
            is_outside = name in ("href", "src") and re.match(r"\s*([a-z][a-z0-9+.-]*:|//)", value or "", re.IGNORECASE)
            if is_outside or name.startswith("on"):
                self.found.append((f"the attribute {name}", around))
