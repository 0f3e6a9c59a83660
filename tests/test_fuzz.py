"""Bytes that a hostile worker may send, made up by hypothesis: read, or refused in one way, and nothing else.

Three roads lead in: the decoder of frames, the reader of replies, the records of the sandbox's probe. Each is given
noise, valid frames with damage in them, and frames that are valid in form and absurd in content.
"""

import json
import struct

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from grader.isolation import Probed
from grader.outcome import read_batch, read_reply
from grader.worker import wire
from grader.worker.wire import Frame, ProtocolError

#: The same examples in every run, and none kept on the disk; a deadline would be a test of the machine.
settings.register_profile("wire", derandomize=True, deadline=None, database=None, max_examples=300)
wired = settings.get_profile("wire")

#: Texts that no honest worker sends: lone surrogates, controls, marks that reorder.
TEXTS = st.text(st.characters(exclude_categories=()), max_size=12)
#: Numbers at and past every edge, NaN and the infinities too, which Python's JSON knows.
NUMBERS = (
    st.integers()
    | st.sampled_from([2**31, 2**62, 2**63, -(2**63), 10**400, -1, 0])
    | st.floats(allow_nan=True, allow_infinity=True)
)
#: Any JSON.
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
SHAPES = st.lists(st.integers(0, 3) | NUMBERS, max_size=4) | st.just([1] * 100)
NODES = st.recursive(
    st.fixed_dictionaries(
        {"kind": st.sampled_from(["tensor", "sequence", "other"]) | VALUES},
        optional={
            "type": TEXTS | VALUES,
            "text": TEXTS | VALUES,
            "dtype": st.sampled_from(["float64", "bool", "complex128"]) | VALUES,
            "shape": SHAPES,
            "data": st.sampled_from(["0", "1", "x"]) | VALUES,
            "length": NUMBERS,
            "oddity": TEXTS,
        },
    ),
    lambda inner: st.fixed_dictionaries({"kind": st.just("sequence"), "items": st.lists(inner, max_size=9)}),
    max_leaves=12,
)
LINES = st.fixed_dictionaries({"file": TEXTS, "line": NUMBERS | st.none(), "function": TEXTS, "text": TEXTS})
#: Headers with the words of a reply, and anything for their values.
REPLIES = st.one_of(
    st.fixed_dictionaries(
        {"status": st.just("returned"), "tree": NODES, "changed": st.lists(TEXTS, max_size=3) | VALUES},
        optional={"dropped": NUMBERS},
    ),
    st.fixed_dictionaries(
        {
            "status": st.just("raised"),
            "stage": st.sampled_from(["import", "build", "forward", "result", "backward", "scoring"]),
            "type": TEXTS | VALUES,
            "bases": st.lists(TEXTS, max_size=9),
            "message": TEXTS | VALUES,
            "frames": st.lists(LINES, max_size=9) | VALUES,
        },
        optional={"failed": st.lists(TEXTS, max_size=3) | VALUES, "dropped": NUMBERS},
    ),
    st.fixed_dictionaries(
        {"status": st.just("wrong_parameters"), "type": TEXTS, "observed": st.dictionaries(TEXTS, SHAPES) | VALUES}
    ),
    st.fixed_dictionaries({"status": st.sampled_from(["loaded", "missing_name"]), "names": st.lists(TEXTS) | VALUES}),
    st.fixed_dictionaries({"status": st.just("gradients"), "missing": st.lists(TEXTS) | VALUES}),
    st.fixed_dictionaries({"status": VALUES}) | st.dictionaries(TEXTS, VALUES, max_size=4),
)
#: Entries of a safetensors header: some right, most with offsets, shapes or dtypes that cannot be.
ENTRIES = st.fixed_dictionaries(
    {
        "dtype": st.sampled_from(["F64", "F32", "BF16", "BOOL", "U8", "I64", "U64", "F8_E4M3", "F4", "C64", "X", ""]),
        "shape": SHAPES | VALUES,
        "data_offsets": st.lists(st.sampled_from([0, 8, 16, 24, 2**63, -8]) | NUMBERS, min_size=1, max_size=3),
    }
)
BLOB_HEADERS = st.dictionaries(st.sampled_from(["0", "1", "__metadata__"]) | TEXTS, ENTRIES | VALUES, max_size=4)
TENSORS = st.dictionaries(
    st.sampled_from(["0", "1", "x"]),
    st.sampled_from(
        [
            torch.ones(2, 3, dtype=torch.float64),
            torch.tensor(float("nan")),
            torch.zeros(0, 4, dtype=torch.bool),
            torch.ones([1] * 60, dtype=torch.int64),
            torch.ones(3, dtype=torch.uint16),
            torch.ones(3, dtype=torch.complex64),
            torch.full((4,), 5e-324, dtype=torch.float64),
        ]
    ),
    max_size=3,
)


def read(data):
    """Read a whole frame as the trusted side does: its lengths, its halves, the reply and, as a batch, the replies."""
    size = wire.PREFIX.size
    header, blob = wire.lengths(data[:size])
    frame = wire.decode(data[size : size + header], data[size + header : size + header + blob])
    read_reply(frame)


def is_refused(read, *arguments):
    """Whether it is refused, in the one way there is."""
    try:
        read(*arguments)
    except ProtocolError:
        return True
    return False


def blob_of(header, data=bytes(32)):
    """Safetensors with a header of one's own."""
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


# --- frames -----------------------------------------------------------------------------------------------------


@wired
@given(st.binary(max_size=200), st.binary(max_size=200))
def test_fuzz_noise_is_refused_and_nothing_else(header, blob):
    """Bytes that nobody meant for a frame."""
    is_refused(wire.decode, header, blob)
    is_refused(wire.decode, b"{}", blob)
    if len(header) >= wire.PREFIX.size:
        is_refused(read, header + blob)


@wired
@given(REPLIES, TENSORS, st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=5), st.integers(0))
def test_fuzz_damaged_frame_is_read_or_refused(header, tensors, damage, end):
    """A frame of the right form, some bytes of it overwritten, or its end cut off."""
    data = bytearray(wire.encode(header, tensors))
    for place, byte in damage:
        data[place % len(data)] = byte

    is_refused(read, bytes(data) if end % 2 else bytes(data[: max(wire.PREFIX.size, end % len(data))]))


@wired
@given(BLOB_HEADERS, st.binary(max_size=64))
def test_fuzz_tensors_that_cannot_be_are_refused(header, data):
    """Offsets that overlap, run backwards or leave the data, shapes of any size, names of any kind."""
    is_refused(wire.decode, b"{}", blob_of(header, data))


@pytest.mark.parametrize("shape", [[1] * 100, [2**40, 0], [0, 2**62], [0] * 5000], ids=["axes", "zero", "huge", "many"])
def test_fuzz_shape_without_elements_takes_no_memory(shape):
    """A shape may be of any size where one of its sizes is zero; it is read as it is, or refused."""
    elements = 1 if 0 not in shape else 0
    entry = {"dtype": "F64", "shape": shape, "data_offsets": [0, 8 * elements]}

    if not is_refused(wire.decode, b"{}", blob_of({"0": entry}, bytes(8 * elements))):
        assert tuple(shape) == wire.decode(b"{}", blob_of({"0": entry}, bytes(8 * elements))).tensors["0"].shape


@wired
@given(st.text('[]{}",:0123456789eE+-.\\uNaIfinty ', max_size=80))
def test_fuzz_header_that_is_almost_json_is_read_or_refused(text):
    """Brackets that do not close, numbers that do not end."""
    is_refused(wire.decode, text.encode(), b"")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", "1" * 5000, "[" * 3000, '{"a":' * 3000])
def test_fuzz_number_or_nesting_that_ends_nowhere_is_refused(value):
    """Python's JSON takes some of these; no field of a reply does."""
    assert is_refused(lambda: read_reply(wire.decode(f'{{"status": "loaded", "names": {value}}}'.encode(), b"")))


def test_fuzz_key_given_twice_counts_once():
    """The last one, as everywhere in Python: what is validated is what is used."""
    header = b'{"status": "loaded", "names": ["a"], "names": ["b"]}'

    assert ("b",) == read_reply(wire.decode(header, b"")).names


# --- replies ----------------------------------------------------------------------------------------------------


@wired
@given(REPLIES, TENSORS)
def test_fuzz_reply_is_read_or_refused(header, tensors):
    """Every status, any JSON in any field; straight from a header, so that what is no JSON at all is tried too."""
    if not is_refused(read_reply, Frame(header, tensors)):
        json.dumps(read_reply(Frame(header, tensors)).model_dump(mode="json")).encode()


@wired
@given(st.lists(REPLIES | VALUES, max_size=4) | VALUES, TENSORS, st.lists(TEXTS, max_size=3), st.integers(0, 4))
def test_fuzz_batch_is_read_or_refused(replies, tensors, names, count):
    """A list that is none, of another length, or with tensors of nobody."""
    named = dict(zip([*names, *(f"{key}/0" for key in tensors)], tensors.values(), strict=False))

    def read_all():
        for one in read_batch(Frame({"status": "batch", "replies": replies}, named), count):
            read_reply(one)

    is_refused(read_all)


@wired
@given(
    st.fixed_dictionaries(
        {"attempts": st.dictionaries(TEXTS, VALUES, max_size=3), "needs": st.dictionaries(TEXTS, VALUES, max_size=3)}
    )
    | st.dictionaries(TEXTS, VALUES)
)
def test_fuzz_probe_is_read_or_refused(header):
    """What a worker found is refused as a record is."""
    try:
        assert Probed.model_validate(header).attempts
    except ValidationError as error:
        str(error)
