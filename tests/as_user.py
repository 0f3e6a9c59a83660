"""Run a command in a box of its own, as another user: `python as_user.py --uid N [--writable FOLDER] -- COMMAND`.

Root only. The box is a private root made of bind mounts at the usual paths: the system's folders, the interpreter, its
environment and the repository, all read-only; an empty /tmp and /dev/shm, a /proc of its own, and the folders named
writable. The folders on the way are open to everybody, so that a user without rights reaches an interpreter that lies
below a home folder of mode 700. Processes, network, System V objects and mounts are private too: what a command that
misbehaves signals, fills or mounts is nothing of this machine, and all it leaves running ends with it.

The root is changed by pivot_root, since a process in a chroot may not make user namespaces, which a sandbox wants to.
"""

import argparse
import contextlib
import ctypes
import fcntl
import os
import platform
import signal
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
#: Nobody's on any distribution we know of: above people's, below those that are set aside for containers.
UNUSED_UID = 61_234
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/sys")
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LIBC = ctypes.CDLL(None, use_errno=True)
# linux/sched.h, sys/mount.h, linux/prctl.h
_NEW_MOUNTS, _NEW_NAMES, _NEW_IPC, _NEW_PIDS, _NEW_NET = 0x20000, 0x4000000, 0x8000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SUID, _REMOUNT, _BIND, _REC, _PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
_DETACH = 2
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_SET_PARENT_DEATH_SIGNAL = 1


def can_box() -> bool:
    """Whether this process may make boxes: root, on Linux, with namespaces."""
    if sys.platform != "linux" or os.geteuid() != 0 or platform.machine() not in _PIVOT_ROOT:
        return False
    return subprocess.run(boxed(0, [], [sys.executable, "-c", "pass"]), capture_output=True).returncode == 0


def boxed(uid: int, writable: list[Path], command: list[str]) -> list[str]:
    """The command line that runs a command in a box."""
    folders = [part for folder in writable for part in ("--writable", str(folder))]
    return [sys.executable, str(Path(__file__).resolve()), "--uid", str(uid), *folders, "--", *command]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--uid", type=int, default=UNUSED_UID)
    parser.add_argument("--writable", type=Path, action="append", default=[])
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        _check(_LIBC.unshare(_NEW_MOUNTS | _NEW_NAMES | _NEW_IPC | _NEW_PIDS | _NEW_NET), "unshare")
        first = os.fork()
        if first == 0:
            os._exit(_first_process(Path(place), options))
        return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) & 0xFF


def _first_process(place: Path, options: argparse.Namespace) -> int:
    """Process 1 of the box: builds it, starts the command, reaps orphans until the command ends; its end ends all."""
    _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    folder = Path.cwd()
    _build_root(place, options.writable)
    _raise_loopback()
    command = os.fork()
    if command == 0:
        _become(options.uid)
        os.chdir(folder if folder.is_dir() else "/")
        os.execvp(options.command[0], options.command)
    while True:
        pid, status = os.wait()
        if pid == command:
            return os.waitstatus_to_exitcode(status) & 0xFF


def _become(uid: int) -> None:
    os.environ["HOME"] = "/tmp"
    if uid:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def _build_root(place: Path, writable: list[Path]) -> None:
    _mount(None, "/", None, _REC | _PRIVATE)
    _mount("tmpfs", place, "tmpfs", _NO_SUID, "mode=755")
    os.umask(0o022)
    for name in ("tmp", "dev/shm"):
        _folder(place / name)
        _mount("tmpfs", place / name, "tmpfs", _NO_SUID, "mode=1777")
    for name in _SYSTEM:
        _system_folder(place, Path(name))
    for folder in dict.fromkeys((Path(sys.base_prefix), Path(sys.prefix), ROOT)):
        _bind(place, folder.resolve(), is_writable=False)
    for folder in writable:
        _bind(place, folder.resolve(), is_writable=True)
    for name in _DEVICES:
        (place / "dev" / name).touch()
        _mount(f"/dev/{name}", place / "dev" / name, None, _BIND)
    _folder(place / "proc")
    _mount("proc", place / "proc", "proc", 0)
    _change_root(place)


def _system_folder(place: Path, folder: Path) -> None:
    """As it is here: a folder, or the link to one that newer systems have."""
    if folder.is_symlink():
        (place / folder.relative_to("/")).symlink_to(folder.readlink())
    elif folder.is_dir():
        _bind(place, folder, is_writable=False)


def _bind(place: Path, folder: Path, is_writable: bool) -> None:
    inside = place / folder.relative_to("/")
    _folder(inside)
    _mount(folder, inside, None, _BIND)
    if not is_writable:
        _mount(None, inside, None, _BIND | _REMOUNT | _READ_ONLY | _NO_SUID)


def _folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # it lies in what is mounted read-only, and is there
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)


def _change_root(place: Path) -> None:
    """Make `place` the root, and let go of the old one."""
    os.chdir(place)
    _check(_LIBC.syscall(_PIVOT_ROOT[platform.machine()], b".", b"."), "pivot_root")
    _check(_LIBC.umount2(b".", _DETACH), "umount2")
    os.chdir("/")


def _raise_loopback() -> None:
    """Turn `lo` on: SIOCGIFFLAGS, SIOCSIFFLAGS with IFF_UP (netdevice(7))."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as some:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(some, 0x8913, request))[1]
        fcntl.ioctl(some, 0x8914, struct.pack("16sH14x", b"lo", flags | 1))


def _mount(source: object, target: object, kind: str | None, flags: int, data: str = "") -> None:
    texts = [None if text is None else str(text).encode() for text in (source, target, kind)]
    _check(_LIBC.mount(*texts, ctypes.c_ulong(flags), data.encode()), f"mount {source} on {target}")


def _check(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    sys.exit(main())
