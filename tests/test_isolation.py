"""How well a worker is kept in: what each layer refuses, and the level that follows from what was tried."""

import pytest
from conftest import workers_of

from grader.isolation import _FORGING, _HARMLESS, Attempt, Probed, kept, probe
from grader.launch import ForkLauncher, Zygote
from grader.report import Isolation
from grader.worker.sandbox.kernel import PR_SET_DUMPABLE, prctl
from grader.worker.sandbox.layers import LAYERS
from grader.worker.sandbox.privileges import hide_memory

#: What every layer must refuse by itself, in a zygote that shares the namespaces of this test.
REFUSED_ALONE = {
    "landlock": {
        "read a file",
        "list a folder",
        "write a file",
        "overwrite a file",
        "truncate a file",
        "rename a file",
        "make a link",
        "make a folder",
        "signal the grader",
        "signal the zygote",
        "read the grader's memory",
        "trace the grader",
        "connect over TCP",
        "connect to an abstract socket",
    },
    "seccomp": {
        "write a file",
        "truncate a file",
        "change a file's mode",
        "change a file's time",
        "rename a file",
        "make a link",
        "make a folder",
        "signal the grader",
        "signal the grader by a descriptor",
        "copy the grader's memory",
        "trace the grader",
        "limit the grader",
        "slow the grader",
        "bind the grader to a processor",
        "signal the zygote",
        "connect over TCP",
        "send over UDP",
        "connect to a socket in a folder",
        "connect to an abstract socket",
        "start a process",
        "start a program",
        "set limits",
        "outlive the grader",
        "shmget",
        "add_key",
        "perf_event_open",
        "userfaultfd",
        "io_uring_setup",
        "memfd_create",
        "pidfd_open",
        "enter a user namespace",
    },
}


@pytest.fixture(scope="module")
def shared():
    """A zygote in the namespaces of this process, so that each layer is seen alone."""
    with Zygote(1, in_namespaces=False) as zygote:
        zygote.wait()
        yield ForkLauncher(zygote.controls[0]), zygote.layers


@pytest.fixture(scope="module")
def alone(shared):
    """What a worker finds under one layer, or under none."""
    launcher, layers = shared
    return {name: probe(launcher, layers, [name] if name else []) for name in ("", *LAYERS)}


@pytest.fixture
def hidden():
    """This process hides its memory, as a grading one does."""
    hide_memory()
    yield
    prctl(PR_SET_DUMPABLE, 1)


def refused(probed):
    """Names of the attempts that failed."""
    return {name for name, attempt in probed.attempts.items() if not attempt.reached}


def probed_with(*reached):
    """What a worker would say that reached these, and nothing else."""
    names = ("read a file", "write a file", "send over UDP", "see that a file exists")
    attempts = {name: Attempt(reached=name in reached, said="done") for name in names}
    return Probed(attempts=attempts, needs={})


def test_isolation_without_layers_everything_is_reached_but_what_limits_refuse(alone):
    """The attempts are real: nothing else on this machine stops them, so a refusal is a layer's doing."""
    limits = {"take a terabyte of memory", "open thousands of files"}

    assert {"see that a file exists"} | limits >= refused(alone[""]) >= limits


@pytest.mark.parametrize("layer", REFUSED_ALONE)
def test_isolation_one_layer_alone_refuses_what_it_is_for(alone, layer):
    """No layer leans on another: should one be missing, this is what the others still do."""
    assert set() == REFUSED_ALONE[layer] - refused(alone[layer])


def test_isolation_without_landlock_files_can_be_read_and_no_more(shared, hidden):
    """Then answers on the disk may be read, but no score can be forged."""
    launcher, layers = shared

    probed = probe(launcher, layers, ["identity", "seccomp"])

    assert ["read a file", "list a folder"] == probed.reached
    assert Isolation.PARTIAL is probed.level


def test_isolation_without_seccomp_the_machine_can_be_disturbed(shared, hidden):
    """Landlock knows nothing of limits, priorities and modes of files: a score could be tampered with."""
    launcher, layers = shared

    probed = probe(launcher, layers, ["identity", "landlock"])

    assert {"change a file's mode", "start a process", "send over UDP"} <= {*probed.reached}
    assert Isolation.NONE is probed.level


def test_isolation_grader_that_hides_its_memory_keeps_it(shared, hidden):
    """Even from a worker without any layer but the loss of its capabilities."""
    launcher, layers = shared

    probed = probe(launcher, layers, ["identity"])

    kept_back = ("read the grader's memory", "copy the grader's memory", "read the grader's environment")
    assert [False] * 3 == [probed.attempts[name].reached for name in kept_back]


def test_isolation_landlock_and_seccomp_without_namespaces_are_strong(shared):
    """As in a container whose profile forbids namespaces."""
    launcher, layers = shared

    assert [] == probe(launcher, layers).reached
    assert "" == layers["namespaces"]


def test_isolation_namespaces_hide_what_exists(zygote, launcher):
    """With them even the existence of a file is hidden, and the level is strong too."""
    probed = probe(launcher, zygote.layers)

    assert Isolation.STRONG is probed.level
    assert not probed.attempts["see that a file exists"].reached


def test_isolation_probe_leaves_no_process_behind(zygote, launcher):
    """Its worker has ended when it returns, and the child that it was able to start."""
    probed = probe(launcher, zygote.layers, [])

    assert probed.attempts["start a process"].reached
    assert [] == workers_of(zygote.pid)


@pytest.mark.parametrize(
    ("reached", "level"),
    [
        ((), Isolation.STRONG),
        (("see that a file exists",), Isolation.STRONG),
        (("read a file",), Isolation.PARTIAL),
        (("send over UDP",), Isolation.PARTIAL),
        (("read a file", "write a file"), Isolation.NONE),
    ],
)
def test_isolation_level_is_what_was_not_refused(reached, level):
    """Reading is worse than nothing, writing is the worst, and a file's existence no secret."""
    assert level is probed_with(*reached).level


def test_isolation_attempts_that_decide_a_level_are_all_made(alone):
    """A name that no attempt has would never be reached, and the level be higher than it is."""
    assert set() == (_FORGING | _HARMLESS) - set(alone[""].attempts)


def test_isolation_weak_one_says_what_students_can_do_and_what_is_missing():
    """The text stands in every report, so it says what to do."""
    layers = {"landlock": "missing (ENOSYS)", "seccomp": "a filter", "namespaces": "pid mount"}

    found = kept(probed_with("read a file"), layers)

    assert (
        "No score can be forged, but students' code can read a file. "
        "Missing: Landlock comes with Linux 5.13 and newer, when /sys/kernel/security/lsm lists it."
    ) == found.detail


def test_isolation_strong_one_needs_no_words():
    """Nothing is missing."""
    assert "" == kept(probed_with(), {}).detail
