"""Which parts a change of files can change: those whose file it is, and those that import it, by whatever way.

By the text alone: nothing of a student's is parsed here. A name in a line that imports counts as imported.
"""

import re
from collections.abc import Collection, Mapping

from grader.assignment import Assignment

_IMPORT = re.compile(r"^.*\bimport\b.*$", re.MULTILINE)
_WORD = re.compile(r"[^\W\d]\w*")
_SUFFIX = ".py"


def affected_parts(assignment: Assignment, before: Mapping[str, str], after: Mapping[str, str]) -> tuple[str, ...]:
    """Names of the parts, in the assignment's order.

    Args:
        before, after: texts by file name, as a submission held them.
    """
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    if not changed:
        return ()
    reached = _importing(after, changed)
    return tuple(part.name for part in assignment.parts if part.file in reached)


def _importing(texts: Mapping[str, str], changed: Collection[str]) -> set[str]:
    """The changed files, and all that import one of them, sooner or later."""
    imports = {name: _names_imported(text) for name, text in texts.items()}
    reached = set(changed)
    while True:
        modules = {name.removesuffix(_SUFFIX) for name in reached}
        more = {name for name, names in imports.items() if names & modules} - reached
        if not more:
            return reached
        reached |= more


def _names_imported(text: str) -> set[str]:
    return {word for line in _IMPORT.findall(text) for word in _WORD.findall(line)}
