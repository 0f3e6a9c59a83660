"""A session of checks of the tiny assignment, as it is handed to scoring: what was read, what each check concluded."""

from decimal import Decimal

from grader.examine import Examined
from grader.plugin import CheckResult
from grader.report import SourceFile
from grader.sources import Sources
from grader.spec import CheckSpec
from grader.stage import Staged
from grader.verdict import Verdict


def staged(**fields):
    """What was read of ann's submission."""
    values = {
        "id": "ann",
        "sources": Sources(texts={"mix.py": ""}),
        "files": (SourceFile(name="mix.py", sha256="0" * 64),),
        "notes": ("Mix.py was read as mix.py",),
    }
    return Staged(**(values | fields))


def check(name, points, verdict=Verdict.PASSED, *, part="mix", **fields):
    """A check, and what it concluded."""
    spec = CheckSpec(
        id=f"{part}.{name}",
        part=part,
        callable=part,
        title=name.title(),
        description="What it asks.",
        points=Decimal(points),
        requires=(),
        hint="Look here.",
        is_visible=fields.pop("is_visible", True),
    )
    return spec, CheckResult(id=spec.id, verdict=verdict, **fields)


def examined(*checks):
    """A session of these checks, a second each."""
    return Examined(
        specs=tuple(spec for spec, _ in checks),
        results=tuple(result for _, result in checks),
        durations_s=(1.0,) * len(checks),
    )
