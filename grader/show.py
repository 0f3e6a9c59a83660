"""Make strings that a student chose safe to show: one function per place they are shown in.

A folder name, a message or a printed line may hold markup, terminal commands, spreadsheet formulas, or
characters that hide or reorder the text around them. Whoever shows such a string passes it through exactly
one of these functions, last:

    for_html        element content and quoted attributes of a template that has autoescape on
    for_terminal    a terminal or a log
    for_csv_cell    one cell of a spreadsheet
    for_markdown    inside a line or a table cell of Markdown
    for_markdown_block  lines of Markdown that keep their breaks
    for_xml         text and attributes that an XML writer escapes
    for_github_prose    a text of the course in a line of GitHub's Markdown, where it is to call nobody
    for_github_html     the same in a line of HTML inside of it
    for_lms_comment     a comment of a learning platform, which may be shown as plain text or as HTML
    for_runner_log      a line in the log of a CI job, in which a runner looks for commands
    for_json        a whole JSON text that a person may print
    for_logged_json     the same, in the log of a CI job

A text of the course, which may have marks of Markdown in it as well, passes `for_markdown_prose`.

Characters without a shape of their own become their code, ⟨U+202E⟩ for example: seen, and harmless.
Only the standard library is used, and nothing of grader.
"""

import html
import re

# Unicode categories Cc, Cf, Cs, Zl and Zp, and what Unicode calls default ignorable, except VARIATION
# SELECTOR-15 and -16, which choose between a text and an emoji form. The test compares this with unicodedata,
# character by character.
_SHAPELESS_NOT_ASCII = (
    "\u007f-\u009f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001345f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_SHAPELESS = re.compile(f"[\x00-\x08\x0b-\x1f{_SHAPELESS_NOT_ASCII}]")  # all but tab and newline
_SHAPELESS_IN_JSON = re.compile(f"[{_SHAPELESS_NOT_ASCII}]")  # JSON itself escapes the ASCII controls
_ACTIVE_IN_MARKDOWN = re.compile("[`|\t\n]")
# What begins markup inside a line: HTML, emphasis, code, links, cells, formulas, mentions, references, emoji.
_MARKUP_IN_MARKDOWN = re.compile(r"([\\`*_~<>&\[\]!|$@#:])")
_BACKTICKS = re.compile("`+")
# XML 1.0, section 2.2: of what has no shape, these two are not among the characters above and are not allowed.
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_LINE_BREAK_OR_TAB = re.compile("[\t\n]")

# OWASP, "CSV Injection": cells that start so are formulas; spreadsheets read the full-width forms alike, and
# some of them skip blanks in front.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")

# CommonMark takes a backslash before any of these as "this character itself".
_ASCII_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
# What GitHub turns into mentions and references after Markdown has become HTML, so that no backslash helps: a blank
# of no width behind the sign does, as dependabot and renovate write it.
_REFERRING = re.compile("[@#]")
_NO_WIDTH = "&#8203;"
# Markup, and what a platform makes a link of.
_ACTIVE_IN_COMMENT = re.compile(r"<(?=[A-Za-z/!?])|:(?=//)|\bwww\d*(?=\.)", re.IGNORECASE)
# A GitHub runner reads `::name::` at the start of a line and the older `##[name]` anywhere in it (actions/runner,
# ActionCommand.cs); Azure's reads `##vso[`.
_ACTIVE_IN_LOG = re.compile(r"(?<=:):|(?<=#)#|[\t\n]")
# The same where lines are broken anywhere: a command is a word of letters, and then a blank or another `::`.
_COMMAND = re.compile(r"(?<=:):(?=[A-Za-z][\w-]*(?: |::))|(?<=#)#(?=\[|vso\[)")
_ACTIVE_IN_LOGGED_JSON = re.compile(r"(?<=:):|(?<=#)#")


def for_html(text: str) -> str:
    """Show a text in a template. Tabs and newlines stay.

    The markup in it is the business of the template's autoescape, which every template here has on; outside
    of one, this is not enough.
    """
    return _with_codes(text)


def for_terminal(text: str) -> str:
    """Take the power of escape sequences and of reordering out of text. Tabs and newlines stay.

    The terminal may be the log of a CI job, so that commands to its runner become harmless too.

    Print the result as plain text: rich, for one, has a markup of its own, so give it a `rich.text.Text`.
    """
    shown = _with_codes(text)
    return _COMMAND.sub(_code, shown) if "::" in shown or "##" in shown else shown


def for_csv_cell(text: str) -> str:
    """Keep a cell on one line, and a spreadsheet from running it; csv.writer adds the quotes."""
    mark = "'" if _FORMULA.match(text) else ""
    return mark + _LINE_BREAK_OR_TAB.sub(_code, _with_codes(text))


def for_markdown(text: str) -> str:
    """Turn text into a code span that holds no backtick, no column mark and no line break.

    Nothing inside a code span is markup, in any Markdown: no HTML, link, image, mention, emoji code or
    formula.
    """
    shown = _ACTIVE_IN_MARKDOWN.sub(_code, _with_codes(text))
    return f"`{shown}`" if shown else ""


def for_markdown_block(text: str) -> str:
    """Turn lines into a fenced block that nothing in them can end, with the breaks and blanks they have."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{_with_codes(text)}\n{fence}"


def for_markdown_prose(text: str) -> str:
    """Show a text of the course as it stands, in one line; a student's goes through `for_markdown` instead."""
    return _MARKUP_IN_MARKDOWN.sub(r"\\\1", " ".join(text.split()))


def for_xml(text: str) -> str:
    """Show a text in XML 1.0. The markup in it is the business of whoever writes the elements, with escapes."""
    return _NOT_IN_XML.sub(_code, _with_codes(text))


def for_github_prose(text: str) -> str:
    """Show a text of the course in a line of GitHub's Markdown as it stands: no markup, link, mention or reference."""
    line = " ".join(_with_codes(text).split())
    return _REFERRING.sub(rf"\g<0>{_NO_WIDTH}", _ASCII_PUNCTUATION.sub(r"\\\1", line))


def for_github_html(text: str) -> str:
    """Show a text of the course in a line of HTML inside GitHub's Markdown: no markup, mention or reference."""
    line = " ".join(_with_codes(text).split())
    parts = _REFERRING.split(line)
    signs = [f"{sign}{_NO_WIDTH}" for sign in _REFERRING.findall(line)]
    return "".join(html.escape(part) + sign for part, sign in zip(parts, [*signs, ""], strict=True))


def for_lms_comment(text: str) -> str:
    """Take tags and links out of text by a blank: it reads the same where the platform shows HTML, and where not."""
    return _ACTIVE_IN_COMMENT.sub(r"\g<0> ", _with_codes(text))


def for_runner_log(text: str) -> str:
    """Keep text in one line of a log, and a runner from taking any of it as a command."""
    return _ACTIVE_IN_LOG.sub(_code, _with_codes(text))


def for_logged_json(text: str) -> str:
    r"""Write JSON so that a runner takes none of it as a command: the second sign of `::` and `##` as \u escape.

    A reader of the JSON gets the same strings back: outside of strings, JSON has neither.
    """
    return _ACTIVE_IN_LOGGED_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", for_json(text))


def for_json(text: str) -> str:
    r"""Write the shapeless characters in a JSON text as \u escapes; a reader gets the same strings back."""
    if text.isascii():
        return text
    return _SHAPELESS_IN_JSON.sub(_json_escape, text)


def _with_codes(text: str) -> str:
    if _is_plain(text) or not _SHAPELESS.search(text):
        return text
    return _SHAPELESS.sub(_code, text.replace("\r\n", "\n"))


def _is_plain(text: str) -> bool:
    """Tell the bulk of all strings at little cost: a scan by the pattern takes ten times as long."""
    if not text.isascii():
        return False
    return text.isprintable() or text.replace("\n", "").replace("\t", "").isprintable()


def _code(match: re.Match[str]) -> str:
    return f"⟨U+{ord(match[0]):04X}⟩"


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
