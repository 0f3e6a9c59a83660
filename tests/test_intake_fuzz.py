"""Whatever the names and bytes, intake gives a tree or a refusal, never an exception, and touches nothing outside."""

import io
import json
import os
import tarfile
import tempfile
import warnings
import zipfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.find import Found, find_submissions
from grader.intake import file_names, read_tree
from grader.intake.archive import gathered, read_answer
from grader.intake.tree import MOST_BYTES, MOST_ENTRIES, MOST_LISTED, MOST_NOTEBOOK, MOST_TOTAL, Refusal, Tree
from grader.names import NOISE
from grader.worker.unpack import Caps, unpack

CAPS = Caps(MOST_BYTES, MOST_TOTAL, MOST_NOTEBOOK, 4 * MOST_BYTES, MOST_ENTRIES, MOST_LISTED)
#: Pieces that names are made of to do harm, and the stubs themselves.
PIECES = [
    "..",
    ".",
    "/",
    "//",
    "\\",
    "C:",
    "~",
    "\0",
    "mix",
    "MIX",
    "mix.py",
    "Mix.PY",
    ".py",
    "conftest.py",
    "__MACOSX",
]
PIECES += ["\u0301", "e", "\u00e9", "\n", "\x1b[2J", "\u202e", "\udcff", "x" * 300, " ", "-1", " (2)", "venv", ".zip"]
NAMES = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), min_size=1, max_size=6).map("".join)
TAR_KINDS = [
    tarfile.REGTYPE,
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.FIFOTYPE,
    tarfile.DIRTYPE,
    tarfile.CHRTYPE,
    b"?",
]
ENTRIES = st.lists(
    st.tuples(NAMES, st.binary(max_size=50), st.sampled_from(TAR_KINDS), st.integers(0, 0xFFFF)), max_size=6
)
#: Bytes that are changed afterwards: where, as a share of the whole, and to what.
CHANGES = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=4)
QUICK = settings(max_examples=300, deadline=None, database=None, derandomize=True)
SLOW = settings(QUICK, max_examples=25)


def zip_of(entries):
    """A zip, with modes that no tool writes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names there are twice
        for name, content, _, mode in entries:
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.external_attr = name.replace("\udcff", "?"), mode << 16
            archive.writestr(entry, content)
    return file.getvalue()


def tar_of(entries):
    """A tar, with every kind of entry, and links to what their content says."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT, errors="surrogateescape") as archive:
        for name, content, kind, _ in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "../secret.py"
            entry.size = len(content) if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue()


def changed(data, changes):
    """The same with a few bytes changed."""
    mutable = bytearray(data)
    for place, value in changes:
        mutable[int(place * len(mutable))] = value
    return bytes(mutable)


def must_be_clean(tree):
    """A tree leads nowhere, and is bounded; with a problem it is empty."""
    assert isinstance(tree, Tree)
    assert not (tree.problem and (tree.files or tree.refused))
    for name in (*tree.files, *tree.refused):
        assert not name.startswith("/")
        assert not {"", ".", ".."} & set(name.split("/"))
        assert name.lower().endswith((".py", ".ipynb"))
    assert all(len(data) <= MOST_BYTES for data in tree.files.values())


@QUICK
@given(ENTRIES, CHANGES, st.booleans())
def test_intake_fuzz_any_archive_gives_a_tree_or_a_refusal(entries, changes, is_zip):
    """Taken apart here, for speed; the answer crosses as text does."""
    data = changed(zip_of(entries) if is_zip else tar_of(entries), changes)

    answer = json.dumps(unpack(data, "zip" if is_zip else "tar", CAPS, NOISE)).encode()

    try:
        must_be_clean(gathered(read_answer(answer, "ann.zip")))
    except Refusal as refusal:
        assert "went wrong as with no ordinary one" not in str(refusal)


@SLOW
@given(ENTRIES, CHANGES, st.booleans())
def test_intake_fuzz_archive_on_the_disk_touches_nothing_beside_it(entries, changes, is_zip):
    """The whole way, with its process."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "deep", "class")
        place.mkdir(parents=True)
        secret = Path(folder, "deep", "secret.py")
        secret.write_text("the answer")
        path = place / ("ann.zip" if is_zip else "ann.tar")
        path.write_bytes(changed(zip_of(entries) if is_zip else tar_of(entries), changes))

        tree = read_tree(find_submissions(path, ["mix.py"])[0])

        must_be_clean(tree)
        assert {place.parent, place, secret, path} == set(Path(folder).rglob("*"))
        assert "the answer" == secret.read_text()
        assert b"the answer" not in tree.files.values()


@SLOW
@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b\x08\0"]), st.booleans())
def test_intake_fuzz_any_bytes_give_a_tree_or_a_refusal(data, magic, is_zip):
    """Also when they are no archive at all."""
    answer = unpack(magic + data, "zip" if is_zip else "tar", CAPS, NOISE)

    assert 1 == len(answer)


#: Parts of names that a disk can hold.
PARTS = NAMES.map(lambda name: name.replace("/", "").replace("\0", "")[:80]).filter(
    lambda name: name not in ("", ".", "..")
)
MAKERS = st.sampled_from(["file", "link", "up", "pipe", "hard", "folder"])


@settings(QUICK, max_examples=100)
@given(st.lists(st.tuples(st.lists(PARTS, min_size=1, max_size=3), MAKERS, st.binary(max_size=50)), max_size=8))
def test_intake_fuzz_any_folder_gives_a_tree_or_a_refusal(things):
    """Links up and round, pipes, second names: what is not of this folder is in no tree."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder, "class", "ann")
        top.mkdir(parents=True)
        secret = Path(folder, "secret.py")
        secret.write_text("the answer")
        for parts, kind, content in things:
            place = top.joinpath(*parts)
            if place.parent.resolve().is_relative_to(top.resolve()):  # not by a link up, beside the folder
                make(place, kind, content, secret)

        found = [Found(id="ann", path=top)]
        tree = read_tree(found[0])

        assert found == find_submissions(top.parent, ["mix.py"])
        must_be_clean(tree)
        assert b"the answer" not in tree.files.values()
        assert len(list(file_names(found))) >= len(tree.files)


def make(path, kind, content, secret):
    """Put a thing at a place, unless it is taken, or no such place can be."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        match kind:
            case "file":
                with open(path, "xb") as file:  # never into a pipe that is there, nor through a link
                    file.write(content)
            case "link":
                path.symlink_to(secret)
            case "up":
                path.symlink_to("..")
            case "pipe":
                os.mkfifo(path)
            case "hard":
                path.hardlink_to(secret)
            case "folder":
                path.mkdir()
    except (OSError, ValueError):  # taken, too long, or a name of no encoding
        pass
