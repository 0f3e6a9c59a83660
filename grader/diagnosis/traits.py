"""What is recognised in answers without an edit of the reference, in the words that edits use.

A trait is seen in the answers themselves, so it holds for code of any style. Some account for what they are seen in, so
that a callable with them, and with known mistakes, is explained whole; the others say what is the case and no more.
"""

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """Something that answers show."""

    id: str
    title: str
    explanation: str
    hint: str
    catalogue: tuple[str, ...] = ()
    #: Points, as of a mistake; None: it explains nothing, and its checks are lost.
    price: Decimal | None = None
    #: Whether it says what the answers show, and so is true whatever the reason.
    is_statement: bool = True


FLOAT32_INSIDE = Trait(
    id="float32-inside",
    catalogue=("N01",),
    title="Tensors of a fixed dtype are made inside, whatever the inputs are",
    explanation="A tensor made without a dtype is float32. When the inputs are float64, it either meets them in a "
    "product and raises, or carries float32 into the result. New tensors take their dtype, and their device, from an "
    "input.",
    hint="Which dtype do the tensors have that your code makes itself, and which dtype have the inputs?",
    price=Decimal(1),
    is_statement=False,
)
INPUTS_CHANGED = Trait(
    id="inputs-changed",
    title="The caller's tensors are changed by the call",
    explanation="An operator such as += or a method that ends in an underscore writes into the tensor it is applied "
    "to. On an argument, that is the caller's own tensor: the next use of it, or the next call, sees other values.",
    hint="After the call, are the tensors that went in still what they were?",
    price=Decimal(1),
)
STATE_KEPT = Trait(
    id="state-kept-between-calls",
    title="Something is kept from one call and used in the next",
    explanation="A call with new inputs is answered as if part of an earlier call still held: a mask, a cache or a "
    "buffer is made once and kept. Whatever depends on the inputs is to be made anew in each call.",
    hint="What does your code remember from the first call when the second one has other sizes or other flags?",
    price=Decimal(2),
)
GRADIENT_LOST = Trait(
    id="gradient-lost",
    title="The values are right, but the gradient does not get back to the inputs",
    explanation="Somewhere the values leave the graph that autograd records: by detach, data, item, numpy, a new "
    "tensor made from numbers, or a write into something that the backward pass needs. Training would then leave "
    "these inputs and layers untouched, or stop with an error.",
    hint="Follow each input to the output: is every step one that autograd can walk back?",
    price=Decimal(2),
)
ERROR_MISSING = Trait(
    id="error-not-raised",
    title="An error that the task asks for is not raised",
    explanation="For some inputs the task asks for an error instead of an answer, since no answer to them is right. "
    "Whoever calls the function with such inputs by mistake is to learn it at once, and not from odd numbers later on.",
    hint="Read again for which inputs the task asks for an error, and of which kind.",
    price=Decimal("1.5"),
)
DRAWN_OTHERWISE = Trait(
    id="drawn-otherwise",
    title="What is drawn at random is not drawn as the task says",
    explanation="The task says how some numbers are to be drawn, such as those that a new layer begins with: from "
    "which distribution, and in which range. Those that were drawn do not look like it.",
    hint="Which distribution does the task name for these numbers, and which line of your code draws from it?",
    price=Decimal(2),
)
DIFFERS = Trait(
    id="answers-differ-between-calls",
    catalogue=("P02", "P03", "P10"),
    title="Two equal calls give two different answers",
    explanation="Something in the computation is random, or is read before it was written: dropout that is always "
    "on, a layer that is made anew in each call, memory that was reserved and never filled.",
    hint="What in your code could differ between two calls with the same inputs?",
)
NOT_FILLED_IN = Trait(
    id="not-filled-in",
    title="Left as it was handed out",
    explanation="The function, or the method it needs, still raises NotImplementedError.",
    hint="This one is still to be written.",
)
NOT_THERE = Trait(
    id="calls-what-does-not-exist",
    catalogue=("L04",),
    title="A name is used that does not exist",
    explanation="The code stops at a name that neither it nor the module it is looked up in has: a misspelt function, "
    "a variable under another name, an import that is missing. It has never run to its end.",
    hint="Read the name in the message letter by letter.",
)
OTHER_DEVICE = Trait(
    id="needs-another-device",
    catalogue=("P12",),
    title="A device is written into the code that this machine does not have",
    explanation="Code that names a device runs on machines that have it and nowhere else. New tensors belong on the "
    "device of the inputs.",
    hint="On which device are the inputs, and on which one does your code make its own tensors?",
)
RETURNS_NOTHING = Trait(
    id="returns-nothing",
    title="What is returned is None",
    explanation="Either no return statement is reached, so that what was computed is lost; or what is returned is a "
    "name that still holds the None it was given at first, or the None that another function has returned.",
    hint="Which line gives a result to the name that is returned, and is it reached?",
)
ONE_SIZE = Trait(
    id="right-for-some-sizes-only",
    title="It is right for some sizes of the inputs and wrong for all others",
    explanation="The same code is right or wrong depending on the sizes alone, so something in it takes one size for "
    "another, or for 1.",
    hint="Where in your code would two sizes have to be equal, or one of them 1, for it to work?",
)

TRAITS = {
    one.id: one
    for one in (
        FLOAT32_INSIDE,
        INPUTS_CHANGED,
        STATE_KEPT,
        GRADIENT_LOST,
        ERROR_MISSING,
        DRAWN_OTHERWISE,
        DIFFERS,
        NOT_FILLED_IN,
        NOT_THERE,
        OTHER_DEVICE,
        RETURNS_NOTHING,
        ONE_SIZE,
    )
}
