"""Frames between the trusted side and a worker: two lengths, a JSON header, a safetensors blob.

Never a pickle. Lengths are checked against `Caps` before anything is read, and whatever is malformed raises
`ProtocolError` and nothing else, since the bytes come from a process that runs student code.
"""

import json
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import safetensors.numpy
import safetensors.torch
import torch

PREFIX = struct.Struct("<II")


class Caps(NamedTuple):
    """Largest frame accepted of a worker, in bytes.

    The most an honest one sent in the assignment `attention`, over its examples and styles: a batch of 46 tensors in
    30 KiB, of which 3 KiB named them, and a header of 9 KiB.
    """

    #: Shapes, names and an exception's text.
    header: int = 256 * 1024
    #: One answer is at most `describe.MOST_BYTES`, 8 MiB; what is put together and has more is asked for one by one.
    blob: int = 9 * 1024 * 1024
    #: Names and places of the tensors in a blob. Each makes an object, and 64 KiB name a thousand; nothing but
    #: names, 32 MiB of them, kept the reader busy for twelve seconds.
    names: int = 64 * 1024


CAPS = Caps()
#: For what the trusted side sends: a submission's files may be larger than any reply.
UNCAPPED = Caps(header=2**32, blob=2**32, names=2**32)


class ProtocolError(Exception):
    """The bytes received are not a frame."""


class Frame(NamedTuple):
    """A decoded message: what is said, and the tensors it speaks of."""

    header: dict[str, Any]
    tensors: dict[str, torch.Tensor]


def encode(header: Mapping[str, Any], tensors: Mapping[str, torch.Tensor]) -> bytes:
    """Bytes of a frame. Tensors must be contiguous, strided, on the CPU, and share no memory."""
    return pack(header, blob(tensors))


def blob(tensors: Mapping[str, torch.Tensor]) -> bytes:
    """The second half of a frame; the same tensors give the same bytes."""
    if not tensors:
        return b""
    try:  # the same bytes as from safetensors.torch, three times as fast: that one looks for shared memory first
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError:  # bfloat16 and its like, which numpy does not have
        return safetensors.torch.save(dict(tensors))
    return safetensors.numpy.save(arrays)


def pack(header: Mapping[str, Any], tensors: bytes) -> bytes:
    """A frame whose second half was made by `blob`."""
    text = json.dumps(header, separators=(",", ":")).encode()
    return PREFIX.pack(len(text), len(tensors)) + text + tensors


def lengths(prefix: bytes, caps: Caps = CAPS) -> tuple[int, int]:
    """Lengths of header and blob that follow.

    Raises:
        ProtocolError: one of them is larger than `caps` allows.
    """
    header_length, blob_length = PREFIX.unpack(prefix)
    if header_length > caps.header or blob_length > caps.blob:
        raise ProtocolError(
            f"a frame of {header_length} + {blob_length} bytes was announced; {caps.header} + {caps.blob} are allowed"
        )
    return header_length, blob_length


def decode(text: bytes, blob: bytes, caps: Caps = CAPS) -> Frame:
    """A frame from its two halves.

    Raises:
        ProtocolError: the header is not a JSON object, the blob is not safetensors, or names more than `caps` allows.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ProtocolError(f"the header is {type(header).__name__}, wanted an object")
    return Frame(header, _tensors(blob, caps.names))


def _tensors(blob: bytes, most_names: int) -> dict[str, torch.Tensor]:
    if not blob:
        return {}
    names = int.from_bytes(blob[:8], "little")  # the format begins with the length of its own header
    if names > most_names:
        raise ProtocolError(f"the tensors cannot be read: their names take {names} bytes; {most_names} are allowed")
    try:
        return safetensors.torch.load(blob)
    except Exception as error:  # the library raises several kinds; from hostile bytes all mean the same
        raise ProtocolError(f"the tensors cannot be read: {type(error).__name__}: {error}") from None
