"""The known mistakes as a course writes them: what is read, and what is refused with where, found and wanted."""

from decimal import Decimal

import pytest
from sample_mistakes import alike, entry, harmless, variation

from grader.diagnosis.mistakes import MistakeError, read_mistakes

REFERENCE = "def gate(length):\n    if length < 0:\n        raise ValueError\n    return length + 1 + 1\n"
EDIT = ("tiny.py", "length < 0", "length < 1")
OTHER = ("tiny.py", "raise ValueError", "pass")


@pytest.fixture
def read(tmp_path):
    """Read a book of these files, beside the reference."""

    def run(*texts):
        (tmp_path / "mistakes").mkdir()
        (tmp_path / "tiny.py").write_text(REFERENCE, encoding="utf-8")
        for number, text in enumerate(texts):
            (tmp_path / "mistakes" / f"book{number}.toml").write_bytes(
                text if isinstance(text, bytes) else text.encode()
            )
        return read_mistakes(tmp_path)

    return run


@pytest.fixture
def refusal(read):
    """What the author of a book is told."""

    def run(*texts):
        with pytest.raises(MistakeError) as refused:
            read(*texts)
        return str(refused.value)

    return run


def test_mistakes_course_without_a_folder_of_them_has_none(tmp_path):
    """Nobody need name mistakes in order to grade."""
    (tmp_path / "tiny.py").write_text(REFERENCE, encoding="utf-8")

    found = read_mistakes(tmp_path)

    assert (0, [], {"tiny.py": REFERENCE}) == (len(found), list(found), found.texts)


def test_mistakes_entry_is_read_with_every_field(read):
    """Prices are exact, in points."""
    (one,) = read(entry("too-late", EDIT, price="0.25", more='catalogue = ["A01"]\n'))

    assert ("too-late", "Title of too-late", Decimal("0.25")) == (one.id, one.title, one.price)
    assert (("A01",), None) == (one.catalogue, one.known_as)
    assert ("Hint of too-late.", "Explanation of too-late.") == (one.hint, one.explanation)
    assert [EDIT] == [(edit.file, edit.old, edit.new) for edit in one.edits]


def test_mistakes_of_several_files_come_in_the_order_of_the_files(read):
    """Files by name, entries as they stand."""
    found = read(entry("zebra", EDIT) + entry("ant", OTHER), entry("bee", EDIT))

    assert ["zebra", "ant", "bee"] == [one.id for one in found]


def test_mistakes_without_some_keeps_the_others_variations_and_groups(read):
    """What is left out is as if it were not written, and nothing else changes."""
    found = read(entry("one", EDIT) + entry("two", OTHER) + alike("one", "two") + variation("late", EDIT))

    left = found.without(["one"])

    assert (["two"], ["one", "two"]) == ([one.id for one in left], [one.id for one in found])
    assert (found.variations, found.alike, found.texts) == (left.variations, left.alike, left.texts)


def test_mistakes_alike_everywhere_are_alike_in_any_callable_and_order(read):
    """A group without callables holds for all of them."""
    found = read(entry("one", EDIT) + entry("two", OTHER) + entry("three", EDIT) + alike("one", "two"))

    assert found.are_alike("one", "two", "gate")
    assert found.are_alike("two", "one", "mix")
    assert not found.are_alike("one", "three", "gate")


def test_mistakes_alike_in_one_callable_are_not_in_another(read):
    """Mistakes that one function cannot tell apart may differ in the next."""
    found = read(entry("one", EDIT) + entry("two", OTHER) + alike("one", "two", callables=["gate"]))

    assert found.are_alike("one", "two", "gate")
    assert not found.are_alike("one", "two", "mix")


def test_mistakes_file_that_is_no_toml_is_refused_by_its_name_and_line(refusal):
    """TOML's own words say where in the file."""
    text = refusal("[[mistake]]\nid = open\n")

    assert "book0.toml: not valid TOML" in text
    assert "line 2" in text


def test_mistakes_file_that_is_not_utf8_is_refused_by_its_name(refusal):
    """An editor's old encoding is no fault of the reader."""
    assert "book0.toml: not valid TOML" in refusal(b'title = "M\xfcller"')


@pytest.mark.parametrize(
    ("broken", "place", "found"),
    [
        (entry("one", EDIT, more='hnit = "x"\n'), "mistake.0.hnit", "'x'"),
        (entry("One", EDIT), "mistake.0.id", "'One'"),
        (entry("one-", EDIT), "mistake.0.id", "'one-'"),
        (entry("one", EDIT, price="0"), "mistake.0.price", "0"),
        (entry("one", EDIT, price="-1"), "mistake.0.price", "-1"),
        (entry("one", EDIT, price="nan"), "mistake.0.price", "nan"),
        (entry("one", EDIT, price="inf"), "mistake.0.price", "inf"),
        (entry("one"), "mistake.0.edits", "[]"),
        (entry("one", ("tiny.py", "", "x")), "mistake.0.edits.0.old", "''"),
        (entry("one", EDIT).replace('title = "Title of one"', 'title = ""'), "mistake.0.title", "''"),
        (entry("one", EDIT).replace("hint =", "explanation2 ="), "mistake.0.hint", ""),
        (alike("one"), "alike.0.mistakes", "['one']"),
        ("[[mistakes]]\n", "mistakes", "[{}]"),
        (variation("One", EDIT), "variation.0.id", "'One'"),
    ],
)
def test_mistakes_wrong_field_is_refused_with_place_and_finding(refusal, broken, place, found):
    """Where in the file, and what was found there."""
    text = refusal(broken)

    assert f"book0.toml, {place}: " in text
    assert f"got {found}" in text


def test_mistakes_unknown_key_is_told_with_a_near_match_and_its_entry(refusal):
    """Of a whole book, the entry; of its fields, the one that was meant."""
    assert refusal(entry("one", EDIT, more="pirce = 2\n")).endswith(
        "mistake.0.pirce: unknown key; did you mean 'price'?; got 2, in 'one'"
    )


def test_mistakes_edit_that_changes_nothing_is_refused(refusal):
    """Old and new are the same: it would be right code with a name."""
    assert refusal(entry("one", ("tiny.py", "length < 0", "length < 0"))).endswith(
        "book0.toml, one: 'length < 0' is old and new, so that it changes nothing"
    )


def test_mistakes_all_wrong_fields_are_told_at_once(refusal):
    """Nobody mends a book a line at a time."""
    text = refusal(entry("One", EDIT, price="0"))

    assert 2 == len(text.splitlines())


@pytest.mark.parametrize(
    "texts",
    [
        (entry("one", EDIT), entry("one", OTHER)),
        (entry("one", EDIT) + entry("one", OTHER),),
        (entry("one", EDIT), variation("one", OTHER)),
        (entry("one", EDIT) + variation("one", OTHER),),
        (variation("one", EDIT) + variation("one", OTHER),),
    ],
    ids=["two files", "one file", "variation of another file", "variation of the file", "two variations"],
)
def test_mistakes_id_twice_is_refused(refusal, texts):
    """The second would silently take the place of the first."""
    assert f"book{len(texts) - 1}.toml: two entries are called one" in refusal(*texts)


def test_mistakes_edit_that_is_not_found_is_refused(refusal):
    """The reference was changed since: the mistake must be written anew."""
    text = refusal(entry("one", ("tiny.py", "length > 0", "x")))

    assert "book0.toml, one: 'length > 0' occurs 0 times in tiny.py, wanted exactly once" in text


def test_mistakes_edit_that_is_found_twice_is_refused(refusal):
    """Nobody knows which of the two is meant."""
    assert "one: '+ 1' occurs 2 times in tiny.py, wanted exactly once" in refusal(
        entry("one", ("tiny.py", "+ 1", "+ 2"))
    )


def test_mistakes_edit_that_is_found_twice_overlapping_itself_is_refused(read, tmp_path):
    """`aa` stands in `aaa` at two places."""
    (tmp_path / "more.py").write_text("aaa = 1\n", encoding="utf-8")

    with pytest.raises(MistakeError, match="'aa' occurs 2 times"):
        read(entry("one", ("more.py", "aa", "bb")))


def test_mistakes_edit_in_a_file_that_does_not_exist_is_refused_with_those_there_are(refusal):
    """The files of the reference are what can be edited."""
    assert "book0.toml, one: edits 'tinny.py'; there are: tiny.py" in refusal(entry("one", ("tinny.py", "a", "b")))


def test_mistakes_variation_is_held_to_the_same(refusal):
    """Its edits too occur exactly once."""
    assert "late: 'nothing' occurs 0 times" in refusal(variation("late", ("tiny.py", "nothing", "x")))


def test_mistakes_edits_of_one_mistake_in_one_place_are_refused(refusal):
    """Both are made at once, so that neither would be what its author meant."""
    overlapping = ("tiny.py", "if length < 0:", "if True:")

    assert "book0.toml, one: " in refusal(entry("one", EDIT, overlapping))


@pytest.mark.parametrize("fields", ["", 'price = 1\nknown_as = "gradient-lost"\n'])
def test_mistakes_entry_has_a_price_or_a_trait_that_has_one(refusal, fields):
    """A price that nobody is charged would be a lie."""
    text = entry("one", EDIT).replace("price = 1\n", fields)

    assert "a price, or known_as" in refusal(text)


def test_mistakes_alike_that_names_nobody_is_refused(refusal):
    """A misspelt name would leave two mistakes undeclared."""
    text = refusal(entry("one", EDIT) + alike("one", "tow"))

    assert "[[alike]] names 'tow', which is no mistake" in text


def test_mistakes_alike_may_name_mistakes_of_another_file(read):
    """A group stands where it is read best."""
    found = read(alike("one", "two"), entry("one", EDIT), entry("two", OTHER))

    assert found.are_alike("one", "two", "gate")


def test_mistakes_harmless_in_one_callable_are_not_in_another(read):
    """What no input of one task shows may be wrong in the next."""
    found = read(entry("one", EDIT) + entry("two", OTHER) + harmless("one", callables=["gate"]))

    assert [True, False, False] == [
        found.is_harmless("one", "gate"),
        found.is_harmless("one", "mix"),
        found.is_harmless("two", "gate"),
    ]
    assert found.harmless == found.without(["two"]).harmless


def test_mistakes_harmless_that_names_nobody_is_refused(refusal):
    """As in the other groups."""
    text = refusal(entry("one", EDIT) + harmless("oen", callables=["gate"]))

    assert "[[harmless]] names 'oen', which is no mistake" in text


def test_mistakes_known_as_a_trait_that_does_not_exist_is_refused(refusal):
    """Nothing would ever name that mistake."""
    text = refusal(entry("one", EDIT, more='known_as = "gradient-lots"\n'))

    assert "book0.toml, one: " in text
    assert "gradient-lots" in text
