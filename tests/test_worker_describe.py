"""What a student's code returns or raises, described for the trusted side: honest tensors plain, the rest by name."""

import math

import pytest
import torch
from conftest import INPUT

from grader.outcome import Raised, Returned
from grader.worker.describe import MOST_BYTES, MOST_MESSAGE

WIDE = torch.arange(12, dtype=torch.float64).reshape(3, 4)


def tree_of(outcome):
    """The description of what was returned."""
    assert isinstance(outcome.reply, Returned), outcome.reply
    return outcome.reply.tree


@pytest.mark.parametrize(
    ("body", "kind", "type_name", "text"),
    [
        ("return print()", "other", "NoneType", "None"),
        ("return 'yes'", "other", "str", "'yes'"),
        ("return 'y' * 1000", "other", "str", f"'{'y' * 200}' ..."),
        ("return float('nan')", "other", "float", "nan"),
        ("return 3", "other", "int", "3"),
        ("return 1 << 100_000", "other", "int", "an integer of 100001 bits"),
        ("return '\\ud800'", "other", "str", "'\\ud800'"),
        ("return (x for _ in range(3))", "other", "generator", None),
        ("return {'output': x}", "other", "dict", None),
        ("return lambda: x", "other", "function", None),
        ("return x.numpy()", "other", "ndarray", None),
        ("return torch", "other", "module", None),
        ("return []", "sequence", "list", None),
    ],
)
def test_describe_value_that_is_no_tensor_is_named_by_its_class(answer_of, body, kind, type_name, text):
    """A student reads what they returned; only a plain value's own text is shown."""
    tree = tree_of(answer_of(body))

    assert (kind, type_name, text) == (tree.kind, tree.type, tree.text)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("return 3", 3),
        ("return -(2**63 - 1)", -(2**63 - 1)),
        ("return 2.5", 2.5),
        ("return True", True),
        ("return 'feed-forward'", "feed-forward"),
        ("import numpy\nreturn numpy.int64(7)", 7),
        ("import numpy\nreturn numpy.float64(0.5)", 0.5),
        ("import numpy\nreturn numpy.bool_(False)", False),
        ("return 2**63", None),
        ("return 'y' * 201", None),
        ("return '\\ud800'", None),
        ("return print()", None),
        ("return b'yes'", None),
        ("class Mine(int):\n    __repr__ = __eq__ = __int__ = lambda *a: os._exit(3)\nreturn Mine(3)", None),
        ("class Mine(str):\n    encode = __len__ = __eq__ = lambda *a: os._exit(3)\nreturn Mine('a')", None),
        ("class Mine(float):\n    __float__ = __repr__ = lambda *a: os._exit(3)\nreturn Mine(3)", None),
    ],
)
def test_describe_plain_value_arrives_itself(answer_of, body, value):
    """Numbers and words of Python's own and of NumPy's, within bounds; of a class of the student's own, no value."""
    tree = tree_of(answer_of(body))

    assert ("other", value, type(value)) == (tree.kind, tree.value, type(tree.value))


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("return x.shape", [2, 3]),
        ("return (2, 3.5, True)", [2, 3.5, True]),
        ("return [x.shape, list(x.T.shape)]", [(2, 3), (3, 2)]),
        ("return ((),)", [()]),
        ("return ((2, 'a'), [2, [3]], tuple(range(9)), (2**64,))", [None] * 4),
    ],
)
def test_describe_sequence_holds_numbers_and_sequences_of_numbers(answer_of, body, values):
    """One level deeper and short, and nothing but numbers in it."""
    tree = tree_of(answer_of(body))

    assert values == [item.value for item in tree.items]


def test_describe_not_a_number_arrives_as_such(answer_of):
    """It is a number to the wire."""
    assert math.isnan(tree_of(answer_of("return float('nan')")).value)


@pytest.mark.parametrize("body", ["return list(range(10**6))", "return [list(range(10**6))] * 1000"])
def test_describe_long_sequence_is_cut(answer_of, body):
    """Its length is told, and a few of its items."""
    tree = tree_of(answer_of(body))

    assert 8 == len(tree.items) < tree.length


def test_describe_text_of_an_object_is_never_asked_for(answer_of):
    """An object's own `__repr__` is not run: it may be slow, huge or hostile."""
    body = "class Odd:\n    def __repr__(self):\n        os._exit(3)\nreturn Odd()"

    tree = tree_of(answer_of(body))

    assert ("other", "Odd", None) == (tree.kind, tree.type, tree.text)


@pytest.mark.parametrize(
    ("body", "oddity"),
    [
        ("return x.to_sparse()", "a tensor of layout sparse_coo"),
        ("return x.to_sparse_csr()", "a tensor of layout sparse_csr"),
        ("return x.to('meta')", "a tensor on the device meta"),
        ("return torch.nested.nested_tensor([x, x])", "a nested tensor"),
        ("return torch.quantize_per_tensor(x.float(), 1.0, 0, torch.qint8)", "a quantized tensor"),
        (
            "class Mine(torch.Tensor):\n    pass\nreturn x.as_subclass(Mine)",
            "an object of the class Mine, not a plain tensor",
        ),
    ],
)
def test_describe_tensor_that_is_not_ordinary_says_why(answer_of, body, oddity):
    """It is named and not sent."""
    outcome = answer_of(body)

    tree = tree_of(outcome)

    assert ("tensor", oddity, None) == (tree.kind, tree.oddity, tree.data)
    assert {} == dict(outcome.tensors)


def test_describe_subclass_that_intercepts_everything_runs_no_code_of_its_own(answer_of):
    """A subclass is told from its class alone."""
    body = "class Trap(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, *args, **kwargs):\n"
    body += "        os._exit(3)\nreturn x.as_subclass(Trap)"

    tree = tree_of(answer_of(body))

    assert "an object of the class Trap, not a plain tensor" == tree.oddity


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x.T", WIDE.T),
        ("return x[:, ::2]", WIDE[:, ::2]),
        ("return x[:1].expand(5, 4)", WIDE[:1].expand(5, 4)),
        ("return torch.view_as_complex(x.reshape(3, 2, 2)).conj().imag", -WIDE.reshape(3, 2, 2)[..., 1]),
        ("return x.detach()", WIDE),
        ("return torch.nn.Parameter(x.detach())", WIDE),
        ("with torch.inference_mode():\n    return x * 1", WIDE),
        ("return x[:0]", WIDE[:0]),
        ("return x.sum()", WIDE.sum()),
        ("return x > 3", WIDE > 3),
        ("return x.float()", WIDE.float()),
        ("return x.to(torch.bfloat16)", WIDE.to(torch.bfloat16)),
        ("return x.to(torch.int8)", WIDE.to(torch.int8)),
        ("return x / 0", WIDE / 0),
    ],
)
def test_describe_honest_tensor_arrives_as_it_is(answer_of, body, expected):
    """Views, expanded and negated ones, single elements and none: values, shape and dtype are those returned."""
    outcome = answer_of(body, WIDE)

    tree = tree_of(outcome)

    torch.testing.assert_close(outcome.tensors[tree.data], expected, rtol=0, atol=0, equal_nan=True)
    assert (tuple(expected.shape), "") == (tree.shape, tree.oddity)


def test_describe_complex_tensor_is_named_and_not_sent(answer_of):
    """No answer is complex; its dtype says enough."""
    tree = tree_of(answer_of("return torch.complex(x, x).conj()"))

    assert ("complex128", None, "") == (tree.dtype, tree.data, tree.oddity)


def test_describe_two_views_of_one_tensor_arrive_whole(answer_of):
    """Returned values may share memory."""
    outcome = answer_of("return x, x.view(3, 2)")

    tree = tree_of(outcome)

    assert torch.equal(INPUT, outcome.tensors[tree.items[0].data])
    assert torch.equal(INPUT.view(3, 2), outcome.tensors[tree.items[1].data])


@pytest.mark.parametrize(
    ("body", "type_name"),
    [
        ("return x, x", "tuple"),
        ("return [x, x]", "list"),
        ("import collections\nreturn collections.namedtuple('Pair', 'output weights')(x, x)", "Pair"),
        ("return torch.max(x, dim=0)", "max"),
    ],
)
def test_describe_sequence_names_its_class_and_its_items(answer_of, body, type_name):
    """A list or a named tuple is told from a tuple, and its items are described all the same."""
    tree = tree_of(answer_of(body))

    assert ("sequence", type_name, 2) == (tree.kind, tree.type, tree.length)
    assert ["tensor", "tensor"] == [item.kind for item in tree.items]


def test_describe_long_sequence_is_cut_and_its_length_told(answer_of):
    """A million items cost no more than eight."""
    tree = tree_of(answer_of("return [x] * 1_000_000"))

    assert (1_000_000, 8) == (tree.length, len(tree.items))


def test_describe_nested_sequence_is_not_descended_into(answer_of):
    """A list that holds itself ends."""
    tree = tree_of(answer_of("items = [x]\nitems.append(items)\nreturn items"))

    assert [("tensor", ""), ("other", "list")] == [(item.kind, item.type) for item in tree.items]


def test_describe_huge_tensor_is_told_by_its_shape(answer_of):
    """A view of one number as a terabyte is neither copied nor sent."""
    tree = tree_of(answer_of("return torch.zeros(1).expand(10**12)"))

    assert ((10**12,), None) == (tree.shape, tree.data)


def test_describe_many_large_tensors_are_sent_up_to_the_limit_of_an_answer(answer_of):
    """Tensors that fit singly, and not together, are an answer and no break of the protocol."""
    outcome = answer_of("return tuple(torch.zeros(2**19) for _ in range(8))")

    tree = tree_of(outcome)

    assert MOST_BYTES == sum(tensor.nbytes for tensor in outcome.tensors.values())
    assert [True, True, False] == [item.data is not None for item in tree.items[:3]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("raise RuntimeError", "(its text cannot be made: RuntimeError)"),
        ("return 5", "(its text cannot be made: TypeError)"),
        ("sys.exit(3)", "(its text cannot be made: SystemExit)"),
        ("return 'm' * 10_000_000", "m" * MOST_MESSAGE),
        ("return 'half \\ud800'", "half \\ud800"),
        (
            "class T(str):\n            __getitem__ = __len__ = encode = lambda *_: os._exit(3)\n        return T('m')",
            "m",
        ),
    ],
)
def test_describe_exception_with_a_hostile_text_is_still_told(answer_of, text, message):
    """A text that raises, ends the program or has ten million characters is no worse than another."""
    body = f"class Odd(Exception):\n    def __str__(self):\n        {text}\nraise Odd"

    reply = answer_of(body).reply

    assert isinstance(reply, Raised), reply
    assert ("Odd", message) == (reply.type, reply.message)


@pytest.mark.parametrize(
    ("definition", "name"),
    [
        ("Odd = type('N' * 5000, (Exception,), {})", "N" * 200),
        ("Odd = type('<b>\\x1b[2J', (Exception,), {})", "<b>\x1b[2J"),
        (
            "class M(type):\n    __name__ = property(lambda c: os._exit(3))\nOdd = M('Odd', (Exception,), {})",
            "Odd",
        ),
    ],
)
def test_describe_exception_with_a_hostile_class_name_is_still_told(answer_of, definition, name):
    """The name is the one the class was made with, cut; whoever shows it cleans it."""
    reply = answer_of(f"{definition}\nraise Odd('text')").reply

    assert isinstance(reply, Raised), reply
    assert (name, "text") == (reply.type, reply.message)


def test_describe_exception_names_the_classes_above_its_own(answer_of):
    """A subclass of the error that a task asks for counts as it."""
    reply = answer_of("class Mine(ValueError):\n    pass\nraise Mine('no')").reply

    assert ("Mine", "ValueError", "Exception", "BaseException", "object") == reply.bases


def test_describe_exception_shows_lines_of_the_students_own_alone(answer_of):
    """A traceback through torch tells no path of the grading machine."""
    reply = answer_of("return torch.stack([x, 1])").reply

    assert [("work.py", 5, "answer", "return torch.stack([x, 1])")] == [
        (line.file, line.line, line.function, line.text) for line in reply.frames
    ]


def test_describe_endless_recursion_keeps_the_innermost_lines(answer_of):
    """A thousand frames are reported as eight."""
    reply = answer_of("return answer(x)").reply

    assert ("RecursionError", 8) == (reply.type, len(reply.frames))


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ("return x * 2", ()),
        ("x += 1\nreturn x", ("x",)),
        ("x.data.zero_()\nreturn x", ("x",)),
        ("x.resize_(1)\nreturn x", ("x",)),
        ("y.fill_(0)\nreturn x", ("y",)),
    ],
)
def test_describe_changed_arguments_are_named(answer_of, body, changed):
    """Whatever way a caller's tensor was written into."""
    reply = answer_of(body, WIDE, WIDE).reply

    assert changed == reply.changed
