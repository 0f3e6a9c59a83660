"""How well students' code is kept away from the grader and the machine: a level, found by trying.

A worker like any other, before there is student code, tries what student code must not be able to do
(`worker.sandbox.probe`), on targets that are made for it here. The level is what was seen to be refused, never what a
version promises:

    strong   everything was refused
    partial  nothing could reach the grader's process or files, so that no score can be forged; but files could be
             read, the reference among them, or the machine be disturbed
    none     anything else
"""

import contextlib
import os
import secrets
import socket
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.exchange import Deadline, exchange
from grader.launch import Launcher, LaunchError
from grader.report import Isolation
from grader.worker import wire
from grader.worker.sandbox.layers import LAYERS
from grader.worker.sandbox.probe import Targets

#: Seconds all attempts together may take; they take milliseconds.
_LIMIT_S = 20.0
#: A process number that no process has: the kernel's largest is 4194304 (proc(5), pid_max).
_NOBODY = 4194305
#: What does no harm by itself: whether a file is there. Only a file system of its own hides that.
_HARMLESS = {"see that a file exists"}
#: With one of these a score could be forged, or the grader be stopped.
_FORGING = {
    "write a file",
    "overwrite a file",
    "truncate a file",
    "change a file's mode",
    "change a file's time",
    "rename a file",
    "make a link",
    "make a folder",
    "signal the grader",
    "signal the grader by a descriptor",
    "read the grader's memory",
    "copy the grader's memory",
    "read the grader's environment",
    "trace the grader",
    "limit the grader",
    "slow the grader",
    "bind the grader to a processor",
}
#: What brings a missing layer.
_ADVICE = {
    "landlock": "Landlock comes with Linux 5.13 and newer, when /sys/kernel/security/lsm lists it",
    "seccomp": "a filter of system calls needs Linux on x86_64 or aarch64, with CONFIG_SECCOMP_FILTER",
    "namespaces": "user namespaces may be switched off (sysctl user.max_user_namespaces, or a container's own profile)",
}
_ELSEWHERE = "on macOS and Windows, grade in a container or a virtual machine with Linux"


class Attempt(BaseModel):
    """One thing that was tried."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reached: bool
    #: What the system said: a name of errno.h, or `done`.
    said: Annotated[str, Field(max_length=200)]


class Probed(BaseModel):
    """What a worker found, by what was tried."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    attempts: Annotated[dict[str, Attempt], Field(min_length=1, max_length=200)]
    #: What honest code needs, tried in the same way.
    needs: dict[str, Attempt]

    @property
    def reached(self) -> list[str]:
        """What was not refused and should have been."""
        return [name for name, attempt in self.attempts.items() if attempt.reached and name not in _HARMLESS]

    @property
    def level(self) -> Isolation:
        """What that makes of it."""
        reached = set(self.reached)
        if not reached:
            return Isolation.STRONG
        return Isolation.NONE if reached & _FORGING else Isolation.PARTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """How workers of a run are kept in."""

    level: Isolation
    #: What is missing for strong and how to get it; empty when nothing is.
    detail: str

    @property
    def refusal(self) -> str:
        """What to say where it is less than strong, and strong was asked for."""
        return (
            f"isolation is {self.level}, wanted strong. {self.detail} `grade doctor` shows each layer; with "
            "--isolation best the run goes on with what there is, and every report says so"
        )


def probe(launcher: Launcher, layers: Mapping[str, str], put_on: Collection[str] = LAYERS) -> Probed:
    """Have a worker try everything, under these layers.

    Args:
        layers: what the zygote says of its layers.
        put_on: the layers the worker puts on; all but where one is to be seen alone.

    Raises:
        LaunchError: the worker did not finish, or honest code could not work in it.
    """
    with _targets(layers) as targets:
        worker = launcher.launch()
        start = {"limits": {}, "layers": list(put_on), "probe": targets._asdict()}
        try:
            header = exchange(worker.connection, wire.encode(start, {}), Deadline(_LIMIT_S)).header
            probed = Probed.model_validate(header)
        except (OSError, TimeoutError, wire.ProtocolError, ValidationError) as error:
            worker.kill()
            raise LaunchError(f"the sandbox could not be tried: {type(error).__name__}: {error}") from None
        finally:
            ending = worker.wait()
    lacking = [f"{name} ({need.said})" for name, need in probed.needs.items() if not need.reached]
    if lacking:
        raise LaunchError(f"inside the sandbox a worker cannot {', '.join(lacking)}; it ended with {ending.exit_code}")
    return probed


def kept(probed: Probed, layers: Mapping[str, str]) -> Kept:
    """The level, and what to do about it."""
    if probed.level is Isolation.STRONG:
        return Kept(level=probed.level, detail="")
    missing = [name for name in _ADVICE if not layers.get(name) or layers[name].startswith("missing")]
    advice = [_ADVICE[name] for name in missing if layers] or [_ELSEWHERE]
    consequence = (
        "No score can be forged, but students' code can"
        if probed.level is Isolation.PARTIAL
        else "A hostile submission could change scores: students' code can"
    )
    return Kept(level=probed.level, detail=f"{consequence} {_listed(probed.reached)}. Missing: {'; '.join(advice)}.")


def _listed(names: list[str], most: int = 4) -> str:
    shown = names[:most] + ([f"{len(names) - most} more such things"] if len(names) > most else [])
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


@contextlib.contextmanager
def _targets(layers: Mapping[str, str]) -> Iterator[Targets]:
    """Something of everything that must not be reached; it ends with the block."""
    name = f"grader-{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="grader-probe-"))
        os.chmod(folder, 0o777)  # whoever the worker is, only the sandbox keeps it out
        secret = Path(folder, "secret")
        secret.write_text("not much of one")
        secret.chmod(0o666)
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        udp = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        _listen(stack, str(Path(folder, "socket")))
        if os.uname().sysname == "Linux":
            _listen(stack, f"\0{name}")
        yield Targets(
            folder=folder,
            grader=_NOBODY if "pid" in layers.get("namespaces", "").split() else os.getpid(),
            tcp_port=tcp.getsockname()[1],
            udp_port=udp.getsockname()[1],
            socket_path=str(Path(folder, "socket")),
            abstract_name=name,
            needed=os.__file__,
        )


def _listen(stack: contextlib.ExitStack, address: str) -> None:
    listening = stack.enter_context(socket.socket(socket.AF_UNIX))
    listening.bind(address)
    listening.listen()
