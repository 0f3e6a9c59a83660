"""What the diagnosis adds to the cost of a failing submission, over a class in which every student made a mistake.

    python benchmarks/diagnosis.py [--submissions 120] [--seed 1]

The class is that of tests/data/styled_mistakes: mistakes as students of three styles write them, known ones and such
that the catalogue lacks, in an order drawn from the seed. One examiner grades them all; each is timed three times over:
putting the checks, explaining what failed, and illustrating it. Processor time of this process, in milliseconds.
"""

import argparse
import itertools
import random
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from styled_mistakes import STYLES, entries  # noqa: E402

from grader.conversation import Conversation, TimeLimits  # noqa: E402
from grader.course import Course  # noqa: E402
from grader.diagnosis.illustrate import Illustrator  # noqa: E402
from grader.examination import Examination  # noqa: E402
from grader.grade import Grading, with_grading  # noqa: E402
from grader.launch import ForkLauncher, Launcher, Zygote  # noqa: E402
from grader.sources import Sources  # noqa: E402

#: Goals, in milliseconds: on average over a class, and for any one; examples and shapes aside.
MEAN_MS, MOST_MS = 300.0, 5000.0


def main() -> int:
    """Print the figures; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=120)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    written = [files for style in STYLES for _, _, files in entries(style)]
    chosen = random.Random(arguments.seed).sample(written, min(arguments.submissions, len(written)))
    course = Course(ROOT)
    assignment = course.assignment("attention")
    with Zygote(1, assignment.rules) as zygote:
        launcher = ForkLauncher(zygote.controls[0])

        def body(grading: Grading) -> list[tuple[float, float, float]]:
            return [_times(grading, Sources(texts=files), launcher) for files in chosen]

        times = with_grading(course, assignment, arguments.seed, body)
    return _print(times)


def _times(grading: Grading, sources: Sources, launcher: Launcher) -> tuple[float, float, float]:
    """Milliseconds for checks, explanation and illustration of one submission."""
    assert grading.diagnostics is not None
    limits = TimeLimits.of(grading.assignment.limits)
    with Conversation(launcher, sources.texts, grading.assignment, limits) as conversation:
        conversation.scan()
        examination = Examination(
            grading.assignment, grading.inputs, grading.reference.oracle, conversation, sources, grading.batches
        )
        moments = [time.process_time()]
        examined = grading.checking.examine(examination)
        moments.append(time.process_time())
        explained = grading.diagnostics.diagnose(examination, examined)
        moments.append(time.process_time())
        pairs = [(one, grading.diagnostics.predictions(one.part, one.callable)) for one in explained]
        Illustrator(examination).illustrate(pairs)
        moments.append(time.process_time())
    first, second, third = (1000 * (later - earlier) for earlier, later in itertools.pairwise(moments))
    return first, second, third


def _print(times: list[tuple[float, float, float]]) -> int:
    print(f"{len(times)} failing submissions, one examiner")
    for name, column in zip(("checks", "explaining", "illustrating"), zip(*times, strict=True), strict=True):
        ranked = sorted(column)
        print(
            f"  {name:<13} mean {statistics.mean(column):7.1f} ms   median {statistics.median(column):7.1f}   "
            f"95 of 100 below {ranked[int(0.95 * (len(ranked) - 1))]:7.1f}   most {ranked[-1]:7.1f}"
        )
    explaining = [one for _, one, _ in times]
    is_met = statistics.mean(explaining) <= MEAN_MS and max(explaining) <= MOST_MS
    print(f"  goals for explaining: mean {MEAN_MS:g} ms, most {MOST_MS:g} ms: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
