"""Mistakes, small examples and shapes on the way to test with.

`make_*` build one record with sensible fields, any of which can be replaced; the others are of a realistic class. All
numbers are those that attention, or attention with the mistake, gives.
"""

from typing import Any

from grader.finding import Diagnosis, Example, Matrix, Shapes, Step

ATTENTION = "scaled_dot_product_attention"


def make_diagnosis(**fields: Any) -> Diagnosis:
    """Build the diagnosis of a wrong scale, which explains the check that `make_check` builds."""
    values = {
        "part": "single_head",
        "callables": (ATTENTION,),
        "mistakes": ("scale-by-d",),
        "catalogue": ("A01",),
        "title": "The scores are divided by d, not by the square root of d",
        "hint": "How far do dot products of random vectors spread when the vectors get longer, and what undoes that?",
        "explanation": "A dot product of two vectors of d elements spreads like the square root of d. Divided by d, "
        "the scores shrink as d grows, and the weights become almost equal.",
        "checks": ("test_single_head.py::test_values",),
    }
    return Diagnosis(**values | fields)


def make_matrix(name: str, shape: tuple[int, ...], axes: str, cells: str) -> Matrix:
    """Build a matrix from the names of its axes and its cells, each separated by blanks."""
    return Matrix(name=name, shape=shape, axes=tuple(axes.split()), cells=tuple(cells.split()))


QUERY = make_matrix("query", (1, 2, 4), "sample query dim", "2 0 1 0  0 2 0 0")
KEY = make_matrix("key", (1, 3, 4), "sample key dim", "2 0 0 0  0 1 0 2  0 0 1 0")
VALUE = make_matrix("value", (1, 3, 2), "sample key dim", "4 0  0 4  2 2")
MASK = make_matrix("mask", (2, 3), "query key", "True False False  True True False")
RIGHT_OUTPUT = make_matrix("output", (1, 2, 2), "sample query dim", "3.273 0.727  1.272 2.728")
RIGHT_WEIGHTS = make_matrix("weights", (1, 2, 3), "sample query key", "0.736 0.1 0.164  0.212 0.576 0.212")
EVEN_OUTPUT = make_matrix("output", (1, 2, 2), "sample query dim", "2.687 1.313  1.644 2.356")
EVEN_WEIGHTS = make_matrix("weights", (1, 2, 3), "sample query key", "0.543 0.2 0.257  0.274 0.452 0.274")


def make_example(**fields: Any) -> Example:
    """Build a small call of attention with a wrong scale."""
    values = {
        "part": "single_head",
        "callable": ATTENTION,
        "call": f"{ATTENTION}(query, key, value)",
        "inputs": (QUERY, KEY, VALUE),
        "expected": (RIGHT_OUTPUT, RIGHT_WEIGHTS),
        "observed": (EVEN_OUTPUT, EVEN_WEIGHTS),
        "remark": "All weights are closer to each other than they should be.",
    }
    return Example(**values | fields)


def make_step(line: int, operation: str, inputs: str, output: str, **fields: Any) -> Step:
    """Build one operation; shapes that go in are separated by a semicolon."""
    values = {"file": "single_head.py", "line": line, "operation": operation, "output": output}
    return Step(**values | {"inputs": tuple(shape.strip() for shape in inputs.split(";"))} | fields)


def make_shapes(**fields: Any) -> Shapes:
    """Build the way through attention, of which no step departs."""
    values = {
        "part": "single_head",
        "callable": ATTENTION,
        "call": f"{ATTENTION}(query, key, value)",
        "sizes": "B = 2, L = 5, S = 7, D = 11, Dv = 13",
        "steps": (
            make_step(24, "transpose", "[2, 7, 11]", "[2, 11, 7]"),
            make_step(24, "matmul", "[2, 5, 11]; [2, 11, 7]", "[2, 5, 7]", stage="scores"),
            make_step(24, "div", "[2, 5, 7]", "[2, 5, 7]", stage="scores"),
            make_step(25, "softmax", "[2, 5, 7]", "[2, 5, 7]", stage="weights"),
            make_step(26, "matmul", "[2, 5, 7]; [2, 7, 13]", "[2, 5, 13]", stage="output"),
        ),
        "wanted": ("scores [B, L, S]", "weights [B, L, S]", "output [B, L, Dv]"),
    }
    return Shapes(**values | fields)


def loops_example() -> Example:
    """Give a single vector and a single number, neither of them right."""
    return Example(
        part="single_head",
        callable="attention_with_loops",
        call="attention_with_loops(query, key, value)",
        inputs=(
            make_matrix("query", (1, 2), "query dim", "2 0"),
            make_matrix("key", (2, 2), "key dim", "1 0  0 1"),
            make_matrix("value", (2, 1), "key dim", "1 3"),
        ),
        expected=(make_matrix("output", (1, 1), "query dim", "1.391"),),
        observed=(make_matrix("output", (1,), "", "1.391"),),
        remark="The output has lost the axis of the queries.",
    )


def mask_diagnosis(checks: tuple[str, ...]) -> Diagnosis:
    """A mask read the wrong way round, or built so: nobody can tell."""
    return Diagnosis(
        part="masked",
        callables=("masked_attention",),
        mistakes=("mask-inverted", "mask-filled-where-true"),
        catalogue=("M01", "M02"),
        title="True is taken to mean forbidden, and it means allowed",
        alternatives=("The scores are filled with -inf where the mask is True",),
        hint="Write down one row of a causal mask by hand: which of its entries are True, and what do they allow?",
        explanation="In this assignment mask[i, j] is True when query i may attend to key j. Here those are the "
        "scores that are filled with -inf, so that each query sees only what it must not see.",
        evidence="masked.py, line 37: scores = scores.masked_fill(mask, float('-inf'))",
        checks=checks,
    )


def mask_example() -> Example:
    """A mask of two queries and three keys, the wrong way round."""
    return Example(
        part="masked",
        callable="masked_attention",
        call="masked_attention(query, key, value, mask)",
        inputs=(QUERY, KEY, VALUE, MASK),
        expected=(
            make_matrix("output", (1, 2, 2), "sample query dim", "4 0  1.076 2.924"),
            make_matrix("weights", (1, 2, 3), "sample query key", "1 0 0  0.269 0.731 0"),
        ),
        observed=(
            make_matrix("output", (1, 2, 2), "sample query dim", "1.245 2.755  2 2"),
            make_matrix("weights", (1, 2, 3), "sample query key", "0 0.378 0.622  0 0 1"),
        ),
        remark="Every weight is 0 exactly where the mask is True.",
    )


def causal_example() -> Example:
    """A mask as a result: one diagonal too many."""
    return Example(
        part="masked",
        callable="attention_mask",
        call="attention_mask(3, 4)",
        inputs=(make_matrix("query_count", (), "", "3"), make_matrix("key_count", (), "", "4")),
        expected=(_mask_of("1000 1100 1110"),),
        observed=(_mask_of("1100 1110 1111"),),
        remark="Query 0 sees key 1, which is later than itself.",
    )


def _mask_of(bits: str) -> Matrix:
    words = " ".join("True" if bit == "1" else "False" for bit in bits.replace(" ", ""))
    return make_matrix("mask", (3, 4), "query key", words)


def heads_diagnosis(checks: tuple[str, ...]) -> Diagnosis:
    """Heads cut out of the positions."""
    return Diagnosis(
        part="multi_head",
        callables=("MultiHeadAttention",),
        mistakes=("heads-by-view",),
        title="The heads are made by a reshape alone, which mixes positions with features",
        hint="Write the numbers 0 to 7 into a tensor of 2 positions by 4 features and split it into 2 heads on paper. "
        "Which numbers should head 0 hold?",
        explanation="A projection gives [B, L, d_model]. To split d_model it must become [B, L, H, D], and only then "
        "are the axes of heads and positions swapped. A reshape to [B, H, L, D] cuts the sequence into pieces.",
        checks=checks,
    )


def heads_example() -> Example:
    """Two heads of two queries and three keys."""
    return Example(
        part="multi_head",
        callable="MultiHeadAttention",
        call="MultiHeadAttention(d_model=4, num_heads=2)(query, key, value), each projection the identity",
        inputs=(QUERY, KEY, make_matrix("value", (1, 3, 4), "sample key dim", "4 0 1 2  0 4 3 0  2 2 0 1")),
        expected=(
            make_matrix("output", (1, 2, 4), "sample query dim", "3.683 0.317 0.993 1  0.981 3.019 1.333 1"),
            make_matrix(
                "weights",
                (1, 2, 2, 3),
                "sample head query key",
                "0.894 0.053 0.053 0.164 0.673 0.164  0.248 0.248 0.503 0.333 0.333 0.333",
            ),
        ),
        observed=(
            make_matrix("output", (1, 2, 4), "sample query dim", "3.63 0.317 2.789 0.159  2.855 0.981 1.667 1"),
            make_matrix(
                "weights",
                (1, 2, 2, 3),
                "sample head query key",
                "0.894 0.053 0.053 0.673 0.164 0.164  0.894 0.053 0.053 0.333 0.333 0.333",
            ),
        ),
        remark="Head 0 is wrong in query 1, head 1 in query 0.",
    )


def heads_shapes() -> Shapes:
    """Give a long way, in two files, that departs where the heads are split."""
    file = {"file": "multi_head.py"}
    projections = [
        make_step(line, "linear", f"[2, {length}, 12]; [12, 12]; [12]", f"[2, {length}, 12]", stage=f"{name}s", **file)
        for line, length, name in ((41, 5, "querie"), (42, 7, "key"), (43, 7, "value"))
    ]
    departs = "the heads are to be split off the last axis, [2, 5, 3, 4], and then swapped with the positions"
    return Shapes(
        part="multi_head",
        callable="MultiHeadAttention",
        call="MultiHeadAttention(d_model=12, num_heads=3)(query, key, value)",
        sizes="B = 2, L = 5, S = 7, d_model = 12, H = 3, D = 4",
        steps=(
            *projections,
            make_step(45, "view", "[2, 5, 12]", "[2, 3, 5, 4]", departs=departs, **file),
            make_step(46, "view", "[2, 7, 12]", "[2, 3, 7, 4]", times=2, **file),
            make_step(24, "transpose", "[2, 3, 7, 4]", "[2, 3, 4, 7]"),
            make_step(24, "matmul", "[2, 3, 5, 4]; [2, 3, 4, 7]", "[2, 3, 5, 7]", stage="scores"),
            make_step(24, "div", "[2, 3, 5, 7]", "[2, 3, 5, 7]", stage="scores"),
            make_step(25, "softmax", "[2, 3, 5, 7]", "[2, 3, 5, 7]", stage="weights"),
            make_step(26, "matmul", "[2, 3, 5, 7]; [2, 3, 7, 4]", "[2, 3, 5, 4]"),
            make_step(50, "reshape", "[2, 3, 5, 4]", "[2, 5, 12]", **file),
            make_step(51, "linear", "[2, 5, 12]; [12, 12]; [12]", "[2, 5, 12]", stage="output", **file),
        ),
        is_cut=True,
        wanted=(
            "projections [B, L, d_model], [B, S, d_model]",
            "heads [B, H, L, D], [B, H, S, D]",
            "scores and weights [B, H, L, S]",
            "joined [B, L, d_model]",
            "output [B, L, d_model]",
        ),
    )
