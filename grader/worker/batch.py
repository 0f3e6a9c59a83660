"""Several calls in one frame: the same answers as one by one, without the way there and back for each."""

from typing import Any

import torch

from .answer import Answerer, Pending
from .wire import Frame


class Batches:
    """Answers batches, keeping the forward passes of the last one until their gradients are asked for."""

    def __init__(self, answerer: Answerer) -> None:
        self._answerer = answerer
        self._pending: list[Pending] = []

    def calls(self, request: Frame) -> Frame:
        """Forward passes, in order. The reply lists the replies, their tensors named `NUMBER/NAME`."""
        headers: list[dict[str, Any]] = request.header["calls"]
        given = _by_number(request.tensors, len(headers))
        self._pending = []
        replies = []
        for header, tensors in zip(headers, given, strict=True):
            replies.append(self._answerer.call(Frame(header, tensors)))
            self._pending.append(self._answerer.pending)
        return _together(replies)

    def gradients(self, request: Frame) -> Frame:
        """Backward passes of the last batch, given upstream gradients by number; an empty reply for the others."""
        replies = []
        for number, pending in enumerate(self._pending):
            upstream = request.tensors.get(str(number))
            if upstream is None:
                replies.append(Frame({"status": "gradients", "missing": []}, {}))
                continue
            self._answerer.pending = pending
            replies.append(self._answerer.gradient(Frame({}, {"upstream": upstream})))
        self._pending = []
        return _together(replies)


def _together(replies: list[Frame]) -> Frame:
    tensors = {
        f"{number}/{name}": tensor for number, reply in enumerate(replies) for name, tensor in reply.tensors.items()
    }
    return Frame({"status": "batch", "replies": [reply.header for reply in replies]}, tensors)


def _by_number(tensors: dict[str, torch.Tensor], count: int) -> list[dict[str, torch.Tensor]]:
    groups: list[dict[str, torch.Tensor]] = [{} for _ in range(count)]
    for key, tensor in tensors.items():
        number, _, name = key.partition("/")
        groups[int(number)][name] = tensor
    return groups
