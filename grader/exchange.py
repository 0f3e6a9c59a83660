"""One frame there and one back, within a deadline that is kept on this side."""

import socket
import time
from collections.abc import Callable

from grader.worker import wire

#: Of the time a worker waited for a processor, how often its limit is given to it again at most.
_MOST_EXTENSIONS = 4


class Deadline:
    """An end, in seconds from now, that moves on while the worker is kept from its processor by others."""

    def __init__(self, limit_s: float, waited_s: Callable[[], float] = lambda: 0.0) -> None:
        """`waited_s`: seconds the worker has waited for a processor since this was last asked."""
        self._end = time.monotonic() + limit_s
        self._most_s = _MOST_EXTENSIONS * limit_s
        self._waited_s = waited_s
        #: Seconds the end has moved on by.
        self.extended_s = 0.0

    def remaining(self) -> float:
        """Seconds left. Raises TimeoutError when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            left += self._extend()
        if left <= 0:
            raise TimeoutError
        return left

    def _extend(self) -> float:
        more = min(self._waited_s(), self._most_s - self.extended_s)
        self._end += more
        self.extended_s += more
        return more


def exchange(connection: socket.socket, frame: bytes, deadline: Deadline) -> wire.Frame:
    """Send a request to a worker and receive its reply.

    Raises:
        TimeoutError: the reply was not complete at the deadline.
        OSError: the connection ended.
        ProtocolError: what came is not a frame.
    """
    _send(connection, frame, deadline)
    header_length, blob_length = wire.lengths(_exactly(connection, wire.PREFIX.size, deadline))
    halves = _exactly(connection, header_length + blob_length, deadline)
    return wire.decode(halves[:header_length], halves[header_length:])


def _send(connection: socket.socket, frame: bytes, deadline: Deadline) -> None:
    unsent = memoryview(frame)
    while unsent:
        connection.settimeout(deadline.remaining())
        try:
            unsent = unsent[connection.send(unsent) :]
        except TimeoutError:
            continue  # the deadline decides whether that was all


def _exactly(connection: socket.socket, length: int, deadline: Deadline) -> bytes:
    received = bytearray()
    while len(received) < length:
        connection.settimeout(deadline.remaining())
        try:
            some = connection.recv(min(length - len(received), 1 << 20))
        except TimeoutError:
            continue
        if not some:
            raise ConnectionResetError("the worker closed its connection")
        received += some
    return bytes(received)
