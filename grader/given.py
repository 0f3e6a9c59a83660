"""Seeded inputs for checks. The same seed gives the same tensors, in every process and on every machine of a kind.

A tensor depends on the run's seed, the scope (visible or hidden checks of a part, so that what a visible check
shows is nothing a hidden one uses), its name and its shape, and on nothing else: not on the order of checks.
All students of a run see the same inputs, so what is drawn and encoded once is kept.
"""

import hashlib
import math
from collections.abc import Mapping

import torch

from grader.call import Payload


class Given:
    """Draws inputs of one scope. All are float64 unless said otherwise."""

    def __init__(self, seed: int, scope: str) -> None:
        self._seed = seed
        self._scope = scope
        self._drawn: dict[tuple[str, tuple[int, ...]], torch.Tensor] = {}

    def normal(self, name: str, *shape: int) -> torch.Tensor:
        """Standard normal; two names, or two shapes, are unrelated."""
        if (name, shape) not in self._drawn:
            self._drawn[name, shape] = torch.randn(shape, generator=self._generator(name, shape), dtype=torch.float64)
        return self._drawn[name, shape].clone()

    def permutation(self, name: str, length: int) -> torch.Tensor:
        """A random order of `range(length)` that leaves no element in place, so that using it always shows."""
        generator = self._generator(name, (length,))
        while True:
            order = torch.randperm(length, generator=generator)
            if length < 2 or not bool((order == torch.arange(length)).any()):
                return order

    def parameters(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
        """Weights and biases, normal with spread 1/sqrt(fan_in): scores stay moderate, and no bias is 0.

        A bias has the fan-in of the weight beside it.
        """
        return {
            name: self.normal(f"parameter {name}", *shape) / math.sqrt(_fan_in(name, shapes))
            for name, shape in shapes.items()
        }

    def _generator(self, name: str, shape: tuple[int, ...]) -> torch.Generator:
        text = f"{self._seed}/{self._scope}/{name}/{shape}".encode()
        seed = int.from_bytes(hashlib.sha256(text).digest()[:8], "little") >> 1
        return torch.Generator().manual_seed(seed)


class Inputs:
    """All inputs of a run: one `Given` a scope, and each payload once."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._scopes: dict[str, Given] = {}
        self._payloads: dict[str, Payload] = {}

    def scope(self, name: str) -> Given:
        """The inputs of that scope."""
        return self._scopes.setdefault(name, Given(self.seed, name))

    def payload(self, arguments: Mapping[str, torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> Payload:
        """The payload of these tensors; when an equal one was made before, that one, perhaps encoded already."""
        payload = Payload(arguments, parameters)
        return self._payloads.setdefault(payload.digest, payload)


def _fan_in(name: str, shapes: Mapping[str, tuple[int, ...]]) -> int:
    weight = shapes.get(f"{name.rpartition('.')[0]}.weight", shapes[name])
    return weight[-1]
