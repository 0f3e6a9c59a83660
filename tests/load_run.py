"""A class of which three in ten are hostile, graded while somebody looks on: for `test_load` and `benchmarks/load.py`.

Every honest submission of a kind must have the same entry, every fault a verdict of its own, and neither the grader nor
the process that workers are forked from may grow from the first quarter of the run to the last.
"""

import json
import os
import random
import re
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from conftest import DOUBLE, HALVE, TINY_COURSE, Command, children_of, descendants_of, finish, warm_process, write_files

_FIND_SOCKET = """
import os, struct, time
fd = next(d for d in range(3, 64) if os.path.exists(f'/proc/self/fd/{d}')
          and os.readlink(f'/proc/self/fd/{d}').startswith('socket'))
"""
#: What a submission does when it is called, and the verdicts that say so.
FAULTS = {
    "exit 0": ("import os\nos._exit(0)", {"crashed"}),
    "segfault": ("import ctypes\nctypes.string_at(0)", {"crashed"}),
    "abort": ("import os\nos.abort()", {"crashed"}),
    "endless loop": ("while True:\n    pass", {"timeout"}),
    "sleep": ("import time\ntime.sleep(1000)", {"timeout"}),
    "ignores all signals": (
        "import signal\nfor number in range(1, 32):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n"
        "    except (OSError, ValueError):\n        pass\nwhile True:\n    pass",
        {"timeout"},
    ),
    "stops itself": ("import os\nos.kill(os.getpid(), 19)\nwhile True:\n    pass", {"timeout", "exception"}),
    "memory bomb": ("kept = []\nwhile True:\n    kept.append(bytearray(2**24))", {"out_of_memory", "timeout"}),
    "output flood": ("while True:\n    print('x' * 10_000)", {"timeout"}),
    "fork bomb": ("import os\nwhile True:\n    os.fork()", {"exception"}),
    "thread bomb": (
        "import threading, time\nwhile True:\n    threading.Thread(target=time.sleep, args=(1000,)).start()",
        {"exception", "timeout", "crashed"},
    ),
    "garbage on the connection": (_FIND_SOCKET + "os.write(fd, b'\\xff\\x80garbage' * 100)", {"crashed"}),
    "connection closed": (_FIND_SOCKET + "os.close(fd)\ntime.sleep(1000)", {"crashed"}),
    "header of 2^62 bytes": (_FIND_SOCKET + "os.write(fd, struct.pack('<Q', 2**62))\ntime.sleep(1000)", {"crashed"}),
    "slow drip": (
        _FIND_SOCKET + "os.write(fd, struct.pack('<II', 200_000, 0))\nwhile True:\n    os.write(fd, b' ')\n"
        "    time.sleep(0.02)",
        {"timeout"},
    ),
}
#: Honest work: right, wrong, slow to import, raising.
HONEST = {
    "right": DOUBLE,
    "wrong": DOUBLE.replace("x + x", "x + 1"),
    "detached": DOUBLE.replace("x + x", "x.detach() * 2"),
    "raising": DOUBLE.replace("return x + x", "raise ValueError('not yet')"),
}
#: Hostile submissions of a hundred.
SHARE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The least seen while a part of the run went on: what is there at every moment, whoever comes and goes."""

    grader_kib: int
    zygote_kib: int
    descriptors: int
    zygote_descriptors: int
    processes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What came of a run."""

    exit_code: int
    errors: str
    seconds: float
    #: Entries of report.json, without ids and times, by kind of submission.
    entries: dict[str, list[dict]]
    early: Figures
    late: Figures
    #: Processes that workers were forked from: more than one when one had to be replaced.
    zygotes: set[int]


def write_load(folder: Path, count: int, call_s: float, seed: int = 0) -> tuple[Command, Path]:
    """A course with short deadlines, and a class of so many in random order; a folder's name ends in its kind."""
    limits = f"{{ call_s = {call_s}, import_s = {4 * call_s}, timeouts = 1 }}"
    course = {name: text.replace("{ import_s = 3 }", limits) for name, text in TINY_COURSE.items()}
    hostile = count * SHARE // 100
    kinds = [list(FAULTS)[number % len(FAULTS)] for number in range(hostile)]
    kinds += [list(HONEST)[number % len(HONEST)] for number in range(count - hostile)]
    random.Random(seed).shuffle(kinds)
    for number, kind in enumerate(kinds):
        write_files(folder / "class" / f"s{number:04} {kind}", {"double.py": _source(kind), "halve.py": HALVE})
    return Command(write_files(folder / "course", course)), folder / "class"


def run_load(command: Command, submissions: Path, out: Path, jobs: int) -> Seen:
    """Grade the class, looking at the processes all the time."""
    count = len(list(submissions.iterdir()))
    seen: dict[str, list[Figures]] = {"early": [], "late": []}
    zygotes = set()
    begin = time.monotonic()
    with command.start(submissions, "-o", out, "-j", jobs, "--seed", 5) as process:
        while process.poll() is None:
            done = _lines(out / "journal.jsonl")
            part = "early" if count // 4 <= done < count // 2 else "late" if done >= count * 3 // 4 else ""
            zygote = next((pid for pid in map(warm_process, children_of(process.pid)) if _is_zygote(pid)), 0)
            figures = _figures(process.pid, zygote) if part and zygote else None
            if figures:
                seen[part].append(figures)
                zygotes.add(zygote)
            time.sleep(0.02)
        result = finish(process)
    return Seen(
        exit_code=result.returncode,
        errors=result.stderr,
        seconds=time.monotonic() - begin,
        entries=_by_kind(out / "report.json"),
        early=_least(seen["early"]),
        late=_least(seen["late"]),
        zygotes=zygotes,
    )


def is_contained(kind: str, entry: dict) -> bool:
    """Whether a fault has its verdict, and costs nothing but what it breaks."""
    verdicts = {check["id"]: check["verdict"] for check in entry["checks"]}
    return (
        entry["status"] == "graded"
        and verdicts["double.values"] in FAULTS[kind][1]
        and verdicts["halve.values"] == "passed"
        and entry["score"] == 1.0
    )


def _source(kind: str) -> str:
    if kind in HONEST:
        return HONEST[kind]
    return "def double(x):\n" + "".join(f"    {line}\n" for line in FAULTS[kind][0].strip().splitlines())


def _by_kind(report: Path) -> dict[str, list[dict]]:
    kinds = defaultdict(list)
    text = re.sub(r'"duration_s": [^,\n]*', '"duration_s": 0', report.read_text()) if report.exists() else "{}"
    for entry in json.loads(text).get("submissions", []):
        kinds[entry.pop("id").partition(" ")[2]].append(entry)
    return kinds


# --- looking at processes -----------------------------------------------------------------------------------------


def _figures(grader: int, zygote: int) -> Figures | None:
    try:
        return Figures(
            grader_kib=_resident_kib(grader),
            zygote_kib=_resident_kib(zygote),
            descriptors=_descriptors(grader),
            zygote_descriptors=_descriptors(zygote),
            processes=len(descendants_of(grader)),
        )
    except OSError:  # one of them has ended
        return None


def _least(seen: list[Figures]) -> Figures:
    assert seen, "nobody looked while that part of the run went on"
    return Figures(**{name: min(getattr(one, name) for one in seen) for name in Figures.__slots__})


def _resident_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def _descriptors(pid: int) -> int:
    """How many are open; 0 where only root may know."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except PermissionError:
        return 0


def _is_zygote(pid: int) -> bool:
    try:
        return b"boot.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _lines(journal: Path) -> int:
    try:
        return max(journal.read_bytes().count(b"\n") - 1, 0)
    except OSError:
        return 0
