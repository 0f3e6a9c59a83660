"""A CSV that somebody exported: cells as the csv module reads them, and every byte that is not written."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_people import canvas_export, moodle_worksheet

from grader.export.template import read_template
from grader.fault import Fault

CELLS = st.text(st.sampled_from('a1,;"\t\r\n é王'), max_size=6)


def read(text, *wanted):
    """Read a file with this text."""
    return read_template(text.encode(), "grades.csv", wanted, "get another")


@pytest.mark.parametrize("text", [canvas_export(), moodle_worksheet()])
def test_template_cells_are_those_that_the_csv_module_reads(text):
    """Quotes, breaks in quotes and empty cells of realistic files."""
    rows = read(text).rows

    assert list(csv.reader(io.StringIO(text, newline=""))) == [[cell.text for cell in row.cells] for row in rows]


@settings(max_examples=100, deadline=None, database=None, derandomize=True)
@given(st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4), st.sampled_from(["\n", "\r\n"]))
def test_template_cells_of_any_table_are_those_that_were_written(table, end):
    """Whatever csv.writer writes is read back, but for lines without anything in them."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end).writerows(table)
    source = "x,y\n" + text.getvalue()

    template = read(source, "x")

    written = [row for row in csv.reader(io.StringIO(source, newline="")) if row]
    assert written == [[cell.text for cell in row.cells] for row in template.rows]
    assert source.encode() == template.with_cells({})


@pytest.mark.parametrize("bom", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_template_cell_that_is_written_is_all_that_changes(bom, end, delimiter):
    """Byte order mark, line ends, delimiter, quotes that nobody needs, and a missing last line end stay."""
    lines = ["a|b|c", '"1"| 2 |3', '"x""y"||']
    text = bom + end.join(lines).replace("|", delimiter)

    written = read(text, "a", "b", "c").with_cells({(1, 1): "7", (2, 2): "8"})

    assert (bom + end.join(["a|b|c", '"1"|7|3', '"x""y"||8']).replace("|", delimiter)).encode() == written


def test_template_text_that_needs_quotes_gets_them():
    """A decimal comma between commas, a quote, a break; and who had quotes keeps them."""
    template = read('a,b\n1,2\n"3",4\n', "a")

    written = template.with_cells({(1, 0): "8,5", (1, 1): 'say "x"\n', (2, 0): "9"})

    assert b'a,b\n"8,5","say ""x""\n"\n"9",4\n' == written


def test_template_row_that_is_too_short_is_filled_up():
    """Some tools leave out empty cells at the end of a line."""
    assert b"a,b,c\n1,,5\n" == read("a,b,c\n1\n", "a").with_cells({(1, 2): "5"})


def test_template_titles_decide_which_sign_is_between_cells():
    """Commas in titles do not make a file of semicolons one of commas."""
    template = read('ID;Section;"masks, and more, (7)"\n1;A;5\n', "ID", "Section")

    assert [";", ["ID", "Section", "masks, and more, (7)"]] == [template.delimiter, template.head]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a,b\n1,\xe9\n", "grades.csv, line 2: byte 0xe9 is not UTF-8; download the file anew"),
        (b'a,b\n1,"2\n3,4\n', "grades.csv, line 2: a quote is opened and never closed; the file is damaged"),
        (b'a,b\n1,"2"3\n', "grades.csv, line 2: there is '3' behind a closing quote; the file is damaged"),
        (b"", "grades.csv: no column 'a'; its first line has nothing"),
        (b"x;y\n", "grades.csv: no column 'a'; its first line has 'x', 'y'; get another"),
    ],
)
def test_template_that_cannot_be_used_says_where_and_why(data, words):
    """Another encoding, damage, and a file about something else."""
    with pytest.raises(Fault) as raised:
        read_template(data, "grades.csv", ["a"], "get another")

    assert str(raised.value).startswith(words)
