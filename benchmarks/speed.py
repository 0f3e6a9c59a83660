"""What grading costs, measured side by side in one run, as ratios.

    python benchmarks/speed.py                                       # attention: cost, start, memory, sandbox
    python benchmarks/speed.py --assignment qkv_multi_head --cost    # what one more submission costs, of another

Every figure is a median over interleaved rounds, so that a machine that slows down slows both sides. Processor time
is that of the operating system, children included.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.assignment import Assignment
    from grader.launch import ForkLauncher

COURSE = Path(__file__).resolve().parents[1]
FEW, MANY = 4, 44
#: Workers that are started with the sandbox, and as many without.
WORKERS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--assignment", default="attention", metavar="NAME")
    parser.add_argument("--cost", action="store_true", help="only what one more submission costs")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measured = _Measured(chosen.assignment, folder)
        processors = f"{os.cpu_count()} processors, Python {sys.version.split()[0]}"
        print(f"{chosen.assignment}: {processors}, {chosen.rounds} rounds\n")
        _print_cost(measured, chosen.rounds)
        if not chosen.cost:
            _print_start(measured, chosen.rounds)
            _print_memory(measured)
            _print_sandbox()


class _Measured:
    """Submissions to an assignment: right ones, different and alike; wrong ones, with known mistakes."""

    def __init__(self, assignment: str, folder: Path) -> None:
        self.assignment = assignment
        self.folder = folder
        self.plain = folder / "plain"
        self.plain.mkdir()
        self.checks = int(_bare(assignment, "write", str(self.plain)))
        alone = folder / "alone"
        shutil.copytree(self.plain, alone, ignore=shutil.ignore_patterns("*.pt"))
        styles = sorted((COURSE / "reference/variants" / assignment).iterdir())
        self.different = _submissions(folder / "different", [*styles, alone])
        self.copies = _submissions(folder / "copies", [alone])
        self.wrong = _submissions(folder / "wrong", list(_with_known_mistakes(assignment)))


def _with_known_mistakes(assignment: str) -> Iterator[Path]:
    """Examples that are explained whole, and by more than a trait."""
    for example in sorted((COURSE / "submissions_example" / assignment).iterdir()):
        expected = tomllib.loads((example / "expected.toml").read_text(encoding="utf-8"))
        named = {one for mistake in expected.get("mistakes", ()) for one in mistake["ids"]}
        if named - {"not-filled-in"} and expected.get("charged") and not expected.get("unrecognised"):
            yield example


def _print_cost(measured: _Measured, rounds: int) -> None:
    plain, one_more, one_copy, one_wrong, bare = [], [], [], [], []
    for _ in range(rounds):
        plain.append(_cpu_s(lambda: _plain_pytest(measured.plain)))
        one_more.append(_slope(measured, measured.different))
        one_copy.append(_slope(measured, measured.copies))
        one_wrong.append(_slope(measured, measured.wrong))
        bare.append(float(_bare(measured.assignment, "bare")))
    print("| one more submission, processor time | ms |")
    print("| --- | --- |")
    rows = {
        f"a fresh plain pytest process asking {measured.checks} questions": plain,
        f"grade, {MANY} different submissions": one_more,
        f"grade, {MANY} copies of one": one_copy,
        f"grade, {MANY} wrong submissions, explained and illustrated": one_wrong,
        "the same calls in a bare fork": bare,
    }
    for label, figures in rows.items():
        print(f"| {label} | {1000 * statistics.median(figures):.0f} |")
    print(f"\ngrade is {_ratio(plain, one_more)} times cheaper than plain pytest (goal 10, aim 20)")
    print(f"grade costs {_ratio(one_more, bare)} times a bare fork (goal at most 4)")
    print(f"a copy costs {_ratio(one_copy, one_more)} of a different submission\n")


def _print_start(measured: _Measured, rounds: int) -> None:
    one = next(measured.different.iterdir())
    graded, imported = [], []
    for _ in range(rounds):
        imported.append(_wall_s(lambda: _run(["-c", "import torch"])))
        graded.append(_wall_s(lambda: _grade(measured, one)))
    print(
        f"grade of one folder, from cold: {statistics.median(graded):.2f} s, {_ratio(graded, imported)} times "
        f"`import torch` ({statistics.median(imported):.2f} s; goal at most 2.5)\n"
    )


def _print_memory(measured: _Measured) -> None:
    one, three = (_peak_mib(measured, jobs) for jobs in (1, 3))
    print(f"memory: {one:.0f} MiB with one job, {(three - one) / 2:.0f} MiB for each further one (goal at most 80)")


def _print_sandbox() -> None:
    """What the layers that a worker puts on cost, against a worker without; both from its start to its first answer."""
    from grader.assignment import read_assignment
    from grader.launch import ForkLauncher, Zygote
    from grader.worker.sandbox.layers import LAYERS

    assignment = read_assignment(COURSE / "assignments/attention")
    with_all, without = [], []
    with Zygote(1, assignment.rules) as zygote:
        zygote.wait()
        launcher = ForkLauncher(zygote.controls[0])
        for _ in range(WORKERS):
            without.append(_wall_s(lambda: _first_answer(launcher, assignment, ())))
            with_all.append(_wall_s(lambda: _first_answer(launcher, assignment, LAYERS)))
        print(f"\nlayers: {', '.join(f'{name} ({text})' for name, text in zygote.layers.items())}")
    cost = statistics.median(a - b for a, b in zip(with_all, without, strict=True))
    whole = statistics.median(with_all)
    print(f"a worker's sandbox: {1000 * cost:.1f} ms (goal at most 3), of {1000 * whole:.1f} ms to its first answer")


# --- what is measured -------------------------------------------------------------------------------------------


def _submissions(folder: Path, sources: Sequence[Path]) -> Path:
    """MANY submissions, from sources in turn."""
    for number in range(MANY):
        shutil.copytree(sources[number % len(sources)], folder / f"s{number:03}")
    return folder


def _plain_pytest(folder: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(folder), "CALLS": str(folder / "calls.pt")}
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull]
    _run(["-m", "pytest", *options, str(COURSE / "benchmarks/plain_checks.py")], environment)


def _slope(measured: _Measured, submissions: Path) -> float:
    """Processor seconds of one more submission, one at a time: the start is in both runs and cancels out."""
    few = measured.folder / "few"
    shutil.rmtree(few, ignore_errors=True)
    for one in sorted(submissions.iterdir())[:FEW]:
        shutil.copytree(one, few / one.name)
    less = _cpu_s(lambda: _grade(measured, few))
    more = _cpu_s(lambda: _grade(measured, submissions))
    return (more - less) / (MANY - FEW)


def _first_answer(launcher: "ForkLauncher", assignment: "Assignment", layers: Sequence[str]) -> None:
    from grader.conversation import Conversation, TimeLimits

    with Conversation(launcher, {"masked.py": ""}, assignment, TimeLimits(), layers) as conversation:
        conversation.scan()


def _grade(measured: _Measured, submissions: Path) -> None:
    _run(["-m", "grader", *_grading(measured, submissions, 1)])


def _grading(measured: _Measured, submissions: Path, jobs: int) -> list[str]:
    options = ["-a", measured.assignment, "-o", str(measured.folder / "out"), "--force", "--isolation", "best"]
    return [str(submissions), *options, "-j", str(jobs)]


def _peak_mib(measured: _Measured, jobs: int) -> float:
    """Largest sum of proportional set sizes over the processes of a run while all its workers live, in MiB."""
    arguments = ["-m", "grader", *_grading(measured, measured.different, jobs)]
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=COURSE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0
    pause = threading.Event()
    while process.poll() is None:
        tree = list(_tree(process.pid))
        if len(tree) >= 3 + 2 * jobs:  # grade, the two of the zygote, and for each job an examiner and a worker
            peak = max(peak, sum(_proportional_kib(pid) for pid in tree))
        pause.wait(0.01)
    return peak / 1024


def _tree(pid: int) -> Iterator[int]:
    yield pid
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return
    for child in children:
        yield from _tree(int(child))


def _proportional_kib(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


def _bare(assignment: str, *what: str) -> str:
    return _run([str(COURSE / "benchmarks/bare_fork.py"), assignment, *what])


# --- measuring --------------------------------------------------------------------------------------------------


def _run(arguments: Sequence[str], environment: dict[str, str] | None = None) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=COURSE, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _cpu_s(action: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _wall_s(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def _ratio(above: Sequence[float], below: Sequence[float]) -> str:
    return f"{statistics.median(a / b for a, b in zip(above, below, strict=True)):.1f}"


if __name__ == "__main__":
    main()
