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
#: Bytes a blob begins with: the length of the JSON that describes its tensors (the format of safetensors).
_DESCRIPTION = 8


class Caps(NamedTuple):
    """Largest frame accepted, in bytes."""

    #: Names, shapes, an exception's text and what was printed; 256 KiB is ten times the most a worker has to say.
    header: int = 256 * 1024
    #: Homework tensors are a few KiB; 32 MiB leaves room for an author's largest check.
    blob: int = 32 * 1024 * 1024


CAPS = Caps()


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


def decode(text: bytes, blob: bytes, caps: Caps | None = CAPS) -> Frame:
    """A frame from its two halves; without `caps`, one that is trusted.

    Raises:
        ProtocolError: the header is not a JSON object, or the blob is not safetensors.
    """
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the header is not JSON: {error}") from None
    if not isinstance(header, dict):
        raise ProtocolError(f"the header is {type(header).__name__}, wanted an object")
    return Frame(header, _tensors(blob, caps))


def _tensors(blob: bytes, caps: Caps | None) -> dict[str, torch.Tensor]:
    if not blob:
        return {}
    described = int.from_bytes(blob[:_DESCRIPTION], "little")
    if caps and described > caps.header:  # half a million empty tensors take fifteen seconds and a gigabyte to make
        raise ProtocolError(f"the tensors cannot be read: described in {described} bytes; {caps.header} are allowed")
    try:
        return safetensors.torch.load(blob)
    except Exception as error:  # the library raises several kinds; from hostile bytes all mean the same
        raise ProtocolError(f"the tensors cannot be read: {type(error).__name__}: {error}") from None
