"""Seeded inputs for checks. The same seed gives the same tensors, in every process and on every machine of a kind.

A tensor depends on the run's seed, the scope (visible or hidden checks of a part, so that what a visible check
shows is nothing a hidden one uses), its name and its shape, and on nothing else: not on the order of checks.
All students of a run see the same inputs, so what is drawn and encoded once is kept.
"""

import hashlib
import math
from collections.abc import Callable, Mapping

import torch

from grader.call import Payload, payload_digest

#: What was drawn: in which way, under which name, of which shape.
Drawing = tuple[str, str, tuple[int, ...]]


class Given:
    """Draws inputs of one scope. All are float64 unless said otherwise."""

    def __init__(self, seed: int, scope: str, drawn: Mapping[Drawing, torch.Tensor] | None = None) -> None:
        """`drawn`: what was drawn elsewhere, and is not drawn anew."""
        self._seed = seed
        self._scope = scope
        self._kept: dict[Drawing, torch.Tensor] = dict(drawn or {})

    @property
    def drawn(self) -> Mapping[Drawing, torch.Tensor]:
        """Everything that was drawn so far."""
        return self._kept

    def normal(self, name: str, *shape: int) -> torch.Tensor:
        """Standard normal; two names, or two shapes, are unrelated."""
        return self._once("normal", name, shape, self._draw)

    def vectors(self, name: str, *shape: int, length: float | None = None) -> torch.Tensor:
        """Random directions along the last axis, all of one length, so that no score is large by chance.

        A clamp at 3, or an overflow, then shows in the checks made for it, always, and in no other, ever.

        Args:
            length: of each vector; by default such that a score query·key/√dim is at most 2.5.
        """
        length = math.sqrt(2.5 * math.sqrt(shape[-1])) if length is None else length
        return length * self._original("direction", name, shape, self._direction)

    def permutation(self, name: str, length: int) -> torch.Tensor:
        """A random order of `range(length)` that leaves no element in place, so that using it always shows."""
        return self._once("permutation", name, (length,), self._displaced)

    def whole(self, name: str, least: int, most: int) -> int:
        """A whole number, `most` included: a size that nobody can have written down beforehand."""
        return int(self._original("whole", name, (least, most), self._between))

    def lengths(self, name: str, count: int, most: int) -> torch.Tensor:
        """`[count]`, int64: different lengths from 1 to `most`, one of them `most`, in any order."""
        return self._once("lengths", name, (count, most), self._different)

    def parameters(self, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, torch.Tensor]:
        """Weights with orthonormal rows or columns, entries thus near 1/sqrt(fan_in), and biases that are never 0.

        An orthonormal weight keeps the length of what it projects, which bounds the scores behind it.
        """
        return {
            name: self._weight(name, shape)
            if len(shape) == 2
            else self.vectors(f"parameter {name}", *shape, length=0.5)
            for name, shape in shapes.items()
        }

    def _weight(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        return self._once("weight", name, shape, self._orthonormal)

    def _once(
        self, kind: str, name: str, shape: tuple[int, ...], make: Callable[[str, tuple[int, ...]], torch.Tensor]
    ) -> torch.Tensor:
        """A copy of what was made for this kind, name and shape (or bounds); the caller may change it."""
        return self._original(kind, name, shape, make).clone()

    def _original(
        self, kind: str, name: str, shape: tuple[int, ...], make: Callable[[str, tuple[int, ...]], torch.Tensor]
    ) -> torch.Tensor:
        """What was made, itself: not to be changed."""
        key = (kind, name, shape)
        if key not in self._kept:
            self._kept[key] = make(name, shape)
        return self._kept[key]

    def _draw(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.randn(shape, generator=self._generator(name, shape), dtype=torch.float64)

    def _displaced(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        (length,), generator = shape, self._generator(name, shape)
        while True:
            order = torch.randperm(length, generator=generator)
            if length < 2 or not bool((order == torch.arange(length)).any()):
                return order

    def _between(self, name: str, bounds: tuple[int, ...]) -> torch.Tensor:
        return torch.randint(bounds[0], bounds[1] + 1, (), generator=self._generator(name, bounds))

    def _different(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        (count, most), generator = shape, self._generator(name, shape)
        shorter = torch.randperm(most - 1, generator=generator)[: count - 1] + 1
        lengths = torch.cat([torch.tensor([most]), shorter])
        return lengths[torch.randperm(count, generator=generator)]

    def _direction(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        return torch.nn.functional.normalize(self._draw(name, shape), dim=-1)

    def _orthonormal(self, name: str, shape: tuple[int, ...]) -> torch.Tensor:
        """Orthonormal columns, or rows when there are fewer of them."""
        tall, _ = torch.linalg.qr(self._draw(f"parameter {name}", (max(shape), min(shape))))
        orthonormal: torch.Tensor = tall if shape[0] >= shape[1] else tall.T
        return orthonormal

    def _generator(self, name: str, shape: tuple[int, ...]) -> torch.Generator:
        text = f"{self._seed}/{self._scope}/{name}/{shape}".encode()
        seed = int.from_bytes(hashlib.sha256(text).digest()[:8], "little") >> 1
        return torch.Generator().manual_seed(seed)


class Inputs:
    """All inputs of a run: one `Given` a scope, and each payload once."""

    def __init__(self, seed: int, drawn: Mapping[str, Mapping[Drawing, torch.Tensor]] | None = None) -> None:
        """`drawn`: by scope, what was drawn elsewhere; another kind of machine might draw otherwise."""
        self.seed = seed
        self._scopes = {scope: Given(seed, scope, known) for scope, known in (drawn or {}).items()}
        self._payloads: dict[str, Payload] = {}

    def scope(self, name: str) -> Given:
        """The inputs of that scope."""
        return self._scopes.setdefault(name, Given(self.seed, name))

    @property
    def drawn(self) -> Mapping[str, Mapping[Drawing, torch.Tensor]]:
        """Everything that was drawn so far, by scope."""
        return {scope: given.drawn for scope, given in self._scopes.items()}

    def payload(self, arguments: Mapping[str, torch.Tensor], parameters: Mapping[str, torch.Tensor]) -> Payload:
        """The payload of these tensors; when an equal one was made before, that one, perhaps encoded already."""
        digest = payload_digest(arguments, parameters)
        if digest not in self._payloads:
            self._payloads[digest] = Payload(arguments, parameters)
        return self._payloads[digest]
