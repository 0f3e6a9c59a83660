"""One attack against an ordinary pytest file that imports the student's module, with the same canaries in place.

`python -m attacks.plain_scene ID --out FILE`, in a box: nothing here keeps an attack from anything. The test file is
copied beside the student's files and run there, as graders without a sandbox do; archives are unpacked first.
"""

import argparse
import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

from attacks import canaries
from attacks.corpus import HERE, Attack, attacks, filled
from attacks.scene import SUBREAPER, Facts, Scene

#: Seconds after which nobody waits for a test run any more; an honest one takes two.
PATIENCE_S = 15
#: Bytes of address space: what a container would have, so that the machine survives.
MEMORY = 4 << 30
TEST = "test_attention.py"
#: What its tests are worth, as much as the grader's own checks.
POINTS = {"test_shape": 1, "test_values": 3, "test_gradients": 2, "test_other_sizes": 4}


def main() -> None:
    """Run one attack and write what it achieved."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("id")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    (attack,) = (one for one in attacks() if one.id == options.id)
    scene = Scene([attack], [])
    try:
        options.out.write_text(json.dumps(_achieved(scene, attack)))
    finally:
        scene.close()


def _achieved(scene: Scene, attack: Attack) -> list[str]:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    tag = attack.tag
    handed_in = sorted(path for path in scene.handed_in.iterdir() if tag in path.name)
    folders = [_ready(scene, path) for path in handed_in]  # an accomplice's name comes first
    before, system = scene.disk(), canaries.system()
    facts = Facts([tag])
    for folder in folders:
        printed, exit_code = _tested(scene, folder)
    scene.look_at_processes(facts)
    scene.look_around(facts, before, system)
    scene.look_for_secrets(facts, printed, tag)
    achieved = facts.by_tag[tag] + facts.others
    points = 10 if exit_code == 0 else _points(scene.report / "results.xml")
    if points > attack.points:
        achieved.append("passed" if exit_code == 0 else "got points")
    if exit_code is None:
        achieved.append("did not end")
    return sorted({what.partition(":")[0] for what in achieved})


def _points(file: Path) -> int:
    """Of the tests that passed, by pytest's own results file."""
    try:
        cases = ElementTree.parse(file).iter("testcase")
    except (OSError, ElementTree.ParseError):
        return 0
    return sum(POINTS.get(case.get("name", ""), 0) for case in cases if len(case) == 0)


def _ready(scene: Scene, path: Path) -> Path:
    """The folder of a submission, unpacked, with the tests in it."""
    if path.is_file():
        unpacked = scene.folder / "unpacked" / path.name
        unpacked.mkdir(parents=True)
        try:
            shutil.unpack_archive(path, unpacked)
        except Exception as error:  # so would the grader have seen it, who then has nothing to test
            print(repr(error)[:200])
        path = unpacked
    text = (HERE / "plain" / TEST).read_text()
    (path / TEST).write_text(filled(text, {"HIDDEN_SECRET": scene.known["hidden"]}))
    return path


def _tested(scene: Scene, folder: Path) -> tuple[str, int | None]:
    """What pytest said, and its exit code; None when it did not end."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:grader",
        f"--junitxml={scene.report}/results.xml",
        TEST,
    ]
    places = {"PYTHONPATH": str(scene.course), "GRADER_TOKEN": scene.known["environ"], "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=kept | places,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    ) as process:
        try:
            out, _ = process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate(timeout=PATIENCE_S)
            return out, None
    return out, process.returncode


if __name__ == "__main__":
    main()
