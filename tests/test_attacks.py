"""Every attack of `tests/attacks` fails, as an ordinary user and as root, and honest neighbours get what they deserve.

One run of the command a user, over all attacks at once; the tests look up what each achieved. Where this suite may make
boxes (as root), the run is in one, so that an attack that succeeds one day reaches nothing of this machine.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from as_user import UNUSED_UID, boxed, can_box
from attacks.corpus import KINDS, attacks, honest
from attacks.scene import Findings
from conftest import ATTACKS_TRIED

#: What `--isolation` is to be.
ISOLATION = "strong"
SANDBOXED = [f"--option=--isolation={ISOLATION}"]
#: What leaves no sandbox, to prove that the canaries would tell.
UNISOLATED = ["--without=landlock,seccomp,namespaces", "--option=--isolation=best"]

TESTS = Path(__file__).parent
TRIED = [one for one in attacks() if not one.rule]
ON_RULES = [one for one in attacks() if one.rule]
IS_BOXED = can_box()
USERS = (
    {"root": 0, "ordinary user": UNUSED_UID} if IS_BOXED else {"root" if os.geteuid() == 0 else "ordinary user": None}
)
#: Kinds that do the same whoever runs them: where both users are tried, root is not tried with these.
SAME_FOR_BOTH = ("forging", "hijack", "lying_results", "reader") if len(USERS) > 1 else ()
PAIRS = [(one, user) for user in USERS for one in TRIED if user != "root" or one.kind not in SAME_FOR_BOTH]
_PATIENCE_S = 900


@cache
def found_as(user, folder):
    """The findings of the run as that user."""
    left_out = [f"--but={kind}" for kind in SAME_FOR_BOTH] if user == "root" else []
    return scene(USERS[user], folder, [*SANDBOXED, *left_out])


def scene(uid, folder, words):
    """Findings of one scene."""
    folder.mkdir(exist_ok=True)
    folder.chmod(0o777)
    out = folder / "findings.json"
    command = [sys.executable, "-m", "attacks.scene", "--out", str(out), *words]
    done = subprocess.run(
        command if uid is None else boxed(uid, [folder], command),
        cwd=TESTS,
        env=os.environ | {"PYTHONPATH": str(TESTS.parent)},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
    )
    assert 0 == done.returncode, done.stderr
    return Findings(**json.loads(out.read_text()))


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """Where runs leave their findings."""
    return tmp_path_factory.mktemp("attacks")


@pytest.fixture
def findings(request, place, user):
    """Those of the run as that user, noted for the last lines of the suite."""
    found = found_as(user, place / user.replace(" ", "-"))
    request.config.stash[ATTACKS_TRIED][user] = found
    return found


as_each_user = pytest.mark.parametrize("user", USERS)


@pytest.mark.parametrize(
    ("attack", "user"), PAIRS, ids=[f"{one.kind}-{one.id.replace(' ', '-')}-{user}" for one, user in PAIRS]
)
def test_attack_achieves_nothing(findings, attack):
    """No points, no secret, nothing reached, changed, left or shown."""
    assert [] == findings.achieved[attack.id]


@as_each_user
def test_attack_of_nobody_is_seen(findings):
    """Nothing happened around a run that no single attack is known for."""
    assert [] == findings.unattributed


@as_each_user
@pytest.mark.parametrize("name", [one.id for one in honest()])
def test_honest_neighbour_gets_the_same_entry_as_alone(findings, name):
    """Its points, verdicts, messages and output, byte for byte but for times."""
    assert [] == findings.honest[name]


# --- the rules of an assignment ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def under_rules(request, tmp_path_factory):
    """The run of attacks on the rules of an assignment."""
    user = list(USERS)[-1]
    found = scene(USERS[user], tmp_path_factory.mktemp("rules"), [*SANDBOXED, "--rules"])
    request.config.stash[ATTACKS_TRIED][f"{user}, on the rules"] = found
    return found


@pytest.mark.parametrize("attack", ON_RULES, ids=lambda attack: attack.id.replace(" ", "-"))
def test_attack_on_the_rules_is_forbidden_or_flagged(under_rules, attack):
    """What is called by its name costs its points; what is hidden is seen, or looked at by a person."""
    assert [] == under_rules.achieved[attack.id]


def test_attacks_on_the_rules_change_nothing_for_others(under_rules):
    """Neighbours get what they get alone, under the same rules."""
    assert {name: [] for name in under_rules.honest} == under_rules.honest
    assert [] == under_rules.unattributed


# --- the proof itself -----------------------------------------------------------------------------------------------

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
    folder = tmp_path_factory.mktemp("unisolated")
    return scene(UNUSED_UID, folder, [*UNISOLATED, *dict.fromkeys(REACHED.values()), "signals everybody"])


@pytest.mark.parametrize("canary", REACHED)
def test_canary_is_reached_where_there_is_no_sandbox(without_sandbox, canary):
    """What the proof relies on not seeing, it sees when it is there."""
    assert canary in without_sandbox.achieved[REACHED[canary]]


def test_canary_of_all_processes_and_of_the_system_are_reached(without_sandbox):
    """A signal to everybody reaches the bystander; a shared segment stays in the system."""
    text = "\n".join(without_sandbox.unattributed)

    assert "victim got signal SIGURG: the bystander" in text
    assert "changed the system's shm" in text


def test_corpus_has_attacks_of_every_kind():
    """More than a hundred, some of each kind, and each says what it wants."""
    known = attacks()

    assert len(known) > 100
    assert set(KINDS) == {one.kind for one in known}
    assert [] == [one.id for one in known if not one.aim.endswith(".") and not one.aim.endswith(").")]
    assert [] == [one.id for one in known if not one.files and not one.builder]
