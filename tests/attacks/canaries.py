"""What an attack could reach, set up before a run and looked at after it: secrets, sockets, a process, files.

All is told apart by kind and bears fresh random bytes, so that finding them anywhere proves that somebody got there.
Whatever bears the tag of an attack was its doing.
"""

import contextlib
import ctypes
import os
import secrets
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: Kinds of secret bytes, and where they lie.
SECRETS = ("file", "name", "environ", "reference", "hidden", "neighbour", "report", "victim")
#: Signals a victim cannot be asked about.
_UNBLOCKABLE = {signal.SIGKILL, signal.SIGSTOP}


def make_secrets() -> dict[str, str]:
    """Fresh random text for each kind."""
    return {kind: f"canary-{kind}-{secrets.token_hex(16)}" for kind in SECRETS}


class Files:
    """Files to be read, changed or left alone, below one folder."""

    def __init__(self, folder: Path, known: Mapping[str, str], tags: list[str]) -> None:
        self.size = 100_000 + secrets.randbelow(800_000)
        self.secret = folder / "private" / "secret.txt"
        self.secret.parent.mkdir()
        self.secret.write_text(known["file"].ljust(self.size))
        (self.secret.parent / known["name"]).touch()
        self.drop = folder / "drop"
        self.drop.mkdir()
        self.drop.chmod(0o1777)
        self.touch = folder / "touch"
        self.touch.mkdir()
        self.shared = folder / "shared"
        self.shared.mkdir()
        for number in range(64):
            (self.shared / f"{number:02}").touch()
        for tag in tags:
            (self.touch / tag).write_text("untouched")


class Listeners:
    """Sockets that nobody has business with. The kernel keeps what arrives until it is asked for."""

    def __init__(self, folder: Path) -> None:
        self.unix_path = str(folder / "listener")
        self.abstract = f"listener-{secrets.token_hex(8)}"
        self._sockets = {
            "tcp": _listening(socket.AF_INET, ("127.0.0.1", 0)),
            "udp": _bound(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "unix": _listening(socket.AF_UNIX, self.unix_path),
            "unix datagram": _bound(socket.AF_UNIX, socket.SOCK_DGRAM, f"{self.unix_path}-datagram"),
            "abstract": _listening(socket.AF_UNIX, f"\0{self.abstract}"),
        }
        self.tcp: int = self._sockets["tcp"].getsockname()[1]
        self.udp: int = self._sockets["udp"].getsockname()[1]

    def received(self) -> Iterator[tuple[str, str]]:
        """Which socket was reached, and what it was sent."""
        for name, one in self._sockets.items():
            with contextlib.suppress(BlockingIOError):
                while True:
                    yield f"socket {name}", _drain(one)


def _bound(family: int, kind: int, address: object) -> socket.socket:
    one = socket.socket(family, kind)
    one.bind(address)  # type: ignore[arg-type]
    if isinstance(address, str) and not address.startswith("\0"):
        os.chmod(address, 0o777)
    one.setblocking(False)
    return one


def _listening(family: int, address: object) -> socket.socket:
    one = _bound(family, socket.SOCK_STREAM, address)
    one.listen(128)
    return one


def _drain(one: socket.socket) -> str:
    if one.type == socket.SOCK_DGRAM:
        return one.recv(4096).decode(errors="replace")
    connection, _ = one.accept()
    with connection:
        connection.settimeout(1)
        with contextlib.suppress(OSError):
            return connection.recv(4096).decode(errors="replace")
    return ""


@dataclass(slots=True)
class Victim:
    """A process of the same user that minds its own business, with a secret in its memory and in a file it holds."""

    pid: int
    #: Where the secret lies in its memory.
    address: int
    #: The descriptor of its file.
    descriptor: int
    _log: int
    _before: dict[str, object] = field(default_factory=dict)

    def changes(self) -> list[str]:
        """What somebody did to it."""
        ended, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
        if ended:
            what = f"stopped by {os.WSTOPSIG(status)}" if os.WIFSTOPPED(status) else f"ended: {status}"
            return [f"victim {what}"]
        signals: set[int] = set()
        with contextlib.suppress(BlockingIOError):
            signals.update(os.read(self._log, 4096))
        now = _condition(self.pid)
        changed = [name for name in now if now[name] != self._before[name]]
        return [f"victim got signal {signal.Signals(number).name}" for number in sorted(signals)] + [
            f"victim's {name} became {str(now[name])[-40:]!r}" for name in changed
        ]

    def end(self) -> None:
        """Its end."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def start_victim(secret: str) -> Victim:
    """Fork one."""
    text = ctypes.create_string_buffer(secret.encode())
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the victim holds it
    file.write(secret.encode())
    file.flush()
    reading, writing = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            _wait_for_signals(parent, writing)
        finally:
            os._exit(0)
    os.close(writing)
    os.set_blocking(reading, False)
    victim = Victim(pid, ctypes.addressof(text), file.fileno(), reading)
    file.close()
    victim._before = _condition(pid)
    return victim


def _wait_for_signals(parent: int, log: int) -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
    every = set(signal.Signals) - _UNBLOCKABLE
    signal.pthread_sigmask(signal.SIG_BLOCK, every)
    while os.getppid() == parent:
        os.write(log, bytes([signal.sigwaitinfo(every).si_signo]))


def _condition(pid: int) -> dict[str, object]:
    """What can be done to a process without its knowing."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "niceness": fields[16],
        "policy": fields[38],
        "processors": sorted(os.sched_getaffinity(pid)),
        "limits": " ".join(Path(f"/proc/{pid}/limits").read_text().split()),
        "oom score": Path(f"/proc/{pid}/oom_score_adj").read_text(),
        "input and output priority": ctypes.CDLL(None).syscall(252 if os.uname().machine == "x86_64" else 31, 1, pid),
        "tracer": status["TracerPid"].strip(),
        "name": status["Name"].strip(),
    }


# --- the disk and the system --------------------------------------------------------------------------------------


def disk(folders: list[Path], but: list[Path]) -> dict[str, str]:
    """Everything below some folders and how it looks from outside, but what lies in the others."""
    found = {}
    for top in folders:
        for folder, names, files in os.walk(top):
            names[:] = [name for name in names if Path(folder, name) not in but]
            for name in (*files, *names):
                path = Path(folder, name)
                with contextlib.suppress(OSError):  # it has gone, or its name is longer than a path may be
                    found[str(path)] = _look_of(path)
    return found


def _look_of(path: Path) -> str:
    seen = path.lstat()
    if stat.S_ISDIR(seen.st_mode):  # its times tell of what is in it, which is looked at itself
        return f"{seen.st_mode} {seen.st_uid}"
    attributes = os.listxattr(path, follow_symlinks=False) if sys.platform == "linux" else []
    facts = (seen.st_mode, seen.st_uid, seen.st_nlink, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
    return f"{facts} {attributes}"


def system() -> dict[str, str]:
    """What an unprivileged process, or root in its place, could leave in the system itself."""
    files = {kind: Path(f"/proc/sysvipc/{kind}") for kind in ("shm", "msg", "sem")}
    files |= {"mounts": Path("/proc/self/mountinfo")}
    return {name: path.read_text() for name, path in files.items() if path.exists()} | {"name": socket.gethostname()}


def descendants(pid: int) -> list[int]:
    """Processes below one, as they are now."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    found, waiting = [], [pid]
    while waiting:
        children = [child for child, parent in parents.items() if parent == waiting[0]]
        waiting = waiting[1:] + children
        found += children
    return found
