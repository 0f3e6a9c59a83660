"""Seeded inputs for checks. The same seed gives the same tensors, in every process and on every machine of a kind.

A tensor depends on the run's seed, the scope (visible or hidden checks of a part, so that what a visible check
shows is nothing a hidden one uses), its name and its shape, and on nothing else: not on the order of checks.
"""

import hashlib
import math
from collections.abc import Mapping

import torch


class Given:
    """Draws inputs. All are float64 unless said otherwise."""

    def __init__(self, seed: int, scope: str) -> None:
        self._seed = seed
        self._scope = scope

    def normal(self, name: str, *shape: int) -> torch.Tensor:
        """Standard normal; two names, or two shapes, are unrelated."""
        return torch.randn(shape, generator=self._generator(name, shape), dtype=torch.float64)

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
        return {name: self.normal(f"parameter {name}", *shape) / math.sqrt(_fan_in(name, shapes))
                for name, shape in shapes.items()}

    def _generator(self, name: str, shape: tuple[int, ...]) -> torch.Generator:
        text = f"{self._seed}/{self._scope}/{name}/{shape}".encode()
        seed = int.from_bytes(hashlib.sha256(text).digest()[:8], "little") >> 1
        return torch.Generator().manual_seed(seed)


def _fan_in(name: str, shapes: Mapping[str, tuple[int, ...]]) -> int:
    weight = shapes.get(f"{name.rpartition('.')[0]}.weight", shapes[name])
    return weight[-1]
