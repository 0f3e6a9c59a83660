"""One question to a callable: its arguments, and how it is to be run. Pure data; nothing here runs anything."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import torch

from grader.worker import wire

#: A plain argument, or `{"tensor": name}` for one of the call's tensors.
Argument = int | float | bool | str | None | dict[str, str]

_ARGUMENT, _PARAMETER = "arg.", "param."


class Payload:
    """The tensors of a call: its arguments, and a module's parameters. Copied when made, encoded once."""

    def __init__(self, arguments: Mapping[str, torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> None:
        # Copies, since a check may pass views, or one tensor under two names, or change its own afterwards.
        self.tensors = {
            name: tensor.detach().clone(memory_format=torch.contiguous_format)
            for name, tensor in _named(arguments, parameters).items()
        }

    @cached_property
    def digest(self) -> str:
        """Identity of names, dtypes, shapes and values."""
        return payload_digest(self.arguments, self.parameters)

    @cached_property
    def blob(self) -> bytes:
        """The tensors as they are sent."""
        return wire.blob(self.tensors)

    @property
    def arguments(self) -> dict[str, torch.Tensor]:
        return {
            name.removeprefix(_ARGUMENT): tensor for name, tensor in self.tensors.items() if name.startswith(_ARGUMENT)
        }

    @property
    def parameters(self) -> dict[str, torch.Tensor]:
        return {
            name.removeprefix(_PARAMETER): tensor
            for name, tensor in self.tensors.items()
            if name.startswith(_PARAMETER)
        }


def payload_digest(arguments: Mapping[str, torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> str:
    """The digest of the payload that these tensors would make."""
    hashed = hashlib.blake2b(digest_size=16)
    for name, tensor in _named(arguments, parameters).items():
        hashed.update(f"{name} {tensor.dtype} {tuple(tensor.shape)} ".encode())
        plain = tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor  # numpy has no bfloat16
        hashed.update(plain.detach().numpy().tobytes())
    return hashed.hexdigest()


def _named(arguments: Mapping[str, torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    named = {f"{_ARGUMENT}{name}": tensor for name, tensor in arguments.items()}
    return named | {f"{_PARAMETER}{name}": tensor for name, tensor in parameters.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """How a module is made before it is called; its parameters are in the call's payload."""

    #: Keyword arguments of `__init__`.
    arguments: Mapping[str, Any]
    #: Calls with the same handle meet the same object.
    handle: int
    #: Whether the module is converted with `.double()` after it is made.
    is_double: bool = False
    #: Whether parameters beyond those that are set are an error.
    is_strict: bool = False
    #: Whether biases that are not set are 0, of layers whose weights are set.
    is_without_spare_biases: bool = False
    #: Whether the student names the module's parts, so that its parameters are found by structure; see `fitting`.
    is_by_structure: bool = False
    #: What the student calls the parameters, by the reference's names, where these differ.
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request to a callable.

    Two calls with equal `digest` put the same question, whoever is asked.
    """

    part: str
    name: str
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Argument] = field(default_factory=lambda: MappingProxyType({}))
    payload: Payload
    build: Build | None = None
    #: Torch's default dtype during the call, and that of the floating inputs unless the check says otherwise.
    dtype: str = "float64"
    #: Names of the arguments whose gradients are wanted; parameters come with them. Empty: forward pass only.
    wants: tuple[str, ...] = ()
    mode: str = "eval"
    #: Seed of the generators in the worker.
    seed: int = 0
    #: Attributes of the module that are values of the answer too, once `forward` has run.
    keeps: tuple[str, ...] = ()
    #: Parameters that are the answer, of a module that is only built: then `forward` does not run.
    reads: tuple[str, ...] = ()
    #: Whether right answers depend on luck, so that two equal calls need not have equal ones.
    is_random: bool = False

    @cached_property
    def digest(self) -> str:
        """Identity of the question, the same in every process and run that asks it."""
        head = json.dumps(self.header(handle=0), separators=(",", ":"))
        return hashlib.blake2b(f"{self.payload.digest} {head}".encode(), digest_size=16).hexdigest()

    @property
    def is_with_gradients(self) -> bool:
        return bool(self.wants)

    def frame(self) -> bytes:
        """The request as sent to a worker."""
        return wire.pack(self.header(), self.payload.blob)

    def request(self, part: str, name: str) -> wire.Frame:
        """The request as a worker reads it, put to another callable: the reference's."""
        copies = {name: tensor.clone() for name, tensor in self.payload.tensors.items()}
        return wire.Frame(self.header() | {"part": part, "name": name}, copies)

    def header(self, handle: int | None = None) -> dict[str, Any]:
        """The request without its tensors; `handle` in the place of the build's own."""
        build = self.build and {
            "handle": self.build.handle if handle is None else handle,
            "arguments": dict(self.build.arguments),
            "double": self.build.is_double,
            "strict": self.build.is_strict,
            "without_spare_biases": self.build.is_without_spare_biases,
            "names": dict(self.build.names),
        }
        return {
            "op": "call",
            "part": self.part,
            "name": self.name,
            "args": self.arguments,
            "kwargs": dict(self.keywords),
            "tensors": list(self.payload.arguments),
            "build": build,
            "dtype": self.dtype,
            "wants": self.wants,
            "mode": self.mode,
            "seed": self.seed,
            "keeps": self.keeps,
            "reads": self.reads,
        }
