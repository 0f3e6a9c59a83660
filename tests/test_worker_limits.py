"""Limits of a worker: what the kernel refuses to a student's code, and what it ends with the worker."""

import os
import resource
import signal

import pytest
from conftest import function, is_running, make_call, wait_until, warm_process, workers_of

from grader.assignment import Limits
from grader.outcome import Died, Raised, Returned, TimedOut

SMALL = Limits(memory_mib=128)


@pytest.mark.parametrize(
    "body",
    [
        "return bytearray(10**12)",
        "return torch.zeros(10**11)",
        "hoard = []\nwhile True:\n    hoard.append(bytearray(10**7))",
        "hoard = []\nwhile True:\n    hoard.append(torch.ones(10**6))",
        "import numpy\nreturn numpy.ones(10**11)",
    ],
)
def test_limits_memory_bomb_is_out_of_memory(talk, body):
    """Whoever allocates too much is told so, by Python, torch and numpy alike."""
    reply = talk(function(body), SMALL, call_s=20).ask(make_call(), None).reply

    assert isinstance(reply, Raised), reply
    assert reply.is_out_of_memory


def test_limits_worker_after_a_memory_bomb_is_a_fresh_one(talk):
    """A hoard that is kept does not starve the next call."""
    source = "hoard = []\n" + function(
        "while x is not None and x.ndim == 2:\n    hoard.append(bytearray(10**7))\nreturn x"
    )
    conversation = talk(source, SMALL, call_s=20)
    conversation.ask(make_call(), None)

    reply = conversation.ask(make_call(make_call().payload.tensors["arg.x"][0]), None).reply

    assert isinstance(reply, Returned)


def test_limits_ordinary_work_fits_beside_torch(talk):
    """The limit is on top of what torch itself takes."""
    reply = talk(function("return torch.ones(4 * 10**6).softmax(0).sum()"), SMALL).ask(make_call(), None).reply

    assert isinstance(reply, Returned)


def test_limits_file_cannot_be_written(tmp_path, talk):
    """No byte reaches the disk, and the student reads why."""
    path = tmp_path / "left_behind"

    reply = talk(function(f"with open({str(path)!r}, 'w') as file:\n    file.write('x')")).ask(make_call(), None).reply

    assert "OSError" in reply.bases
    assert not path.exists() or 0 == path.stat().st_size


def test_limits_descriptors_run_out(talk):
    """Open files are limited too."""
    reply = talk(function("return [os.dup(0) for _ in range(1000)]")).ask(make_call(), None).reply

    assert ("OSError", True) == (reply.type, "Too many open files" in reply.message)


def test_limits_processor_time_ends_a_worker_that_outlives_its_deadline(talk):
    """The second line behind the deadlines: the kernel kills."""
    conversation = talk(function("while True:\n    pass"), Limits(cpu_s=1), call_s=30)

    reply = conversation.ask(make_call(), None).reply

    assert isinstance(reply, Died)
    assert reply.exit_code in (-signal.SIGXCPU, -signal.SIGKILL)


def test_limits_cannot_be_raised_again(talk):
    """Soft and hard limits are one."""
    names = ("RLIMIT_AS", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE")
    source = function(f"import resource\nfor name in {names}:\n    print(*resource.getrlimit(getattr(resource, name)))")

    printed = talk(source).ask(make_call(), None).printed

    pairs = [line.split() for line in printed.splitlines()]
    assert 4 == len(pairs)
    assert all(soft == hard and soft != str(resource.RLIM_INFINITY) for soft, hard in pairs)


def test_limits_worker_holds_its_connection_and_nothing_else_open(talk):
    """No socket of the zygote, no file of the grader: standard streams, the connection and the pipe."""
    source = function(
        "print(sorted(os.readlink(f'/proc/self/fd/{d}').split(':')[0] for d in range(64)\n"
        "      if os.path.exists(f'/proc/self/fd/{d}')))"
    )

    printed = talk(source).ask(make_call(), None).printed

    assert "['/dev/null', 'pipe', 'pipe', 'pipe', 'socket']\n" == printed


def test_limits_process_left_running_ends_with_its_worker(own_zygote):
    """Where no layer forbids a child, it cannot outlive the submission, nor can its own children."""
    body = "if os.fork() == 0:\n    os.setsid()\n    os.fork()\n    while True:\n        time.sleep(1)\nreturn x"
    conversation, zygote = own_zygote(function(body), layers=())
    conversation.ask(make_call(), None)
    children = wait_until(
        lambda: len(found := workers_of(zygote.pid)) == 3 and found, "worker, child and grandchild run"
    )

    conversation.close()

    wait_until(lambda: not any(map(is_running, children)), "all have ended")


def test_limits_process_left_running_after_a_timeout_ends(own_zygote):
    """SIGKILL at a deadline takes the worker's children with it."""
    conversation, zygote = own_zygote(function("os.fork()\nwhile True:\n    time.sleep(1)"), layers=())

    reply = conversation.ask(make_call(), None).reply

    assert isinstance(reply, TimedOut)
    wait_until(lambda: not workers_of(zygote.pid), "worker and child have ended")


def test_limits_worker_ends_with_its_zygote(own_zygote):
    """When the zygote is killed, the kernel ends what it forked."""
    conversation, zygote = own_zygote(function("return x"))
    conversation.ask(make_call(), None)
    (worker,) = workers_of(zygote.pid)

    os.kill(warm_process(zygote.pid), signal.SIGKILL)

    wait_until(lambda: not is_running(worker), "the worker has ended")


def test_limits_threads_run_out(answer_of):
    """Small ones too, that fit into any memory: each takes a process number of the machine."""
    body = """
import ctypes
libc, many = ctypes.CDLL(None), 0
attributes, thread = ctypes.create_string_buffer(64), ctypes.c_ulong()
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(16384))
start, pause = libc.pthread_create, ctypes.cast(libc.pause, ctypes.c_void_p)
while many < 5000 and not start(ctypes.byref(thread), attributes, pause, None):
    many += 1
print(many)
return x"""

    assert 4 <= int(answer_of(body).printed) < 200


def test_limits_threads_of_one_worker_leave_another_its_own(talk):
    """They are counted by themselves, so that a bomb costs nobody else a thread."""
    bomb = talk(
        function(
            "import threading\ntry:\n    while True:\n        threading.Thread(target=threading.Event().wait, "
            "daemon=True).start()\nexcept RuntimeError:\n    return x"
        )
    )
    other = talk(
        function(
            "import threading\nfor _ in range(40):\n    threading.Thread(target=threading.Event().wait, "
            "daemon=True).start()\nreturn x"
        )
    )

    replies = [conversation.ask(make_call(), None).reply for conversation in (bomb, other)]

    assert ["returned", "returned"] == [reply.status for reply in replies]
