"""Submissions that no text can describe: links, pipes, archives, strange names, endless depth.

Each builder makes one submission among the others and is named by an attack's `builder`. `tag` must stand in its name.
"""

import io
import os
import socket
import stat
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attacks.corpus import FILE

#: Any text that is a right answer, so that whoever reads it where he should not gives points for it.
Builder = Callable[[Path, str, Mapping[str, Any]], None]
_WRONG = 'import torch\n\n\ndef attention(query, key, value):\n    """{tag}"""\n    return torch.zeros(1)\n'
_BIG = 1 << 40


def wrong(tag: str) -> str:
    """A file that is worth nothing."""
    return _WRONG.format(tag=tag)


# --- links and special files --------------------------------------------------------------------------------------


def symlink_to_the_reference(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name).joinpath(FILE).symlink_to(places["REFERENCE"])


def symlinked_folder(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    (folder / name).symlink_to(Path(places["REFERENCE"]).parent, target_is_directory=True)


def symlinked_neighbour(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    (folder / name).symlink_to(Path(places["NEIGHBOUR"]).parent, target_is_directory=True)


def symlink_inside_to_the_references_folder(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name).joinpath("homework").symlink_to(Path(places["REFERENCE"]).parent, target_is_directory=True)


def relative_symlink_to_a_neighbour(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    neighbour = Path(places["NEIGHBOUR"])
    _made(folder / name).joinpath(FILE).symlink_to(Path("..", neighbour.parent.name, neighbour.name))


def symlink_to_itself(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name).joinpath(FILE).symlink_to(FILE)


def symlink_to_a_process_file(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name).joinpath(FILE).symlink_to("/proc/self/environ")


def symlink_to_an_endless_device(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name).joinpath(FILE).symlink_to("/dev/zero")


def hard_link_to_the_reference(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    os.link(places["REFERENCE"], _made(folder / name) / FILE)


def hard_link_to_somebodys_work(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    """Not a neighbour's: both names of a file are refused, since nobody can tell which was first."""
    elsewhere = _made(folder.parent / f"elsewhere-{name}") / FILE
    elsewhere.write_bytes(Path(places["NEIGHBOUR"]).read_bytes())
    os.link(elsewhere, _made(folder / name) / FILE)


def helper_is_a_link_to_the_reference(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    (inside / FILE).write_text("from answers import attention\n")
    (inside / "answers.py").symlink_to(places["REFERENCE"])


def fifo(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    os.mkfifo(_made(folder / name) / FILE)


def fifo_beside(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    (inside / FILE).write_text(wrong(name))
    os.mkfifo(inside / "answers.py")


def socket_file(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    here = os.open(inside, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as one:  # its path may be too long for an address, a descriptor's is not
        one.bind(f"/proc/self/fd/{here}/{FILE}")
    os.close(here)


def folder_as_file(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    _made(folder / name / FILE).joinpath(FILE).write_text(wrong(name))


def unreadable_file(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    (_made(folder / name) / FILE).write_text(wrong(name))
    (folder / name / FILE).chmod(0)


# --- size ---------------------------------------------------------------------------------------------------------


def sparse_file(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    with open(_made(folder / name) / FILE, "wb") as file:
        file.truncate(1 << 33)


def thousands_of_files(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    (inside / FILE).write_text(wrong(name))
    for number in range(5000):
        (inside / f"extra{number}.py").touch()


def deep_folder(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    (inside / FILE).write_text(wrong(name))
    here = os.open(inside, os.O_RDONLY)
    for _ in range(1500):  # deeper than a path may be long, so by descriptors
        os.mkdir("deep", dir_fd=here)
        deeper = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = deeper
    os.close(here)


# --- bytes --------------------------------------------------------------------------------------------------------


def _holding(data: Callable[[str], bytes]) -> Builder:
    def build(folder: Path, name: str, places: Mapping[str, Any]) -> None:
        (_made(folder / name) / FILE).write_bytes(data(name))

    return build


minus_signs = _holding(lambda name: b"x = " + b"-" * 1_000_000 + b"1\n" + wrong(name).encode())
nested_calls = _holding(lambda name: b"x = " + b"f(" * 90_000 + b")" * 90_000 + b"\n" + wrong(name).encode())
nested_brackets = _holding(lambda name: b"x = " + b"[" * 150 + b"]" * 150 + b"\n" + b"y = " + b"(" * 50_000)
huge_string = _holding(lambda name: b'x = "' + b"a" * 3_000_000 + b'"\n' + wrong(name).encode())
null_bytes = _holding(lambda name: wrong(name).encode() + b"\0\0")
utf16 = _holding(lambda name: wrong(name).encode("utf-16"))
lone_surrogates = _holding(lambda name: wrong(name).encode() + "# \ud800".encode("utf-8", "surrogatepass"))
another_encoding = _holding(lambda name: b"# -*- coding: utf-7 -*-\n# +AAo-import os\n" + wrong(name).encode())
huge_integer = _holding(lambda name: b"x = 9" + b"9" * 900_000 + b"\n" + wrong(name).encode())
long_elif = _holding(lambda name: b"if 0: pass\n" + b"elif 0: pass\n" * 60_000 + wrong(name).encode())


# --- names --------------------------------------------------------------------------------------------------------


def _named(pattern: str) -> Builder:
    """A submission whose folder bears the name, `NAME` in it replaced by the tag."""

    def build(folder: Path, name: str, places: Mapping[str, Any]) -> None:
        tag = name.partition("-")[0]
        (_made(folder / pattern.replace("NAME", tag)) / FILE).write_text(wrong(name))

    return build


html_name = _named("NAME<img src=x onerror=alert(1)>")
terminal_name = _named("NAME\x1b[2J\x1b]0;owned\x07\x9b31m")
newline_name = _named("NAME\nada 10.00 passed")
return_name = _named("NAME\r                    ")
bidi_name = _named("NAME\u202egnihton\u2066\u200b")
formula_name = _named("=HYPERLINK(1)&NAME")
at_formula_name = _named("@SUM(NAME)")
tab_formula_name = _named("\t=NAME")
dash_name = _named("-o NAME")
long_name = _named("NAME" + "x" * 240)
undecodable_name = _named("NAME\udcff\udcfe")
markdown_name = _named("NAME ![](http:evil) [x](javascript:1) | a | b `c` <b>")
quote_name = _named("NAME\"';,\\$(id)`id`")
template_name = _named("NAME{{7*7}}{% raw %}")
path_name = _named("NAME..%2f..%2f")
json_name = _named('NAME","score":10,"x":"')


def two_names_alike(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    """Names that differ only in what cannot be seen, or in how an accent is written."""
    tag = name.partition("-")[0]
    for end in ("é", "e\u0301", "é\u200b"):
        (_made(folder / f"{tag}{end}") / FILE).write_text(wrong(name))


def file_names_that_do_something(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    inside = _made(folder / name)
    (inside / FILE).write_text(wrong(name))
    for other in ("<script>alert(1)<script>.py", "\x1b[31m.py", "a\nb.py", "\u202ey.py", "=cmd.py", "-rf.py"):
        (inside / other).write_text("x = 1\n")
    (inside / "Attention\x1b[2J<b> (2).py").write_text("x = 1\n")


def misspelt_by_html(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    """A nested file that is found and spoken of in a note."""
    inside = _made(folder / name / "<img src=x onerror=alert(1)>\x1b[2J")
    (inside / "Attention.py").write_text(wrong(name))


# --- archives -----------------------------------------------------------------------------------------------------


def _zipped(fill: Callable[[zipfile.ZipFile, str, Mapping[str, Any]], None]) -> Builder:
    def build(folder: Path, name: str, places: Mapping[str, Any]) -> None:
        with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            fill(archive, name, places)

    return build


def _tarred(fill: Callable[[tarfile.TarFile, str, Mapping[str, Any]], None]) -> Builder:
    def build(folder: Path, name: str, places: Mapping[str, Any]) -> None:
        with tarfile.open(folder / f"{name}.tar.gz", "w:gz") as archive:
            fill(archive, name, places)

    return build


def _linked(name: str, target: str, mode: int = stat.S_IFLNK | 0o777) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def _member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "", size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    archive.addfile(_member(name, size=len(text.encode())), io.BytesIO(text.encode()))


@_zipped
def zip_slip(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(f"../../drop/{name}", "x")
    archive.writestr(f"{places['DROP']}/{name}", "x")
    archive.writestr(f"..\\..\\drop\\{name}", "x")
    archive.writestr(FILE, wrong(name))


@_zipped
def zip_over_a_neighbour(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(f"../{Path(places['NEIGHBOUR']).parent.name}/{FILE}", wrong(name))
    archive.writestr(FILE, wrong(name))


@_zipped
def zip_symlink_to_the_reference(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(_linked(FILE, ""), str(places["REFERENCE"]))


@_zipped
def zip_through_a_symlink(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(_linked("out", ""), str(places["DROP"]))
    archive.writestr(f"out/{name}", "x")
    archive.writestr(FILE, wrong(name))


@_zipped
def zip_bomb(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    with archive.open(FILE, "w", force_zip64=True) as file:
        for _ in range(300):
            file.write(b"#" * (1 << 20))


@_zipped
def zip_of_a_hundred_thousand_files(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(FILE, wrong(name))
    for number in range(30_000):
        archive.writestr(f"{number}.py", "")


@_zipped
def zip_with_one_name_twice(archive: zipfile.ZipFile, name: str, places: Mapping[str, Any]) -> None:
    archive.writestr(FILE, wrong(name))
    archive.writestr(f"./{FILE}", wrong(name))
    archive.writestr(f"x/../{FILE}", wrong(name))


def zip_whose_sizes_lie(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    """The directory says 10 bytes, the data hold 50 MiB."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(FILE, b"#" * (50 << 20))
    real, lie = (50 << 20).to_bytes(4, "little"), (10).to_bytes(4, "little")
    (folder / f"{name}.zip").write_bytes(data.getvalue().replace(real, lie))


def zip_that_is_torn(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr(FILE, wrong(name))
    (folder / f"{name}.zip").write_bytes(data.getvalue()[:-7])


def zip_nested_in_itself(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    data = wrong(name).encode()
    for level in range(40):
        inner = io.BytesIO()
        with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"{level}.zip" if level else FILE, data)
        data = inner.getvalue()
    (folder / f"{name}.zip").write_bytes(data)


@_tarred
def tar_slip(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    _add(archive, f"../../drop/{name}", "x")
    _add(archive, f"{places['DROP']}/{name}-absolute", "x")
    _add(archive, FILE, wrong(name))


@_tarred
def tar_symlink_to_the_reference(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    archive.addfile(_member(FILE, tarfile.SYMTYPE, str(places["REFERENCE"])))


@_tarred
def tar_hard_link_to_the_reference(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    archive.addfile(_member(FILE, tarfile.LNKTYPE, str(places["REFERENCE"]).lstrip("/")))


@_tarred
def tar_hard_link_to_a_symlink(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    """The way around extraction filters: CVE-2025-4517 and its like."""
    archive.addfile(_member("a", tarfile.SYMTYPE, str(places["DROP"])))
    archive.addfile(_member("b", tarfile.LNKTYPE, "a"))
    _add(archive, f"b/{name}", "x")
    _add(archive, FILE, wrong(name))


@_tarred
def tar_of_devices(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    for number, kind in enumerate((tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE)):
        archive.addfile(_member(FILE if not number else f"{number}.py", kind))


@_tarred
def tar_that_announces_a_terabyte(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    archive.fileobj.write(_member(FILE, size=_BIG).tobuf(tarfile.GNU_FORMAT))  # type: ignore[union-attr]


@_tarred
def tar_bomb(archive: tarfile.TarFile, name: str, places: Mapping[str, Any]) -> None:
    size = 300 << 20
    archive.addfile(_member(FILE, size=size), _Zeros(size))  # type: ignore[arg-type]


class _Zeros(io.RawIOBase):
    """A file of zeros that is nowhere."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1) -> bytes:
        size = min(size, self._left)
        self._left -= size
        return bytes(size)


def executable_that_says_zip(folder: Path, name: str, places: Mapping[str, Any]) -> None:
    (folder / f"{name}.zip").write_bytes(b"#!/bin/sh\ntouch " + str(places["DROP"]).encode() + f"/{name}\n".encode())
    (folder / f"{name}.zip").chmod(0o755)


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder
