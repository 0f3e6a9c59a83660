"""A thousand submissions, three in ten of them hostile: what comes of the others, and what a long run leaves behind.

    python benchmarks/load.py

Exit code 1 when an honest entry differed, a fault was not contained, or something grew.
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from load_run import FAULTS, HONEST, Seen, is_contained, run_load, write_load

#: KiB that a process may seem to grow by when it does not.
SLACK_KIB = 4096


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seed", type=int, default=0, help="order of the submissions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        command, submissions = write_load(Path(name), arguments.count, call_s=0.5, seed=arguments.seed)
        seen = run_load(command, submissions, Path(name) / "report", arguments.jobs)
    print(
        f"{arguments.count} submissions, {arguments.jobs} at a time, in {seen.seconds:.0f} s "
        f"({arguments.count / seen.seconds:.1f} a second); exit code {seen.exit_code}\n"
    )
    has_held = [seen.exit_code == 0, _print_honest(seen), _print_faults(seen), _print_figures(seen)]
    sys.exit(0 if all(has_held) else 1)


def _print_honest(seen: Seen) -> bool:
    entries = [(entry, seen.entries[kind][0]) for kind in HONEST for entry in seen.entries[kind]]
    identical = sum(entry == first for entry, first in entries)
    print(f"honest entries identical: {identical} of {len(entries)}")
    return 0 < identical == len(entries)


def _print_faults(seen: Seen) -> bool:
    contained = {kind: sum(is_contained(kind, entry) for entry in seen.entries[kind]) for kind in FAULTS}
    total = sum(len(seen.entries[kind]) for kind in FAULTS)
    print(f"faults contained: {sum(contained.values())} of {total}\n")
    print("| fault | contained |\n| --- | --- |")
    for kind in FAULTS:
        print(f"| {kind} | {contained[kind]} of {len(seen.entries[kind])} |")
    return sum(contained.values()) == total


def _print_figures(seen: Seen) -> bool:
    print("\n| least seen in | second quarter | last quarter |\n| --- | --- | --- |")
    for name in type(seen.early).__slots__:
        print(f"| {name} | {getattr(seen.early, name)} | {getattr(seen.late, name)} |")
    print(f"\nzygotes: {len(seen.zygotes)}")
    grown = [
        name
        for name in type(seen.early).__slots__
        if getattr(seen.late, name) > getattr(seen.early, name) + (SLACK_KIB if name.endswith("_kib") else 0)
    ]
    if grown:
        print(f"grown: {', '.join(grown)}")
    return not grown and len(seen.zygotes) == 1


if __name__ == "__main__":
    main()
