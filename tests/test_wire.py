"""Frames: what goes in comes out, and whatever is malformed is a ProtocolError and nothing else."""

import json
import random
import struct

import pytest
import torch

from grader.worker import wire
from grader.worker.wire import Caps, ProtocolError


def parts(data):
    """Prefix, header and blob of a frame's bytes."""
    size = wire.PREFIX.size
    header, blob = wire.lengths(data[:size])
    assert len(data) == size + header + blob
    return data[:size], data[size : size + header], data[size + header :]


def hostile_blob(header, data=b""):
    """A safetensors file with a header of one's own."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int64, torch.uint8]
)
def test_wire_tensors_come_back_equal(dtype):
    """Dtype, shape and values survive, a tensor without axes and one without elements too."""
    sent = {"a": torch.ones(2, 3).to(dtype), "b": torch.tensor(1).to(dtype), "c": torch.zeros(0, 4).to(dtype)}

    _, header, blob = parts(wire.encode({"op": "x"}, sent))
    frame = wire.decode(header, blob)

    assert {"op": "x"} == frame.header
    assert {name: (tensor.dtype, tensor.tolist()) for name, tensor in sent.items()} == {
        name: (tensor.dtype, tensor.tolist()) for name, tensor in frame.tensors.items()
    }


def test_wire_nan_and_infinity_come_back_bit_by_bit():
    """What a student computed is not made finite on the way."""
    sent = torch.tensor([float("nan"), float("inf"), -0.0])

    frame = wire.decode(b"{}", wire.blob({"a": sent}))

    assert sent.view(torch.int32).tolist() == frame.tensors["a"].view(torch.int32).tolist()


def test_wire_frame_without_tensors_has_an_empty_blob():
    """A reply in words costs no tensors."""
    _, header, blob = parts(wire.encode({"status": "loaded"}, {}))

    assert (b"", {}) == (blob, wire.decode(header, blob).tensors)


def test_wire_same_tensors_give_the_same_bytes():
    """A frame can be kept and compared."""
    assert wire.blob({"a": torch.ones(2)}) == wire.blob({"a": torch.ones(2)})


@pytest.mark.parametrize(("header", "blob"), [(10, 20), (0, 0)])
def test_wire_lengths_within_the_caps_are_read(header, blob):
    """The caps themselves are allowed."""
    assert (header, blob) == wire.lengths(wire.PREFIX.pack(header, blob), Caps(header=10, blob=20))


@pytest.mark.parametrize(("header", "blob"), [(11, 20), (10, 21), (2**32 - 1, 2**32 - 1)])
def test_wire_lengths_above_the_caps_are_refused_before_anything_is_read(header, blob):
    """A worker cannot make the trusted side reserve memory."""
    with pytest.raises(ProtocolError) as refused:
        wire.lengths(wire.PREFIX.pack(header, blob), Caps(header=10, blob=20))

    assert f"a frame of {header} + {blob} bytes was announced; 10 + 20 are allowed" == str(refused.value)


def test_wire_blob_of_nothing_but_names_is_refused_before_it_is_read():
    """A tensor without elements costs a worker fifty bytes and its reader an object."""
    empty = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}

    with pytest.raises(ProtocolError, match=r"their names take \d+ bytes; 65536 are allowed$"):
        wire.decode(b"{}", hostile_blob({str(number): empty for number in range(2000)}))


def test_wire_request_may_name_more_than_a_reply():
    """The caps are for what comes from a worker."""
    sent = {str(number): torch.zeros(0) for number in range(2000)}

    assert 2000 == len(wire.decode(b"{}", wire.blob(sent), wire.UNCAPPED).tensors)


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"\xff\xfe\x00",
        b"{",
        b'{"a": 1} {}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"a": ' + b"1" * 5000 + b"}",
    ],
    ids=["empty", "no-text", "cut", "two", "deep-list", "deep-object", "huge-number"],
)
def test_wire_header_that_is_no_json_is_refused(header):
    """No error of the parser gets through, its recursion and its limit of digits included."""
    with pytest.raises(ProtocolError, match=r"^the header is not JSON: "):
        wire.decode(header, b"")


@pytest.mark.parametrize(("header", "found"), [(b"[]", "list"), (b"null", "NoneType"), (b'"x"', "str"), (b"1", "int")])
def test_wire_header_that_is_no_object_is_refused(header, found):
    """Whoever reads a header may ask it for keys."""
    with pytest.raises(ProtocolError, match=f"^the header is {found}, wanted an object$"):
        wire.decode(header, b"")


@pytest.mark.parametrize(
    "blob",
    [
        b"x",
        b"\x80\x04K\x01.",
        hostile_blob(b"{"),
        hostile_blob({"a": {"dtype": "F64", "shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
        hostile_blob({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}),
        hostile_blob({"a": {"dtype": "F64", "shape": [2**40, 2**40], "data_offsets": [0, 8]}}, bytes(8)),
        hostile_blob({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}}, bytes(8)),
        hostile_blob({"a": {"dtype": "OBJECT", "shape": [1], "data_offsets": [0, 8]}}, bytes(8)),
        struct.pack("<Q", 2**63) + b"{}",
    ],
    ids=["short", "pickle", "cut", "shape", "no-data", "overflow", "negative", "dtype", "header-length"],
)
def test_wire_blob_that_is_no_safetensors_is_refused(blob):
    """Whatever the library raises, it is one error here; a pickle is not even looked at."""
    with pytest.raises(ProtocolError, match=r"^the tensors cannot be read: "):
        wire.decode(b"{}", blob)


def test_wire_damaged_bytes_are_read_or_refused_and_nothing_else():
    """Thousands of frames with wrong bytes in them: no other exception, no crash."""
    rng = random.Random(0)
    good = wire.blob({"a": torch.ones(3, dtype=torch.float64), "b": torch.zeros(2, 2)})
    refused = 0

    for _ in range(3000):
        damaged = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            wire.decode(b"{}", bytes(damaged[: rng.choice((len(good), rng.randrange(1, len(good))))]))
        except ProtocolError:
            refused += 1

    assert 0 < refused < 3000
