"""An answer of the student's callable, and the claims a check makes about it."""

from collections.abc import Iterable

import torch

from grader import compare
from grader.failure import ClaimFailed, Differs, InputChanged, SaysOtherwise, WrongDtype, WrongShape
from grader.measured import Measured
from grader.oracle import Expected
from grader.plain import same, spelt
from grader.received import Received, must_be_among, plain_name
from grader.verdict import Verdict


class Answer(Received):
    """What the student's callable gave, and what it must be: form first, then values."""

    def has_form(self) -> None:
        """A tuple of the values the task names (or the one value), each a tensor of the right shape."""
        tree = self.must_have_returned().tree
        names = self.about.returns
        is_tuple = tree.kind == "sequence"
        if is_tuple != (len(names) > 1) or (is_tuple and tree.length != len(names)):
            self.wrong_structure(tree)
        for name in names:
            self.tensor(name)

    def matches(self, *names: str, source: str = "reference") -> None:
        """The named values (all, when none is named) are those of the reference, or of the `library`."""
        expected = self._expect(source)
        must_be_among(names, expected.values, f"a value that the {source} of {self.call.name} gives")
        names = names or tuple(name for name in expected.values if name not in self.about.keeps)
        if not names:  # nothing would be compared
            raise ValueError(f"{self.call.name} gives no tensor; a check compares numbers and words with says()")
        observed = {name: self.tensor(name) for name in names}
        self.must_be_finite(observed)
        allowed = compare.allowance(self.tolerance, expected.values.values())
        for name in names:
            mismatch = self._compared(name, observed[name], expected.values[name], allowed, source)
            if mismatch:
                self.must_be_stable()
                is_boolean = expected.values[name].dtype == torch.bool
                fact = Differs(name=name, axes=self.axes(name), mismatch=mismatch, is_boolean=is_boolean)
                self.fail(Verdict.WRONG_VALUE, fact)

    def says(self, *names: str, among: Iterable[str] = (), case: str = "") -> None:
        """The named numbers and words (all, when none is named) are those of the reference. See `plain.same`.

        Args:
            among: the words that the task lets choose from, where it is a word; a message then names all of them.
            case: what was asked about, for the message, where the shapes that went in do not tell.
        """
        must_be_among(names, self._expected.plain, "a number or word that the reference gives")
        for name in names or tuple(self._expected.plain):
            expected, observed = self._expected.plain[name], self.plain(name)
            if not same(observed, expected, self.tolerance):
                self.must_be_stable()
                words = tuple(among) if isinstance(observed, str) else ()
                is_strange = spelt(str(observed)) not in map(spelt, words)
                fact = SaysOtherwise(
                    name=name, observed=observed, expected=expected, among=words if is_strange else (), case=case
                )
                self.fail(Verdict.WRONG_VALUE, fact)

    def gradients_match(self, *names: str, source: str = "reference") -> None:
        """The gradients of the named inputs, or `"parameters"`, are those of the reference, or of the `library`.

        All gradients, when none is named.
        """
        expected = self._expect(source)
        self.must_be_differentiated(names, expected)
        keys = [key for name in names for key in self.gradient_keys(name)] or list(expected.gradients)
        observed = {key: self.gradient_of(key, expected.gradients[key]) for key in keys}
        allowed = compare.allowance(self.tolerance, expected.gradients.values())
        for key in keys:
            mismatch = self._compared(key, observed[key], expected.gradients[key], allowed, source)
            if mismatch:
                self.must_be_stable()
                self.fail(
                    Verdict.WRONG_GRADIENT,
                    Differs(
                        name=plain_name(key),
                        axes=self.axes(plain_name(key)),
                        mismatch=mismatch,
                        is_gradient=True,
                    ),
                )

    def has_dtype(self, dtype: torch.dtype) -> None:
        """Every returned tensor has that dtype, the first value at least; whether all are there is for `has_form`."""
        for position, name in enumerate(self.about.returns):
            if position and not self.has_tensor(name):
                continue
            node = self.tensor_node(name)
            if f"torch.{node.dtype}" != str(dtype):
                self.fail(
                    Verdict.WRONG_DTYPE,
                    WrongDtype(name=name, observed=node.dtype, expected=str(dtype).removeprefix("torch.")),
                )

    def leaves_inputs_unchanged(self) -> None:
        """The call changed none of the tensors it was given."""
        changed = self.must_have_returned().changed
        if changed:
            self.fail(Verdict.INPUT_CHANGED, InputChanged(names=changed))

    def is_repeatable(self) -> None:
        """An equal call gives an equal answer."""
        self.must_have_returned()
        self.must_be_stable()

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
            self.must_be_stable()
            is_boolean = expected.dtype == torch.bool
            fact = Differs(name=of, axes=axes, mismatch=mismatch, is_boolean=is_boolean, claim=claim)
            self.fail(Verdict.WRONG_VALUE, fact)

    def shows(self, claim: str, is_so: bool) -> None:
        """A property that is there or not. `claim`: the rule in words, for the message."""
        if not is_so:
            self.must_be_stable()
            self.fail(Verdict.WRONG_VALUE, ClaimFailed(claim=claim))

    def matches_mask(self, *shape: int) -> None:
        """The mask, broadcast to `shape`, allows what the reference's does."""
        name = self.about.returns[0]
        node = self.tensor_node(name)
        observed = self.boolean(name, node)
        expected = self._expected.values[name].broadcast_to(shape)
        try:
            observed = observed.broadcast_to(shape)
        except RuntimeError:
            self.fail(
                Verdict.WRONG_SHAPE,
                WrongShape(name=name, observed=node.shape or (), expected=tuple(shape), axes=self.axes(name)),
            )
        mismatch = compare.compare(observed, expected, allowed=0.0)
        if mismatch:
            fact = Differs(name=name, axes=self.axes(name), mismatch=mismatch, is_boolean=True)
            self.fail(Verdict.WRONG_VALUE, fact)

    # --- how ------------------------------------------------------------------------------------------------------

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
                    source=self.about.library_title,
                    difference=largest,
                    allowed=allowed,
                )
            )
        return mismatch

    def _expect(self, source: str) -> Expected:
        """The answer of a source to the question as it was put in float64."""
        return self._expected if source == "reference" else self._examination.oracle.expected(self._question, source)
