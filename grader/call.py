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

#: A scalar argument, or `{"tensor": name}` for one of the call's tensors.
Argument = int | float | bool | str | None | dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Build:
    """How a module is made before it is called."""

    #: Keyword arguments of `__init__`.
    arguments: Mapping[str, Any]
    #: Values copied into the parameters, by name.
    parameters: Mapping[str, torch.Tensor]
    #: Calls with the same handle meet the same object.
    handle: int
    #: Whether the module is converted with `.double()` after it is made.
    is_double: bool = False


@dataclass(frozen=True, kw_only=True)
class Call:
    """A request to a callable.

    Two calls with equal `digest` put the same question, whoever is asked.
    """

    part: str
    name: str
    arguments: tuple[Argument, ...]
    keywords: Mapping[str, Argument] = field(default_factory=lambda: MappingProxyType({}))
    tensors: Mapping[str, torch.Tensor]
    build: Build | None = None
    #: Torch's default dtype during the call, and that of the floating inputs unless the check says otherwise.
    dtype: str = "float64"
    #: Names of the tensors whose gradients are wanted; parameters come with them. Empty: forward pass only.
    wants: tuple[str, ...] = ()
    mode: str = "eval"
    #: Seed of the generators in the worker.
    seed: int = 0

    @cached_property
    def digest(self) -> str:
        """Identity of the question, the same in every process and run that asks it."""
        head = json.dumps(self._header(handle=0), separators=(",", ":")).encode()
        return hashlib.blake2b(head + self._blob, digest_size=16).hexdigest()

    @property
    def is_with_gradients(self) -> bool:
        return bool(self.wants)

    def frame(self) -> bytes:
        """The request as sent to a worker."""
        return wire.pack(self._header(self.build.handle if self.build else 0), self._blob)

    def decoded(self, part: str, name: str) -> wire.Frame:
        """The request as a worker would read it, put to another callable: the reference's."""
        header = self._header(handle=0) | {"part": part, "name": name}
        return wire.Frame(header, self._named())

    @cached_property
    def _blob(self) -> bytes:
        return wire.blob(self._named())

    def _named(self) -> dict[str, torch.Tensor]:
        """Copies, since a check may pass views, or one tensor under two names."""
        named = {f"arg.{name}": _copy(tensor) for name, tensor in self.tensors.items()}
        if self.build:
            named |= {f"param.{name}": _copy(tensor) for name, tensor in self.build.parameters.items()}
        return named

    def _header(self, handle: int) -> dict[str, Any]:
        build = self.build and {"handle": handle, "arguments": dict(self.build.arguments), "double": self.build.is_double}
        return {"op": "call", "part": self.part, "name": self.name, "args": self.arguments,
                "kwargs": dict(self.keywords), "tensors": list(self.tensors), "build": build, "dtype": self.dtype,
                "wants": self.wants, "mode": self.mode, "seed": self.seed}


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone(memory_format=torch.contiguous_format)
