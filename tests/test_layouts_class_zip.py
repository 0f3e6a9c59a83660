"""The zip of a class: told from a student's, unpacked whole and nowhere else, and refused when damaged."""

import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from class_files import STUBS, Class, as_zip, read_both, zipped

from grader.find import FindError
from grader.intake.archive import MOST_PACKED
from grader.layouts import class_zip
from grader.layouts.class_zip import unpacked
from grader.layouts.layout import LayoutError
from grader.layouts.recognise import read_class

CANVAS = {f"leekim_7_{number}_mix{number}.py": f"print({number})\n" * 50 for number in range(100, 120)}


def entries(path, *pairs):
    """A zip of (name or ZipInfo, content) pairs, also of names that no tool would write."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in pairs:
            info = name if isinstance(name, zipfile.ZipInfo) else entry(name)
            archive.writestr(info, content)
    return path


def entry(name, mode=stat.S_IFREG | 0o644):
    """An entry whose name is taken as it is."""
    info = zipfile.ZipInfo("x")
    info.filename, info.external_attr = name, mode << 16
    return info


def files_in(path):
    """What is unpacked: sizes by name, and the remarks."""
    with unpacked(path) as (folder, remarks):
        found = {str(file.relative_to(folder)): file.stat().st_size for file in folder.rglob("*") if file.is_file()}
    assert not folder.exists()
    return found, list(remarks)


def refusal(path):
    """What is said of it."""
    with pytest.raises(LayoutError) as refused, read_class(path, STUBS):
        pass
    return str(refused.value)


def test_class_zip_of_plain_folders_is_a_class(tmp_path):
    """Also one folder deeper, as most tools pack it."""
    found = read_both(tmp_path, {"all/ada/mix.py": "a", "all/zoë/mix.py": "z"})

    assert "Submissions: 2 folders" == found.summary
    assert {"ada": {"mix.py": "a"}, "zoë": {"mix.py": "z"}} == found.files


def test_class_zip_of_archives_is_a_class(tmp_path):
    """A folder of zips, zipped."""
    found = read_both(tmp_path, {"ada.zip": zipped({"mix.py": "a"}), "bob.zip": zipped({"mix.py": "b"})})

    assert {"ada": {"mix.py": "a"}, "bob": {"mix.py": "b"}} == found.files


@pytest.mark.parametrize(
    "names", [["mix.py", "scale_up.py"], ["hw/mix.py", "hw/notes/x.py"], ["a/mix.py", "notes.txt"]]
)
def test_class_zip_of_one_student_is_one_submission(tmp_path, names):
    """A student's own zip stays what it was."""
    found = Class(as_zip(tmp_path / "ada.zip", dict.fromkeys(names, "x")))

    assert ["ada"] == list(found.found)
    assert found.found["ada"].is_archive


def test_class_zip_alone_in_a_folder_is_found(tmp_path):
    """A TA names the folder of downloads; what lies beside it makes it a student's again."""
    as_zip(tmp_path / "submissions.zip", CANVAS)

    alone = Class(tmp_path)
    as_zip(tmp_path / "bob.zip", {"mix.py": "x"})

    assert "Canvas download: 20 files of 1 student" == alone.summary
    assert ["bob", "submissions"] == sorted(Class(tmp_path).found)


def test_class_zip_that_is_cut_off_is_explained(tmp_path):
    """Half a download has no table of contents: what its beginning looks like is told."""
    path = as_zip(tmp_path / "submissions.zip", CANVAS)
    path.write_bytes(path.read_bytes()[:-200])

    assert refusal(path).startswith(f"{path} is damaged, perhaps cut off while it was downloaded: download it again")


def test_class_zip_with_a_damaged_entry_is_refused(tmp_path):
    """No student loses a file to a bad disk."""
    path = as_zip(tmp_path / "submissions.zip", CANVAS)
    data = bytearray(path.read_bytes())
    at = data.index(b"leekim_7_105_mix105.py") + len("leekim_7_105_mix105.py") + 2
    data[at] ^= 0xFF
    path.write_bytes(data)

    assert refusal(path).startswith(
        f"{path} is damaged: leekim_7_105_mix105.py in it cannot be read; download it again"
    )


def test_class_zip_of_one_student_that_is_damaged_is_told_in_the_report(tmp_path):
    """It may be anybody's."""
    path = as_zip(tmp_path / "ada.zip", {"mix.py": "x"})
    path.write_bytes(path.read_bytes()[:-30])

    assert Class(path).problems["ada"].startswith("the archive is damaged")


@pytest.mark.parametrize("name", ["../mix.py", "/mix.py", "a/../../mix.py", "x" * 300 + ".py", "a/" * 40 + "mix.py"])
def test_class_zip_name_that_leads_out_is_left(tmp_path, name):
    """Nothing is written outside, and the others are there."""
    path = entries(tmp_path / "class.zip", (name, "x"), ("ada/mix.py", "x"))

    found, remarks = files_in(path)

    assert {"ada/mix.py": 1} == found
    assert 1 == len(remarks)
    assert {"class.zip"} == set(os.listdir(tmp_path))


def test_class_zip_links_are_left(tmp_path):
    """Neither made nor followed, and no later entry goes through one."""
    path = entries(
        tmp_path / "class.zip", (entry("ada", stat.S_IFLNK | 0o777), str(tmp_path)), ("ada/mix.py", "x"), ("b.py", "x")
    )

    found, remarks = files_in(path)

    assert {"ada/mix.py": 1, "b.py": 1} == found
    assert ["class.zip: ada: a link or another thing that is no file; left"] == remarks


def test_class_zip_two_entries_of_one_name_are_told(tmp_path):
    """The first stays, as a file or as a folder."""
    with pytest.warns(UserWarning, match="Duplicate"):
        path = entries(tmp_path / "class.zip", ("mix.py", "first"), ("mix.py", "2"), ("mix.py/x.py", "3"))

    found, remarks = files_in(path)

    assert {"mix.py": 5} == found
    assert [
        "class.zip: mix.py, mix.py/x.py: a file of that name cannot be made here, or is there already; left"
    ] == remarks


def test_class_zip_of_umlauts_without_the_mark_of_unicode_is_read_as_meant(tmp_path):
    """Some platforms write UTF-8 and do not say so."""
    path = as_zip(tmp_path / "class.zip", {"xxyy_7_100_mix.py": "1"})
    path.write_bytes(path.read_bytes().replace(b"xxyy", "éü".encode()))

    assert ["éü_7"] == list(Class(path).found)


def test_class_zip_large_files_take_no_place(tmp_path):
    """Pictures are there in name only, and what is too large to be read is so without being unpacked."""
    path = as_zip(
        tmp_path / "class.zip",
        {"ada/photo.png": bytes(10_000), "ada/hw.zip": bytes(MOST_PACKED + 1), "bob/mix.py": b"x" * (2 << 20)},
    )
    with unpacked(path) as (folder, _):
        sizes = {name: (folder / name).stat() for name in ("ada/photo.png", "ada/hw.zip", "bob/mix.py")}

    assert [0, MOST_PACKED + 1, 2 << 20] == [found.st_size for found in sizes.values()]
    assert sizes["ada/hw.zip"].st_blocks * 512 < 100_000


def test_class_zip_of_too_much_is_refused_and_leaves_nothing(tmp_path, monkeypatch):
    """A bomb, here of the smallest kind."""
    monkeypatch.setattr(class_zip, "MOST_WRITTEN", 100)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setattr("tempfile.tempdir", None)
    (tmp_path / "tmp").mkdir()

    text = refusal(as_zip(tmp_path / "submissions.zip", CANVAS))

    assert text.endswith("unpack it, and name the folder instead")
    assert [] == os.listdir(tmp_path / "tmp")


def test_class_zip_with_too_many_entries_is_refused(tmp_path, monkeypatch):
    """Before anything of it is written."""
    monkeypatch.setattr(class_zip, "MOST_ENTRIES", 10)

    assert "holds more than 10 entries" in refusal(as_zip(tmp_path / "submissions.zip", CANVAS))


def test_class_zip_whose_entries_lie_upon_each_other_is_refused(tmp_path):
    """Many entries that share the bytes of one."""
    path = as_zip(tmp_path / "submissions.zip", dict(list(CANVAS.items())[:2]))
    data = bytearray(path.read_bytes())
    second = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 1)
    struct.pack_into("<I", data, second + 42, 0)
    path.write_bytes(data)

    assert "is damaged" in refusal(path)


def test_class_zip_empty_is_no_class(tmp_path):
    """It is a student's, with nothing in it."""
    found = Class(as_zip(tmp_path / "ada.zip", {}))

    assert {"ada": {}} == found.files


def test_class_folder_that_is_empty_says_what_is_wanted(tmp_path):
    """As before."""
    with pytest.raises(FindError, match="holds no submission"):
        Class(Path(tmp_path))


def test_class_zip_entry_that_is_shorter_than_it_says_is_refused(tmp_path):
    """Its checksum is right, and yet something is missing."""
    path = as_zip(tmp_path / "submissions.zip", dict(list(CANVAS.items())[:2]))
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 24
    struct.pack_into("<I", data, place, struct.unpack_from("<I", data, place)[0] + 1)
    path.write_bytes(data)

    assert "leekim_7_100_mix100.py in it cannot be read" in refusal(path)
