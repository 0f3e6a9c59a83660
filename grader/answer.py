"""An answer of the student's callable, and the claims a check makes about it."""

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
    ClaimFailed,
    Differs,
    Fact,
    InputChanged,
    NoAnswer,
    NoGradient,
    NotFinite,
    SaysOtherwise,
    Unstable,
    WrongDtype,
    WrongShape,
    WrongStructure,
)
from grader.measured import Measured
from grader.oracle import Expected
from grader.outcome import Garbled, Gradients, Node, Outcome, Returned, in_words
from grader.plain import Plain, is_of_sort, plain_of, same, sort_of, spelt, text_of
from grader.unanswered import asked, fail, fail_unanswered
from grader.verdict import Verdict

#: Elements of a value that are compared even where fewer are expected.
_MOST_UNASKED = 65_536


class Answer:
    """What the student's callable gave, and what it must be.

    Judged in one order: an answer at all, its form, shape, dtype, finiteness, then values. The first that does
    not hold ends the check.
    """

    def __init__(
        self, examination: Examination, question: Call, call: Call, outcome: Outcome, expected: Expected
    ) -> None:
        """`question`: the call as the check put it; `call`: as it was answered, perhaps in float32."""
        self.call = call
        self._question = question
        self.outcome = outcome
        self._examination = examination
        self._expected = expected
        self._callable = examination.assignment.callable(call.part, call.name)

    # --- claims a check makes ---------------------------------------------------------------------------------

    def has_form(self) -> None:
        """A tuple of the values the task names (or the one value), each a tensor of the right shape."""
        tree = self.must_have_returned().tree
        names = self._callable.returns
        is_tuple = tree.kind == "sequence"
        if is_tuple != (len(names) > 1) or (is_tuple and tree.length != len(names)):
            self._wrong_structure(tree)
        for name in names:
            self.tensor(name)

    def matches(self, *names: str, source: str = "reference") -> None:
        """The named values (all, when none is named) are those of the reference, or of the `library`."""
        expected = self._expect(source)
        _must_be_among(names, expected.values, f"a value that the {source} of {self.call.name} gives")
        names = names or tuple(name for name in expected.values if name not in self._callable.keeps)
        if not names:  # nothing would be compared
            raise ValueError(f"{self.call.name} gives no tensor; a check compares numbers and words with says()")
        observed = {name: self.tensor(name) for name in names}
        self._must_be_finite(observed)
        allowed = compare.allowance(self.tolerance, expected.values.values())
        for name in names:
            mismatch = self._compared(name, observed[name], expected.values[name], allowed, source)
            if mismatch:
                self._must_be_stable()
                is_boolean = expected.values[name].dtype == torch.bool
                fact = Differs(name=name, axes=self._axes(name), mismatch=mismatch, is_boolean=is_boolean)
                self._fail(Verdict.WRONG_VALUE, fact)

    def says(self, *names: str, among: Iterable[str] = (), case: str = "") -> None:
        """The named numbers and words (all, when none is named) are those of the reference. See `plain.same`.

        Args:
            among: the words that the task lets choose from, where it is a word; a message then names all of them.
            case: what was asked about, for the message, where the shapes that went in do not tell.
        """
        _must_be_among(names, self._expected.plain, "a number or word that the reference gives")
        for name in names or tuple(self._expected.plain):
            expected, observed = self._expected.plain[name], self._plain(name)
            if not same(observed, expected, self.tolerance):
                self._must_be_stable()
                words = tuple(among) if isinstance(observed, str) else ()
                is_strange = spelt(str(observed)) not in map(spelt, words)
                fact = SaysOtherwise(
                    name=name, observed=observed, expected=expected, among=words if is_strange else (), case=case
                )
                self._fail(Verdict.WRONG_VALUE, fact)

    def gradients_match(self, *names: str, source: str = "reference") -> None:
        """The gradients of the named inputs, or `"parameters"`, are those of the reference, or of the `library`.

        All gradients, when none is named.
        """
        expected = self._expect(source)
        self._must_be_differentiated(names, expected)
        keys = [key for name in names for key in self._gradient_keys(name)] or list(expected.gradients)
        observed = {key: self._gradient(key, expected.gradients[key]) for key in keys}
        allowed = compare.allowance(self.tolerance, expected.gradients.values())
        for key in keys:
            mismatch = self._compared(key, observed[key], expected.gradients[key], allowed, source)
            if mismatch:
                self._must_be_stable()
                self._fail(
                    Verdict.WRONG_GRADIENT,
                    Differs(
                        name=_plain_name(key),
                        axes=self._axes(_plain_name(key)),
                        mismatch=mismatch,
                        is_gradient=True,
                    ),
                )

    def has_dtype(self, dtype: torch.dtype) -> None:
        """Every returned tensor has that dtype, the first value at least; whether all are there is for `has_form`."""
        for position, name in enumerate(self._callable.returns):
            if position and not self._has_tensor(name):
                continue
            node = self._tensor_node(name)
            if f"torch.{node.dtype}" != str(dtype):
                self._fail(
                    Verdict.WRONG_DTYPE,
                    WrongDtype(name=name, observed=node.dtype, expected=str(dtype).removeprefix("torch.")),
                )

    def leaves_inputs_unchanged(self) -> None:
        """The call changed none of the tensors it was given."""
        changed = self.must_have_returned().changed
        if changed:
            self._fail(Verdict.INPUT_CHANGED, InputChanged(names=changed))

    def is_repeatable(self) -> None:
        """An equal call gives an equal answer."""
        self.must_have_returned()
        self._must_be_stable()

    def holds(
        self,
        claim: str,
        observed: torch.Tensor,
        expected: torch.Tensor,
        *,
        of: str,
        axes: tuple[str, ...] = (),
        exactly: bool = False,
    ) -> None:
        """A property: two tensors computed from answers are equal, within the tolerance of a call or `exactly`.

        Args:
            claim: the rule in words, for the message.
            of: what the tensors are.
            axes: names of their axes.
        """
        if observed.shape != expected.shape:
            raise ValueError(f"{of}: a check compares shapes {tuple(observed.shape)} and {tuple(expected.shape)}")
        allowed = 0.0 if exactly else compare.allowance(self.tolerance, [expected])
        mismatch = compare.compare(observed, expected, allowed)
        if mismatch:
            self._must_be_stable()
            is_boolean = expected.dtype == torch.bool
            fact = Differs(name=of, axes=axes, mismatch=mismatch, is_boolean=is_boolean, claim=claim)
            self._fail(Verdict.WRONG_VALUE, fact)

    def shows(self, claim: str, is_so: bool) -> None:
        """A property that is there or not. `claim`: the rule in words, for the message."""
        if not is_so:
            self._must_be_stable()
            self._fail(Verdict.WRONG_VALUE, ClaimFailed(claim=claim))

    def matches_mask(self, *shape: int) -> None:
        """The mask, broadcast to `shape`, allows what the reference's does."""
        name = self._callable.returns[0]
        node = self._tensor_node(name)
        observed = self._boolean(name, node)
        expected = self._expected.values[name].broadcast_to(shape)
        try:
            observed = observed.broadcast_to(shape)
        except RuntimeError:
            self._fail(
                Verdict.WRONG_SHAPE,
                WrongShape(name=name, observed=node.shape or (), expected=tuple(shape), axes=self._axes(name)),
            )
        mismatch = compare.compare(observed, expected, allowed=0.0)
        if mismatch:
            fact = Differs(name=name, axes=self._axes(name), mismatch=mismatch, is_boolean=True)
            self._fail(Verdict.WRONG_VALUE, fact)

    # --- what a check may look at -----------------------------------------------------------------------------

    def value(self, name: str) -> torch.Tensor:
        """A returned value of the right shape and finite, as float64 (Boolean values stay Boolean)."""
        tensor = self.tensor(name)
        self._must_be_finite({name: tensor})
        return tensor

    def gradient(self, name: str) -> torch.Tensor:
        """The gradient of an input, as float64."""
        self._must_be_differentiated((name,), self._expected)
        (key,) = self._gradient_keys(name)
        return self._gradient(key, self._expected.gradients[key])

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
        _must_be_among((name,), self._expected.values, "a tensor that the reference gives")
        expected = self._expected.values[name]
        node = self._tensor_node(name)
        if node.shape != tuple(expected.shape):
            self._fail(
                Verdict.WRONG_SHAPE,
                WrongShape(
                    name=name,
                    observed=node.shape or (),
                    expected=tuple(expected.shape),
                    axes=self._axes(name),
                ),
            )
        if expected.dtype == torch.bool:
            return self._boolean(name, node)
        wanted = self.call.dtype if expected.is_floating_point() else str(expected.dtype).removeprefix("torch.")
        if node.data is None or node.dtype != wanted:
            self._fail(Verdict.WRONG_DTYPE, WrongDtype(name=name, observed=node.dtype, expected=wanted))
        return self.outcome.tensors[node.data].double()

    def _plain(self, name: str) -> Plain:
        """A returned number or word, or sequence of these, of the right sort."""
        tree, expected, names = self.must_have_returned().tree, self._expected.plain[name], self._callable.returns
        node = self._node(name) if len(names) > 1 else tree
        if len(names) > 1 and (tree.kind != "sequence" or tree.length != len(names)):
            self._wrong_structure(tree, f"a tuple ({', '.join(names)})")
        value = plain_of(node, self.outcome.tensors) if node is not None else None
        if value is None:
            self._wrong_structure(node or tree, f"{name}: {sort_of(expected)}")
        if not is_of_sort(value, expected):
            fact = WrongStructure(found=f"{name}: {text_of(value)}", wanted=f"{name}: {sort_of(expected)}")
            self._fail(Verdict.WRONG_TYPE, fact)
        return value

    def _boolean(self, name: str, node: Node) -> torch.Tensor:
        """A mask; one of numbers counts when they are 0 and 1, since its dtype has a check of its own."""
        tensor = self.outcome.tensors[node.data] if node.data is not None else None
        if tensor is None or not bool(((tensor == 0) | (tensor == 1)).all()):
            self._fail(Verdict.WRONG_DTYPE, WrongDtype(name=name, observed=node.dtype, expected="bool"))
        return tensor != 0

    def _has_tensor(self, name: str) -> bool:
        node = self._node(name)
        return node is not None and node.kind == "tensor" and not node.oddity

    def _tensor_node(self, name: str) -> Node:
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
        if name not in self._callable.keeps or node is None:
            self._wrong_structure(self.must_have_returned().tree)
        wanted = f"the tensor {name}, as self.{name}, once forward has run"
        self._fail(Verdict.WRONG_TYPE, WrongStructure(found=in_words(node), wanted=wanted, of=f"self.{name}"))

    def _wrong_structure(self, tree: Node, wanted: str = "") -> NoReturn:
        names = self._callable.returns
        wanted = wanted or (f"a tuple ({', '.join(names)}) of tensors" if len(names) > 1 else f"the tensor {names[0]}")
        self._fail(Verdict.WRONG_TYPE, WrongStructure(found=in_words(tree), wanted=wanted))

    def _must_be_finite(self, observed: Mapping[str, torch.Tensor]) -> None:
        for name, tensor in observed.items():
            odd = compare.first_not_finite(tensor)
            if odd:
                self._must_be_stable()
                index, value, count = odd
                self._fail(
                    Verdict.NOT_FINITE,
                    NotFinite(
                        name=name,
                        index=index,
                        axes=self._axes(name),
                        value=value,
                        count=count,
                        total=tensor.numel(),
                    ),
                )

    def _must_be_stable(self) -> None:
        """Ask the same question once more; two answers are a finding of their own, unless luck is part of the task."""
        if self.call.is_random:
            return
        again = self._ask_again()
        for name in self._expected.plain if isinstance(again.outcome.reply, Returned) else ():
            answers = self._plain(name), again._plain(name)
            if not same(*answers, self.tolerance) and text_of(answers[0]) != text_of(answers[1]):  # NaN equals nothing
                self._fail(Verdict.UNSTABLE, Unstable(name=name, difference=math.nan, plain=answers))
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
                self._fail(Verdict.UNSTABLE, Unstable(name=name, difference=mismatch.difference))

    def _ask_again(self) -> "Answer":
        build = self.call.build and replace(self.call.build, handle=self._examination.new_handle())
        call = replace(self.call, build=build, wants=(), seed=self.call.seed + 1)
        outcome = self._examination.ask_once(call, None)
        return Answer(self._examination, self._question, call, outcome, self._expected)

    def _gradient(self, key: str, expected: torch.Tensor) -> torch.Tensor:
        self.must_have_returned()
        backward = self.outcome.backward
        if backward is None:  # not asked for: what was returned is not what a gradient could start from
            self.tensor(self._callable.returns[0])
            raise AssertionError(f"gradients were not asked for, or {key} is no input of {self._asked.text}")
        if not isinstance(backward, Gradients):
            fail_unanswered(self._examination, self.call, backward, self._asked, is_backward=True)
        if key in backward.missing:
            self._fail(Verdict.NO_GRADIENT, NoGradient(names=tuple(_plain_name(name) for name in backward.missing)))
        observed = self.outcome.gradients.get(key)
        dtype = self.call.payload.tensors[key].dtype
        if observed is None or observed.shape != expected.shape or observed.dtype != dtype:
            self._fail(Verdict.CRASHED, NoAnswer(failed=Garbled(stage="backward", detail=f"no gradient {key}")))
        odd = compare.first_not_finite(observed)
        if odd:
            index, value, count = odd
            self._fail(
                Verdict.NOT_FINITE,
                NotFinite(
                    name=_plain_name(key),
                    index=index,
                    axes=self._axes(_plain_name(key)),
                    value=value,
                    count=count,
                    total=observed.numel(),
                    is_gradient=True,
                ),
            )
        return observed.double()

    def _must_be_differentiated(self, names: Iterable[str], expected: Expected) -> None:
        """What a check asks of gradients is a matter of its own author."""
        if not expected.gradients:
            raise ValueError("the check asks for gradients of a call that was made without gradients=True")
        known = [_plain_name(key) for key in expected.gradients if key.startswith("arg.")]
        _must_be_among(names, [*known, *(["parameters"] if self.call.build else [])], "an input with a gradient")

    def _gradient_keys(self, name: str) -> list[str]:
        if name == "parameters" and self.call.build:
            return [f"param.{parameter}" for parameter in self.call.payload.parameters]
        return [f"arg.{name}"]

    def _compared(
        self, key: str, observed: torch.Tensor, expected: torch.Tensor, allowed: float, source: str
    ) -> compare.Mismatch | None:
        """Compare a value, or the gradient of that key; what differs from the library is kept, however little it is."""
        largest, mismatch = compare.measure(observed, expected, allowed)
        if source == "library":
            kind, _, name = key.partition(".")  # a value's key is its name
            self._examination.measure(
                Measured(
                    name=name or kind,
                    is_gradient=bool(name),
                    is_parameter=kind == "param",
                    source=self._callable.library_title,
                    difference=largest,
                    allowed=allowed,
                )
            )
        return mismatch

    def _expect(self, source: str) -> Expected:
        """The answer of a source to the question as it was put in float64."""
        return self._expected if source == "reference" else self._examination.oracle.expected(self._question, source)

    @property
    def _asked(self) -> Asked:
        return asked(self._examination, self.call)

    def _axes(self, name: str) -> tuple[str, ...]:
        return self._callable.axes.get(name, ())

    def _fail(self, verdict: Verdict, fact: Fact) -> NoReturn:
        fail(verdict, fact, self._asked)


def _must_be_among(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Raise ValueError, with a near match, where a check names something that is not there."""
    there = list(known)
    for name in names:
        if name not in there:
            raise ValueError(f"the check asks for {name!r}, wanted {what}{near(name, there)}")


def _data(answer: Answer, name: str) -> torch.Tensor | None:
    reply = answer.outcome.reply
    if not isinstance(reply, Returned):
        return None
    node = _node_of(answer, name, reply)
    return answer.outcome.tensors[node.data].double() if node is not None and node.data is not None else None


def _node_of(answer: Answer, name: str, reply: Returned) -> Node | None:
    """The description of a value that was returned or kept, or of a parameter that was read."""
    about = answer._callable
    names, items = (about.keeps, reply.kept) if name in about.keeps else (about.returns, reply.tree.values)
    position = (answer.call.reads or names).index(name)
    return items[position] if position < len(items) else None


def _plain_name(key: str) -> str:
    return key.partition(".")[2]
