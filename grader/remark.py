"""Where a small example goes wrong, in a sentence or two: which query, which head, which part of a vector.

Only what the numbers themselves show is said; why it goes wrong is for a diagnosis.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import torch

from grader.assignment import Callable
from grader.oracle import Expected
from grader.outcome import Outcome, Raised
from grader.resize import sizes_of
from grader.simpler import is_plain
from grader.symptom import Found, Refused

#: Characters of an exception's message that are quoted.
_MOST_QUOTED = 200
#: A difference that counts as none.
_CLOSE = 1e-4
#: What is smaller is shown as 0, as memory that nobody has filled often holds.
_NOTHING = 1e-12
#: Of a module some of whose parameters do nothing.
_PLAIN = "Weights that are not shown are the identity, biases that are not shown are 0."


def remark(found: Found, about: Callable, returned: Mapping[str, torch.Tensor]) -> str:
    """What is wrong where; then what is to be known of parameters that are not shown."""
    parameters = found.trial.call.payload.parameters.values()
    plain = _PLAIN if any(is_plain(parameter) for parameter in parameters) else ""
    return " ".join(filter(None, [_what(found, about, returned), plain]))


def number_text(number: float) -> str:
    """A whole number as it is, another with four decimals at most (four digits, when it is small)."""
    if not math.isfinite(number):
        return str(number)
    if abs(number) < _NOTHING:
        return "0"
    if abs(number) < 1e-3:
        return f"{number:.4g}"
    if abs(number) >= 1e9:
        return f"{number:.6g}"
    return f"{number:.4f}".rstrip("0").rstrip(".")


def _what(found: Found, about: Callable, returned: Mapping[str, torch.Tensor]) -> str:
    symptom, right = found.symptom, found.right
    raised = _raised(found.outcome)
    if isinstance(right, Refused):
        is_right = f"{_an(right.error)} is right here"
        return f"{is_right}; it raised {raised}" if raised else f"{is_right}; nothing was raised."
    if symptom.kind == "raised":
        return f"It raised {raised}"
    if symptom.kind == "no gradient":
        return f"No gradient reaches {_list(_plain_names(symptom.gradients))}."
    if symptom.kind == "gradient":
        names = _plain_names(symptom.gradients)
        return f"The {'gradients' if len(names) > 1 else 'gradient'} of {_list(names)} {_are(names)} wrong."
    if symptom.kind == "shape":
        return " ".join(_wrong_shape(name, right, returned) for name in symptom.names if name in returned)
    if symptom.kind == "value":
        return _wrong_value(found, right, about, returned)
    return ""


# --- values -------------------------------------------------------------------------------------------------------


def _wrong_value(found: Found, right: Expected, about: Callable, returned: Mapping[str, torch.Tensor]) -> str:
    wrong = {
        name: _differs(returned[name].broadcast_to(right.values[name].shape), right.values[name])
        for name in found.symptom.names
    }
    for name, places in wrong.items():
        if right.values[name].dtype == torch.bool:
            return _wrong_mask(name, places, right.values[name], about)
    headed = [name for name in wrong if _has_heads(name, wrong[name], about)]
    if headed:
        return _wrong_heads(headed[0], wrong[headed[0]], found, about)
    right_ones = [name for name in right.values if name not in wrong]
    sentences = [f"The {_list(right_ones)} {_are(right_ones)} right."] if right_ones else []
    rows = _wrong_rows(wrong, found, about)
    sums = [_wrong_sums(name, places, right.values[name], returned[name], about) for name, places in wrong.items()]
    return " ".join([*sentences, *filter(None, sums), *rows][:2])


def _wrong_mask(name: str, places: torch.Tensor, expected: torch.Tensor, about: Callable) -> str:
    """The first wrong element of a mask: who may attend to whom, for a mask says no less."""
    index = places.nonzero()[0].tolist()
    axes = about.axes.get(name, ())
    where = dict(zip(axes, index, strict=False))
    may = not bool(expected[tuple(index)])
    if name != "mask" or not {"query", "key"} <= where.keys():
        return f"{name}{index} is {may}, and must be {not may}."
    sample = f"In sample {where['batch']}, query" if expected.shape[0] > 1 and axes[0] == "batch" else "Query"
    pair = f"{sample} {where['query']} {'may' if may else 'may not'} attend to key {where['key']} here"
    return f"{pair}, and {'must not' if may else 'must'}."


def _wrong_rows(wrong: Mapping[str, torch.Tensor], found: Found, about: Callable) -> list[str]:
    """For which queries values are wrong, and in which part of their vectors; one sentence for values wrong alike."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, places in wrong.items():
        alike.setdefault(_wrong_where(name, places, found, about), []).append(name)
    return [
        f"The {_list(names)}{queries} {_are(names)} wrong{elements}." for (queries, elements), names in alike.items()
    ]


def _wrong_where(name: str, places: torch.Tensor, found: Found, about: Callable) -> tuple[str, str]:
    """` of query 0` and `, in element 1`; empty where the axes are not known."""
    axes = about.axes.get(name, ())
    if "query" not in axes or len(axes) != places.ndim:
        return "", ""
    queries = f" of {_numbered('query', 'queries', _along(places, axes.index('query')))}"
    if axes[0] == "batch" and len(places) > 1:
        queries += f" in {_numbered('sample', 'samples', _along(places, 0))}"
    if axes[-1] not in about.splits or places.shape[-1] == 1:
        return queries, ""
    return queries, f", in {_elements(_along(places, places.ndim - 1))}{_heads_of(places, found, about)}"


def _wrong_sums(
    name: str, places: torch.Tensor, expected: torch.Tensor, observed: torch.Tensor, about: Callable
) -> str:
    """What the weights of the first wrong query add up to, when that is not 1 and ought to be."""
    axes = about.axes.get(name, ())
    if axes[-2:] != ("query", "key") or places.ndim != len(axes):
        return ""
    *where, query, _ = places.nonzero()[0].tolist()
    wanted, seen = (float(tensor[(*where, query)].sum()) for tensor in (expected, observed))
    if not math.isclose(wanted, 1) or math.isclose(seen, 1, abs_tol=_CLOSE):
        return ""
    return f"The {name} of query {query} add up to {number_text(seen)}, not to 1."


def _wrong_heads(name: str, places: torch.Tensor, found: Found, about: Callable) -> str:
    """Which heads are wrong, for which queries, and which elements of the output come from them."""
    axes = about.axes[name]
    heads = _along(places, axes.index("head"))
    text = f"{_numbered('head', 'heads', heads).capitalize()} {'is' if len(heads) == 1 else 'are'} wrong"
    if "query" in axes:
        text += f", for {_numbered('query', 'queries', _along(places, axes.index('query')))}"
    width = _width_of_head(found, about)
    if len(heads) > 1 or not width or not _is_bare(found):
        return f"{text}."
    elements = list(range(heads[0] * width, (heads[0] + 1) * width))
    return f"{text}; {_elements(elements)} of the {about.returns[0]} {'comes' if width == 1 else 'come'} from it."


def _has_heads(name: str, places: torch.Tensor, about: Callable) -> bool:
    axes = about.axes.get(name, ())
    return "head" in axes and len(axes) == places.ndim and places.shape[axes.index("head")] > 1


def _heads_of(places: torch.Tensor, found: Found, about: Callable) -> str:
    """The heads that wrong elements of a joined vector come from, when nothing mixes them afterwards."""
    width = _width_of_head(found, about)
    if not width or not _is_bare(found) or width == places.shape[-1]:
        return ""
    heads = sorted({element // width for element in _along(places, places.ndim - 1)})
    return f", which {'comes' if len(_along(places, places.ndim - 1)) == 1 else 'come'} from " + _numbered(
        "head", "heads", heads
    )


def _width_of_head(found: Found, about: Callable) -> int | None:
    """Elements of each head; None where there are no heads."""
    return (sizes_of(found.trial.call, about) or {}).get("head dim")


def _is_bare(found: Found) -> bool:
    """Whether the module's layers change nothing, so that what heads give stands side by side in the output."""
    parameters = found.trial.call.payload.parameters
    return bool(parameters) and all(is_plain(parameter) for parameter in parameters.values())


def _differs(observed: torch.Tensor, expected: torch.Tensor) -> torch.Tensor:
    """Where two tensors are not the same; NaN never is."""
    return ~((observed.double() - expected.double()).abs() <= _CLOSE)


def _along(places: torch.Tensor, axis: int) -> list[int]:
    """The positions along an axis at which anything is wrong."""
    return sorted(set(places.nonzero()[:, axis].tolist()))


# --- other ways to be wrong ---------------------------------------------------------------------------------------


def _raised(outcome: Outcome) -> str:
    """Type and first line of what was raised; empty when nothing was."""
    for reply in (outcome.reply, outcome.backward):
        if isinstance(reply, Raised):
            message = reply.message.partition("\n")[0]
            cut = f"{message[:_MOST_QUOTED]}..." if len(message) > _MOST_QUOTED else message
            where = " in the backward pass" if reply.stage == "backward" else ""
            end = "" if cut.endswith(".") else "."
            return f"{reply.type}{where}: {cut}{end}" if cut else f"{reply.type}{where}."
    return ""


def _wrong_shape(name: str, right: Expected, returned: Mapping[str, torch.Tensor]) -> str:
    return f"The shape of {name} is {list(returned[name].shape)}; {list(right.values[name].shape)} is right."


# --- words --------------------------------------------------------------------------------------------------------


def _plain_names(keys: Iterable[str]) -> list[str]:
    return [key.partition(".")[2] for key in keys]


def _list(names: Sequence[object]) -> str:
    """`a`; `a and b`; `a, b and c`."""
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last


def _numbered(one: str, several: str, numbers: Sequence[int]) -> str:
    return f"{one if len(numbers) == 1 else several} {_list(numbers)}"


def _elements(numbers: Sequence[int]) -> str:
    return _numbered("element", "elements", numbers)


def _are(names: Sequence[str]) -> str:
    is_plural = names[0].endswith("s") and not names[0].endswith(("ss", "bias"))
    return "are" if len(names) > 1 or is_plural else "is"


def _an(error: str) -> str:
    return f"{'An' if error[:1] in 'AEIOU' else 'A'} {error}"
