"""What was measured: the record behind lab.json and the page. Units stand in the names, or in the text of a field.

What ends in `_s` is seconds of this machine, and differs from run to run, as does what is made from it. All else is
the same whenever seed, files, versions and sizes are.
"""

from datetime import datetime
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from grader.record import Record, StudentText
from grader.report import Grader, SourceFile
from grader.verdict import Verdict

SCHEMA_VERSION: Final = 1

#: A finite number. JSON has no others.
Number = Annotated[float, Field(allow_inf_nan=False)]
#: Seconds, to the microsecond.
Duration = Annotated[float, Field(ge=0, allow_inf_nan=False), AfterValidator(lambda seconds: round(seconds, 6))]


class Problem(Record):
    """A call that did not give what the experiment needs."""

    at: str
    """Which call it was, by what was varied; empty where all of them are alike."""
    verdict: Verdict
    """What it came to."""
    message: StudentText
    """The same as a check would say it."""


class Experiment(Record):
    """What all experiments have."""

    dtype: str
    """Dtype of inputs and weights: float64, or float32 where the module takes no other; in timings float32."""
    problems: tuple[Problem, ...] = ()
    """What could not be measured; empty where everything was."""


class ScalingPoint(Record):
    """One width of a head, with the scaling or without it."""

    d_head: int
    """Width of a head: the d of the square root."""
    is_scaled: bool
    """False: the query block of `qkv.weight` was multiplied by the square root of d_head, which undoes the division."""
    variance: Number | None
    """Variance of the logits over the allowed keys of a query, mean over queries; null where none could be read."""
    variance_in_theory: Number
    """What it is for standard normal queries and keys: 1 with the scaling, d_head without."""
    entropy_nats: Number | None
    """Entropy of a query's weights over its allowed keys, mean over queries, in nats."""
    entropy_share: Number | None
    """The same, divided by the entropy of equal weights: 1 is equal weights, 0 is a single key."""
    unreadable_share: Number
    """Share of the allowed weights that are 0 or less, and have no logarithm."""
    gradient_low: Number | None
    """Norm of the gradient that reaches a token through the scores: the token of the lowest tenth."""
    gradient_median: Number | None
    """The same: the median over all tokens."""
    gradient_high: Number | None
    """The same: the token of the highest tenth."""
    gradient_through_values: Number | None
    """Norm of the gradient that reaches a token through the values, median over all tokens."""


class Scaling(Experiment):
    """Experiment 1: the scaling on and off, against the width of a head."""

    batch: int
    """Samples in a call."""
    length: int
    """Tokens in a sample."""
    n_heads: int
    """Heads; the width of the model is that many times d_head."""
    points: tuple[ScalingPoint, ...]
    """By width; with the scaling and without it in turn."""


Movements = tuple[tuple[Number, ...], ...]


class Future(Experiment):
    """Experiment 2: how much an output moves when one token changes. Positions count from 0."""

    length: int
    """Tokens."""
    d_model: int
    """Width of the model."""
    n_heads: int
    """Heads."""
    unrest: Number | None
    """Largest difference of the outputs of two equal calls; anything but 0 makes the rest uncertain."""
    with_mask: Movements
    """Norm of the movement of output i (row), per norm of the change of token j (column), as the module is."""
    without_mask: Movements
    """The same where token i is asked for as the last one of the sequence, and so may see all."""


class Timed(Record):
    """Seconds of a call."""

    call_s: Duration
    """Median of all repetitions, as seen from outside the worker."""
    way_s: Duration
    """Median of an empty call with tensors of the same shapes: what the way to the worker and back takes."""
    net_s: Duration | None
    """Median of what each repetition took longer than the empty call beside it; null where that is not above 0."""
    net_low_s: Duration | None
    """The same: the lower quartile."""
    net_high_s: Duration | None
    """The same: the upper quartile."""


class HeadsPoint(Record):
    """One number of heads."""

    n_heads: int
    """Heads."""
    d_head: int
    """Width of a head."""
    weights_bytes: int | None
    """Bytes of the returned weights [batch, head, query, key]; null where none of that shape were returned."""
    made_bytes: int | None
    """Bytes of the results of all tensor operations of a forward pass, views by name left out; null where it could not
    be watched."""
    is_made_cut: bool
    """Whether there were more operations than were watched."""
    forward: Timed
    """The forward pass."""
    both: Timed
    """The forward and the backward pass."""


class Heads(Experiment):
    """Experiment 3: the same width of the model in more and narrower heads."""

    batch: int
    """Samples in a call."""
    length: int
    """Tokens in a sample."""
    d_model: int
    """Width of the model."""
    repetitions: int
    """Times each call was made."""
    points: tuple[HeadsPoint, ...]
    """By number of heads."""

    @property
    def tokens(self) -> int:
        """Tokens of a call."""
        return self.batch * self.length


class Difference(Record):
    """How far own answer and PyTorch's are apart."""

    what: Literal["output", "weights", "gradient of x"]
    """What was compared."""
    dtype: str
    """Dtype of both."""
    largest: Number
    """Largest absolute difference of two elements."""
    scale: Number
    """Largest absolute element of PyTorch's answer."""
    allowed: Number
    """What a check of this assignment allows."""


class AgainstPoint(Record):
    """One length of a sample."""

    length: int
    """Tokens in a sample."""
    own_forward: Timed
    """The student's module, forward."""
    own_both: Timed
    """The student's module, forward and backward."""
    library_forward: Timed
    """PyTorch's module, forward."""
    library_both: Timed
    """PyTorch's module, forward and backward."""


class Against(Experiment):
    """Experiment 4: the student's module beside `torch.nn.MultiheadAttention` with the same weights."""

    batch: int
    """Samples in a timed call."""
    d_model: int
    """Width of the model in a timed call."""
    n_heads: int
    """Heads."""
    repetitions: int
    """Times each call was made."""
    differences: tuple[Difference, ...]
    """Of a smaller call, in float64 and in float32."""
    points: tuple[AgainstPoint, ...]
    """Times, by length."""


class Machine(Record):
    """Where times were measured."""

    system: str
    """Operating system and architecture."""
    processors: int
    """Processors this process may run on."""
    worker_threads: int
    """Threads of torch in a worker, for the student's module and for PyTorch's."""


class Subject(Record):
    """Whose module it is."""

    id: StudentText
    """The submission's id."""
    files: tuple[SourceFile, ...]
    """Its files, as they were read."""
    notes: tuple[StudentText, ...]
    """What was noticed when they were read."""


class LabAssignment(Record):
    """The assignment the module answers to."""

    name: str
    """Name of its folder."""
    title: str
    """Title for people."""
    digest: str
    """Hash over what can change a grade."""
    callable: str
    """The class that was experimented on."""
    file: str
    """The file it stands in."""


class Lab(Record):
    """Everything in lab.json."""

    schema_version: Literal[1] = SCHEMA_VERSION
    """Version of this format."""
    created: datetime
    """When the experiments began, in UTC."""
    seed: int
    """Of all inputs and weights."""
    is_quick: bool
    """Whether sizes and repetitions were cut for a first look."""
    timeout_s: float
    """Limit of one call, in seconds."""
    assignment: LabAssignment
    """What was asked for."""
    grader: Grader
    """With what it was measured."""
    machine: Machine
    """Where it was measured."""
    subject: Subject
    """Whose module it is."""
    scaling: Scaling
    """Experiment 1."""
    future: Future
    """Experiment 2."""
    heads: Heads
    """Experiment 3."""
    against: Against
    """Experiment 4."""

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """All of them."""
        return self.scaling, self.future, self.heads, self.against
