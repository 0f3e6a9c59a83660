"""Tables that staff saved from a spreadsheet: what is read all the same, and what is refused with its line."""

import pytest

from grader.sheet import SheetError, read_sheet

COLUMNS = ("student", "points")


@pytest.fixture
def read(tmp_path):
    """Read a table from text or bytes: the cells of its lines."""

    def cells(data):
        file = tmp_path / "table.csv"
        file.write_bytes(data if isinstance(data, bytes) else data.encode())
        return [tuple(line.cells.values()) for line in read_sheet(file, COLUMNS)]

    return cells


@pytest.fixture
def refusal(read, tmp_path):
    """What is said of a table, without its folder."""

    def told(data):
        with pytest.raises(SheetError) as refused:
            read(data)
        return str(refused.value).removeprefix(f"{tmp_path}/")

    return told


@pytest.mark.parametrize(
    "data",
    [
        "student,points\nZoë,1\n",
        "\ufeffstudent,points\r\nZoë,1\r\n",
        "student;points\nZoë;1\n",
        "student\tpoints\nZoë\t1",
        "student,points\rZoë,1\r",
        ' Points ,"STUDENT",by\n 1 ,"Zoë ",me\n',
        "\n\nstudent,points,,\n,,,\nZoë,1,,,,\n\n",
    ],
)
def test_sheet_of_any_spreadsheet_is_read(read, data):
    """Byte order mark, separators, ends of lines, blanks, and columns of nothing or of one's own."""
    assert [("Zoë", "1")] == read(data)


def test_sheet_cell_in_quotes_holds_separators_and_lines(read):
    """A reason may be a whole sentence, or two."""
    assert [("one, two\nthree", "1"), ("b", "2")] == read('student,points\n"one, two\nthree",1\nb,2\n')


def test_sheet_lines_are_counted_as_an_editor_does(tmp_path):
    """Blank lines and lines inside of quotes count."""
    file = tmp_path / "table.csv"
    file.write_text('student,points\n\n"a\nb",1\nc,2\n')

    assert [f"{file}, line 3", f"{file}, line 5"] == [line.where for line in read_sheet(file, COLUMNS)]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            "student,points\nZoë,1\n".encode("latin-1"),
            "table.csv, line 2: byte 0xeb is not UTF-8; the file is perhaps Latin-1 or Windows-1252: save it in the "
            "spreadsheet as 'CSV UTF-8'",
        ),
        (
            "student,points\n".encode("utf-16"),
            "table.csv is no CSV file in UTF-8; save it in the spreadsheet as 'CSV UTF-8'",
        ),
        ("", "table.csv, line 1: no column is called 'student'; wanted student, points; got none"),
        (
            "studnet,points\n",
            "table.csv, line 1: no column is called 'student'; wanted student, points; did you mean it by 'studnet'?",
        ),
        (
            "a,b\n",
            "table.csv, line 1: no column is called 'student'; wanted student, points; got 'a', 'b'",
        ),
        ("student,points,points\n", "table.csv, line 1: two columns are called 'points'; leave one"),
        (
            "student,points\nada,1\nbob, the builder,2\n",
            "table.csv, line 3: 3 cells, where the head has 2; a text that holds the sign between cells stands in "
            'double quotes: "so, and so"',
        ),
        (
            'student,points\nada,1\n"bob,2\n',
            "table.csv, line 3: unexpected end of data; look for a quotation mark that is not closed. One within a "
            "cell is written twice, with quotation marks around the cell",
        ),
    ],
)
def test_sheet_fault_names_the_line_and_what_to_do(refusal, data, told):
    """Nobody has to look for it."""
    assert told == refusal(data)


def test_sheet_that_is_not_there_says_so(tmp_path):
    """The file is named."""
    with pytest.raises(SheetError, match=r"gone\.csv: cannot be read: No such file or directory"):
        read_sheet(tmp_path / "gone.csv", COLUMNS)


def test_sheet_far_too_large_is_refused(refusal):
    """Somebody named another file."""
    assert "table.csv: more than 16 MiB; wanted a small table of text" == refusal(b"x" * (16 * 2**20 + 1))
