"""One frame there and one back, within a deadline that is kept on this side."""

import socket
import time

from grader.worker import wire


def exchange(connection: socket.socket, frame: bytes, limit_s: float) -> wire.Frame:
    """Send a request to a worker and receive its reply.

    Raises:
        TimeoutError: the reply was not complete within the limit, in seconds.
        OSError: the connection ended.
        ProtocolError: what came is not a frame.
    """
    deadline = time.monotonic() + limit_s
    connection.settimeout(_remaining(deadline))
    connection.sendall(frame)
    header_length, blob_length = wire.lengths(_exactly(connection, wire.PREFIX.size, deadline))
    halves = _exactly(connection, header_length + blob_length, deadline)
    return wire.decode(halves[:header_length], halves[header_length:])


def _exactly(connection: socket.socket, length: int, deadline: float) -> bytes:
    received = bytearray()
    while len(received) < length:
        connection.settimeout(_remaining(deadline))
        some = connection.recv(min(length - len(received), 1 << 20))
        if not some:
            raise ConnectionResetError("the worker closed its connection")
        received += some
    return bytes(received)


def _remaining(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
