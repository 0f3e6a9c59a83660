"""Tensors of a record: exact ones by name, each kept once; and rounded numbers, in one long row."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import safetensors.torch
import torch
from numpy.typing import NDArray

from grader.diagnosis.said import Numbers, scale
from grader.record import Record

#: Steps of a rounded number, from 0 to the largest of its answer: four digits. The mildest known mistake differs from
#: right answers by 4.7e-4 of that, and right code from right code by less than a tenth of a step.
STEPS = 10_000
#: How far a rounded number may be off, times the largest of its answer.
ROUNDING = 0.5 / STEPS
#: Numbers of a kind of their own, beyond every step.
_NAN, _INFINITE = -32_768, 32_767


class Rounded(Record):
    """Where the rounded numbers of one answer are."""

    start: int
    count: int
    scale: float
    """What the largest step stands for."""


class Tensors:
    """Exact tensors, each kept once, whoever names it."""

    def __init__(self, by_name: Mapping[str, torch.Tensor] | None = None) -> None:
        self._by_name = dict(by_name or {})
        self._names: dict[bytes, str] = {}

    def put(self, tensor: torch.Tensor) -> str:
        """Keep a tensor; its name."""
        plain = tensor.detach().contiguous()
        digest = hashlib.sha256(f"{plain.dtype} {tuple(plain.shape)} ".encode() + plain.numpy().tobytes()).digest()
        if digest not in self._names:
            self._names[digest] = f"t{len(self._by_name)}"
            self._by_name[self._names[digest]] = plain.clone()
        return self._names[digest]

    def put_all(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
        """Keep tensors; their names by what they are called."""
        return {called: self.put(tensor) for called, tensor in tensors.items()}

    def get_all(self, names: Mapping[str, str]) -> dict[str, torch.Tensor]:
        """Copies of tensors, by what they are called. Raises KeyError for an unknown name."""
        return {called: self._by_name[name].clone() for called, name in names.items()}

    def get(self, name: str) -> torch.Tensor:
        """A copy of a tensor. Raises KeyError for an unknown name."""
        return self._by_name[name].clone()

    def to_bytes(self) -> bytes:
        """As safetensors."""
        return safetensors.torch.save(self._by_name)


def read_tensors(file: Path) -> dict[str, torch.Tensor]:
    """What `Tensors.to_bytes`, or `RoundedRow.to_bytes`, wrote. Raises OSError, SafetensorError."""
    return safetensors.torch.load(file.read_bytes())


class RoundedRow:
    """Rounded numbers, one answer after the other; equal ones share their place."""

    def __init__(self, row: NDArray[np.int16] | None = None) -> None:
        self._row = np.empty(0, np.int16) if row is None else row
        self._pieces: list[NDArray[np.int16]] = []
        self._length = 0
        self._places: dict[bytes, int] = {}

    def put(self, numbers: Numbers, largest: float) -> Rounded:
        """Keep numbers. `largest`: of the answer they are part of, as a comparison takes it."""
        with np.errstate(invalid="ignore"):
            steps = np.rint(numbers / largest * STEPS)
        steps = np.where(np.isnan(numbers), _NAN, np.clip(steps, -_INFINITE, _INFINITE)).astype(np.int16)
        data = steps.tobytes()
        if data not in self._places:
            self._places[data] = self._length
            self._pieces.append(steps)
            self._length += len(steps)
        return Rounded(start=self._places[data], count=len(steps), scale=largest)

    def get(self, place: Rounded) -> Numbers:
        """The numbers of a place."""
        steps = self._row[place.start : place.start + place.count].astype(np.float64)
        numbers: Numbers = steps / STEPS * place.scale
        numbers[np.abs(steps) == _INFINITE] *= np.inf
        numbers[steps == _NAN] = np.nan
        return numbers

    def to_bytes(self) -> bytes:
        """As safetensors."""
        row = np.concatenate([np.empty(0, np.int16), *self._pieces])
        return safetensors.torch.save({"row": torch.from_numpy(row)})


def largest_of(*numbers: Numbers) -> float:
    """What a comparison takes for the size of an answer."""
    return scale(*numbers)
