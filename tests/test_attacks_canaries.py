"""The proof of the attacks proved: where there is no sandbox, an attack is seen to reach each kind of canary."""

import pytest
from attacks.boxed_scene import IS_BOXED, USERS, scene_of

#: What leaves no sandbox.
UNISOLATED = ["--without=landlock,seccomp,namespaces", "--option=--isolation=best"]
#: A kind of canary, and an attack that reaches it where there is no sandbox.
REACHED = {
    "got 10 points instead of 0": "runs the reference's text",
    "got 8 points instead of 0": "answers in a shared segment",
    "read the secret file": "opens the secret file",
    "read the secret name": "lists the secret folder",
    "read the secret size": "asks for the size of the secret file",
    "read the secret reference": "reads the reference",
    "read the secret hidden": "reads the hidden checks",
    "read the secret neighbour": "reads a neighbour's work",
    "read the secret report": "reads the reports",
    "read the secret seed": "reads the seed in a command line",
    "read the secret victim": "copies another process's memory",
    "was allowed what it must not be": "forks",
    "reached socket tcp": "connects by tcp",
    "reached socket udp": "sends by udp",
    "reached socket unix": "connects to a socket in a folder",
    "reached socket unix datagram": "sends to a datagram socket in a folder",
    "reached socket abstract": "connects to an abstract socket",
    "victim got signal SIGUSR1": "signals another process",
    "victim got signal SIGUSR2": "raises signals by the connection",
    "victim stopped by 19": "stops another process",
    "victim ended: 9": "kills another process",
    "victim's niceness became '7'": "makes another process nice",
    "left a file": "writes a file where all may",
    "left a file among the reports": "writes a report",
    "changed the disk": "changes a file's times",
    "left a process running": "ends whoever would end it",
}


@pytest.fixture(scope="module")
def without_sandbox(tmp_path_factory):
    """A run of one attack for each kind of canary, without a sandbox, in a box."""
    if not IS_BOXED:
        pytest.skip("without a sandbox, attacks run in a box only, which needs root")
    words = [*UNISOLATED, "--no-neighbours", *dict.fromkeys(REACHED.values()), "signals everybody"]
    return scene_of(USERS["ordinary user"], tmp_path_factory.mktemp("unisolated"), words)


@pytest.mark.parametrize("canary", REACHED)
def test_canary_is_reached_where_there_is_no_sandbox(without_sandbox, canary):
    """What the proof relies on not seeing, it sees when it is there."""
    assert canary in without_sandbox.achieved[REACHED[canary]]


def test_canary_of_all_processes_and_of_the_system_are_reached(without_sandbox):
    """A signal to everybody reaches the bystander; a shared segment stays in the system."""
    text = "\n".join(without_sandbox.unattributed)

    assert "victim got signal SIGURG: the bystander" in text
    assert "changed the system's shm" in text
