"""A scene as a user, in a box where this machine makes boxes: for the tests of the attacks.

Where tests may make boxes (as root), an attack that succeeds one day reaches nothing of this machine.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from as_user import UNUSED_UID, boxed, can_box

from attacks.scene import Findings

#: A level of isolation, as an option of the scene.
STRONG = "--option=--isolation=strong"
IS_BOXED = can_box()
#: Who grades, by name: numbers of users, or None where it can only be whoever runs the tests.
USERS = (
    {"root": 0, "ordinary user": UNUSED_UID} if IS_BOXED else {"root" if os.geteuid() == 0 else "ordinary user": None}
)
#: Kinds that do the same whoever runs them: where both users are tried, root is not tried with these.
SAME_FOR_BOTH = ("forging", "hijack", "lying_results", "reader")
_TESTS = Path(__file__).parents[1]
_PATIENCE_S = 900


def scene_of(uid: int | None, folder: Path, words: list[str]) -> Findings:
    """Findings of one scene, which leaves them in that folder. `words`: its command line."""
    folder.chmod(0o777)
    out = folder / "findings.json"
    command = [sys.executable, "-m", "attacks.scene", "--out", str(out), *words]
    done = subprocess.run(
        command if uid is None else boxed(uid, [folder], command),
        cwd=_TESTS,
        env=os.environ | {"PYTHONPATH": str(_TESTS.parent)},
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
    )
    assert 0 == done.returncode, done.stderr
    return Findings(**json.loads(out.read_text()))
