"""What `grade check` costs a student: from cold, beside `import torch`, and from a save to the new result.

    python benchmarks/check.py [--rounds 5]

Makes the handout of `attention`, which takes a while, and checks an example with a mistake in it. Cold starts alternate
with imports, so that a machine that slows down slows both; what is compared is medians of one run.
"""

import argparse
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "submissions_example" / "attention" / "scales_by_dim"
FILE = "masked.py"
_WAITING = "waiting for a change"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--rounds", type=int, default=5)
    rounds = arguments.parse_args().rounds
    with tempfile.TemporaryDirectory() as scratch:
        home = _handed_out(Path(scratch))
        cold(home, rounds)
        with _watching(home) as result:
            saved(home, result, rounds)


def cold(home: Path, rounds: int) -> None:
    """From nothing to the result."""
    imports, checks = [], []
    for _ in range(rounds + 1):  # the first of each fills the disk's cache
        imports.append(_seconds([sys.executable, "-c", "import torch"], home))
        checks.append(_seconds([sys.executable, "-m", "grader", "check", "."], home))
    one, other = statistics.median(imports[1:]), statistics.median(checks[1:])
    print(f"import torch {one:.2f} s, grade check {other:.2f} s: {other / one:.2f} times (medians of {rounds})")


def saved(home: Path, result: Iterator[str], rounds: int) -> None:
    """From a save of one file to the end of the new result."""
    text = (home / FILE).read_text(encoding="utf-8")
    _wait(result)
    seconds = []
    for number in range(rounds):
        begin = time.perf_counter()
        (home / FILE).write_text(f"{text}\n# {number}\n", encoding="utf-8")
        _wait(result)
        seconds.append(time.perf_counter() - begin)
    print(f"from a save to the result: {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s")


def _handed_out(folder: Path) -> Path:
    archive = folder / "attention.zip"
    subprocess.run(
        [sys.executable, "-m", "grader", "handout", "attention", "-o", str(archive), "--course", str(ROOT)],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    with zipfile.ZipFile(archive) as members:
        members.extractall(folder)
    home = folder / "attention"
    for file in EXAMPLE.glob("*.py"):
        shutil.copy(file, home)
    return home


@contextmanager
def _watching(home: Path) -> Iterator[Iterator[str]]:
    command = [sys.executable, "-m", "grader", "check", ".", "--watch"]
    with subprocess.Popen(command, cwd=home, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield iter(process.stdout)
        finally:
            process.kill()


def _wait(result: Iterator[str]) -> None:
    next(line for line in result if _WAITING in line)


def _seconds(command: list[str], home: Path) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=home, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
