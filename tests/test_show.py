"""Strings from students, in each place they are shown."""

import csv
import io
import json
import re
import sys
import unicodedata
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt
from sample_report import HOSTILE

from grader.show import (
    for_csv_cell,
    for_github_html,
    for_github_prose,
    for_html,
    for_json,
    for_lms_comment,
    for_logged_json,
    for_markdown,
    for_markdown_block,
    for_markdown_prose,
    for_runner_log,
    for_terminal,
    for_xml,
)

SHAPELESS = ("Cc", "Cf", "Cs", "Zl", "Zp")
SINKS = (
    for_html,
    for_terminal,
    for_csv_cell,
    for_markdown,
    for_markdown_block,
    for_github_prose,
    for_github_html,
    for_lms_comment,
    for_runner_log,
)


@pytest.mark.parametrize("show", SINKS)
def test_show_every_shapeless_character_becomes_a_code(show):
    """No character of the categories without a shape gets through, in any sink."""
    kept = [
        f"U+{code:04X}"
        for code in range(sys.maxunicode + 1)
        if unicodedata.category(chr(code)) in SHAPELESS
        and chr(code) not in "\t\n"
        and chr(code) in show(f"a{chr(code)}b")
    ]

    assert [] == kept


@pytest.mark.parametrize("filler", ["\u034f", "\u115f", "\u3164", "\uffa0", "\u180b", "\ufe00", "\U000e0100"])
def test_show_invisible_letters_become_codes(filler):
    """Fillers and selectors that Unicode calls letters or marks are shown as well."""
    assert f"a⟨U+{ord(filler):04X}⟩b" == for_html(f"a{filler}b")


@pytest.mark.parametrize("show", [for_html, for_terminal])
def test_show_ordinary_text_stays_as_it_is(show):
    """Letters of any script, emoji in their emoji form, tabs and newlines are not touched."""
    text = "José 王小明 Ελλάδα ❤\ufe0f\n\tscores = q @ k.T  # 100 %"

    assert text == show(text)


def test_show_for_html_keeps_line_breaks_of_windows_as_one():
    """A carriage return at a line's end is worth no code; one inside is, because it overwrites the line."""
    assert "a\nb⟨U+000D⟩c" == for_html("a\r\nb\rc")


def test_show_for_html_leaves_markup_to_autoescape():
    """Escaping twice would show students their own quotes as entities."""
    assert "'<b>' & co" == for_html("'<b>' & co")


def test_show_for_terminal_escape_sequences_lose_their_power():
    """Colours, titles and the eight-bit forms of both lose the character that starts them."""
    shown = for_terminal("\x1b[31mred\x1b]0;title\x07 \x9b2J \x9d0;t\x9c")

    assert "⟨U+001B⟩[31mred⟨U+001B⟩]0;title⟨U+0007⟩ ⟨U+009B⟩2J ⟨U+009D⟩0;t⟨U+009C⟩" == shown


@pytest.mark.parametrize(
    "text",
    [
        "::add-mask::x",
        "a\n  ::error file=a::b",
        "a::stop-commands::x",
        "##[group]x",
        "x ##vso[task.complete]",
        "::::debug::x",
    ],
)
def test_show_for_terminal_holds_no_command_to_a_runner(text):
    """The terminal may be a log; a table or a long line may be broken before any sign of it."""
    shown = for_terminal(text)

    assert not re.search(r"::[A-Za-z][\w-]*( [^\n]*)?::|##\[|##vso\[", shown)
    assert text == re.sub(r"⟨U\+(\w{4})⟩", lambda match: chr(int(match[1], 16)), shown)


@pytest.mark.parametrize("text", ["q[::2], k[:: step]", "a :: b", "## Heading", "std::max", "#[1]"])
def test_show_for_terminal_slices_stay_as_they_are(text):
    """What looks a little like a command is Python, as a rule."""
    assert text == for_terminal(text)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1", "\u3000@x"])
def test_show_for_csv_cell_formula_gets_an_apostrophe(cell):
    """A cell that a spreadsheet would run is made text."""
    assert for_csv_cell(cell).startswith("'")


@pytest.mark.parametrize("cell", ["", "ada", "a=b", "12.50", "'quoted'", "wrong value: q @ k"])
def test_show_for_csv_cell_ordinary_text_stays_as_it_is(cell):
    """Signs inside a cell do not make it a formula."""
    assert cell == for_csv_cell(cell)


def test_show_for_csv_cell_line_breaks_become_codes():
    """A row stays one line, for tools that read lines."""
    row = io.StringIO()

    csv.writer(row).writerow([for_csv_cell("a\nb\tc"), "12.50"])

    assert "a⟨U+000A⟩b⟨U+0009⟩c,12.50\r\n" == row.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        HOSTILE,
        "![i](http://e.example/i.png)",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "a | b | c",
        "``` \n# heading\n- item",
        "`x` <b>y</b> `z",
        "\\` <b>",
        "\\",
        "http://e.example @everyone #1 :tada: $x$",
        "   ",
    ],
)
def test_show_for_markdown_is_one_code_span_in_one_cell(text):
    """Whatever the text, a table cell of it holds one code span and nothing else."""
    markdown = MarkdownIt("gfm-like", {"linkify": False})

    tokens = markdown.parse(f"| a | b |\n| - | - |\n| {for_markdown(text)} | end |\n")

    inline = [token for token in tokens if token.type == "inline"]
    assert ["a", "b"] == [token.content for token in inline[:2]]
    assert ["code_inline"] == [child.type for child in inline[2].children]
    assert "end" == inline[3].content
    assert 4 == len(inline)


def test_show_for_markdown_of_nothing_is_nothing():
    """An empty text leaves a cell empty; two backticks would open a code span."""
    assert "" == for_markdown("")


@pytest.mark.parametrize(
    "text", [HOSTILE, "a\n```\n# b", "````\n~~~", "  `x`\n\n<b>", "```" * 9, "", "\n", "a\r```\rb"]
)
def test_show_for_markdown_block_is_one_block(text):
    """Fences in it do not end it, and no line of it is markup."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"before\n\n{for_markdown_block(text)}\n\nafter\n")

    kinds = [token.type for token in tokens]
    assert 1 == kinds.count("fence")
    assert ["before", "after"] == [token.content for token in tokens if token.type == "inline"]
    assert for_terminal(text) == next(token.content for token in tokens if token.type == "fence").removesuffix("\n")


@pytest.mark.parametrize("text", ["L<S and L>S | *both* [1] `x`", "#1 @all :tada: $x$ ~y~ _z_ &amp; \\ !"])
def test_show_for_markdown_prose_reads_as_it_was_written(text):
    """A text of the course has no markup, whatever signs are in it."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(for_markdown_prose(text))

    assert text == "".join(child.content for child in tokens[1].children)


def test_show_for_xml_of_any_character_is_read_back_as_it_is_shown():
    """By a strict parser, in text and in an attribute: the basic plane, which holds all that XML does not allow."""
    shown = for_xml("".join(map(chr, range(0x10000))))
    element = ElementTree.Element("a", b=shown)
    element.text = shown

    read = ElementTree.fromstring(ElementTree.tostring(element))

    assert shown == read.text == read.get("b")


def test_show_for_json_reads_back_the_same():
    """Escapes in JSON are a way of writing, not a change."""
    value = {"output": "José \u202e\u200b\ufeff\u2028\x9b\U000e0041 \x1b"}

    shown = for_json(json.dumps(value, ensure_ascii=False))

    assert value == json.loads(shown)
    assert "José" in shown
    assert r"\u202e\u200b\ufeff\u2028\u009b\udb40\udc41" in shown


@pytest.mark.parametrize(
    "text",
    [HOSTILE, "```\n<b>", "````python\nx\n`````\n# h", "~~~\n@all", "    x\n\n\n- y", "", "\n", "``` ` ````` ``"],
)
def test_show_for_markdown_block_is_one_block_of_code(text):
    """Nothing in it ends it, and what follows is not part of it."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"{for_markdown_block(text)}\n\nend\n")

    assert ["fence", "paragraph_open", "inline", "paragraph_close"] == [token.type for token in tokens]
    assert for_terminal(text).rstrip("\n") == tokens[0].content.rstrip("\n")


@pytest.mark.parametrize(
    "text",
    [
        "# L<S",
        "- a *b* _c_",
        "1. x",
        "> y",
        "[z](http://e.example) ![i](j)",
        "q @ k.T",
        "@torch.no_grad #1 `a`|b",
        "a\nb",
        "---",
    ],
)
def test_show_for_github_prose_reads_as_it_was_written(text):
    """No markup, and nobody is called: behind each sign that GitHub reads there is a blank of no width."""
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(for_github_prose(text))

    assert ["paragraph_open", "inline", "paragraph_close"] == [token.type for token in tokens]
    shown = "".join(child.content for child in tokens[1].children)
    assert " ".join(text.split()) == shown.replace("\u200b", "")
    assert text.count("@") + text.count("#") == shown.count("\u200b")
    assert {"text", "text_special"} >= {child.type for child in tokens[1].children}


def test_show_for_github_html_is_text_and_calls_nobody():
    """In a line of HTML that GitHub reads for mentions as well."""
    assert "a &lt;b&gt; &amp; &quot;@&#8203;all&quot; #&#8203;1" == for_github_html('a <b> &\n"@all" #1')


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<script>x</script>", "< script>x< /script>"),
        ("<!-- x --> <?x", "< !-- x --> < ?x"),
        ("see http://e.example or WWW.e.example", "see http: //e.example or WWW .e.example"),
        ("L < S, a<3, scores: 1, www", "L < S, a<3, scores: 1, www"),
    ],
)
def test_show_for_lms_comment_has_no_tags_and_no_links(text, shown):
    """It reads the same where HTML is shown and where it is not."""
    assert shown == for_lms_comment(text)


@pytest.mark.parametrize(
    "text", ["::error::x", " ::x::", ":::", "::::::", "a ##[command]x", "###[x]", "a\n::x::", "\r\n::y"]
)
def test_show_for_runner_log_is_one_line_without_a_command(text):
    """A runner finds neither of its two signs, wherever the text stands in a line."""
    shown = for_runner_log(text)

    assert "::" not in shown and "##" not in shown and 1 == len(shown.splitlines())


def test_show_for_logged_json_reads_back_the_same_and_commands_nothing():
    """The signs are written as escapes."""
    value = {"::x::y": ["##[add-mask]a", ":::", "José \u202e", '"::"', "\\::", "\\\\##"]}

    shown = for_logged_json(json.dumps(value, ensure_ascii=False, indent=2))

    assert value == json.loads(shown)
    assert "::" not in shown and "##" not in shown and "José" in shown
