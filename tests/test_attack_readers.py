"""What looks for dangers to a reader finds each, and takes no plain report for one."""

import pytest
from attacks.readers import dangers

PLAIN = {
    "index.html": "<!doctype html><p>ada <a href='staff/ada.html'>10.00</a></p>",
    "staff/ada.html": "<p>&lt;script&gt;</p>",
    "students/ada.html": "<pre>ok</pre>",
    "grades.csv": "id,score\r\nada,10.00\r\nbob,-1\r\n",
    "summary.md": "| id | score |\n| --- | --- |\n| ada | 10 |\n",
    "report.json": "{}\n",
}


@pytest.fixture
def found(tmp_path):
    """What is found in a plain report with some files replaced, and on the terminal."""

    def look(files=(), printed="ada 10.00\n"):
        for name, text in (PLAIN | dict(files)).items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, newline="")
        return [what for what, _ in dangers(tmp_path, printed)]

    return look


def test_readers_plain_report_is_harmless(found):
    """Nothing is found where nothing is."""
    assert [] == found()


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("staff/ada.html", "<script>1</script>", "page staff: the element script"),
        ("staff/ada.html", "<p onclick='x'>", "page staff: the attribute onclick"),
        ("students/ada.html", "<a href='javascript:x'>", "page students: the attribute href"),
        ("students/ada.html", "<a href='//evil'>", "page students: the attribute href"),
        ("students/ada.html", "<p>a\u202eb</p>", "page students: character U+202E"),
        ("grades.csv", "id,score\r\n=1+1,0\r\n", "grades.csv: a formula"),
        ("grades.csv", "id,score\r\n@x,0\r\n", "grades.csv: a formula"),
        ("summary.md", "![x](http://evil)", "summary.md: the element img"),
        ("summary.md", "[x](http://evil)", "summary.md: the attribute href"),
        ("summary.md", "<iframe>", "summary.md: the element iframe"),
        ("report.json", "\x1b", "report.json: character U+001B"),
    ],
)
def test_readers_danger_in_a_file_is_found(found, name, text, expected):
    """Each in the file it is in."""
    assert expected in found({name: text})


def test_readers_terminal_codes_are_found(found):
    """Also those of one byte."""
    assert ["terminal: character U+001B", "terminal: character U+009B"] == found(printed="\x1b[2J \x9b31m\n")
