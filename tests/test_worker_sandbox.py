"""What student code sees of the machine from inside the sandbox, and what it can still do there."""

import os
import signal
from pathlib import Path

import pytest
from conftest import function, is_running, make_call, wait_until, warm_process, workers_of

from grader.launch import Zygote
from grader.outcome import Died, Raised, Returned

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "body",
    [
        "os.fork()",
        "os.system('true')",
        "import subprocess\nsubprocess.run(['true'])",
        "import subprocess\nsubprocess.Popen(['true'], close_fds=False, start_new_session=True)",
        "os.posix_spawn('/bin/true', ['true'], {})",
        "import multiprocessing\nmultiprocessing.get_context('fork').Process(target=print).start()",
        "import pty\npty.fork()",
        "import socket\nsocket.socket()",
        "import socket\nsocket.socketpair()",
        "os.memfd_create('x')",
        "open('/tmp/x', 'w')",
        "os.mkdir('/tmp')",
        "os.symlink('/', '/dev/x')",
        "os.chmod('/dev/null', 0o600)",
        "os.nice(1)",
        "os.sched_setaffinity(0, {0})",
        "os.setsid()",
        "os.killpg(os.getpgid(0), 0)",
        "os.kill(1, 0)",
        "os.kill(-1, 0)",
        "os.setuid(0)",
        "open('/proc/self/mem', 'r+b')",
        "open('/proc/1/environ', 'rb')",
        "os.listdir('/proc')",
        "os.chroot('/')",
        "os.mkfifo('/dev/fifo')",
    ],
)
def test_sandbox_student_code_is_refused_what_homework_does_not_need(answer_of, body):
    """An error of the system that Python can tell, and a worker that answers on."""
    reply = answer_of(f"try:\n    {body.replace(chr(10), chr(10) + '    ')}\nexcept OSError:\n    return x").reply

    assert isinstance(reply, Returned) or "OSError" in getattr(reply, "bases", ()), reply
    assert isinstance(reply, Returned) or "OSError" in reply.bases


def test_sandbox_programs_started_through_the_c_library_do_not_run(talk):
    """`system(3)` reports failure in its result, and nothing was printed by anybody else."""
    outcome = talk(function("print(os.system('echo started'))\nreturn x")).ask(make_call(), None)

    assert isinstance(outcome.reply, Returned)
    assert "started" not in outcome.printed


def test_sandbox_only_what_torch_and_python_need_exists(answer_of):
    """Neither the course nor the grader, nor anything of the user's, is there to be looked at."""
    places = [str(ROOT / name) for name in ("reference", "assignments", "README.md")] + ["/etc/passwd", "/home"]

    printed = answer_of(f"print([one for one in {places!r} if os.path.exists(one)])").printed

    assert "[]\n" == printed


def test_sandbox_package_that_torch_does_not_need_cannot_be_imported(answer_of):
    """What the grader itself is built on is not the student's."""
    reply = answer_of("import click").reply

    assert ("ModuleNotFoundError", "No module named 'click'") == (reply.type, reply.message)


def test_sandbox_environment_holds_listed_variables_only(answer_of, monkeypatch):
    """A token of the CI system is not among them."""
    monkeypatch.setenv("CI_TOKEN", "secret")

    printed = answer_of("print(sorted(os.environ))").printed

    allowed = {
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "PYTHONHASHSEED",
        "MALLOC_ARENA_MAX",
        "LANG",
        "PYTHONDONTWRITEBYTECODE",
        "TORCH_COMPILE_DISABLE",
        "LD_LIBRARY_PATH",
        "OPENBLAS_CORETYPE",
        "OPENBLAS_L2_SIZE",
        "LC_CTYPE",  # Python's own (PEP 538)
    }
    names = {name for name in eval(printed) if not name.startswith(("KMP_", "TORCHINDUCTOR_"))}  # torch's own
    assert set() == names - allowed


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_sandbox_worker_of_root_is_nobody(answer_of):
    """Files that only root may read are closed to it whatever else fails."""
    printed = answer_of("print(os.getuid(), os.geteuid(), os.getgid(), os.getgroups())").printed

    user, effective, group, groups = printed.split(maxsplit=3)
    assert "0" not in (user, effective, group)
    assert "[]\n" == groups


def test_sandbox_call_of_another_interface_ends_the_worker(answer_of):
    """The x32 calls of a 64-bit kernel would pass a filter that looks at 64-bit numbers alone."""
    reply = answer_of("import ctypes\nctypes.CDLL(None).syscall(0x40000000 | 39)").reply

    assert Died(stage="call", exit_code=-signal.SIGSYS) == reply


def test_sandbox_thread_inherits_it(answer_of):
    """What the worker may not do its threads may not."""
    body = (
        "import concurrent.futures\n"
        "with concurrent.futures.ThreadPoolExecutor(1) as pool:\n    pool.submit(os.fork).result()"
    )

    reply = answer_of(body).reply

    assert isinstance(reply, Raised)
    assert "PermissionError" == reply.type


@pytest.mark.parametrize("of", ["outer", "inner"])
def test_sandbox_zygote_that_is_killed_takes_all_with_it(of):
    """Whichever of its two processes ends, the workers end too."""
    with Zygote(1) as zygote:
        zygote.wait()
        launched = [zygote.pid, warm_process(zygote.pid), *workers_of(zygote.pid)]

        os.kill(launched[0 if of == "outer" else 1], signal.SIGKILL)

        wait_until(lambda: not any(is_running(pid) for pid in launched), "all have ended")


def test_sandbox_zygote_that_is_closed_has_ended_with_all_its_processes():
    """There is no moment in which a worker outlives the run."""
    zygote = Zygote(1)
    zygote.wait()
    launched = [zygote.pid, warm_process(zygote.pid)]

    zygote.close()

    assert [] == [pid for pid in launched if is_running(pid)]
