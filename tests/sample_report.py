"""Reports to test with: small ones to take apart, and a class of twenty with every kind of outcome.

`make_*` build one record with sensible fields, any of which can be replaced; `sample_class` is realistic.
"""

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from sample_findings import (
    causal_example,
    heads_diagnosis,
    heads_example,
    heads_shapes,
    loops_example,
    make_diagnosis,
    make_example,
    make_shapes,
    mask_diagnosis,
    mask_example,
)

from grader.adjustment import Adjustment
from grader.finding import Charge
from grader.handed_in import HandIn, Person, TimeSource
from grader.late import LatePolicy
from grader.record import round_score
from grader.report import (
    Assignment,
    Check,
    Flag,
    Grader,
    Isolation,
    Part,
    Report,
    RunHeader,
    SourceFile,
    Status,
    Submission,
)
from grader.verdict import Verdict

#: One string with something for every sink: markup, an escape sequence, reordering, a formula, Markdown.
HOSTILE = '=1+1|<script>alert("x")</script>\x1b[31m\u202egnp.\u200b![i](http://e.example/i)`*_\r\n@all'

PARTS = {
    "single_head": ("Single-head attention", "single_head.py", 30),
    "masked": ("Masked attention", "masked.py", 30),
    "multi_head": ("Multi-head attention", "multi_head.py", 40),
}

#: Part, callable, titles of the visible checks, titles of the hidden ones.
QUESTIONS = (
    (
        "single_head",
        "scaled_dot_product_attention",
        (
            "Output and weights have the right shapes",
            "Each row of weights sums to 1",
            "Output and weights are right",
            "Gradients of query, key and value are right",
            "More keys than queries",
            "The arguments are left as they were",
        ),
        ("Large scores do not overflow", "A single key and a single query", "float32 in, float32 out"),
    ),
    (
        "single_head",
        "attention_with_loops",
        ("Loops give what the batched function gives", "Values of another size than keys"),
        ("Gradients flow through the loops",),
    ),
    (
        "single_head",
        "SingleHeadAttention",
        ("The module has q_proj, k_proj and v_proj", "Output and weights of the module are right"),
        ("Gradients of the parameters are right",),
    ),
    (
        "masked",
        "attention_mask",
        ("Causal mask of 3 by 3, by hand", "Lengths hide the padding", "Causal and lengths together"),
        ("More queries than keys", "One sample is full length", "A single key is always real"),
    ),
    (
        "masked",
        "masked_attention",
        (
            "Masked output and weights are right",
            "Forbidden weights are exactly 0",
            "True means may attend",
            "An additive mask is added to the scores",
            "A later key does not change an earlier query",
            "Nothing allowed raises ValueError",
        ),
        (
            "The mask broadcasts over the batch",
            "The gradient of a forbidden key is 0",
            "Very negative scores are kept",
        ),
    ),
    (
        "multi_head",
        "MultiHeadAttention",
        (
            "Four projections with the right names",
            "bias=False leaves out every bias",
            "d_model that does not divide raises ValueError",
            "One head equals nn.MultiheadAttention",
            "Two heads equal nn.MultiheadAttention",
            "Four heads equal nn.MultiheadAttention",
            "Weights come per head",
            "Queries and keys of different lengths",
            "Padding is ignored",
            "Causal and padding together",
        ),
        (
            "Gradients of the inputs are right",
            "Gradients of the parameters are right",
            "Permuting keys and values changes nothing",
            "Permuting queries permutes the output",
            "Train and eval agree",
            "A second call with another length",
        ),
    ),
)

WRONG_VALUE = """\
{callable}(query, key, value) returned wrong values
  input     query [2, 5, 11]  key [2, 7, 11]  value [2, 7, 13]  float64, seed 7
  differs   130 of 130 elements (100.0 %)
  worst     batch 0, query 3, dim 4: observed 0.731442, expected 0.402118, difference 0.329324 (allowed 1e-06)
  hint      the weights are too even; look at what the scores are divided by"""

SYNTAX_ERROR = """\
single_head.py could not be loaded: SyntaxError on line 31
  line 31   weights = torch.softmax(scores, dim=-1
  reason    '(' was never closed"""


def make_header(**fields: Any) -> RunHeader:
    """Build the header of a run with strong isolation."""
    assignment = Assignment(name="attention", title="Attention", max_score=Decimal(100), digest="3f1c9ab2d04e")
    grader = Grader(version="0.1.0", python="3.11.7", torch="2.13.0", isolation=Isolation.STRONG)
    values = {
        "created": "2026-11-29T17:50:00Z",
        "seed": 7,
        "timeout_s": 2.0,
        "assignment": assignment,
        "grader": grader,
    } | fields
    return RunHeader(**values)


def make_check(**fields: Any) -> Check:
    """Build a visible check that failed with a wrong value."""
    values = {
        "id": "test_single_head.py::test_values",
        "title": "Output and weights are right",
        "description": "Compares output and weights with the definition.",
        "part": "single_head",
        "callable": "scaled_dot_product_attention",
        "visible": True,
        "verdict": Verdict.WRONG_VALUE,
        "score": 0,
        "max_score": 2,
        "message": WRONG_VALUE.format(callable="scaled_dot_product_attention"),
        "duration_s": 0.0123,
    }
    return Check(**values | fields)


def make_part(**fields: Any) -> Part:
    """Build the single-head part, 12.5 points of 30."""
    title, file, max_score = PARTS["single_head"]
    values = {
        "name": "single_head",
        "title": title,
        "file": file,
        "score": "12.5",
        "max_score": max_score,
        "score_checks": "12.5",
    }
    return Part(**values | fields)


def make_submission(**fields: Any) -> Submission:
    """Build a graded submission of one part and one failed check."""
    values = {
        "id": "ada",
        "status": Status.GRADED,
        "score": "12.5",
        "max_score": 100,
        "files": [SourceFile(name="single_head.py", sha256="0" * 64)],
        "parts": [make_part()],
        "checks": [make_check()],
    }
    return Submission(**values | fields)


def make_report(*submissions: Submission, **fields: Any) -> Report:
    """Build a report of these submissions."""
    header = make_header(**fields)
    return Report(**{name: getattr(header, name) for name in RunHeader.model_fields}, submissions=submissions)


def all_checks() -> list[Check]:
    """Build the checks of a perfect submission."""
    return list(_all_checks())


def _all_checks() -> Iterable[Check]:
    number = 0
    for part, callable_name, visible, hidden in QUESTIONS:
        of_part = sum(len(shown) + len(kept) for name, _, shown, kept in QUESTIONS if name == part)
        points = round_score(Decimal(PARTS[part][2]) / of_part)
        for title in (*visible, *hidden):
            number += 1
            suffix = "" if title in visible else "_hidden"
            yield make_check(
                id=f"test_{part}{suffix}.py::test_{number:02d}",
                title=title,
                description="" if number % 3 else "Sizes are pairwise different; query, key and value are unrelated.",
                part=part,
                callable=callable_name,
                visible=title in visible,
                verdict=Verdict.PASSED,
                score=points,
                max_score=points,
                message="",
            )


def graded(
    name: str,
    change: Callable[[Check], dict[str, Any]],
    charged: Mapping[str, list[Charge]] | None = None,
    **fields: Any,
) -> Submission:
    """Build a graded submission from a perfect one; `change` says which fields of a check are different.

    In a part that is in `charged`, these mistakes explain everything, and are charged instead of its checks.
    """
    checks = [Check(**dict(check) | _with_score(change(check))) for check in _all_checks()]
    parts = [_part(part, checks, (charged or {}).get(part, ())) for part in PARTS]
    values = {
        "id": name,
        "status": Status.GRADED,
        "score": sum((part.score or 0 for part in parts), Decimal(0)),
        "max_score": 100,
        "files": [SourceFile(name=file, sha256=f"{len(name):064x}") for _, file, _ in PARTS.values()],
        "parts": parts,
        "checks": checks,
    }
    return Submission(**values | fields)


def _with_score(changed: dict[str, Any]) -> dict[str, Any]:
    return {"score": 0, **changed} if "verdict" in changed else changed


def failed(change: Callable[[Check], dict[str, Any]], *callables: str) -> tuple[str, ...]:
    """Give the ids of the checks of these callables that `change` makes fail."""
    return tuple(check.id for check in _all_checks() if check.callable in callables and "verdict" in change(check))


def _part(name: str, checks: list[Check], charged: Iterable[Charge] = ()) -> Part:
    title, file, max_score = PARTS[name]
    reached = [check for check in checks if check.part == name]
    missing = sum((check.max_score - (check.score or 0) for check in reached), Decimal(0))
    score = max(Decimal(0), max_score - missing) if missing < max_score else Decimal(0)
    charges = tuple(charged)
    whole = max_score - sum(charge.price for charge in charges) if charges else score
    return Part(
        name=name, title=title, file=file, score=whole, max_score=max_score, score_checks=score, charged=charges
    )


def sample_class() -> Report:
    """Build a run of twenty submissions, graded, ungradable and failed, under partial isolation."""
    grader = Grader(
        version="0.1.0",
        python="3.11.7",
        torch="2.13.0",
        isolation=Isolation.PARTIAL,
        isolation_detail="No user namespaces; allow them: sysctl kernel.unprivileged_userns_clone=1.",
    )
    return make_report(
        *_students(),
        grader=grader,
        imported="Canvas download: 31 files of 20 students, 2 marked late",
        roster="roster.csv",
        on_roster=21,
        missing=[Person(name="Zoë Ångström", email="zoe@uni.example", lms_id="12"), Person(login="kim")],
        strangers=["bela"],
    )


def _students() -> Iterable[Submission]:
    handed_in = HandIn(source=TimeSource.PLATFORM, is_marked_late=True, extension_hours=24)
    yield graded("ada", lambda check: {}, people=[Person(name="Ada Byron", login="ada")], handed_in=handed_in)
    yield graded("bela", lambda check: {"output": "scores torch.Size([2, 5, 7])\n" * 3})
    yield _chidi()
    yield graded("dmitri", _syntax_error, notes=["Single_Head.py was read as single_head.py"])
    yield graded("elif", _one_part_missing)
    yield graded("farah", _float32_buffers)
    yield _grace()
    yield graded("hiroshi", _untouched)
    yield graded("ines", _endless_loop)
    yield Submission(
        id="jonas-late",
        status=Status.UNGRADABLE,
        score=0,
        max_score=100,
        reason="no stub file found, only attention.ipynb. Hand in single_head.py, masked.py, multi_head.py.",
    )
    yield graded("kwame", lambda check: {}, flags=[_eval_flag()])
    yield graded("lucía", _no_gradient)
    yield _mei()
    yield Submission(
        id="nadia",
        status=Status.GRADER_ERROR,
        score=None,
        max_score=100,
        reason="the examiner stopped answering during masked; grade it again with --resume",
    )
    yield _hostile_student()
    for name in ("olga", "pavel", "quinn", "rosa", "sven"):
        yield graded(name, _mixed if name > "q" else lambda check: {})


def _wrong_value(check: Check) -> dict[str, Any]:
    return {"verdict": Verdict.WRONG_VALUE, "message": WRONG_VALUE.format(callable=check.callable)}


_SCALED = ("scaled_dot_product_attention", "attention_with_loops", "masked_attention")


def _chidi() -> Submission:
    """One mistake, in two parts, charged once."""
    return graded(
        "chidi_okafor",
        _scales_by_dim,
        diagnoses=[make_diagnosis(callables=_SCALED, checks=failed(_scales_by_dim, *_SCALED))],
        charged={
            "single_head": [Charge(mistake="scale-by-d", price=3)],
            "masked": [Charge(mistake="scale-by-d", price=0, carried_from=_SCALED[0])],
        },
        examples=[make_example()],
        shapes=[make_shapes()],
    )


def _grace() -> Submission:
    """Give two mistakes that nobody can tell apart, and a callable that is wrong in an unknown way."""
    return graded(
        "Grace Hopper",
        _mask_polarity,
        diagnoses=[mask_diagnosis(failed(_mask_polarity, "masked_attention"))],
        unrecognised=["attention_mask"],
        charged={"masked": [Charge(mistake="mask-inverted", price="4")]},
        examples=[causal_example(), mask_example()],
    )


def _mei() -> Submission:
    """Heads that are wrong, a mistake that hidden checks find alone, a long way through, and a shape that is wrong."""
    hidden = "Very negative scores are kept"
    return graded(
        "mei",
        _heads,
        diagnoses=[
            heads_diagnosis(failed(_heads, "MultiHeadAttention")),
            make_diagnosis(
                part="masked",
                callables=("masked_attention",),
                mistakes=("fill-with-a-number",),
                catalogue=(),
                title="Forbidden scores are filled with a number that is not small enough",
                hint="What is left of a forbidden score after the softmax when the allowed ones are very negative too?",
                explanation="Next to scores of -1e5 one of -1e4 is the largest and gets all the weight. -inf never is.",
                checks=[check.id for check in _all_checks() if check.title == hidden],
            ),
        ],
        unrecognised=["attention_with_loops"],
        charged={
            "masked": [Charge(mistake="fill-with-a-number", price=1)],
            "multi_head": [Charge(mistake="heads-by-view", price=5)],
        },
        examples=[heads_example(), loops_example()],
        shapes=[heads_shapes()],
    )


def _heads(check: Check) -> dict[str, Any]:
    if check.callable == "attention_with_loops":
        message = "attention_with_loops(query, key, value) returned output of shape [13], expected [5, 13]"
        return {"verdict": Verdict.WRONG_SHAPE, "message": message}
    if check.title == "Very negative scores are kept" or (
        check.callable == "MultiHeadAttention" and any(word in check.title for word in ("heads equal", "length", "ing"))
    ):
        return _wrong_value(check)
    return {}


def _hostile_student() -> Submission:
    """The hostile text wherever a diagnosis can hold a student's own characters."""
    example = make_example(
        observed=[make_example().observed[0].model_copy(update={"cells": (HOSTILE,) * 4})], remark=HOSTILE
    )
    step = make_shapes().steps[0].model_copy(update={"file": HOSTILE, "operation": HOSTILE, "departs": HOSTILE})
    return graded(
        HOSTILE,
        _hostile,
        diagnoses=[make_diagnosis(evidence=HOSTILE, checks=failed(_hostile, "scaled_dot_product_attention"))],
        examples=[example],
        shapes=[make_shapes(steps=[step])],
    )


def _scales_by_dim(check: Check) -> dict[str, Any]:
    if check.callable not in _SCALED or any(word in check.title for word in ("shapes", "sums", "left", "raises")):
        return {}
    if "Gradient" in check.title:
        return {"verdict": Verdict.BLOCKED, "blocked_by": "test_single_head.py::test_03"}
    return _wrong_value(check) | {"hint": "Read section 3.2.1 again: by what are the scores divided?"}


def _syntax_error(check: Check) -> dict[str, Any]:
    if check.part == "multi_head":
        return {"verdict": Verdict.BLOCKED, "blocked_by": "single_head.py", "message": "needs single_head.py"}
    return {"verdict": Verdict.IMPORT_ERROR, "message": SYNTAX_ERROR} if check.part == "single_head" else {}


def _one_part_missing(check: Check) -> dict[str, Any]:
    missing = {"verdict": Verdict.MISSING_FILE, "message": "masked.py was not handed in"}
    return missing if check.part == "masked" else {}


def _float32_buffers(check: Check) -> dict[str, Any]:
    message = "scaled_dot_product_attention returned float64 for float32 input"
    return {"verdict": Verdict.WRONG_DTYPE, "message": message} if "float32" in check.title else {}


def _mask_polarity(check: Check) -> dict[str, Any]:
    is_of_the_mask = check.title in ("Causal mask of 3 by 3, by hand", "Causal and lengths together")
    is_of_attention = check.callable == "masked_attention" and "raises" not in check.title
    return _wrong_value(check) if is_of_attention or is_of_the_mask else {}


def _untouched(check: Check) -> dict[str, Any]:
    message = f"{check.callable} is still as in the stub: it raises NotImplementedError"
    return {"verdict": Verdict.NOT_IMPLEMENTED, "message": message}


def _endless_loop(check: Check) -> dict[str, Any]:
    if check.callable != "attention_with_loops":
        return {}
    message = "attention_with_loops(query, key, value) did not return within 2 s\n  input     query [5, 11]"
    printed = {"output": "step 0\n" * 200, "output_cut": True}
    return {"verdict": Verdict.TIMEOUT, "message": message} | printed


def _no_gradient(check: Check) -> dict[str, Any]:
    message = f"{check.callable}: output does not depend on query, key and value for autograd (was it detached?)"
    return {"verdict": Verdict.NO_GRADIENT, "message": message} if "Gradients" in check.title else {}


def _mixed(check: Check) -> dict[str, Any]:
    if check.title == "Padding is ignored":
        message = (
            "MultiHeadAttention.forward(query, key, value, key_padding_mask) raised RuntimeError\n"
            "  input     query [2, 5, 12]  key_padding_mask [2, 7]  float64, seed 7\n"
            "  raised    The size of tensor a (7) must match the size of tensor b (5) at dimension 3\n"
            "  at        multi_head.py, line 48: scores = scores.masked_fill(key_padding_mask, float('-inf'))"
        )
        return {"verdict": Verdict.EXCEPTION, "message": message, "output": "mask torch.Size([2, 7])\n"}
    if check.title in ("Very negative scores are kept", "Lengths hide the padding"):
        return _wrong_value(check)
    if check.title == "Causal and padding together":
        return {"verdict": Verdict.BLOCKED, "blocked_by": "test_multi_head.py::test_39"}
    return {}


def _hostile(check: Check) -> dict[str, Any]:
    changed = {"verdict": Verdict.EXCEPTION, "message": f"raised {HOSTILE}", "output": HOSTILE}
    return changed if check.part == "single_head" else {}


def _eval_flag() -> Flag:
    return Flag(kind="eval", file="multi_head.py", line=12, detail="eval(name) with a name built at run time")


#: What handing in late costs, in `late_class`.
POLICY = LatePolicy(due="2026-11-29T23:59:00+01:00", percent_per_day=10, grace_minutes=15)


def late_class() -> Report:
    """Build a run with a deadline: one late and given points, one late by git, one in time, one that staff decided."""
    fair = Adjustment(kind="override", points=2, reason="the handout was wrong", check=make_check().id)
    late = Adjustment(kind="late", points="-1.45", reason="handed in 2 hours after the deadline: 10 % less")
    total = Adjustment(kind="override", points=70, reason="handed in on paper")
    marked = HandIn(source="platform", is_marked_late=True)
    by_git = HandIn(source="git", time="2026-11-30T23:50:00+01:00")
    in_time = HandIn(source="roster", time="2026-11-30T00:10:00+01:00")
    students = [
        make_submission(adjustments=[fair, late], final_score="13.05", handed_in=marked),
        make_submission(id="bela", score=0, handed_in=by_git),
        make_submission(id="cyd", score=50, handed_in=in_time),
        make_submission(
            id="dmitri", status=Status.GRADER_ERROR, score=None, reason="died", adjustments=[total], final_score=70
        ),
    ]
    assignment = make_header().assignment.model_copy(update={"late": POLICY})
    return make_report(*students, assignment=assignment)
