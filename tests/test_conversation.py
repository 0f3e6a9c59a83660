"""Talking to a worker whose code is slow, broken or hostile: each ends in an outcome, and the next call is answered."""

import contextlib
import os
import select
import signal
import subprocess
import sys

import pytest
import torch
from conftest import INPUT, function, is_running, make_call, tiny_assignment, wait_until, warm_process, workers_of

from grader.call import Build
from grader.conversation import Conversation, TimeLimits
from grader.launch import ForkLauncher, LaunchError, SpawnLauncher, Zygote
from grader.outcome import Died, Garbled, Gradients, NotAsked, Raised, Returned, TimedOut
from grader.worker.serve import MOST_PRINTED

#: Lines that find the connection to the grader among the open descriptors, as a curious student would.
FIND_SOCKET = """
import json, socket, struct, torch
fd = next(d for d in range(3, 64) if os.path.exists(f'/proc/self/fd/{d}')
          and os.readlink(f'/proc/self/fd/{d}').startswith('socket'))
def send(header, blob=b'', lengths=None):
    text = json.dumps(header).encode()
    os.write(fd, struct.pack('<II', *(lengths or (len(text), len(blob)))) + text + blob)
"""
#: A reply that looks right.
FORGED = "{'status': 'returned', 'tree': {'kind': 'other', 'type': 'Forged'}, 'changed': []}"


def hostile(body, then="return x"):
    """A source that does something on the connection when `x` has two rows, and answers otherwise."""
    return function(f"if x.shape[0] == 2:\n    exec(EVIL, globals())\n{then}") + f"\nEVIL = {FIND_SOCKET + body!r}\n"


# --- code that does not answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "while True:\n    pass",
        "time.sleep(1000)",
        "while True:\n    try:\n        time.sleep(1000)\n    except BaseException:\n        pass",
        "import signal\nfor number in range(1, 32):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
        "    except OSError:\n        pass\nwhile True:\n    pass",
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        "os.kill(os.getpid(), 19)",
        "import threading\nthreading.Lock().acquire() and threading.Event().wait()",
    ],
)
def test_conversation_call_that_never_ends_times_out(talk, body):
    """Loops, sleeps, ignored signals, C code and a stopped process all end by SIGKILL at the deadline."""
    conversation = talk(
        function(f"if x.shape[0] == 2:\n    {body.replace(chr(10), chr(10) + '    ')}\nreturn x"), call_s=0.3
    )

    outcome = conversation.ask(make_call(), None)
    after = conversation.ask(make_call(INPUT[:1]), None)

    assert TimedOut(stage="call", limit_s=0.3) == outcome.reply
    assert isinstance(after.reply, Returned)


def test_conversation_import_that_never_ends_times_out_once(talk):
    """The file is not imported again for the next call."""
    conversation = talk("print('begun', flush=True)\nwhile True:\n    pass", import_s=0.3)

    first, second = (conversation.ask(make_call(), None) for _ in range(2))

    assert TimedOut(stage="import", limit_s=0.3) == first.reply == second.reply
    assert ("begun\n", "") == (first.printed, second.printed)


def test_conversation_backward_pass_that_never_ends_keeps_the_values(talk):
    """Only the gradients are lost."""
    body = "class Slow(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n"
    body += (
        "    @staticmethod\n    def backward(ctx, grad):\n        while True:\n            pass\nreturn Slow.apply(x)"
    )

    outcome = talk(function(body), call_s=0.3).ask(make_call(wants=("x",)), INPUT)

    assert torch.equal(2 * INPUT, outcome.tensors["0"])
    assert TimedOut(stage="backward", limit_s=0.3) == outcome.backward


@pytest.mark.parametrize("where", ["forward", "backward"])
def test_conversation_callable_that_timed_out_twice_is_not_called_again(talk, where):
    """Forward or backward, the third question is refused and says why."""
    body = "class Slow(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n"
    body += "        while WHERE == 'forward':\n            pass\n        return x * 2\n"
    body += (
        "    @staticmethod\n    def backward(ctx, grad):\n        while True:\n            pass\nreturn Slow.apply(x)"
    )
    conversation = talk(f"WHERE = {where!r}\n" + function(body), call_s=0.1)

    outcomes = [conversation.ask(make_call(wants=("x",)), INPUT) for _ in range(3)]

    assert NotAsked(reason="answer ran out of time 2 times and was not called again") == outcomes[2].reply
    assert not isinstance(outcomes[1].reply, NotAsked)


def test_conversation_submission_that_used_its_time_is_not_asked_again(talk):
    """All calls together have a limit; other callables are not asked either."""
    conversation = talk(function("while True:\n    pass"), call_s=0.2, submission_s=0.2)
    conversation.ask(make_call(), None)

    reply = conversation.ask(make_call(name="other"), None).reply

    assert NotAsked(reason="the submission has used its 0.2 s") == reply


# --- code that ends its process ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "exit_code"),
    [
        ("os._exit(0)", 0),
        ("os._exit(7)", 7),
        ("os.kill(os.getpid(), 11)", -signal.SIGSEGV),
        ("os.abort()", -signal.SIGABRT),
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("import ctypes\nctypes.string_at(0)", -signal.SIGSEGV),
    ],
)
@pytest.mark.parametrize("where", ["import", "call"])
def test_conversation_process_that_ends_early_is_a_crash_that_tells_how(talk, where, body, exit_code):
    """An exit is no answer, and code 0 no success."""
    source = function(f"if x.shape[0] == 2:\n    {body.replace(chr(10), chr(10) + '    ')}\nreturn x")
    conversation = talk(source if where == "call" else "import os\n" + body)

    reply = conversation.ask(make_call(), None).reply

    assert isinstance(reply, Died), reply
    assert where == reply.stage
    assert exit_code == reply.exit_code


def test_conversation_call_after_a_crash_is_answered_by_a_new_worker(talk):
    """A crash costs its own call; what was printed before it is kept."""
    conversation = talk(function("print(x.shape[0], flush=True)\nif x.shape[0] == 2:\n    os._exit(1)\nreturn x"))

    first, second = conversation.ask(make_call(), None), conversation.ask(make_call(INPUT[:1]), None)

    assert (Died(stage="call", exit_code=1), "2\n") == (first.reply, first.printed)
    assert ("returned", "1\n") == (second.reply.status, second.printed)


@pytest.mark.parametrize(
    ("body", "type_name"),
    [
        ("sys.exit(0)", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("f = lambda: f()\n    f()", "RecursionError"),
        ("raise BaseException", "BaseException"),
    ],
)
def test_conversation_exception_of_any_kind_is_an_answer(talk, body, type_name):
    """No exception ends the worker: the next call still finds its process."""
    conversation = talk(function(f"print(os.getpid())\nif x.shape[0] == 2:\n    {body}"))

    first, second = conversation.ask(make_call(), None), conversation.ask(make_call(INPUT[:1]), None)

    assert isinstance(first.reply, Raised)
    assert type_name == first.reply.type
    assert first.printed == second.printed


def test_conversation_threads_left_running_do_not_hold_the_worker_back(talk, zygote):
    """A submission ends when its conversation does."""
    body = "import threading\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)]).start()\nreturn x"
    conversation = talk(function(body))
    replies = [conversation.ask(make_call(), None).reply for _ in range(2)]

    conversation.close()

    assert ["returned", "returned"] == [reply.status for reply in replies]
    assert [] == workers_of(zygote.pid)


def test_conversation_worker_that_will_not_end_is_killed(talk, zygote):
    """Code that replaces `os._exit` gains a second at most."""
    conversation = talk(function("os._exit = lambda code: None\nreturn x"))
    conversation.ask(make_call(), None)

    conversation.close()

    assert [] == workers_of(zygote.pid)


# --- code that writes on the connection -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evil", "detail"),
    [
        ("os.write(fd, b'\\xff' * 8)", "4294967295 + 4294967295 bytes was announced"),
        ("send({}, lengths=(2**31, 0))", "a frame of 2147483648 + 0 bytes was announced"),
        ("send({}, lengths=(2, 2**31))", "a frame of 2 + 2147483648 bytes was announced"),
        ("os.write(fd, struct.pack('<II', 4, 0) + b'\\x80abc')", "the header is not JSON"),
        ("os.write(fd, struct.pack('<II', 5, 0) + b'[1,2]')", "the header is list, wanted an object"),
        ("os.write(fd, struct.pack('<II', 100_000, 0) + b'[' * 100_000)", "the header is not JSON"),
        ("os.write(fd, struct.pack('<II', 9000, 0) + b'1' * 9000)", "the header is not JSON"),
        ("send({})", "Unable to extract tag using discriminator 'status'"),
        ("send({'status': 'passed'})", "Input tag 'passed' found using 'status' does not match"),
        ("send({'status': 'x' * 200_000})", "Input tag 'xxx"),
        ("send({'status': 'returned', 'score': 100})", "reply, returned."),
        (f"send({FORGED} | {{'score': 100}})", "reply, returned.score: Extra inputs are not permitted"),
        (f"send({FORGED}, b'\\x80\\x04garbage')", "the tensors cannot be read"),
        ("send({'status': 'gradients', 'missing': []})", "a reply of status gradients"),
        ("send({'status': 'loaded', 'names': []})", "a reply of status loaded"),
        ("send({'status': 'scanned'})", "a reply of status scanned"),
        ("send({'status': 'forbidden', 'stage': 'forward', 'name': 5, 'line': None})", "reply, forbidden.name"),
        (
            "send({'status': 'returned', 'changed': [],"
            " 'tree': {'kind': 'tensor', 'dtype': 'float64', 'shape': [2, 3], 'data': '0'}})",
            "tensor '0' is not what its description says",
        ),
        (
            "from grader_worker import wire\nodd = torch.zeros(2).to(torch.float8_e4m3fn)\n"
            f"os.write(fd, wire.encode({FORGED}, {{'0': odd}}))",
            "tensor '0' is of dtype torch.float8_e4m3fn",
        ),
        (
            "tree = {'kind': 'sequence'}\nfor _ in range(300):\n    tree = {'kind': 'sequence', 'items': [tree]}\n"
            "send({'status': 'returned', 'changed': [], 'tree': tree})",
            "reply, ",
        ),
    ],
)
def test_conversation_bytes_that_are_no_reply_are_garbled(talk, evil, detail):
    """Forged frames, absurd lengths, pickles: named, cut short, and the next call has a new worker."""
    conversation = talk(hostile(evil))

    outcome = conversation.ask(make_call(), None)
    after = conversation.ask(make_call(INPUT[:1]), None)

    assert isinstance(outcome.reply, Garbled), outcome.reply
    assert detail in outcome.reply.detail
    assert len(outcome.reply.detail) <= 300
    assert torch.equal(INPUT[:1], after.tensors["0"])


@pytest.mark.parametrize(
    "evil",
    [
        "os.write(fd, b'\\x10')\nwhile True:\n    pass",
        "send({}, lengths=(100, 0))\nwhile True:\n    pass",
        "send({}, lengths=(2, 100))\ntime.sleep(1000)",
        "while True:\n    os.write(fd, b'\\0')\n    time.sleep(0.1)",
    ],
)
def test_conversation_half_a_frame_and_then_silence_times_out(talk, evil):
    """A deadline is one for the whole reply, however it trickles in."""
    conversation = talk(hostile("import time\n" + evil), call_s=0.4)

    outcome = conversation.ask(make_call(), None)
    after = conversation.ask(make_call(INPUT[:1]), None)

    assert isinstance(outcome.reply, (TimedOut, Garbled))
    assert torch.equal(INPUT[:1], after.tensors["0"])


@pytest.mark.parametrize(
    "evil",
    ["os.close(fd)", "socket.socket(fileno=fd).close()", "socket.socket(fileno=os.dup(fd)).shutdown(2)"],
)
def test_conversation_connection_closed_by_the_student_is_a_crash(talk, evil):
    """There is no answer to come."""
    conversation = talk(hostile(evil))

    outcome = conversation.ask(make_call(), None)
    after = conversation.ask(make_call(INPUT[:1]), None)

    assert isinstance(outcome.reply, Died)
    assert torch.equal(INPUT[:1], after.tensors["0"])


def test_conversation_forged_reply_is_no_better_than_a_returned_one(talk):
    """Whoever writes a reply themselves has said what they could have returned."""
    outcome = talk(hostile(f"send({FORGED})")).ask(make_call(), None)

    assert ("other", "Forged") == (outcome.reply.tree.kind, outcome.reply.tree.type)


def test_conversation_sources_are_sent_as_data(talk):
    """Nothing on the wire is a pickle: a worker refuses to be one end of it."""
    source = function("import pickle\npickle.loads = pickle.load = lambda *_: os._exit(3)\nreturn x")

    outcomes = [talk(source).ask(make_call(wants=("x",)), INPUT) for _ in range(2)]

    assert all(isinstance(outcome.backward, Gradients) for outcome in outcomes)


# --- what is printed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("text = 'g' * 10**7\nfor _ in range(100):\n    print(text)", MOST_PRINTED),
        ("for _ in range(100_000):\n    print('g' * 127)", MOST_PRINTED),
        ("print('é' * 60_000, end='')", MOST_PRINTED // 2),
    ],
)
def test_conversation_output_beyond_the_limit_is_cut_and_said_to_be_cut(talk, body, kept):
    """A gigabyte fails nothing and costs nothing."""
    outcome = talk(function(body + "\nreturn x"), call_s=20).ask(make_call(), None)

    assert (True, kept) == (outcome.is_printed_cut, len(outcome.printed))
    assert isinstance(outcome.reply, Returned)


def test_conversation_output_within_the_limit_is_whole(talk):
    """Both streams, in order, up to the last character."""
    body = "print('a' * 1000)\nprint('b', file=sys.stderr)\nsys.stdout.write('c')\nreturn x"

    outcome = talk(function(body)).ask(make_call(), None)

    assert ("a" * 1000 + "\nb\nc", False) == (outcome.printed, outcome.is_printed_cut)


def test_conversation_output_past_python_reaches_the_same_place(talk):
    """What C code writes to the standard streams is kept too."""
    outcome = talk(function("os.write(1, b'one ')\nos.write(2, b'two\\n')\nreturn x")).ask(make_call(), None)

    assert "one two\n" == outcome.printed


def test_conversation_output_belongs_to_its_call(talk):
    """What one call printed is not shown with the next."""
    conversation = talk(function("print(x.shape[0])\nreturn x"))

    printed = [conversation.ask(make_call(INPUT[:rows]), None).printed for rows in (1, 2)]

    assert ["1\n", "2\n"] == printed


def test_conversation_output_that_is_no_text_is_shown_with_marks(talk):
    """Bytes that are no UTF-8, and half characters, break nothing."""
    outcome = talk(function("os.write(1, b'\\xff')\nprint('\\ud800')\nreturn x")).ask(make_call(), None)

    assert "\ufffd?\n" == outcome.printed


def test_conversation_streams_closed_by_the_student_cost_nothing(talk):
    """Whoever closes standard output has no output."""
    outcome = talk(function("os.close(1)\nos.close(2)\nsys.stdout.close()\nreturn x")).ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)


# --- faults of the grader ---------------------------------------------------------------------------------------


def test_conversation_killed_zygote_is_a_fault_that_is_remembered(own_zygote):
    """It is the grader's fault at once, is raised for every further call, and is there for whoever runs the session."""
    conversation, zygote = own_zygote(function("return x"))
    os.kill(warm_process(zygote.pid), signal.SIGKILL)

    for _ in range(2):
        with pytest.raises(LaunchError, match="the zygote"):
            conversation.ask(make_call(), None)

    assert isinstance(conversation.fault, LaunchError)


def test_conversation_zygote_killed_between_calls_is_a_fault(own_zygote):
    """A worker whose zygote has gone has ended with it."""
    conversation, zygote = own_zygote(function("return x"))
    conversation.ask(make_call(), None)
    (worker,) = workers_of(zygote.pid)

    os.kill(warm_process(zygote.pid), signal.SIGKILL)
    wait_until(lambda: not is_running(worker), "the worker has ended")

    with pytest.raises(LaunchError, match="the zygote has ended"):
        conversation.ask(make_call(), None)


def test_conversation_spawned_worker_answers_alike():
    """Where nothing can be forked, an interpreter of its own answers; its start is not the student's time."""
    limits = TimeLimits(import_s=0.7, submission_s=1.0)

    with Conversation(
        SpawnLauncher(), {"work.py": function("return x * 2")}, tiny_assignment(), limits
    ) as conversation:
        outcome = conversation.ask(make_call(wants=("x",)), INPUT)

    assert torch.equal(2 * INPUT, outcome.tensors["0"])
    assert torch.equal(2 * INPUT, outcome.gradients["arg.x"])


def test_conversation_code_that_asks_for_a_temporary_folder_is_told_one(talk):
    """Libraries ask for it where no file is wanted; Python would look for it by writing a file."""
    conversation = talk("import tempfile\n\nFOLDER = tempfile.gettempdir()\n\n" + function("return x * 2"))

    outcome = conversation.ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)


def test_conversation_second_import_is_no_time_of_the_student(talk):
    """A worker that was lost costs a new import, which is the grader's way of going on."""
    slow = "import os, time\ntime.sleep(0.7)\n\ndef answer(x, mark=0):\n"
    source = slow + "    if mark:\n        os._exit(0)\n    return x\n"
    conversation = talk(source, submission_s=2.0)
    crash = make_call(INPUT, arguments=({"tensor": "x"}, 1))

    replies = [conversation.ask(call, None).reply for call in (crash, crash, crash, make_call())]

    assert isinstance(replies[-1], Returned)


def test_conversation_imports_without_end_use_up_the_time(talk):
    """What imports slowly and crashes with every call would otherwise hold its examiner for as long as it is asked."""
    source = "import os, time\ntime.sleep(0.3)\n\ndef answer(x):\n    os._exit(0)\n"
    conversation = talk(source, submission_s=0.6)

    replies = [conversation.ask(make_call(), None).reply for _ in range(8)]

    assert NotAsked(reason="the submission has used its 0.6 s") == replies[-1]


def test_conversation_answers_are_kept_up_to_a_size_and_then_described(talk):
    """Eight MiB a call would fill the examiner's memory; the shape is enough to say what is wrong."""
    conversation = talk(function("return torch.zeros(1000, 1000, dtype=torch.float64)"))

    outcomes = [conversation.ask(make_call(), None) for _ in range(20)]

    assert [(1000, 1000)] * 20 == [outcome.reply.tree.shape for outcome in outcomes]
    assert sum(tensor.nbytes for outcome in outcomes for tensor in outcome.tensors.values()) <= 64 * 2**20
    assert outcomes[-1].reply.tree.data is None


LARGE_AND_KEPT = """
import torch
from torch import nn


class answer(nn.Module):
    def forward(self, x):
        self.weights = torch.zeros(1000, 1000, dtype=torch.float64)
        return x
"""


def test_conversation_values_of_a_module_are_kept_up_to_a_size_and_then_described(talk):
    """What a module holds once it has run is bounded as what it returns is."""
    conversation = talk(LARGE_AND_KEPT)
    built = {"build": Build(arguments={}, handle=1), "keeps": ("weights",)}

    outcomes = [conversation.ask(make_call(**built), None) for _ in range(20)]

    assert [(1000, 1000)] * 20 == [outcome.reply.kept[0].shape for outcome in outcomes]
    assert ({}, None) == (outcomes[-1].tensors, outcomes[-1].reply.kept[0].data)


def test_conversation_gradients_that_fit_no_input_are_not_kept(talk):
    """A forged reply may name anything; what is looked for is kept."""
    evil = "import sys\n" + FIND_SOCKET + "from grader_worker import wire\nclass Evil(torch.autograd.Function):\n"
    evil += "    @staticmethod\n    def forward(ctx, x):\n        return x * 2\n    @staticmethod\n"
    evil += "    def backward(ctx, grad):\n        os.write(fd, wire.encode({'status': 'gradients', 'missing': []},"
    evil += " {'arg.x': torch.ones(2, 3), 'more': torch.ones(9), 'arg.y': torch.ones(2)}))\n        return grad\n"
    conversation = talk(function("exec(EVIL, globals())\nreturn Evil.apply(x)") + f"\nEVIL = {evil!r}\n")

    outcome = conversation.ask(make_call(wants=("x",)), INPUT)

    assert ["arg.x"] == list(outcome.gradients)


def test_conversation_zygote_outlives_an_examiner_that_left_something_unread():
    """A socket that is closed with a message unread is reset, not ended: the other examiners must not notice."""
    with Zygote(2) as zygote:
        zygote.wait()
        leaving, staying = (ForkLauncher(control) for control in zygote.controls)
        worker = leaving.launch()
        worker.connection.close()
        ended = wait_until(lambda: select.select([zygote.controls[0]], [], [], 0)[0], "the worker's end is told")

        zygote.controls[0].close()

        assert ended
        assert 0 == staying.launch().wait().exit_code


@contextlib.contextmanager
def busy(processor, count):
    """Processes of sessions of their own that never rest, all on one processor."""
    code = f"import os\nos.sched_setaffinity(0, {{{processor}}})\nprint(flush=True)\nwhile True:\n    pass"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
        for _ in range(count)
    ]
    try:
        for process in started:
            process.stdout.readline()
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()
            process.stdout.close()


def test_conversation_worker_that_others_keep_from_its_processor_is_given_the_time(own_zygote):
    """A busy machine is not the student's doing: what counts is the time the code had, or did nothing with."""
    conversation, zygote = own_zygote(
        function(
            "end = time.process_time() + 0.2\nwhile len(x) > 1 and time.process_time() < end:\n    pass\nreturn x"
        ),
        call_s=0.4,
    )
    conversation.ask(make_call(INPUT[:1]), None)
    processor = min(os.sched_getaffinity(0))
    (worker,) = workers_of(zygote.pid)
    os.sched_setaffinity(worker, {processor})

    with busy(processor, 3):  # a quarter of the time is left, and less where other tests run beside this one
        reply = conversation.ask(make_call(), None).reply

    assert isinstance(reply, Returned), reply


def test_conversation_begun_anew_remembers_nothing(talk):
    """What a file keeps for itself is gone, and so is the worker that kept it."""
    conversation = talk("calls = []\n" + function("calls.append(1)\nreturn x * len(calls)"))
    conversation.ask(make_call(), None)

    conversation.begin_anew()
    outcome = conversation.ask(make_call(), None)

    assert INPUT.tolist() == outcome.tensors["0"].tolist()


def test_conversation_code_that_hangs_when_it_is_watched_is_watched_once(talk):
    """Being watched is no call of a check: it costs one deadline, and the callable is still asked."""
    body = "COUNT.append(1)\nwhile len(COUNT) > 1:\n    pass\nreturn x"
    conversation = talk(function(body) + "\nCOUNT = []\n", call_s=0.3)
    conversation.ask(make_call(), None)

    watched = conversation.trace(make_call(), None)
    used_s = conversation.used_s
    after = [conversation.ask(make_call(), None), conversation.trace(make_call(), None)]

    assert watched is None
    assert isinstance(after[0].reply, Returned)
    assert after[1] is None
    assert conversation.used_s < used_s + 0.3
