"""A folder becomes a tree: only regular files of its own, whatever else lies in it."""

import os
import resource
import socket
import subprocess
import sys

import pytest
from conftest import write_files
from sample_notebook import jupyter

from grader.find import Found
from grader.intake import IntakeError, file_names, read_tree
from grader.intake.tree import (
    IS_HARD_LINK,
    IS_LINK,
    IS_REPLACED,
    IS_SPECIAL,
    IS_TOO_LARGE,
    IS_TOO_LARGE_A_NOTEBOOK,
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_LISTED,
    MOST_NOTEBOOK,
    MOST_TOTAL,
    TOO_MANY_NOTEBOOKS,
)

CLOSED = "it cannot be read: Permission denied"
TOO_MANY = "more than 2000 files and folders; hand in the Python files alone"


@pytest.fixture
def folder(tmp_path):
    """A submission's folder that holds one file."""
    return write_files(tmp_path / "ann", {"mix.py": "a = 1"})


def read(folder):
    """Its tree."""
    return read_tree(Found(id="ann", path=folder))


def test_intake_folder_gives_the_bytes_of_python_files_by_name(folder):
    """As they are, down to the eighth part of a name; nothing else is taken."""
    write_files(
        folder,
        {
            "latin.py": b"\xef\xbb\xbf\xe9\0\r\n",
            "Shout.PY": "",
            "1/2/3/4/5/6/7/deep.py": "d",
            "notes.txt": "",
            "mix.pyc": "",
            "mix.cpython-311-x86_64-linux-gnu.so": "",
            "pytest.ini": "",
            "pyproject.toml": "",
            "setup.cfg": "",
        },
    )

    tree = read(folder)

    assert {
        "mix.py": b"a = 1",
        "latin.py": b"\xef\xbb\xbf\xe9\0\r\n",
        "Shout.PY": b"",
        "1/2/3/4/5/6/7/deep.py": b"d",
    } == tree.files
    assert ({}, (), "", "") == (tree.refused, tree.notes, tree.cut, tree.problem)


def test_intake_folder_leaves_hidden_files_and_leftovers_of_tools(folder):
    """No note is made of what no student wrote."""
    names = (".mix.py", ".git/hooks/x.py", "._mix.py", "__MACOSX/mix.py", "__pycache__/x.py", "venv/lib/x.py")
    write_files(folder, dict.fromkeys(names, ""))

    tree = read(folder)

    assert (["mix.py"], ()) == (list(tree.files), tree.notes)


@pytest.mark.parametrize("name", ["conftest.py", "setup.py", "work/Conftest.py"])
def test_intake_folder_refuses_files_that_are_instructions_to_tools(folder, name):
    """Nothing runs them, and nothing should be able to."""
    write_files(folder, {name: "boom"})

    tree = read(folder)

    assert {name: "a file of this name gives instructions to tools, and is never run here"} == tree.refused


def link(path, tmp_path):
    path.symlink_to(tmp_path / "secret.py")


def link_to_nowhere(path, tmp_path):
    path.symlink_to("nowhere")


def link_to_itself(path, tmp_path):
    path.symlink_to(path.name)


def hard_link(path, tmp_path):
    path.hardlink_to(tmp_path / "secret.py")


def pipe(path, tmp_path):
    os.mkfifo(path)


def socket_file(path, tmp_path):
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(path.parent, os.O_PATH)  # a socket's path may have no more than 107 bytes
        server.bind(f"/proc/self/fd/{here}/{path.name}")
        os.close(here)


def device(path, tmp_path):
    try:
        os.mknod(path, 0o20666, os.makedev(1, 5))  # /dev/zero, which never ends
    except PermissionError:
        pytest.skip("only root makes devices")


def large(path, tmp_path):
    path.write_bytes(b"#" * (MOST_BYTES + 1))


def sparse(path, tmp_path):
    with open(path, "wb") as file:
        file.truncate(10**12)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (link, IS_LINK),
        (link_to_nowhere, IS_LINK),
        (link_to_itself, IS_LINK),
        (hard_link, IS_HARD_LINK),
        (pipe, IS_SPECIAL),
        (socket_file, IS_SPECIAL),
        (device, IS_SPECIAL),
        (large, IS_TOO_LARGE),
        (sparse, IS_TOO_LARGE),
    ],
)
def test_intake_folder_refuses_what_is_no_file_of_its_own(folder, tmp_path, make, reason):
    """Nothing is read of it, nobody waits for it, and the reason is kept."""
    (tmp_path / "secret.py").write_text("the answer")
    make(folder / "scale.py", tmp_path)

    tree = read(folder)

    assert ({"mix.py": b"a = 1"}, {"scale.py": reason}) == (tree.files, tree.refused)


def test_intake_folder_takes_a_file_of_the_greatest_size(folder):
    """The limit itself is allowed."""
    write_files(folder, {"mix.py": b"#" * MOST_BYTES})

    assert [MOST_BYTES] == [len(data) for data in read(folder).files.values()]


def test_intake_folder_does_not_enter_linked_folders(folder, tmp_path):
    """Wherever they lead, up and round in circles too."""
    write_files(tmp_path / "elsewhere", {"scale.py": "the answer"})
    (folder / "work").symlink_to(tmp_path / "elsewhere")
    (folder / "round").symlink_to(".")
    (folder / "up").symlink_to("..")

    assert ["mix.py"] == list(read(folder).files)


def test_intake_folder_that_is_a_link_is_refused(folder, tmp_path):
    """A submission is a folder of its own."""
    (tmp_path / "zed").symlink_to(folder)

    tree = read(tmp_path / "zed")

    assert f"the folder{IS_LINK.removeprefix('it')}" == tree.problem
    assert {} == tree.files


def test_intake_folder_that_is_closed_is_refused(as_nobody):
    """Its student is told why."""
    write_files(as_nobody / "ann", {"mix.py": ""}).chmod(0)

    assert "the folder cannot be read: Permission denied" == read(as_nobody / "ann").problem


def test_intake_folder_with_something_closed_gives_the_rest(as_nobody):
    """A closed file is refused; behind a closed folder may be anything."""
    folder = write_files(as_nobody / "ann", {"mix.py": "a", "scale.py": "b", "work/deep.py": "c"})
    (folder / "scale.py").chmod(0)
    (folder / "work").chmod(0)

    tree = read(folder)

    assert ({"mix.py": b"a"}, {"scale.py": CLOSED}) == (tree.files, tree.refused)
    assert (f"work was not read: {CLOSED}",) == tree.notes
    assert "the folder work cannot be read: Permission denied" == tree.cut


def test_intake_folder_with_too_many_entries_is_refused(folder):
    """It is no homework, and there is no telling which part of it was seen."""
    write_files(folder, {f"{number}.txt": "" for number in range(MOST_ENTRIES)})

    assert f"the folder holds {TOO_MANY}" == read(folder).problem


def test_intake_folder_beside_one_of_thousands_is_read(folder):
    """Homework beside a folder of pictures is homework."""
    write_files(folder, {"work/scale.py": ""} | {f"pictures/{number}.png": "" for number in range(MOST_ENTRIES)})

    tree = read(folder)

    assert ["mix.py"] == list(tree.files)
    assert (f"pictures was not read: with it the submission holds {TOO_MANY}",) == tree.notes
    assert f"with the folder pictures it holds {TOO_MANY}" == tree.cut


def test_intake_folder_is_not_listed_beyond_its_cap(folder):
    """Hidden files are no entries, but a hundred thousand of them are not looked through."""
    for number in range(MOST_LISTED + 1):
        os.close(os.open(folder / f".{number}", os.O_CREAT | os.O_WRONLY))

    assert f"the folder holds {TOO_MANY}" == read(folder).problem


def test_intake_folder_with_too_much_source_is_refused(folder):
    """Twenty files of the greatest size are more than anybody writes."""
    write_files(folder, {f"part_{number}.py": b"#" * MOST_BYTES for number in range(MOST_TOTAL // MOST_BYTES)})

    assert "its Python files hold more than 20 MiB together; hand in only those you wrote" == read(folder).problem


def test_intake_folder_deeper_than_any_homework_is_noted(folder):
    """Hundreds of folders in each other cost no more than eight."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(400):  # more, and pytest could not remove them afterwards
        os.mkdir("d", dir_fd=here)
        deeper = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)

    tree = read(folder)

    assert (["mix.py"], ("d/d/d/d/d/d/d/d was not read: it lies more than 7 folders deep",)) == (
        list(tree.files),
        tree.notes,
    )


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "\u202egnp", "-rf", "x" * 252, "<b>", "\udcff", " ", "C:\\x"])
def test_intake_folder_takes_odd_names_as_they_are(folder, name):
    """Whoever shows a name sees to that."""
    write_files(folder, {f"{name}.py": "x"})

    assert {"mix.py", f"{name}.py"} == set(read(folder).files)


def test_intake_folder_names_are_in_one_normal_form(folder):
    """What is written in two ways is one name; the second file of it is noted."""
    write_files(folder, {"cafe\u0301.py": "1", "caf\u00e9.py": "2", "stra\u00dfe.py": ""})

    tree = read(folder)

    assert ["caf\u00e9.py", "mix.py", "stra\u00dfe.py"] == sorted(tree.files)
    assert ("a second file that is also called caf\u00e9.py was not read",) == tree.notes


def test_intake_folder_notes_archives_inside_it(folder):
    """They are not unpacked, and nobody has to wonder."""
    write_files(folder, {"work/more.zip": "", "late.7z": ""})

    assert (
        "late.7z was not read: an archive inside a submission is not unpacked",
        "work/more.zip was not read: an archive inside a submission is not unpacked",
    ) == read(folder).notes


SWAPPER = """
import os, sys
here, secret = sys.argv[1:]
while True:
    for make in (lambda: os.symlink(secret, "new"), lambda: os.mkfifo("new"),
                 lambda: os.link(secret, "new"), lambda: open("new", "w").close()):
        os.chdir(here)
        make()
        os.rename("new", "mix.py")
"""


def test_intake_folder_read_while_it_is_swapped_gives_nothing_that_is_not_in_it(folder, tmp_path):
    """A file that becomes a link, a pipe or another file between two looks is its own file, or refused."""
    (tmp_path / "secret.py").write_text("the answer")
    gone = "it cannot be read: No such file or directory"
    outcomes = set()
    with subprocess.Popen([sys.executable, "-c", SWAPPER, folder, tmp_path / "secret.py"]) as swapper:
        for _ in range(500):
            tree = read(folder)
            outcomes |= {tree.files.get("mix.py"), tree.refused.get("mix.py")}
        swapper.kill()

    assert outcomes <= {None, b"a = 1", b"", IS_LINK, IS_HARD_LINK, IS_SPECIAL, IS_REPLACED, gone}


def test_intake_folder_without_descriptors_is_the_machines_fault(folder):
    """A student does not lose points because the grader has run out of something."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.open("/dev/null", os.O_RDONLY)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
    try:
        with pytest.raises(IntakeError, match="cannot be opened: Too many open files; grade with fewer --jobs"):
            read(folder)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_intake_file_names_are_those_of_all_python_files(tmp_path):
    """What tells which assignment is answered; a submission that cannot be read tells nothing."""
    write_files(tmp_path, {"ann/mix.py": "", "ann/sub/Scale_Up.PY": "", "ann/notes.txt": "", "bob/mix.py": ""})
    (tmp_path / "zed").symlink_to("ann")
    found = [Found(id=name, path=tmp_path / name) for name in ("ann", "bob", "zed", "gone")]

    assert ["Scale_Up.PY", "mix.py", "mix.py"] == sorted(file_names(found))


def test_intake_file_names_of_notebooks_are_the_stubs_they_answer(tmp_path):
    """Where there is no Python file beside them; whichever name the notebook has."""
    notebook = jupyter("def mix(): return 1")
    write_files(tmp_path, {"ann/hw.ipynb": notebook, "bob.ipynb": notebook, "cleo/x.py": "", "cleo/hw.ipynb": notebook})
    found = [Found(id="ann", path=tmp_path / "ann"), Found(id="cleo", path=tmp_path / "cleo")]
    found.append(Found(id="bob", path=tmp_path / "bob.ipynb", is_notebook=True))

    names = file_names(found, {"mix.py": ["mix", "gate"], "scale.py": ["Scale"]})

    assert ["mix.py", "mix.py", "x.py"] == sorted(names)


def test_intake_notebook_is_taken_as_it_was_handed_in(folder):
    """Up to its own limit; without reading what is in it."""
    large = b" " * (MOST_NOTEBOOK - 1)
    write_files(folder, {"a.ipynb": b"{", "b.ipynb": large, "c.ipynb": large + b"12"})

    tree = read(folder)

    assert {"a.ipynb": b"{", "b.ipynb": large} == tree.notebooks
    assert {"c.ipynb": IS_TOO_LARGE_A_NOTEBOOK} == tree.refused


def test_intake_notebooks_that_are_too_much_together_are_left(folder):
    """The rest is taken."""
    write_files(folder, {"a.ipynb": b" " * (MOST_NOTEBOOK - 1), "b.ipynb": b"  ", "c.ipynb": b" ", "mix.py": "a = 1"})

    tree = read(folder)

    assert ({"a.ipynb", "c.ipynb"}, {"b.ipynb": TOO_MANY_NOTEBOOKS}) == (set(tree.notebooks), tree.refused)
    assert {"mix.py": b"a = 1"} == tree.files
