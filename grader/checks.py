"""The words checks are written in.

    attention = Checks("scaled_dot_product_attention")

    @attention.check(points=2, requires="output_has_the_right_form")
    def test_output_with_more_keys_than_queries(student, given):
        \"\"\"Three queries attend to five keys.\"\"\"
        answer = student(given.normal("query", 2, 3, 7), given.normal("key", 2, 5, 7), given.normal("value", 2, 5, 4))
        answer.matches("output")

`student` asks the student's callable; an `Answer` is asked for what it must be. Whatever does not hold raises
`CheckFailed`, which carries a verdict and facts. A check file needs nothing else from grader.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch

from grader.answer import Answer
from grader.asking import Target, ask, make_call, must_raise
from grader.call import Build, Call
from grader.examination import Examination
from grader.failure import CheckFailed, OtherFailed
from grader.given import Given
from grader.outcome import Forbidden, Raised, Returned
from grader.unanswered import fail
from grader.verdict import Verdict


class Checks:
    """The checks of one callable."""

    def __init__(self, callable_name: str) -> None:
        self._callable = callable_name

    def check(
        self, *, points: float | str, requires: str | Iterable[str] = (), hint: str = "", title: str = ""
    ) -> pytest.MarkDecorator:
        """Make a test function a check.

        Args:
            points: what passing earns; written as a string when it has cents ("0.25").
            requires: names, without `test_`, of checks of the same callable that must pass first.
            hint: one sentence a student sees when the check fails; points at the idea, gives no code.
            title: the row in the report; made from the function's name when left out.
        """
        names = (requires,) if isinstance(requires, str) else tuple(requires)
        return pytest.mark.check(callable=self._callable, points=str(points), requires=names, hint=hint, title=title)


class Student:
    """The student's callable, as a check sees it: called, or built when it is a module."""

    def __init__(self, examination: Examination, part: str, name: str) -> None:
        self._examination = examination
        self._target = Target(part=part, name=name)

    def __call__(self, *arguments: Any, gradients: bool = False, dtype: str = "float64", **keywords: Any) -> Answer:
        """Ask the function.

        Args:
            arguments: tensors and plain values. A tensor given twice arrives as one object.
            gradients: ask for the gradients of the floating tensors too.
            dtype: torch's default dtype during the call. With "float64", floating tensors are float64, and a call
                that fails over its dtype is asked again in float32.
            keywords: passed by name.
        """
        call = make_call(
            self._examination, self._target, arguments, keywords, wants=None if gradients else (), dtype=dtype
        )
        return ask(self._examination, call)

    def build(
        self,
        *,
        parameters: Mapping[str, torch.Tensor] | None = None,
        given: Given | None = None,
        **arguments: Any,
    ) -> "Module":
        """Make the module, its parameters set to `parameters`, or drawn from `given`."""
        if parameters is None:
            if given is None:
                raise TypeError("build needs the parameters, or given to draw them from")
            shapes = self._examination.oracle.parameter_shapes(self._target.part, self._target.name, arguments)
            parameters = given.parameters(shapes)
        return Module(self._examination, self._target, arguments, parameters)

    def other(self, name: str) -> "Other":
        """Another callable of the same file, for a check that compares the two."""
        return Other(self._examination, Target(part=self._target.part, name=name))

    def raises(self, error: type[Exception], *arguments: Any, when: str, **keywords: Any) -> None:
        """The call must raise; `when` says in which case, for the message."""
        must_raise(self._examination, make_call(self._examination, self._target, arguments, keywords), error, when)

    def build_raises(self, error: type[Exception], *, when: str, **arguments: Any) -> None:
        """Making the module must raise."""
        build = Build(arguments=arguments, handle=self._examination.new_handle(), is_strict=True)
        must_raise(self._examination, make_call(self._examination, self._target, (), {}, build=build), error, when)


class Other:
    """A callable that a check compares its own with. Where it is wrong itself, the check waits for it."""

    def __init__(self, examination: Examination, target: Target) -> None:
        self._examination = examination
        self._target = target

    def __call__(self, *arguments: Any, **keywords: Any) -> Answer:
        """Ask the function; its answer is right, or the check is blocked."""
        try:
            answer = ask(self._examination, make_call(self._examination, self._target, arguments, keywords))
            answer.matches()
        except CheckFailed as failed:
            fail(Verdict.BLOCKED, OtherFailed(callable=self._target.name, verdict=failed.verdict))
        return answer


class Module:
    """A module of the student's, built with given parameters. Every call of one `Module` meets the same object."""

    def __init__(
        self,
        examination: Examination,
        target: Target,
        arguments: Mapping[str, Any],
        parameters: Mapping[str, torch.Tensor],
    ) -> None:
        self._examination = examination
        self._target = target
        self._build = Build(arguments=arguments, handle=examination.new_handle())
        self._parameters = parameters
        self._history: list[Call] = []

    def __call__(
        self,
        *arguments: Any,
        gradients: bool = False,
        dtype: str = "float64",
        mode: str = "eval",
        is_double: bool = False,
        is_random: bool = False,
        **keywords: Any,
    ) -> Answer:
        """Ask `forward`. `mode` is "eval" or "train"; `is_double` converts the module with `.double()` once made.

        `is_random`: luck is part of the task, so that an equal call may have another answer.
        """
        build = replace(self._build, is_double=is_double)
        wants = None if gradients else ()
        call = self._call(arguments, keywords, build, wants=wants, dtype=dtype, mode=mode, is_random=is_random)
        answer = ask(self._examination, call, tuple(self._history))
        self._history.append(call)
        return answer

    def raises(self, error: type[Exception], *arguments: Any, when: str, **keywords: Any) -> None:
        """Calling it must raise; `when` says in which case, for the message."""
        must_raise(self._examination, self._call(arguments, keywords, self._build), error, when)

    def has_its_parameters(self, *arguments: Any, may_have_more: bool = False) -> None:
        """The module has the parameters the task names, whatever its `forward` does with these arguments.

        `may_have_more`: others beside them are nobody's business.
        """
        build = replace(self._build, is_strict=not may_have_more)
        answer = ask(self._examination, self._call(arguments, {}, build))
        reply = answer.outcome.reply
        if isinstance(reply, Returned):
            return
        if isinstance(reply, (Raised, Forbidden)) and reply.stage in ("forward", "result"):
            return
        answer.must_have_returned()

    def initial(self) -> dict[str, torch.Tensor]:
        """The parameters that a new module has before anybody sets them, by the reference's names; at most eight."""
        shapes = self._examination.oracle.parameter_shapes(self._target.part, self._target.name, self._build.arguments)
        build = replace(self._build, handle=self._examination.new_handle())
        call = make_call(self._examination, self._target, (), {}, build=build, reads=tuple(shapes), is_random=True)
        answer = ask(self._examination, call)
        return {name: answer.value(name) for name in shapes}

    def _call(self, arguments: tuple[Any, ...], keywords: Mapping[str, Any], build: Build, **how: Any) -> Call:
        return make_call(
            self._examination, self._target, arguments, keywords, build=build, parameters=self._parameters, **how
        )
