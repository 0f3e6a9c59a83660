"""Inputs and weights of the experiments, from the seed. Equal names give equal numbers, in whatever order."""

import hashlib
import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """The two layers of a module, in float64.

    `qkv` [3 * d_model, d_model]: the blocks of queries, keys and values, as in `nn.MultiheadAttention.in_proj_weight`.
    """

    qkv: Tensor
    out: Tensor

    @property
    def d_model(self) -> int:
        """Width of the model."""
        return self.out.shape[0]

    def with_queries_times(self, factor: float) -> "Weights":
        """The same, with the block of queries multiplied."""
        qkv = self.qkv.clone()
        qkv[: self.d_model] *= factor
        return replace(self, qkv=qkv)


class Drawn:
    """Everything random."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def normal(self, name: str, *shape: int) -> Tensor:
        """Independent standard normal numbers."""
        return torch.randn(*shape, dtype=torch.float64, generator=self._generator(name))

    def rotation(self, name: str, size: int) -> Tensor:
        """A random orthogonal matrix: of standard normal numbers it makes as many, independent too."""
        square, triangle = torch.linalg.qr(self.normal(name, size, size))
        signs = torch.where(triangle.diagonal() < 0, -1.0, 1.0)  # else QR prefers some rotations (Mezzadri 2007)
        rotation: Tensor = square * signs
        return rotation

    def weights(self, name: str, d_model: int) -> Weights:
        """Two layers of ordinary size: entries of variance 1 / d_model."""
        scale = 1 / math.sqrt(d_model)
        return Weights(
            qkv=scale * self.normal(f"{name} qkv", 3 * d_model, d_model),
            out=scale * self.normal(f"{name} out", d_model, d_model),
        )

    def weights_apart(self, name: str, d_head: int) -> Weights:
        """Layers of two heads in which the first half of x is read by queries and keys, the second by the values.

        Every block of a head is a random rotation of its half, so that queries and keys of standard normal tokens are
        standard normal too, and gradients of both ways can be told apart. `out` is the identity.
        """
        nothing = torch.zeros(d_head, d_head, dtype=torch.float64)
        rows = []
        for block in ("query", "key", "value"):
            for head in range(2):
                turned = self.rotation(f"{name} {block} {head}", d_head)
                halves = [nothing, turned] if block == "value" else [turned, nothing]
                rows.append(torch.cat(halves, dim=1))
        return Weights(qkv=torch.cat(rows), out=torch.eye(2 * d_head, dtype=torch.float64))

    def _generator(self, name: str) -> torch.Generator:
        digest = hashlib.blake2b(f"{self._seed} {name}".encode(), digest_size=8).digest()
        return torch.Generator().manual_seed(int.from_bytes(digest, "little") >> 1)
