"""One call, answered as ever, with a record of the tensor operations that the answer was made by.

A mode of torch's sees every operation before it is carried out. The record of each is the student's own line, the
operation's name and the shapes that went in and came out; repeats of a line with the same shapes are counted, so a loop
is a few records. Beside the tensors their descent is followed: from which arguments each was made, and by which way a
gradient could come back. Of tensors made in other threads or in a custom backward pass nothing is claimed.
"""

import json
import re
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from . import answer, describe
from .answer import Answerer, IsOwn
from .wire import Frame

#: Different operations of one call that are kept. The longest right solution known has 130.
MOST_STEPS = 400
#: Tensors of one operation whose shapes are kept, on each side: a list of all heads, of all positions.
MOST_SHAPES = 16
#: Repeats of one operation that are counted.
MOST_TIMES = 1_000_000
#: Characters of all records as JSON: with the rest of the answer they must fit into a frame's header.
MOST_CHARACTERS = 150_000

#: Tensors whose elements are looked at for NaN: so many, and so many of each step.
_MOST_ELEMENTS, _MOST_LOOKED_AT = 65_536, 100
#: Tensors of one operation whose descent is followed; frames of Python looked at; tensors whose descent is known.
_MOST_FOLLOWED, _MOST_FRAMES, _MOST_KNOWN = 64, 100, 50_000
#: Results that have a tensor's shape or dtype and none of its elements, or whatever was in memory.
_TEMPLATES = re.compile(r"(zeros|ones|empty|full|rand|randn|randint)_like|new_\w+|empty\w*")
#: How elements leave torch: what is made of them has no gradient.
_EXITS = frozenset({"item", "tolist", "numpy", "float", "array", "int"})
#: What Python calls operators, where torch's name is another.
_NAMES = {"truediv": "div", "rdiv": "div", "rtruediv": "div", "rsub": "sub", "radd": "add", "rmul": "mul"}
_NAMES |= {"rmatmul": "matmul", "rpow": "pow", "invert": "logical_not", "and": "logical_and", "or": "logical_or"}
#: Where autograd, asked to, says which line of the forward pass an error of the backward pass goes back to.
_BLAME = re.compile(r"Error detected in (\w{1,80})\.")
_PLACE = re.compile(r'File "([^"\n]{1,200})", line (\d{1,7}), in ([^\n]{1,200})')

_Shape = tuple[int, ...]


class _Descent(NamedTuple):
    """What a tensor was made of."""

    #: Arguments of the call it depends on.
    sources: frozenset[str] = frozenset()
    #: Whether it depends on a parameter.
    is_learned: bool = False
    #: Tensors whose gradient it can bring, by identity.
    live: frozenset[int] = frozenset()
    #: Those whose gradient it would bring but for an operation, and the number of that one.
    lost: tuple[tuple[int, int], ...] = ()
    #: Whether part of its way was not seen.
    is_opaque: bool = False
    #: Number of the step that made it.
    step: int | None = None


_NO_DESCENT, _PARAMETER = _Descent(), _Descent(is_learned=True)
#: Of a tensor that was made where nobody looked, as in another thread.
_UNSEEN = _Descent(is_opaque=True)


class _Line(NamedTuple):
    file: str
    number: int


def record(answerer: Answerer, request: Frame, is_own: IsOwn | None = None) -> Frame:
    """The reply to a call and, where the request has an `upstream`, to its backward pass, with the steps on the way.

    Args:
        answerer: of a student's modules, or of trusted ones; its state is as after the same call.
        request: as for `Answerer.call`; its tensor `upstream` is the gradient to send back.
        is_own: which files' lines are steps; by default those that the answerer may show.

    Returns:
        A frame without tensors, which `grader.traced.read_trace` reads.
    """
    is_own = is_own or answerer.is_own
    upstream = request.tensors.pop("upstream", None)
    recorder = _Recorder(request, is_own)
    blamed: list[dict[str, Any]] = []
    with _anomalies(upstream is not None, blamed, is_own):
        with recorder.watching():
            reply = answerer.call(request)
        leaves, root, returned = answerer.pending.leaves, answerer.pending.root, answerer.pending.returned
        backward = None
        if upstream is not None and root is not None and root.shape == upstream.shape:
            backward = answerer.gradient(Frame({}, {"upstream": upstream}))
    missing = _without_gradient(leaves, root)
    header = {
        "status": "traced",
        "reply": _without_data(reply.header),
        "backward": backward.header if backward else None,
        "raised": recorder.step_that_raised(reply.header.get("message")),
        "nan": recorder.first_nan,
        "cut": recorder.first_cut(missing, root),
        "returned": [recorder.step_that_made(value) for value in returned],
        "blamed": blamed[0] if blamed and backward and backward.header["status"] == "raised" else None,
        **recorder.told(),
    }
    answerer.forget()
    return Frame(header, {})


class _Recorder(TorchFunctionMode):
    """Sees every operation of a call."""

    def __init__(self, request: Frame, is_own: IsOwn) -> None:
        TorchFunctionMode.__init__(self)
        self._is_own = is_own
        self._steps: list[dict[str, Any]] = []
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._is_cut = False
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], _Descent]] = {}
        self._room = _MOST_KNOWN
        #: Elements that left torch: whose gradients went with them, and by which step.
        self._exits: list[tuple[int, int]] = []
        self._raised: tuple[str, int] | None = None
        self.first_nan: int | None = None
        #: Whether a module is being made: until the first argument is touched, to be handed over.
        self._is_building = bool(request.header["build"])
        for name, tensor in request.tensors.items():
            if name.startswith("arg."):
                self._note(tensor, _Descent(sources=frozenset({name.removeprefix("arg.")})))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Record what happens inside. Whatever the student did to torch's list of modes, ours is gone afterwards."""
        depth = torch._C._len_torch_function_stack()
        self.__enter__()  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            self._is_cut |= torch._C._len_torch_function_stack() != depth + 1
            while torch._C._len_torch_function_stack() > depth:
                torch._C._pop_torch_function_stack()

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = _name(func)
        if name is None:
            return func(*args, **kwargs)
        inputs: list[torch.Tensor] = []
        before: list[_Shape | None] = []
        try:
            inputs = _tensors((args, kwargs))
            before = [_shape(tensor) for tensor in inputs[:MOST_SHAPES]]  # an operation may change them
        except Exception:  # an object of the student's that answers oddly: it is their operation all the same
            self._is_cut = True
        try:
            result = func(*args, **kwargs)
        except BaseException as error:
            self._try(self._see_raised, name, args, inputs, before, error)
            raise
        self._try(self._see, name, args, inputs, before, result)
        return result

    def told(self) -> dict[str, Any]:
        """The steps, as JSON; fewer where they are too long for it."""
        kept, room = 0, MOST_CHARACTERS
        for step in self._steps:
            room -= len(json.dumps(step))
            if room < 0:
                break
            kept += 1
        return {"steps": self._steps[:kept], "is_cut": self._is_cut or kept < len(self._steps)}

    def step_that_raised(self, message: str | None) -> int | None:
        """The step whose exception the call ended with."""
        return self._raised[1] if self._raised and self._raised[0] == message else None

    def step_that_made(self, value: object) -> int | None:
        """The step a value came from, where one is known."""
        return self._of(value).step if isinstance(value, torch.Tensor) else None

    def first_cut(self, missing: Iterable[int], root: torch.Tensor | None) -> int | None:
        """The first step that kept a gradient from coming back to one of these tensors."""
        descent = self._of(root) if root is not None else _NO_DESCENT
        if descent.is_opaque:
            return None
        found = []
        for leaf in missing:
            if leaf not in descent.live:
                steps = [step for other, step in (*descent.lost, *self._exits) if other == leaf]
                found += [min(steps)] if steps else []
        return min(found, default=None)

    # --- steps ----------------------------------------------------------------------------------------------------

    def _try(self, see: Callable[..., None], *arguments: Any) -> None:
        """A call goes on whatever happens to its record."""
        try:
            see(*arguments)
        except Exception:
            self._is_cut = True

    def _see(self, name: str, args: Any, inputs: list[torch.Tensor], before: list[_Shape | None], result: Any) -> None:
        outputs = _tensors(result)
        if name == "setitem":
            outputs = inputs[:1]
        if not outputs and name not in _EXITS:
            return
        is_wrapped = any(map(_is_wrapped, (*inputs, *outputs)))
        descent = _NO_DESCENT if _TEMPLATES.fullmatch(name) else self._union(inputs)
        shapes = [_shape(tensor) for tensor in outputs[:MOST_SHAPES]]
        is_floating = any(map(torch.is_floating_point, outputs[:MOST_SHAPES]))
        number = self._add(name, args, before, shapes, descent, is_floating, is_wrapped)
        for output in outputs:
            self._follow(output, descent, number, is_wrapped)
        if not outputs and number is not None:
            self._exits += [(leaf, number) for leaf in descent.live] + list(descent.lost)
            del self._exits[_MOST_KNOWN:]
        if self.first_nan is None and number is not None and not is_wrapped and not _TEMPLATES.fullmatch(name):
            is_early = self._steps[number]["times"] <= _MOST_LOOKED_AT
            if is_early and any(map(_has_nan, outputs)) and not any(map(_has_nan, inputs)):
                self.first_nan = number

    def _see_raised(
        self, name: str, args: Any, inputs: list[torch.Tensor], before: list[_Shape | None], error: BaseException
    ) -> None:
        is_wrapped = any(map(_is_wrapped, inputs))
        number = self._add(name, args, before, [], self._union(inputs), False, is_wrapped, is_raised=True)
        if number is not None:
            self._raised = describe.exception(error, [], "")["message"], number

    def _add(
        self,
        name: str,
        args: tuple[Any, ...],
        before: list[_Shape | None],
        after: list[_Shape | None],
        descent: _Descent,
        is_floating: bool,
        is_wrapped: bool,
        is_raised: bool = False,
    ) -> int | None:
        """Note a step, and return its number: None where no line of the student's led to it, or there are too many."""
        self._is_building &= not descent.sources
        line = self._line(sys._getframe(1))
        if line is None or (self._is_building and not is_raised):  # how parameters begin is nobody's interest
            return None
        detail = args[0] if name == "einsum" and args and isinstance(args[0], str) else ""
        inputs, outputs = (tuple(shape for shape in shapes if shape is not None) for shapes in (before, after))
        key = (line, name, detail, inputs, outputs, descent.sources, descent.is_learned, is_wrapped, is_raised)
        number = self._numbers.get(key)
        if number is not None:
            step = self._steps[number]
            step["times"] = min(step["times"] + 1, MOST_TIMES)
            return number
        if len(self._steps) >= MOST_STEPS:
            self._is_cut = True
            return None
        number = self._numbers[key] = len(self._steps)
        self._steps.append(
            {
                "file": line.file[: describe.MOST_TEXT],
                "line": line.number,
                "operation": name,
                "detail": "".join(detail.split())[:80],
                "inputs": inputs,
                "outputs": outputs,
                "sources": sorted(descent.sources)[:MOST_SHAPES],
                "is_learned": descent.is_learned,
                "is_floating": is_floating,
                "is_wrapped": is_wrapped,
                "is_raised": is_raised,
                "times": 1,
            }
        )
        return number

    def _line(self, frame: FrameType | None) -> _Line | None:
        """The innermost line of the student's own."""
        for one in _outwards(frame):
            if self._is_own(one.f_code.co_filename):
                return _Line(one.f_code.co_filename, one.f_lineno or 0)
            if one.f_code.co_filename == answer.__file__:
                break
        return None

    # --- descent --------------------------------------------------------------------------------------------------

    def _of(self, tensor: torch.Tensor) -> _Descent:
        known = self._known.get(id(tensor))
        descent = known[1] if known and known[0]() is tensor else None
        if not tensor.requires_grad:
            return descent or (_PARAMETER if type(tensor) is torch.nn.Parameter else _NO_DESCENT)
        if tensor.is_leaf:
            descent = descent or (_PARAMETER if type(tensor) is torch.nn.Parameter else _NO_DESCENT)
            return descent._replace(live=descent.live | {id(tensor)})
        return descent or _UNSEEN

    def _union(self, tensors: list[torch.Tensor]) -> _Descent:
        union = _NO_DESCENT
        for tensor in tensors[:_MOST_FOLLOWED]:
            union = _together(union, self._of(tensor))
        return _together(union, _UNSEEN) if len(tensors) > _MOST_FOLLOWED else union

    def _follow(self, output: torch.Tensor, descent: _Descent, step: int | None, is_wrapped: bool) -> None:
        if not output.is_floating_point():
            descent = descent._replace(live=frozenset(), lost=())
        elif descent.live and not output.requires_grad:
            if is_wrapped or _is_in_function(sys._getframe(1)):  # a backward pass of the student's own may follow
                descent = descent._replace(is_opaque=True)
            lost = dict.fromkeys(descent.live, step) if step is not None else {}
            descent = descent._replace(live=frozenset(), lost=_earliest(tuple(lost.items()), descent.lost))
        self._note(output, descent._replace(step=step))
        base = output._base
        if base is not None and output is not base and id(base) in self._known:
            self._note(base, self._union([base, output]))

    def _note(self, tensor: torch.Tensor, descent: _Descent) -> None:
        if len(self._known) >= self._room:
            self._known = {key: known for key, known in self._known.items() if known[0]() is not None}
            if len(self._known) > _MOST_KNOWN:  # as many alive: their descent is not known any more
                self._known.clear()
            self._room = 2 * len(self._known) + _MOST_KNOWN  # so that looking through them stays rare
        self._known[id(tensor)] = weakref.ref(tensor), descent


def _together(one: _Descent, other: _Descent) -> _Descent:
    """What is made of both."""
    if other is _NO_DESCENT or other is one:
        return one
    if one is _NO_DESCENT:
        return other
    lost = one.lost if one.lost == other.lost else _earliest(one.lost, other.lost)
    return _Descent(
        one.sources | other.sources,
        one.is_learned or other.is_learned,
        one.live | other.live,
        lost,
        one.is_opaque or other.is_opaque,
    )


def _earliest(*all_of: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    for leaf, step in (pair for lost in all_of for pair in lost):
        found[leaf] = min(step, found.get(leaf, step))
    return tuple(sorted(found.items()))


def _name(func: Callable[..., Any]) -> str | None:
    """What an operation is called; None for what asks for no elements."""
    name = getattr(func, "__name__", "") or ""
    if name == "__get__":
        name = str(getattr(getattr(func, "__self__", None), "__name__", ""))
        return name if name in ("T", "mT", "H", "mH", "data", "real") else None
    if name in ("__set__", "__delete__", "__repr__", "__len__", "__bool__", "size", "dim", "stride", "requires_grad_"):
        return None
    plain = name.strip("_") if name.startswith("__") else name
    if name.startswith("__i") and plain[1:] in ("add", "sub", "mul", "div", "truediv", "matmul", "pow"):
        plain = plain[1:] + "_"
    return _NAMES.get(plain, plain)[:80] or None


def _tensors(value: Any, found: list[torch.Tensor] | None = None, depth: int = 0) -> list[torch.Tensor]:
    """Tensors among arguments or results, also in lists of them."""
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, (tuple, list, dict)) and depth < 4:
        for item in list(value.values() if isinstance(value, dict) else value[:1000]):
            _tensors(item, found, depth + 1)
    return found


def _shape(tensor: torch.Tensor) -> _Shape | None:
    """Its shape; None for what has none in numbers, as a nested tensor has not."""
    if tensor.is_nested or tensor.ndim > describe.MOST_AXES:
        return None
    return tuple(map(int, tensor.shape))


def _is_wrapped(tensor: torch.Tensor) -> bool:
    """Whether it stands for many tensors, as inside of vmap: its shape lacks an axis."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


def _has_nan(tensor: torch.Tensor) -> bool:
    if not tensor.is_floating_point() or tensor.layout != torch.strided or tensor.numel() > _MOST_ELEMENTS:
        return False
    return bool(torch.isnan(tensor.detach()).any())


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    for _ in range(_MOST_FRAMES):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _is_in_function(frame: FrameType) -> bool:
    """Whether it is the forward pass of a `torch.autograd.Function`."""
    file = torch.autograd.function.__file__
    return any(one.f_code.co_filename == file for one in _outwards(frame))


def _without_gradient(leaves: list[torch.Tensor], root: torch.Tensor | None) -> list[int]:
    """Of the tensors whose gradients are wanted, those that get none."""
    if root is None:
        return []
    if not root.requires_grad or root.grad_fn is None:
        return [id(leaf) for leaf in leaves if leaf is not root]
    reached = _reached_by(root)
    return [id(leaf) for leaf in leaves if id(leaf) not in reached]


def _reached_by(root: torch.Tensor) -> set[int]:
    """Identities of the leaves that a backward pass comes to."""
    waiting, seen, reached = [root.grad_fn], set(), set()
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            reached.add(id(node.variable))
        waiting += [following for following, _ in node.next_functions]
    return reached


def _without_data(header: dict[str, Any]) -> dict[str, Any]:
    """A reply whose tensors are not sent."""
    if "tree" not in header:
        return header
    tree = _plain(header["tree"])
    if "items" in tree:
        tree["items"] = list(map(_plain, tree["items"]))
    return header | {"tree": tree, "kept": list(map(_plain, header["kept"]))}


def _plain(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "data"}


@contextmanager
def _anomalies(is_wanted: bool, blamed: list[dict[str, Any]], is_own: IsOwn) -> Iterator[None]:
    """Have autograd keep the lines of the forward pass, and note the one that it says an error goes back to."""
    if not is_wanted:
        yield
        return
    with warnings.catch_warnings(record=True) as caught, torch.autograd.set_detect_anomaly(True, check_nan=False):
        warnings.simplefilter("always")
        yield
    for text in (str(warning.message) for warning in caught or ()):
        found = _BLAME.search(text[:1000])
        places = [place for place in _PLACE.findall(text) if is_own(place[0])] if found else []
        if found and places:
            file, number, function = places[-1]
            operation = re.sub(r"Backward\d*$", "", found[1])
            blamed.append({"file": file, "line": int(number), "function": function, "text": operation})
