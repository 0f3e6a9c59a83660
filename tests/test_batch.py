"""Questions put together: the same answers as one by one, and never anything but a short cut."""

import pytest
import torch
from conftest import INPUT, make_call, tiny_assignment

from grader.batch import make_batches
from grader.call import Build
from grader.examination import Examination
from grader.given import Inputs
from grader.outcome import Outcome, Raised, Returned, TimedOut
from grader.question import Question
from grader.sources import Sources
from grader.worker import wire

UPSTREAM = torch.full((2, 3), 2.0, dtype=torch.float64)
#: Answers with its input; with `mark` 1 it does the deed of a test.
SOURCE = "def answer(x, mark=0):\n    if mark:\n        {deed}\n    return x * 3\n"


def question(number=0, *, upstream=None, is_visible=True, **fields):
    """A question about `work.answer`, told from others by its input."""
    wants = ("x",) if upstream is not None else ()
    call = make_call(INPUT + number, **({"wants": wants} | fields))
    return Question(call=call, upstream=upstream, is_visible=is_visible)


def batch_of(*questions):
    """The one batch of these questions."""
    (batch,) = make_batches(questions)
    return batch


def facts(outcome):
    """What an outcome says, to be compared."""
    tensors = {name: tensor.tolist() for name, tensor in outcome.tensors.items()}
    gradients = {name: tensor.tolist() for name, tensor in outcome.gradients.items()}
    return outcome.reply, outcome.backward, tensors, gradients


# --- making -----------------------------------------------------------------------------------------------------


def test_batch_groups_by_kind_of_check_and_part():
    """A hidden question never travels with a visible one, and a part is imported before it is asked."""
    questions = [
        question(0),
        question(1, is_visible=False),
        question(2, part="other"),
        question(3),
    ]

    batches = make_batches(questions)

    assert [("work", True, 2), ("work", False, 1), ("other", True, 1)] == [
        (batch.part, batch.is_visible, len(batch.questions)) for batch in batches
    ]


def test_batch_modules_have_handles_no_later_call_uses():
    """An examination counts its handles from 1 up."""
    build = Build(arguments={}, handle=1)
    batches = make_batches([question(0, build=build), question(1, build=build), question(2, part="other", build=build)])

    headers = [header for batch in batches for header in wire.decode(*_halves(batch.frame)).header["calls"]]

    assert [-1, -2, -3] == [header["build"]["handle"] for header in headers]


def test_batch_without_gradients_sends_no_upstream():
    """Nothing is sent for nothing."""
    assert b"" == batch_of(question()).upstream_frame


def _halves(frame):
    size = wire.PREFIX.size
    header, _ = wire.lengths(frame[:size])
    return frame[size : size + header], frame[size + header :]


# --- asking -----------------------------------------------------------------------------------------------------


def test_batch_outcomes_are_those_of_single_calls(talk):
    """Values, gradients and exceptions, in their order."""
    source = SOURCE.format(deed="raise KeyError('mark')")
    questions = [
        question(0, upstream=UPSTREAM),
        question(1, arguments=({"tensor": "x"}, 1)),
        question(2),
        question(3, upstream=UPSTREAM[:1]),
    ]

    together = talk(source).ask_all(batch_of(*questions))
    alone = [talk(source).ask(one.call, one.upstream) for one in questions]

    assert [facts(outcome) for outcome in alone] == [facts(outcome) for outcome in together]


@pytest.mark.parametrize(
    "deed",
    [
        "import os; os._exit(0)",
        "import time; time.sleep(60)",
        "print('look')",
        "raise MemoryError",
        "import os; [os.write(fd, b'forged' * 9) for fd in range(3, 9) if os.path.exists(f'/proc/self/fd/{fd}')]",
    ],
    ids=["exits", "sleeps", "prints", "starves", "forges"],
)
def test_batch_in_which_anything_goes_wrong_is_no_answer(talk, deed):
    """Then each question is put alone, so that each gets its own verdict, and its own output."""
    conversation = talk(SOURCE.format(deed=deed), call_s=0.5)

    assert conversation.ask_all(batch_of(question(0), question(1, arguments=({"tensor": "x"}, 1)))) is None


@pytest.mark.parametrize(
    ("operation", "reply"),
    [
        ("call", {"status": "gradients", "missing": []}),
        ("call", {"status": "loaded", "names": []}),
        ("gradient", {"status": "returned", "tree": {"kind": "other"}, "changed": []}),
        ("gradient", {"status": "loaded", "names": []}),
    ],
)
def test_batch_with_replies_to_another_question_is_no_answer(talk, operation, reply):
    """A worker that says something else in the right form is not believed, no more than when it is asked alone."""
    deed = (
        "import sys\n"
        f"        answerer = sys.modules['grader_worker.answer'].Answerer\n"
        f"        answerer.{operation} = lambda self, request: type(request)({reply!r}, {{}})"
    )
    source = SOURCE.format(deed=deed)
    questions = question(0, keywords={"mark": 1}), question(1, upstream=UPSTREAM), question(2, upstream=UPSTREAM)

    assert talk(source).ask_all(batch_of(*questions)) is None


def test_batch_that_failed_leaves_nothing_behind(talk):
    """A new worker, no time used, no timeout counted, nothing printed."""
    source = "calls = []\n" + SOURCE.format(deed="print('look')").replace("    if", "    calls.append(1)\n    if")
    conversation = talk(source.replace("return x * 3", "return x * len(calls)"))
    conversation.ask_all(batch_of(question(0), question(1, arguments=({"tensor": "x"}, 1))))

    outcome = conversation.ask(question(0).call, None)

    assert "" == outcome.printed
    assert INPUT.tolist() == outcome.tensors["0"].tolist()


def test_batch_that_took_too_long_counts_as_no_timeout(talk):
    """Only calls that were put alone are held against a student."""
    conversation = talk(
        "def answer(x, mark=0):\n    while mark:\n        pass\n    return x\n",
        call_s=0.3,
        submission_s=0.25,
        timeouts=1,
    )
    slow = question(1, arguments=({"tensor": "x"}, 1))
    conversation.ask_all(batch_of(question(0), slow))

    replies = [conversation.ask(one.call, None).reply for one in (question(0), slow)]

    assert [Returned, TimedOut] == [type(reply) for reply in replies]


def test_batch_import_that_prints_is_told_with_the_first_answer(talk):
    """What a file prints when it is imported spoils nothing."""
    conversation = talk("print('hello')\n" + SOURCE.format(deed="pass"))

    first, second = conversation.ask_all(batch_of(question(0), question(1)))

    assert ("hello\n", "") == (first.printed, second.printed)


def test_batch_is_not_tried_after_a_call_that_took_too_long(talk):
    """The hidden questions about a part would only wait for it again."""
    conversation = talk("def answer(x, mark=0):\n    while mark:\n        pass\n    return x\n", call_s=0.3)
    conversation.ask(question(1, arguments=({"tensor": "x"}, 1)).call, None)

    assert conversation.ask_all(batch_of(question(0))) is None


def test_batch_of_a_part_that_does_not_load_is_no_answer(talk):
    """The verdict is that of the import, for each check."""
    conversation = talk("print('so far')\nraise ImportError('no')")

    assert conversation.ask_all(batch_of(question())) is None
    outcome = conversation.ask(question().call, None)
    assert isinstance(outcome.reply, Raised)
    assert "so far\n" == outcome.printed


# --- in an examination ------------------------------------------------------------------------------------------


class Witness:
    """Answers nothing, and notes what it is asked."""

    def __init__(self):
        self.seen = []

    def ask(self, call, upstream):
        self.seen.append(("alone", call.part))
        return Outcome(reply=TimedOut(stage="call", limit_s=1))

    def ask_all(self, batch):
        self.seen.append(("together", batch.part, batch.is_visible))
        return tuple(Outcome(reply=TimedOut(stage="call", limit_s=1)) for _ in batch.questions)


def examination(witness, batches, files=("work.py", "other.py")):
    """An examination of files with nothing in them."""
    sources = Sources(texts=dict.fromkeys(files, ""))
    return Examination(tiny_assignment(), Inputs(1), None, witness, sources, batches)


def test_batch_of_hidden_checks_waits_for_the_first_of_them():
    """Nothing a visible check prints may come from a hidden one's inputs."""
    witness = Witness()
    asked = examination(witness, make_batches([question(0), question(1, is_visible=False)]))

    asked.begin_check("a.check", is_visible=True)
    before = list(witness.seen)
    asked.begin_check("a.check", is_visible=True)
    asked.begin_check("a.check", is_visible=False)

    assert [("together", "work", True)] == before
    assert [("together", "work", True), ("together", "work", False)] == witness.seen


def test_batch_answers_are_not_asked_for_again():
    """That is what it is for."""
    witness = Witness()
    asked = examination(witness, make_batches([question(0)]))
    asked.begin_check("a.check", is_visible=True)

    asked.ask_once(question(0).call, None)
    asked.ask_once(question(1).call, None)

    assert [("together", "work", True), ("alone", "work")] == witness.seen


def test_batch_of_a_missing_file_is_not_sent():
    """There is nobody to ask."""
    witness = Witness()
    asked = examination(witness, make_batches([question(0)]), files=("other.py",))

    asked.begin_check("a.check", is_visible=True)

    assert [] == witness.seen
