"""Attacks on the rules of an assignment: what it forbids is forbidden or flagged, however it is called."""

import pytest
from attacks.boxed_scene import STRONG, USERS, scene_of
from attacks.corpus import attacks
from conftest import note_attacks


@pytest.fixture(scope="module")
def under_rules(request, tmp_path_factory):
    """The run of attacks on the rules of an assignment."""
    user = list(USERS)[-1]
    found = scene_of(USERS[user], tmp_path_factory.mktemp("rules"), [STRONG, "--rules"])
    note_attacks(request.config, f"{user}, on the rules", found)
    return found


@pytest.mark.parametrize(
    "attack", [one for one in attacks() if one.rule], ids=lambda attack: attack.id.replace(" ", "-")
)
def test_attack_on_the_rules_is_forbidden_or_flagged(under_rules, attack):
    """What is called by its name costs its points; what is hidden is seen, or looked at by a person."""
    assert [] == under_rules.achieved[attack.id]


def test_attacks_on_the_rules_change_nothing_for_others(under_rules):
    """Neighbours get what they get alone, under the same rules."""
    assert {name: [] for name in under_rules.honest} == under_rules.honest
    assert [] == under_rules.unattributed
