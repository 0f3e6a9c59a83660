"""What grading costs, measured side by side in one run, as ratios.

    python benchmarks/speed.py

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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.assignment import Assignment
    from grader.launch import ForkLauncher

COURSE = Path(__file__).resolve().parents[1]
STYLES = COURSE / "reference/variants/attention"
PLAIN = COURSE / "tests/data/solutions/plain"
EXAMPLES = COURSE / "submissions_example/attention"
#: Examples with known mistakes, to be explained and illustrated.
WRONG = (
    "scales_by_dim",
    "mask_after_softmax",
    "splits_heads_with_view",
    "wrong_shape",
    "two_mistakes",
    "detached_weights",
)
FEW, MANY = 4, 44
#: Workers that are started with the sandbox, and as many without.
WORKERS = 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        different = _submissions(folder / "different", [*sorted(STYLES.iterdir()), PLAIN])
        copies = _submissions(folder / "copies", [PLAIN])
        wrong = _submissions(folder / "wrong", [EXAMPLES / name for name in WRONG])
        print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, {rounds} rounds\n")
        _print_cost(rounds, folder, different, copies, wrong)
        _print_start(rounds, folder, different)
        _print_memory(folder, different)
        _print_sandbox()


def _print_cost(rounds: int, folder: Path, different: Path, copies: Path, wrong: Path) -> None:
    checks = int(_in_this_process("count"))
    plain, one_more, one_copy, one_wrong, bare = [], [], [], [], []
    for _ in range(rounds):
        plain.append(_cpu_s(lambda: _plain_pytest(checks)))
        one_more.append(_slope(folder, different))
        one_copy.append(_slope(folder, copies))
        one_wrong.append(_slope(folder, wrong))
        bare.append(float(_in_this_process("bare")))
    print("| one more submission, processor time | ms |")
    print("| --- | --- |")
    rows = {
        f"a fresh plain pytest process asking {checks} questions": plain,
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


def _print_start(rounds: int, folder: Path, different: Path) -> None:
    one = next(different.iterdir())
    graded, imported = [], []
    for _ in range(rounds):
        imported.append(_wall_s(lambda: _run(["-c", "import torch"])))
        graded.append(_wall_s(lambda: _grade(one, folder / "one")))
    print(
        f"grade of one folder, from cold: {statistics.median(graded):.2f} s, {_ratio(graded, imported)} times "
        f"`import torch` ({statistics.median(imported):.2f} s; goal at most 2.5)\n"
    )


def _print_memory(folder: Path, different: Path) -> None:
    one, three = (_peak_mib(different, folder / f"jobs{jobs}", jobs) for jobs in (1, 3))
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


def _plain_pytest(questions: int) -> None:
    environment = os.environ | {"PYTHONPATH": f"{PLAIN}{os.pathsep}{COURSE}", "QUESTIONS": str(questions)}
    arguments = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        str(COURSE / "benchmarks/plain_checks.py"),
    ]
    _run(arguments, environment)


def _slope(folder: Path, submissions: Path) -> float:
    """Processor seconds of one more submission, one at a time: the start is in both runs and cancels out."""
    few = folder / "few"
    shutil.rmtree(few, ignore_errors=True)
    for one in sorted(submissions.iterdir())[:FEW]:
        shutil.copytree(one, few / one.name)
    less = _cpu_s(lambda: _grade(few, folder / "out"))
    more = _cpu_s(lambda: _grade(submissions, folder / "out"))
    return (more - less) / (MANY - FEW)


def _first_answer(launcher: "ForkLauncher", assignment: "Assignment", layers: Sequence[str]) -> None:
    from grader.conversation import Conversation, TimeLimits

    with Conversation(launcher, {"masked.py": ""}, assignment, TimeLimits(), layers) as conversation:
        conversation.scan()


def _grade(submissions: Path, out: Path, jobs: int = 1) -> None:
    _run(["-m", "grader", str(submissions), "-o", str(out), "--force", "--isolation", "best", "-j", str(jobs)])


def _peak_mib(submissions: Path, out: Path, jobs: int) -> float:
    """Largest sum of proportional set sizes over the processes of a run while all its workers live, in MiB."""
    arguments = ["-m", "grader", str(submissions), "-o", str(out), "--force", "--isolation", "best", "-j", str(jobs)]
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


def _in_this_process(what: str) -> str:
    return _run([str(COURSE / "benchmarks/bare_fork.py"), what])


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
