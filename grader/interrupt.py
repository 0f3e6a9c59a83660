"""Being stopped from outside: Ctrl-C (SIGINT) and SIGTERM, told as `KeyboardInterrupt`, which pytest lets through.

An exception that is raised while Python cleans up, or while a library catches everything, is lost. So the signal is
remembered too, and whoever is about to begin something long asks with `raise_if_stopped`. While torch is imported
nothing is raised: its own code in C++ ends the process over it. The exception comes as soon as that is done.
"""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds until it is looked again whether torch is there.
_AGAIN_S = 0.05
_received: list[int] = []
#: Whether an exception is due that could not be raised yet: one item, or none.
_due: list[bool] = []


def listen() -> None:
    """Hear of both signals from now on. One that whoever started this process wants to be ignored stays ignored."""
    signal.signal(signal.SIGALRM, _stop)
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _stop)


def raise_if_stopped() -> None:
    """Raises KeyboardInterrupt when a signal has come, wherever its own exception went."""
    _due.clear()
    if _received:
        raise KeyboardInterrupt


def has_come() -> bool:
    """Whether a signal has come."""
    return bool(_received)


def leave() -> NoReturn:
    """Exit as a process that the first signal ended, as a shell counts: 130 for Ctrl-C, 143 for SIGTERM."""
    # An interruption of text that a library was running (`exec`, as dataclasses do) is remembered by the interpreter,
    # which would end `python -m` by the signal itself, whatever is exited with. Running other text makes it forget.
    exec("")
    sys.exit(128 + (_received[0] if _received else signal.SIGINT))


def fork() -> int:
    """`os.fork`, in a moment in which neither signal can make the child run the parent's clean-up.

    The child ignores Ctrl-C, which a terminal sends to all, and ends at SIGTERM.
    """
    with held():
        pid = os.fork()
        if pid == 0:
            be_child()
        return pid


def be_child() -> None:
    """Ignore Ctrl-C, and end at SIGTERM: what a child does first. Signals that were held back until now come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold both signals back until the end of the block."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _stop(number: int, frame: FrameType | None) -> None:
    if number in _SIGNALS:
        _received.append(number)
        _due[:] = [True]
    if _is_torch_being_imported():
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)
    elif _due:
        _due.clear()
        raise KeyboardInterrupt


def _is_torch_being_imported() -> bool:
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))
