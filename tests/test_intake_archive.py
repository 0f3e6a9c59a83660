"""An archive becomes a tree as its folder would, and whatever was done to it, nothing else comes of it."""

import base64
import gzip
import hashlib
import io
import json
import os
import stat
import struct
import tarfile
import zipfile
import zlib

import pytest

from grader.find import Found
from grader.intake import file_names, read_tree
from grader.intake.archive import MOST_PACKED, MOST_UNPACKED, gathered, read_answer
from grader.intake.tree import (
    IS_HARD_LINK,
    IS_LINK,
    IS_SPECIAL,
    IS_TOO_LARGE,
    IS_TOO_LARGE_A_NOTEBOOK,
    MIB,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_LISTED,
    MOST_NOTEBOOK,
    MOST_TOTAL,
    TOO_MANY_NOTEBOOKS,
    Refusal,
)

ENCRYPTED = "it is encrypted; make the archive without a password"
UNUSUAL = "it is compressed in an unusual way; make the archive with the usual one (deflate)"
BROKEN = "it is damaged in the archive; make the archive again"
TOO_MANY = "the archive holds more than 2000 files and folders; hand in the Python files alone"
DAMAGED = "the archive is damaged, or no {} whatever its name says; make it again and open it once to see"


def zipped(*entries, method=zipfile.ZIP_DEFLATED):
    """A zip of (name or ZipInfo, content) pairs, also of names that no tool would write."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, content in entries:
            entry = name if isinstance(name, zipfile.ZipInfo) else zip_entry(name)
            entry.compress_type = method
            archive.writestr(entry, content)
    return file.getvalue()


def zip_entry(name, mode=0o644):
    """An entry whose name is taken as it is."""
    entry = zipfile.ZipInfo("x")
    entry.filename = name
    entry.external_attr = mode << 16
    return entry


def tarred(*entries, suffix=".tar", **options):
    """A tar of (name or TarInfo, content) pairs; compressed where the suffix says so."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", **options) as archive:
        for name, content in entries:
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return file.getvalue() if suffix == ".tar" else gzip.compress(file.getvalue())


def tar_entry(name, kind, target=""):
    """An entry of a kind that holds no data."""
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.fixture
def read(tmp_path):
    """Reads an archive of these bytes. What it is in is empty but for it, before and after."""

    def read(data, suffix=".zip"):
        place = tmp_path / "deep" / "class"
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"ann{suffix}"
        path.write_bytes(data)
        tree = read_tree(Found(id="ann", path=path, is_archive=True))
        assert {path, place, place.parent} == set(tmp_path.rglob("*"))
        path.unlink()
        return tree

    return read


def packers(test):
    """The test, with every kind of archive."""
    kinds = [(zipped, ".zip"), (tarred, ".tar"), (lambda *all: tarred(*all, suffix=".tgz"), ".tar.gz")]
    return pytest.mark.parametrize(("pack", "suffix"), kinds, ids=["zip", "tar", "tar.gz"])(test)


# --- what is taken ----------------------------------------------------------------------------------------------


@packers
def test_intake_archive_gives_the_bytes_of_python_files_by_name(read, pack, suffix):
    """As a folder does: leftovers of a Mac, hidden files and other files are none."""
    files = {
        "hw/mix.py": b"\xef\xbb\xbfa = 1\r\n\xe9\0",
        "./hw//Shout.PY": b"",
        "1/2/3/4/5/6/7/deep.py": b"d",
        "hw/notes.txt": b"",
        "hw/mix.pyc": b"",
        "__MACOSX/hw/._mix.py": b"",
        "._hw": b"",
        "hw/.DS_Store": b"",
        ".git/hooks/x.py": b"",
    }

    tree = read(pack(*files.items()), suffix)

    assert {
        "hw/mix.py": b"\xef\xbb\xbfa = 1\r\n\xe9\0",
        "hw/Shout.PY": b"",
        "1/2/3/4/5/6/7/deep.py": b"d",
    } == tree.files
    assert ({}, (), "", "") == (tree.refused, tree.notes, tree.cut, tree.problem)


@packers
def test_intake_archive_leaves_and_notes_what_a_folder_would(read, pack, suffix):
    """Files for tools, archives in archives, and what lies too deep."""
    names = ("setup.py", "a/b/c/d/e/f/g/h/mix.py", "more.zip")

    tree = read(pack(*((name, b"PK") for name in names)), suffix)

    assert {"setup.py": "a file of this name gives instructions to tools, and is never run here"} == tree.refused
    assert (
        "a/b/c/d/e/f/g/h/mix.py was not read: it lies more than 7 folders deep",
        "more.zip was not read: an archive inside a submission is not unpacked",
    ) == tree.notes


@packers
@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\u202egnp", "-rf", "x" * 252, "<b>", " "])
def test_intake_archive_takes_odd_names_as_they_are(read, pack, suffix, name):
    """Whoever shows a name sees to that."""
    assert [f"{name}.py"] == list(read(pack((f"{name}.py", b"")), suffix).files)


def test_intake_archive_name_that_is_no_utf8_is_held_as_a_folder_holds_it(read):
    """A lone byte in a tar crosses from the unpacker unharmed."""
    assert ["caf\udce9.py"] == list(read(tarred(("caf\udce9.py", b""), errors="surrogateescape"), ".tar").files)


@packers
def test_intake_archive_names_are_in_one_normal_form(read, pack, suffix):
    """As those of a folder are."""
    assert ["caf\u00e9.py"] == list(read(pack(("cafe\u0301.py", b"")), suffix).files)


@packers
def test_intake_archive_file_of_the_greatest_size_is_taken_and_a_larger_one_refused(read, pack, suffix):
    """Other files may be as large as they like."""
    files = {"mix.py": b"#" * MOST_BYTES, "scale.py": b"#" * (MOST_BYTES + 1), "photo.png": b"#" * (15 * MIB)}

    tree = read(pack(*files.items()), suffix)

    assert ({"mix.py": MOST_BYTES}, {"scale.py": IS_TOO_LARGE}) == (
        {name: len(data) for name, data in tree.files.items()},
        tree.refused,
    )


def test_intake_archive_links_and_devices_of_a_zip_are_refused(read):
    """A Unix tool marks them; what they lead to is not asked for."""
    kinds = {"link": stat.S_IFLNK, "pipe": stat.S_IFIFO, "device": stat.S_IFCHR, "socket": stat.S_IFSOCK}
    entries = [(zip_entry(f"{name}.py", kind | 0o777), b"/etc/hostname") for name, kind in kinds.items()]

    tree = read(zipped(("mix.py", b"a"), *entries))

    assert ["mix.py"] == list(tree.files)
    assert {"link.py": IS_LINK, "pipe.py": IS_SPECIAL, "device.py": IS_SPECIAL, "socket.py": IS_SPECIAL} == tree.refused


def test_intake_archive_links_and_devices_of_a_tar_are_refused(read):
    """Also a file below a linked folder leads nowhere."""
    entries = [
        tar_entry("link.py", tarfile.SYMTYPE, "/etc/hostname"),
        tar_entry("hard.py", tarfile.LNKTYPE, "mix.py"),
        tar_entry("pipe.py", tarfile.FIFOTYPE),
        tar_entry("device.py", tarfile.CHRTYPE),
        tar_entry("work", tarfile.SYMTYPE, "/tmp"),
    ]

    tree = read(tarred(("mix.py", b"a"), *((entry, b"") for entry in entries), ("work/scale.py", b"b")), ".tar")

    assert {"mix.py": b"a", "work/scale.py": b"b"} == tree.files
    assert {
        "link.py": IS_LINK,
        "hard.py": IS_HARD_LINK,
        "pipe.py": IS_SPECIAL,
        "device.py": IS_SPECIAL,
    } == tree.refused


def test_intake_archive_sparse_file_is_refused(read):
    """A header of 512 bytes can claim a terabyte."""
    entry = tarfile.TarInfo("mix.py")
    entry.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.size": str(10**12), "GNU.sparse.map": "0,1"}

    tree = read(tarred((entry, b"x"), format=tarfile.PAX_FORMAT), ".tar")

    assert {"mix.py": "it is a sparse file, which is not read; make the archive without --sparse"} == tree.refused


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_intake_archive_of_an_unusual_method_gives_no_file(read, method):
    """Decompressors that nobody needs are not given hostile bytes."""
    assert {"mix.py": UNUSUAL} == read(zipped(("mix.py", b"a"), method=method)).refused


def test_intake_archive_that_is_encrypted_gives_no_file(read):
    """Nobody knows the password."""
    data = bytearray(zipped(("mix.py", b"a")))
    data[data.index(b"PK\x01\x02") + 8] |= 1

    assert {"mix.py": ENCRYPTED} == read(bytes(data)).refused


# --- what refuses the whole ---------------------------------------------------------------------------------------


@packers
@pytest.mark.parametrize(
    "name",
    [
        "/mix.py",
        "../mix.py",
        "work/../../mix.py",
        "work\\..\\..\\mix.py",
        "C:/mix.py",
        "work/c:mix.py",
        "../../notes.txt",
        ".git/../../x",
        "..",
    ],
)
def test_intake_archive_with_a_name_that_leads_out_is_refused(read, pack, suffix, name):
    """Nothing is written anywhere; but whoever unpacked it by hand would regret it."""
    tree = read(pack(("mix.py", b"a"), (name, b"b")), suffix)

    assert {} == tree.files
    assert (
        f"the archive holds the name {name}, which leads out of its folder on some systems; wanted names without '..', "
        "'\\', a drive or a '/' at their beginning: make it again with an ordinary tool"
    ) == tree.problem


def test_intake_archive_with_a_nul_in_a_name_is_refused(read):
    """Some programs would read `mix.py`."""
    assert "leads out of its folder" in read(zipped(("mix.py\0.txt", b"a"))).problem


@packers
@pytest.mark.parametrize(
    ("one", "other"),
    [("mix.py", "Mix.py"), ("work/mix.py", "WORK/./mix.py"), ("caf\u00e9.py", "cafe\u0301.py"), ("mix.py", "mix.py")],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_intake_archive_with_two_files_of_one_name_is_refused(read, pack, suffix, one, other):
    """Which of the two is seen depends on who unpacks it."""
    tree = read(pack((one, b"a"), (other, b"b")), suffix)

    assert {} == tree.files
    second = other.replace("./", "")
    assert (f"the archive holds two files whose names are one on many disks ({one} and {second}); remove one") == (
        tree.problem
    )


@packers
def test_intake_archive_of_thousands_of_entries_is_refused(read, pack, suffix):
    """It is no homework."""
    assert TOO_MANY == read(pack(*((f"{number}.txt", b"") for number in range(MOST_ENTRIES + 1))), suffix).problem


@packers
def test_intake_archive_with_thousands_of_hidden_files_is_read(read, pack, suffix):
    """A repository that was packed with the homework is no reason to refuse it; but there is an end to it."""
    hidden = [(f".git/{number}", b"") for number in range(MOST_LISTED + 1)]

    assert ["mix.py"] == list(read(pack(*hidden[: 2 * MOST_ENTRIES], ("mix.py", b"")), suffix).files)
    assert TOO_MANY == read(pack(*hidden), suffix).problem


@pytest.mark.parametrize("suffix", [".zip", ".tgz"])
def test_intake_archive_with_too_much_source_is_refused(read, suffix):
    """It weighs nothing packed: a bomb."""
    files = [(f"part_{number}.py", b"#" * MOST_BYTES) for number in range(MOST_TOTAL // MOST_BYTES + 1)]

    tree = read(zipped(*files) if suffix == ".zip" else tarred(*files, suffix=suffix), suffix)

    assert (
        "the archive cannot be taken: its Python files hold more than 20 MiB together; hand in only those you wrote"
    ) == tree.problem


def test_intake_archive_of_a_million_entries_is_refused(read):
    """They are counted before anything is made of them; the directory lists one file again and again."""
    data = zipped(("mix.py", b"a"))
    start = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    directory = data[start:end] * 300_000
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFE, 0xFFFE, len(directory), start, 0)

    assert TOO_MANY == read(data[:start] + directory + tail).problem


def test_intake_archive_whose_entries_overlap_is_refused(read):
    """The same bytes under many names: the bomb that needs no nesting."""
    data = zipped(("mix.py", b"a" * 1000))
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    again = data[start:end].replace(b"mix.py", b"MOX.py")
    directory = data[start:end] + again
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2, 2, len(directory), start, 0)

    assert (
        "entries of the archive lie upon each other (mix.py, MOX.py); make it again with an ordinary tool"
    ) == read(data[:start] + directory + tail).problem  # fmt: skip


def test_intake_archive_that_inflates_a_thousandfold_is_refused(read):
    """A gzip of zeros is not inflated beyond a limit."""
    packer = zlib.compressobj(9, wbits=31)
    data = b"".join(packer.compress(bytes(MIB)) for _ in range(MOST_UNPACKED // MIB * 16)) + packer.flush()

    assert "the archive unpacks to more than 64 MiB; pack the Python files alone" == read(data, ".tgz").problem


def test_intake_archive_that_inflates_beside_the_source_is_not_inflated(read):
    """What is no Python file is never looked into, so a bomb in it does not go off."""
    files = {"mix.py": b"a", "bomb.bin": bytes(300 * MIB)}

    assert ["mix.py"] == list(read(zipped(*files.items())).files)


@pytest.mark.parametrize("declared", [1, 999, 1001, MOST_BYTES])
def test_intake_archive_that_lies_about_a_size_gives_no_file(read, declared):
    """Both headers say so, and the data does not."""
    data = zipped(("mix.py", b"a" * 1000)).replace(struct.pack("<L", 1000), struct.pack("<L", declared))

    assert {"mix.py": BROKEN} == read(data).refused


def test_intake_archive_whose_headers_differ_gives_no_file(read):
    """One name in the directory, another at the data: two programs would see two archives."""
    data = zipped(("mix.py", b"a")).replace(b"mix.py", b"max.py", 1)

    assert {"mix.py": BROKEN} == read(data).refused


def test_intake_archive_with_a_wrong_checksum_gives_no_file(read):
    """A bit that fell over on the way."""
    data = zipped(("mix.py", b"aaaa"), method=zipfile.ZIP_STORED).replace(b"aaaa", b"aaba")

    assert {"mix.py": BROKEN} == read(data).refused


@packers
@pytest.mark.parametrize("cut", [0, 1, 2])
def test_intake_archive_that_is_cut_off_is_refused(read, pack, suffix, cut):
    """A download that broke off; its digest is known, so that the whole one is noticed."""
    data = pack(("mix.py", os.urandom(5000)), ("scale.py", os.urandom(5000)))
    data = data[: len(data) * cut // 4]

    tree = read(data, suffix)

    assert (DAMAGED.format("zip" if suffix == ".zip" else "tar"), hashlib.sha256(data).hexdigest()) == (
        tree.problem,
        tree.sha256,
    )


def test_intake_archive_tar_with_a_damaged_header_is_refused(read):
    """The standard library's parser takes it for the end, and would lose the files behind it."""
    data = bytearray(tarred(("mix.py", b"a"), ("scale.py", b"b")))
    data[1024] ^= 1

    assert DAMAGED.format("tar") == read(bytes(data), ".tar").problem


@pytest.mark.parametrize("size", [b"\xff" * 12, b"\x80" + b"\xff" * 11, b"77777777777\0"])
def test_intake_archive_tar_with_an_impossible_size_is_refused(read, size):
    """Negative, larger than any disk, larger than the archive: no loop, no allocation."""
    header = bytearray(tarred(("mix.py", b"a"))[:512])
    header[124:136] = size
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)

    tree = read(bytes(header) + bytes(2048), ".tar")

    assert {} == tree.files
    assert (tree.problem or tree.refused["mix.py"]) in (DAMAGED.format("tar"), BROKEN)


def test_intake_archive_tar_with_a_bomb_in_its_headers_costs_itself(read):
    """An extended header of 60 MiB, packed in 60 KiB, is a waste; thousands of headers for one file are no archive."""
    entry = tarfile.TarInfo("mix.py")
    entry.pax_headers = {"comment": "x" * (60 * MIB)}
    large = gzip.compress(tarred((entry, b"a"), format=tarfile.PAX_FORMAT))
    long_name = tarred((tarfile.TarInfo("x" * 200), b""), format=tarfile.GNU_FORMAT)[:1024]

    trees = [read(large, ".tgz"), read(long_name * 20_000, ".tar")]

    assert ({"mix.py": b"a"}, DAMAGED.format("tar")) == (trees[0].files, trees[1].problem)


def test_intake_archive_larger_than_its_cap_is_refused(read):
    """It is not even read."""
    tree = read(bytes(MOST_PACKED + 1), ".tar")

    assert ("the archive is larger than 20 MiB", "") == (tree.problem, tree.sha256)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path, other: path.symlink_to(other), IS_LINK),
        (lambda path, other: path.hardlink_to(other), IS_HARD_LINK),
        (lambda path, other: os.mkfifo(path), IS_SPECIAL),
        (lambda path, other: path.mkdir(), IS_SPECIAL),
        (lambda path, other: None, "it cannot be read: No such file or directory"),
    ],
    ids=["link", "hard link", "pipe", "folder", "gone"],
)
def test_intake_archive_that_is_no_file_of_its_own_is_refused(tmp_path, make, reason):
    """As a file in a folder would be."""
    (tmp_path / "other").write_bytes(zipped(("mix.py", b"a")))
    make(tmp_path / "ann.zip", tmp_path / "other")

    tree = read_tree(Found(id="ann", path=tmp_path / "ann.zip", is_archive=True))

    assert f"the archive{reason.removeprefix('it')}" == tree.problem


def test_intake_file_names_are_also_those_in_archives(tmp_path):
    """They tell which assignment is answered; one that cannot be read tells nothing."""
    (tmp_path / "ann.zip").write_bytes(zipped(("hw/mix.py", b""), ("notes.txt", b"")))
    (tmp_path / "bob.tar").write_bytes(b"x")
    found = [Found(id=name, path=tmp_path / name, is_archive=True) for name in ("ann.zip", "bob.tar")]

    assert ["mix.py"] == list(file_names(found))


# --- an unpacker that cannot be believed --------------------------------------------------------------------------

SMALL = base64.b64encode(b"a = 1").decode()


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no JSON",
        b"[" * 100_000,
        b"\xff",
        b"null",
        b'{"entries": null}',
        b'{"entries": [], "problem": ["damaged", "", ""]}',
        b'{"problem": ["guilty", "", ""]}',
        b'{"problem": ["damaged"]}',
        b'{"problem": ["damaged", 1, 2]}',
        {"entries": [["mix.py", "other", None]] * (MOST_ENTRIES + 1)},
        {"entries": [["mix.py", "file", None]]},
        {"entries": [["mix.py", "file", "no base64!"]]},
        {"entries": [["mix.py", "file", SMALL, "more"]]},
        {"entries": [["mix.so", "file", SMALL]]},
        {"entries": [["mix.so", "link", None]]},
        {"entries": [["mix.py", "link", SMALL]]},
        {"entries": [["mix.py", "passed", None]]},
        {"entries": [["x" * 5000, "other", None]]},
        {"entries": [[1, "other", None]]},
        {"entries": ["mix.py"]},
        {"entries": [["mix.py", "file", base64.b64encode(bytes(MOST_BYTES + 1)).decode()]]},
    ],
)
def test_intake_archive_answer_of_another_form_refuses_the_submission(answer):
    """Whoever took the unpacker over by an archive gets a refusal, and never an exception."""
    data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()

    with pytest.raises(Refusal, match="reading the archive went wrong as with no ordinary one"):
        read_answer(data, "ann.zip")


def test_intake_archive_answer_is_judged_again_where_it_could_be_abused():
    """Names that lead out, and more than is taken, are refused here, whatever the unpacker made of them."""
    too_much = [[f"{number}.py", "file", base64.b64encode(bytes(MOST_BYTES)).decode()] for number in range(21)]
    answers = [{"entries": [["../mix.py", "file", SMALL]]}, {"entries": too_much}]

    for answer, words in zip(answers, ["leads out of its folder", "more than 20 MiB"], strict=True):
        with pytest.raises(Refusal, match=words):
            gathered(read_answer(json.dumps(answer).encode(), "ann.zip"))


@packers
def test_intake_archive_gives_the_bytes_of_notebooks_by_name(read, pack, suffix):
    """Without a look into them."""
    assert {"hw/a.ipynb": b"{", "B.IPYNB": b""} == read(pack(("hw/a.ipynb", b"{"), ("B.IPYNB", b"")), suffix).notebooks


def test_intake_archive_gives_notebooks_up_to_their_own_limit(read):
    """What is too much together is left, and the rest is taken."""
    tree = read(zipped(("a.ipynb", b" " * (MOST_NOTEBOOK - 1)), ("b.ipynb", b"  "), ("c.ipynb", b" "), ("mix.py", b"")))

    assert ({"a.ipynb", "c.ipynb"}, {"b.ipynb": TOO_MANY_NOTEBOOKS}) == (set(tree.notebooks), tree.refused)
    assert {"mix.py": b""} == tree.files


def test_intake_archive_with_a_notebook_that_is_too_large_says_so(read):
    """The declared size decides, before anything is inflated."""
    tree = read(zipped(("a.ipynb", b" " * (MOST_NOTEBOOK + 1))))

    assert {"a.ipynb": IS_TOO_LARGE_A_NOTEBOOK} == tree.refused
