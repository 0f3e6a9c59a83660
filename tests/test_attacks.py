"""Every attack of `tests/attacks` fails, as an ordinary user, and honest neighbours get what they deserve.

One run of the command over all attacks at once; the tests look up what each achieved. `test_attacks_as_root` tries
again what root may do and others may not.
"""

import pytest
from attacks.boxed_scene import STRONG, USERS, scene_of
from attacks.corpus import KINDS, attacks, honest
from conftest import note_attacks

#: An ordinary one, wherever the suite may choose.
USER = list(USERS)[-1]


@pytest.fixture(scope="module")
def findings(request, tmp_path_factory):
    """Those of the run."""
    found = scene_of(USERS[USER], tmp_path_factory.mktemp("attacks"), [STRONG])
    note_attacks(request.config, USER, found)
    return found


@pytest.mark.parametrize(
    "attack",
    [one for one in attacks() if not one.rule],
    ids=lambda attack: f"{attack.kind}-{attack.id.replace(' ', '-')}",
)
def test_attack_achieves_nothing(findings, attack):
    """No points, no secret, nothing reached, changed, left or shown."""
    assert [] == findings.achieved[attack.id]


def test_attack_of_nobody_is_seen(findings):
    """Nothing happened around a run that no single attack is known for."""
    assert [] == findings.unattributed


@pytest.mark.parametrize("name", [one.id for one in honest()])
def test_honest_neighbour_gets_the_same_entry_as_alone(findings, name):
    """Its points, verdicts, messages and output, byte for byte but for times."""
    assert [] == findings.honest[name]


def test_corpus_has_attacks_of_every_kind():
    """More than a hundred, some of each kind, and each says what it wants."""
    known = attacks()

    assert len(known) > 100
    assert set(KINDS) == {one.kind for one in known}
    assert [] == [one.id for one in known if not one.aim.endswith(".") and not one.aim.endswith(").")]
    assert [] == [one.id for one in known if not one.files and not one.builder]
