"""Calls of the assignment `attention` that can be traced, and sources of students to trace them through."""

from collections.abc import Mapping
from pathlib import Path

import torch

from grader.assignment import read_assignment
from grader.call import Build, Call, Payload
from grader.conversation import Conversation, TimeLimits
from grader.launch import ForkLauncher
from grader.shapes import trace_sizes

ROOT = Path(__file__).parents[1]
ASSIGNMENT = read_assignment(ROOT / "assignments/attention")
STYLES = sorted(path for path in (ROOT / "reference/variants/attention").iterdir() if path.is_dir())
#: Part and name of each callable whose way is stated.
WITH_A_WAY = [(part.name, name) for part in ASSIGNMENT.parts for name, about in part.callables.items() if about.way]
#: The parameters of the two modules, by the shapes of their weights.
_WEIGHTS = {
    "SingleHeadAttention": dict.fromkeys(("q_proj", "k_proj", "v_proj"), ("head dim", "dim")),
    "MultiHeadAttention": dict.fromkeys(("q_proj", "k_proj", "v_proj", "out_proj"), ("dim", "dim")),
}


def call_of(part: str, name: str, sizes: Mapping[str, int] | None = None, **fields: object) -> Call:
    """A call with random floating arguments, lengths as for a trace unless `sizes` says otherwise, and gradients."""
    about = ASSIGNMENT.callable(part, name)
    sizes = dict(sizes or trace_sizes(about))
    if name == "MultiHeadAttention":
        sizes.setdefault("dim", sizes["head"] * sizes["head dim"])
    generator = torch.Generator().manual_seed(7)

    def draw(*axes: str) -> torch.Tensor:
        return torch.randn([sizes[axis] for axis in axes], generator=generator, dtype=torch.float64)

    tensors = {argument: draw(*about.axes[argument]) for argument in ("query", "key", "value")}
    if "mask" in about.arguments:
        tensors["mask"] = torch.ones([sizes[axis] for axis in about.axes["mask"]], dtype=torch.bool)
    parameters = {}
    for layer, axes in _WEIGHTS.get(name, {}).items():
        parameters |= {f"{layer}.weight": draw(*axes) / 10, f"{layer}.bias": draw(axes[0]) / 10}
    arguments = {argument: sizes[axis] for argument, axis in about.sizes.items()}
    build = Build(arguments=arguments, handle=list(_WEIGHTS).index(name) if parameters else 0, is_double=True)
    settings = {
        "part": part,
        "name": name,
        "arguments": tuple({"tensor": argument} for argument in tensors),
        "payload": Payload(tensors, parameters),
        "build": build if parameters else None,
        "wants": ("query", "key", "value"),
    }
    return Call(**(settings | fields))


def sources_of(folder: Path) -> dict[str, str]:
    """The files of a submission."""
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}


def converse(launcher: ForkLauncher, sources: Mapping[str, str], **limits: float) -> Conversation:
    """A conversation about the assignment `attention`. A context manager."""
    return Conversation(launcher, sources, ASSIGNMENT, TimeLimits(**limits))
