"""What came back from one call of the student's, read: the values it names, or the verdict of what is in their place.

Judged in one order: an answer at all, its form, shape, dtype, finiteness. The first that does not hold ends the check.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NoReturn

import torch

from grader import compare
from grader.assignment import near
from grader.call import Call
from grader.examination import Examination
from grader.failure import (
    Asked,
    Fact,
    NoAnswer,
    NoGradient,
    NotFinite,
    Unstable,
    WrongDtype,
    WrongShape,
    WrongStructure,
)
from grader.oracle import Expected
from grader.outcome import Garbled, Gradients, Node, Outcome, Returned, in_words
from grader.plain import Plain, is_of_sort, plain_of, same, sort_of, text_of
from grader.unanswered import asked, fail, fail_unanswered
from grader.verdict import Verdict

#: Elements of a value that are compared even where fewer are expected.
_MOST_UNASKED = 65_536


class Received:
    """The outcome of a call, and what it is to be read as."""

    def __init__(
        self, examination: Examination, question: Call, call: Call, outcome: Outcome, expected: Expected
    ) -> None:
        """`question`: the call as the check put it; `call`: as it was answered, perhaps in float32."""
        self.call = call
        self._question = question
        self.outcome = outcome
        self._examination = examination
        self._expected = expected
        self.about = examination.assignment.callable(call.part, call.name)

    # --- what a check may look at -----------------------------------------------------------------------------

    def value(self, name: str) -> torch.Tensor:
        """A returned value of the right shape and finite, as float64 (Boolean values stay Boolean)."""
        tensor = self.tensor(name)
        self.must_be_finite({name: tensor})
        return tensor

    def gradient(self, name: str) -> torch.Tensor:
        """The gradient of an input, as float64."""
        self.must_be_differentiated((name,), self._expected)
        (key,) = self.gradient_keys(name)
        return self.gradient_of(key, self._expected.gradients[key])

    @property
    def tolerance(self) -> float:
        """Largest relative difference allowed, by the precision the call was answered in."""
        return self._examination.tolerance(self.call)

    def must_have_returned(self) -> Returned:
        """The reply, when there is one."""
        reply = self.outcome.reply
        if isinstance(reply, Returned):
            return reply
        fail_unanswered(self._examination, self.call, reply, self._asked)

    # --- judging ----------------------------------------------------------------------------------------------

    def tensor(self, name: str) -> torch.Tensor:
        """A returned value of the right shape, finite or not. A value that came alone counts as the first."""
        must_be_among((name,), self._expected.values, "a tensor that the reference gives")
        expected = self._expected.values[name]
        node = self.tensor_node(name)
        if node.shape != tuple(expected.shape):
            self.fail(
                Verdict.WRONG_SHAPE,
                WrongShape(
                    name=name,
                    observed=node.shape or (),
                    expected=tuple(expected.shape),
                    axes=self.axes(name),
                ),
            )
        if expected.dtype == torch.bool:
            return self.boolean(name, node)
        wanted = self.call.dtype if expected.is_floating_point() else str(expected.dtype).removeprefix("torch.")
        if node.data is None or node.dtype != wanted:
            self.fail(Verdict.WRONG_DTYPE, WrongDtype(name=name, observed=node.dtype, expected=wanted))
        return self.outcome.tensors[node.data].double()

    def plain(self, name: str) -> Plain:
        """A returned number or word, or sequence of these, of the right sort."""
        tree, expected, names = self.must_have_returned().tree, self._expected.plain[name], self.about.returns
        node = self._node(name) if len(names) > 1 else tree
        if len(names) > 1 and (tree.kind != "sequence" or tree.length != len(names)):
            self.wrong_structure(tree, f"a tuple ({', '.join(names)})")
        value = plain_of(node, self.outcome.tensors) if node is not None else None
        if value is None:
            self.wrong_structure(node or tree, f"{name}: {sort_of(expected)}")
        if not is_of_sort(value, expected):
            fact = WrongStructure(found=f"{name}: {text_of(value)}", wanted=f"{name}: {sort_of(expected)}")
            self.fail(Verdict.WRONG_TYPE, fact)
        return value

    def boolean(self, name: str, node: Node) -> torch.Tensor:
        """A mask; one of numbers counts when they are 0 and 1, since its dtype has a check of its own."""
        tensor = self.outcome.tensors[node.data] if node.data is not None else None
        if tensor is None or not bool(((tensor == 0) | (tensor == 1)).all()):
            self.fail(Verdict.WRONG_DTYPE, WrongDtype(name=name, observed=node.dtype, expected="bool"))
        return tensor != 0

    def has_tensor(self, name: str) -> bool:
        node = self._node(name)
        return node is not None and node.kind == "tensor" and not node.oddity

    def tensor_node(self, name: str) -> Node:
        node = self._node(name)
        if node is None or node.kind != "tensor" or node.oddity:
            self._must_be_tensor(name)
        return node

    def _node(self, name: str) -> Node | None:
        """The description of a value; None when so many did not come."""
        return _node_of(self, name, self.must_have_returned())

    def _must_be_tensor(self, name: str) -> NoReturn:
        """What there is in the place of a value that is no plain tensor."""
        node = self._node(name)
        if name not in self.about.keeps or node is None:
            self.wrong_structure(self.must_have_returned().tree)
        wanted = f"the tensor {name}, as self.{name}, once forward has run"
        self.fail(Verdict.WRONG_TYPE, WrongStructure(found=in_words(node), wanted=wanted, of=f"self.{name}"))

    def wrong_structure(self, tree: Node, wanted: str = "") -> NoReturn:
        names = self.about.returns
        wanted = wanted or (f"a tuple ({', '.join(names)}) of tensors" if len(names) > 1 else f"the tensor {names[0]}")
        self.fail(Verdict.WRONG_TYPE, WrongStructure(found=in_words(tree), wanted=wanted))

    def must_be_finite(self, observed: Mapping[str, torch.Tensor]) -> None:
        for name, tensor in observed.items():
            odd = compare.first_not_finite(tensor)
            if odd:
                self.must_be_stable()
                index, value, count = odd
                self.fail(
                    Verdict.NOT_FINITE,
                    NotFinite(
                        name=name,
                        index=index,
                        axes=self.axes(name),
                        value=value,
                        count=count,
                        total=tensor.numel(),
                    ),
                )

    def must_be_stable(self) -> None:
        """Ask the same question once more; two answers are a finding of their own, unless luck is part of the task."""
        if self.call.is_random:
            return
        again = self._ask_again()
        for name in self._expected.plain if isinstance(again.outcome.reply, Returned) else ():
            answers = self.plain(name), again.plain(name)
            if not same(*answers, self.tolerance) and text_of(answers[0]) != text_of(answers[1]):  # NaN equals nothing
                self.fail(Verdict.UNSTABLE, Unstable(name=name, difference=math.nan, plain=answers))
        for name in self._expected.values:
            first, second = _data(self, name), _data(again, name)
            if first is None or second is None or first.shape != second.shape:
                continue
            if first.numel() > max(_MOST_UNASKED, self._expected.values[name].numel()):
                continue  # of a size nobody asked for, again and again: that would take longer than all the rest
            mismatch = compare.compare(
                torch.nan_to_num(second),
                torch.nan_to_num(first),
                compare.allowance(self.tolerance, [torch.nan_to_num(first)]),
            )
            if mismatch:
                self.fail(Verdict.UNSTABLE, Unstable(name=name, difference=mismatch.difference))

    def _ask_again(self) -> "Received":
        build = self.call.build and replace(self.call.build, handle=self._examination.new_handle())
        call = replace(self.call, build=build, wants=(), seed=self.call.seed + 1)
        outcome = self._examination.ask_once(call, None)
        return Received(self._examination, self._question, call, outcome, self._expected)

    def gradient_of(self, key: str, expected: torch.Tensor) -> torch.Tensor:
        self.must_have_returned()
        backward = self.outcome.backward
        if backward is None:  # not asked for: what was returned is not what a gradient could start from
            self.tensor(self.about.returns[0])
            raise AssertionError(f"gradients were not asked for, or {key} is no input of {self._asked.text}")
        if not isinstance(backward, Gradients):
            fail_unanswered(self._examination, self.call, backward, self._asked, is_backward=True)
        if key in backward.missing:
            self.fail(Verdict.NO_GRADIENT, NoGradient(names=tuple(plain_name(name) for name in backward.missing)))
        observed = self.outcome.gradients.get(key)
        dtype = self.call.payload.tensors[key].dtype
        if observed is None or observed.shape != expected.shape or observed.dtype != dtype:
            self.fail(Verdict.CRASHED, NoAnswer(failed=Garbled(stage="backward", detail=f"no gradient {key}")))
        odd = compare.first_not_finite(observed)
        if odd:
            index, value, count = odd
            self.fail(
                Verdict.NOT_FINITE,
                NotFinite(
                    name=plain_name(key),
                    index=index,
                    axes=self.axes(plain_name(key)),
                    value=value,
                    count=count,
                    total=observed.numel(),
                    is_gradient=True,
                ),
            )
        return observed.double()

    def must_be_differentiated(self, names: Iterable[str], expected: Expected) -> None:
        """What a check asks of gradients is a matter of its own author."""
        if not expected.gradients:
            raise ValueError("the check asks for gradients of a call that was made without gradients=True")
        known = [plain_name(key) for key in expected.gradients if key.startswith("arg.")]
        must_be_among(names, [*known, *(["parameters"] if self.call.build else [])], "an input with a gradient")

    def gradient_keys(self, name: str) -> list[str]:
        if name == "parameters" and self.call.build:
            return [f"param.{parameter}" for parameter in self.call.payload.parameters]
        return [f"arg.{name}"]

    @property
    def _asked(self) -> Asked:
        return asked(self._examination, self.call)

    def axes(self, name: str) -> tuple[str, ...]:
        return self.about.axes.get(name, ())

    def fail(self, verdict: Verdict, fact: Fact) -> NoReturn:
        fail(verdict, fact, self._asked)


def must_be_among(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise ValueError, with a near match, where a check names something that is not there."""
    there = list(known)
    for name in names:
        if name not in there:
            raise ValueError(f"the check asks for {name!r}, wanted {what}{near(name, there)}")


def _data(received: Received, name: str) -> torch.Tensor | None:
    reply = received.outcome.reply
    if not isinstance(reply, Returned):
        return None
    node = _node_of(received, name, reply)
    return received.outcome.tensors[node.data].double() if node is not None and node.data is not None else None


def _node_of(received: Received, name: str, reply: Returned) -> Node | None:
    """The description of a value that was returned or kept, or of a parameter that was read."""
    about = received.about
    names, items = (about.keeps, reply.kept) if name in about.keeps else (about.returns, reply.tree.values)
    position = (received.call.reads or names).index(name)
    return items[position] if position < len(items) else None


def plain_name(key: str) -> str:
    """The name of an input or a parameter, by the key of its gradient."""
    return key.partition(".")[2]
