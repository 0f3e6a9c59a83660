"""A course with experiments, modules of several students, and a record of experiments that nobody made."""

from datetime import UTC, datetime
from typing import Any

from grader.lab.figures import (
    Against,
    AgainstPoint,
    Difference,
    Future,
    Heads,
    HeadsPoint,
    Lab,
    LabAssignment,
    Machine,
    Scaling,
    ScalingPoint,
    Subject,
    Timed,
)
from grader.report import Grader, Isolation, SourceFile

RIGHT = """\
import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, padding_mask=None):
        batch, length, d_model = x.shape
        cut = (batch, length, self.n_heads, d_model // self.n_heads)
        q, k, v = (one.reshape(cut).transpose(1, 2) for one in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        if padding_mask is not None:
            hidden = hidden | padding_mask[:, None, None]
        weights = scores.masked_fill(hidden, -math.inf).softmax(dim=-1)
        return self.out((weights @ v).transpose(1, 2).reshape(batch, length, d_model)), weights
"""
#: Sees everything, later tokens too.
LEAKS = RIGHT.replace(".masked_fill(hidden, -math.inf)", "")
UNSCALED = RIGHT.replace(" / math.sqrt(q.shape[-1])", "")
#: Divides by the square root of the whole width: the same slope, another level.
SCALED_BY_WIDTH = RIGHT.replace("math.sqrt(q.shape[-1])", "math.sqrt(d_model)")
#: What it says holds markup and a command for a terminal.
HOSTILE = "<script>alert(1)</script>\\x1b[31m"
_SHAPE = "        batch, length, d_model = x.shape\n"
RAISES = RIGHT.replace(_SHAPE, f'        raise ValueError("{HOSTILE}")\n')
#: Right, and for one dtype only.
FLOAT32 = RIGHT.replace(_SHAPE, f"{_SHAPE}        torch.zeros(1, d_model, dtype=torch.float32) @ self.out.weight\n")
NO_WEIGHTS = RIGHT.replace(", weights\n", "\n")
DETACHED = RIGHT.replace("(weights @ v)", "(weights @ v).detach()")
_KEPT = "        self.n_heads = n_heads\n"
TWO_OR_FOUR = RIGHT.replace(_KEPT, f'        assert n_heads in (2, 4), "two or four"\n{_KEPT}')
#: Never gives the same answer twice.
RESTLESS = f"import itertools\n{RIGHT}\n\nNUMBERS = itertools.count(1)\n".replace(
    ".softmax(dim=-1)", ".softmax(dim=-1) / next(NUMBERS)"
)

FILE, NAME, CALLABLE = "attention.py", "qkv_multi_head", "MultiHeadSelfAttention"

COURSE = {
    f"assignments/{NAME}/assignment.toml": f"""
title = "One projection"
published_seed = 5

[rules]
forbidden = ["torch.nn.MultiheadAttention"]

[lab]
kind = "fused-self-attention"
callable = "{CALLABLE}"

[[parts]]
name = "attention"
title = "Attention"
points = 1

[parts.callables.{CALLABLE}]
kind = "module"
arguments = ["x", "padding_mask"]
returns = ["output", "weights"]
reference = "qkv:{CALLABLE}"
""",
    f"assignments/{NAME}/stub/{FILE}": "class MultiHeadSelfAttention:\n    pass\n",
    f"assignments/{NAME}/checks/test_attention.py": f'''
from grader.checks import Checks

attention = Checks("{CALLABLE}")


@attention.check(points=1)
def test_output(student, given):
    """The output is right."""
    student.build(given=given, d_model=6, n_heads=2)(given.normal("x", 2, 3, 6)).matches("output")
''',
    "reference/__init__.py": "",
    "reference/qkv.py": RIGHT,
}


def sample_lab(**fields: Any) -> Lab:
    """A record of a right module; any field can be replaced."""
    values: dict[str, Any] = {
        "created": datetime(2026, 5, 4, 9, 30, tzinfo=UTC),
        "seed": 7,
        "is_quick": False,
        "timeout_s": 2.0,
        "assignment": LabAssignment(name=NAME, title="One projection", digest="d", callable=CALLABLE, file=FILE),
        "grader": Grader(version="1", python="3.11", torch="2.13", isolation=Isolation.STRONG),
        "machine": Machine(system="Linux x86_64", processors=2, worker_threads=1),
        "subject": Subject(id="Żaneta Ó Briain", files=(SourceFile(name=FILE, sha256="0"),), notes=()),
        "scaling": sample_scaling(),
        "future": sample_future(),
        "heads": sample_heads(),
        "against": sample_against(),
    }
    return Lab(**(values | fields))


def scaling_point(d_head: int, is_scaled: bool, variance: float | None, **fields: Any) -> ScalingPoint:
    """A point; any field can be replaced."""
    values: dict[str, Any] = {
        "d_head": d_head,
        "is_scaled": is_scaled,
        "variance": variance,
        "variance_in_theory": 1.0 if is_scaled else float(d_head),
        "entropy_nats": 2.0,
        "entropy_share": 0.8 if is_scaled else 0.3,
        "unreadable_share": 0.0,
        "gradient_low": 0.2,
        "gradient_median": 0.4,
        "gradient_high": 0.6,
        "gradient_through_values": 0.25,
    }
    return ScalingPoint(**(values | fields))


def sample_scaling(power: float = 0.0, level: float = 1.0, **fields: Any) -> Scaling:
    """Logits whose variance is `level` times that power of the width."""
    points = []
    for d_head in (4, 16, 64):
        variance = level * d_head**power
        points += [scaling_point(d_head, True, variance), scaling_point(d_head, False, variance * d_head)]
    values: dict[str, Any] = {"dtype": "float64", "batch": 2, "length": 9, "n_heads": 2, "points": tuple(points)}
    return Scaling(**(values | fields))


def sample_future(**fields: Any) -> Future:
    """Three tokens and no leak."""
    values: dict[str, Any] = {
        "dtype": "float64",
        "length": 3,
        "d_model": 8,
        "n_heads": 2,
        "unrest": 0.0,
        "with_mask": ((0.9, 0.0, 0.0), (0.5, 0.6, 0.0), (0.3, 0.2, 0.7)),
        "without_mask": ((0.4, 0.1, 0.2), (0.3, 0.5, 0.1), (0.3, 0.2, 0.7)),
    }
    return Future(**(values | fields))


def timed(net_s: float | None, low: float = 0.9, high: float = 1.1) -> Timed:
    """So many seconds, and how far the repetitions scatter."""
    return Timed(
        call_s=(net_s or 0) + 0.001,
        way_s=0.001,
        net_s=net_s,
        net_low_s=net_s and net_s * low,
        net_high_s=net_s and net_s * high,
    )


def sample_heads(slower: float = 2.0, **fields: Any) -> Heads:
    """One head and eight, which take so many times as long."""
    points = tuple(
        HeadsPoint(
            n_heads=n_heads,
            d_head=64 // n_heads,
            weights_bytes=n_heads * 2**18,
            made_bytes=n_heads * 2**20,
            is_made_cut=False,
            forward=timed(0.01 * factor),
            both=timed(0.03 * factor),
        )
        for n_heads, factor in ((1, 1.0), (8, slower))
    )
    values: dict[str, Any] = {
        "dtype": "float32",
        "batch": 2,
        "length": 30,
        "d_model": 64,
        "repetitions": 3,
        "points": points,
    }
    return Heads(**(values | fields))


def sample_against(largest: float = 1e-15, **fields: Any) -> Against:
    """As far apart as that."""
    differences = tuple(
        Difference(what=what, dtype=dtype, largest=largest, scale=2.0, allowed=2e-5)
        for dtype in ("float64", "float32")
        for what in ("output", "weights", "gradient of x")
    )
    points = tuple(
        AgainstPoint(
            length=length,
            own_forward=timed(length / 8000),
            own_both=timed(length / 4000),
            library_forward=timed(length / 16000),
            library_both=timed(length / 8000),
        )
        for length in (16, 64)
    )
    values: dict[str, Any] = {
        "dtype": "float32",
        "batch": 2,
        "d_model": 64,
        "n_heads": 4,
        "repetitions": 3,
        "differences": differences,
        "points": points,
    }
    return Against(**(values | fields))
