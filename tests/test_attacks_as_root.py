"""Attacks whose fate may depend on who grades fail as root, too: what only root may do is closed to them."""

import pytest
from attacks.boxed_scene import IS_BOXED, SAME_FOR_BOTH, STRONG, USERS, scene_of
from attacks.corpus import attacks, honest
from conftest import note_attacks

pytestmark = pytest.mark.skipif(not IS_BOXED, reason="two users can be tried as root only; one is, in test_attacks")


@pytest.fixture(scope="module")
def findings(request, tmp_path_factory):
    """Those of the run as root."""
    words = [STRONG, *(f"--but={kind}" for kind in SAME_FOR_BOTH)]
    found = scene_of(USERS["root"], tmp_path_factory.mktemp("attacks"), words)
    note_attacks(request.config, "root", found)
    return found


@pytest.mark.parametrize(
    "attack",
    [one for one in attacks() if not one.rule and one.kind not in SAME_FOR_BOTH],
    ids=lambda attack: f"{attack.kind}-{attack.id.replace(' ', '-')}",
)
def test_attack_as_root_achieves_nothing(findings, attack):
    """No points, no secret, nothing reached, changed, left or shown."""
    assert [] == findings.achieved[attack.id]


def test_attack_as_root_of_nobody_is_seen(findings):
    """Nothing happened around a run that no single attack is known for."""
    assert [] == findings.unattributed


@pytest.mark.parametrize("name", [one.id for one in honest()])
def test_honest_neighbour_as_root_gets_the_same_entry_as_alone(findings, name):
    """Its points, verdicts, messages and output, byte for byte but for times."""
    assert [] == findings.honest[name]
