"""`grade doctor`: what this machine keeps students' code in with, each layer tried alone."""

import contextlib
import platform
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import version

from grader import __version__
from grader.isolation import Probed, kept, probe
from grader.launch import ForkLauncher, SpawnLauncher, Zygote, can_fork
from grader.report import Isolation
from grader.worker.sandbox.layers import LAYERS

_TITLES = {
    "namespaces": "namespaces",
    "identity": "user",
    "landlock": "Landlock",
    "seccomp": "seccomp",
}


def examine() -> Iterator[tuple[str, str]]:
    """Label and text of each line, as they are found; the level is in the last."""
    yield (
        "grader",
        f"{__version__}, Python {platform.python_version()}, torch {version('torch')}, {platform.platform()}",
    )
    if not can_fork():
        yield from _spawned()
        return
    with _zygote(in_namespaces=False) as (launcher, layers):
        bare = probe(launcher, layers, ())
        refused = [f"{name} ({attempt.said})" for name, attempt in bare.attempts.items() if not attempt.reached]
        yield "limits", f"without any layer, refused: {_shown(refused)}"
        for layer in LAYERS:
            yield _TITLES[layer], f"{layers[layer]}; {_evidence(bare, probe(launcher, layers, (layer,)))}"
    with _zygote(in_namespaces=True) as (launcher, layers):
        found = layers["namespaces"] or "missing: this system does not allow them"
        yield _TITLES["namespaces"], f"{found}; {_evidence(bare, probe(launcher, layers, ()))}"
        yield from _conclusion(probe(launcher, layers), layers)


@contextlib.contextmanager
def _zygote(in_namespaces: bool) -> Iterator[tuple[ForkLauncher, dict[str, str]]]:
    with Zygote(1, in_namespaces=in_namespaces) as zygote:
        zygote.wait()
        yield ForkLauncher(zygote.controls[0]), zygote.layers


def _spawned() -> Iterator[tuple[str, str]]:
    yield from _conclusion(probe(SpawnLauncher(), {}), {})


def _conclusion(probed: Probed, layers: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield "together", f"{_fraction(probed)} attempts were refused"
    found = kept(probed, layers)
    yield "isolation", found.level if found.level is Isolation.STRONG else f"{found.level}. {found.detail}"


def _fraction(probed: Probed) -> str:
    refused = sum(not attempt.reached for attempt in probed.attempts.values())
    return f"{refused} of {len(probed.attempts)}"


def _evidence(bare: Probed, alone: Probed) -> str:
    """What a layer refuses by itself that was not refused without it."""
    refused = [
        f"{name} ({attempt.said})"
        for name, attempt in alone.attempts.items()
        if not attempt.reached and bare.attempts[name].reached
    ]
    return f"refused alone: {_shown(refused)}" if refused else "refused nothing that was not refused without it"


def _shown(names: Collection[str], most: int = 5) -> str:
    rest = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(list(names)[:most]) + rest
