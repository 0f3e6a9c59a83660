"""A folder of git clones, as `gh classroom clone student-repos` makes it: `<assignment>-<user>` each.

Also the time in a clone that is handed over as any other folder. The date of a commit is the committer's word.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile

from grader.find import Found
from grader.handed_in import HandIn, Person, TimeSource
from grader.layouts.last_commit import CommitReader, NoCommit, commit_reader, is_clone
from grader.layouts.layout import Layout, counted
from grader.record import clean_text

#: What the folder is called in which all clones of an assignment are put.
_TOGETHER = "-submissions"


def with_commits(layout: Layout) -> Layout:
    """The same with what the clones among the submissions tell: the user, where names do, and the last commit."""
    clones = [one for one in layout.submissions if not one.is_archive and one.pieces is None and is_clone(one.path)]
    if not clones:
        return layout
    prefix = _prefix([one.path.name for one in clones], clones[0].path.parent.name)
    remarks = list(layout.remarks)
    told = {}
    with commit_reader() as reader:
        if reader is None:
            remarks.append("git is not installed: the times of the last commits are not known")
        for one in clones:
            told[one.id] = replace(one, people=_people(one, prefix), handed_in=_handed_in(one, reader, remarks))
    is_all = len(clones) == len(layout.submissions)
    kind = "Git clones: " if is_all else f"{layout.summary}; "
    of = f" of {prefix.rstrip('-')}" if prefix and is_all else ""
    return replace(
        layout,
        summary=clean_text(f"{kind}{counted(len(clones), 'repository', 'repositories')}{of}"),
        submissions=tuple(told.get(one.id, one) for one in layout.submissions),
        remarks=tuple(remarks),
    )


def _prefix(names: Sequence[str], parent: str) -> str:
    """What the names of the clones begin with: the assignment and a hyphen; empty when that cannot be told."""
    announced = parent.removesuffix(_TOGETHER) + "-" if parent.endswith(_TOGETHER) else ""
    if announced and all(name.startswith(announced) for name in names):
        return announced
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    common = "".join(letter for letter, _ in same)
    return common[: common.rfind("-") + 1]


def _people(found: Found, prefix: str) -> tuple[Person, ...]:
    user = found.path.name.removeprefix(prefix) if prefix else ""
    return (Person(login=user),) if user else found.people


def _handed_in(found: Found, reader: CommitReader | None, remarks: list[str]) -> HandIn | None:
    if reader is None:
        return found.handed_in
    try:
        return HandIn(source=TimeSource.GIT, time=reader.time_of(found.path))
    except NoCommit as problem:
        remarks.append(f"{found.id}: the time of the last commit is not known: {problem}")
        return found.handed_in
