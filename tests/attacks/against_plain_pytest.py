"""How many attacks succeed against an ordinary pytest file that imports the student's module, and how many here.

`python -m attacks.against_plain_pytest` from the folder `tests`, as root: each attack in a box of its own, which takes
some minutes. An attack succeeds when the tests pass, or a canary is reached; that it holds the run up, or ends whoever
started it, is counted apart. The baseline has no sandbox and no rules, as is usual; a limit of time and memory a run.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from as_user import ROOT, UNUSED_UID, boxed, can_box

from attacks.corpus import Attack, attacks

#: Facts that are a nuisance and no success.
_HELD_UP = {"did not end", "ended whoever started it"}
_PATIENCE_S = 90


def main() -> None:
    """Try all, print the counts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("ids", nargs="*", help="ids or kinds; all when left out")
    parser.add_argument("--option", action="append", default=[], help="handed on to grade")
    parser.add_argument("--rules", action="store_true", help="the attacks on the rules of an assignment, and no others")
    parser.add_argument("--list", action="store_true", help="say what each achieved, as it ends")
    options = parser.parse_args()
    if not can_box():
        sys.exit("an ordinary pytest run keeps no attack from anything; they run in boxes only, which needs root")
    chosen = [one for one in attacks() if bool(one.rule) == options.rules]
    chosen = [one for one in chosen if not options.ids or {one.kind, one.id} & set(options.ids)]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            plain = list(pool.map(lambda one: _plain(one, Path(folder), options.list), chosen))
        here = _here(options, Path(folder))
    _print(chosen, plain, here)


def _plain(attack: Attack, folder: Path, is_told: bool) -> list[str]:
    """What an attack achieves against pytest, told at once if asked for."""
    achieved = _tried(attack, folder / attack.tag)
    if is_told:
        print(f"{attack.kind}: {attack.id}: {', '.join(achieved) or 'nothing'}", flush=True)
    return achieved


def _tried(attack: Attack, out: Path) -> list[str]:
    command = [sys.executable, "-m", "attacks.plain_scene", attack.id, "--out", str(out)]
    try:
        _run(command, out.parent, _PATIENCE_S)
    except subprocess.TimeoutExpired:
        return ["did not end"]
    achieved: list[str] = json.loads(out.read_text()) if out.exists() else ["ended whoever started it"]
    return achieved


def _here(options: argparse.Namespace, folder: Path) -> dict[str, list[str]]:
    """What all attacks achieve against the grader."""
    out = folder / "here"
    words = [f"--option={word}" for word in options.option] + (["--rules"] if options.rules else [])
    _run([sys.executable, "-m", "attacks.scene", "--out", str(out), *words, *options.ids], folder, 1000)
    found = json.loads(out.read_text())
    achieved: dict[str, list[str]] = found["achieved"]
    return achieved | ({"all": found["unattributed"]} if found["unattributed"] else {})


def _run(command: Sequence[str], folder: Path, patience_s: float) -> None:
    subprocess.run(
        boxed(UNUSED_UID, [folder], list(command)),
        cwd=Path(__file__).parents[1],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=patience_s,
    )


def _print(chosen: list[Attack], plain: list[list[str]], here: dict[str, list[str]]) -> None:
    succeeded = [bool(set(achieved) - _HELD_UP) for achieved in plain]
    passed = sum("passed" in achieved for achieved in plain)
    held_up = sum(bool(set(achieved) & _HELD_UP) for achieved in plain)
    tried, won = Counter(one.kind for one in chosen), Counter()
    for attack, is_won in zip(chosen, succeeded, strict=True):
        won[attack.kind] += is_won
    for kind in tried:
        print(f"{kind:15} {won[kind]:4} of {tried[kind]:4} succeed against plain pytest")
    print(
        f"{sum(succeeded)} of {len(chosen)} attacks succeed against plain pytest ({passed} pass its tests, the others "
        f"reach a canary; {held_up} hold it up or end it), {sum(map(bool, here.values()))} of {len(here)} here"
    )


if __name__ == "__main__":
    main()
