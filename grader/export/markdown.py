"""Markdown: the class for staff, or what one student may see, as a comment on a pull request for example."""

from collections.abc import Iterable, Iterator

from grader.export.feedback import Kind, Paragraph, feedback
from grader.render.markdown import summary_markdown
from grader.render.overview import summarise
from grader.report import RunHeader, Submission
from grader.show import for_markdown, for_markdown_block, for_markdown_prose
from grader.student_view import StudentView
from grader.verdict import Verdict


def class_markdown(header: RunHeader, submissions: Iterable[Submission]) -> str:
    """The summary of a class, which `grade` writes as summary.md too."""
    return summary_markdown(summarise(header, submissions))


def student_markdown(view: StudentView) -> str:
    """What a student may see: points, mistakes, what to fix. As GitHub's Markdown."""
    blocks = [_block(one) for one in feedback(view)]
    return "\n\n".join([*_joined_lists(blocks), _facts(view)]) + "\n"


def _block(one: Paragraph) -> tuple[Kind, str]:
    if one.kind is Kind.VERBATIM:
        return one.kind, for_markdown_block(one.quoted)
    text = " ".join(filter(None, [for_markdown_prose(one.text), for_markdown(one.quoted)]))
    return one.kind, {Kind.HEADING: f"## {text}", Kind.ITEM: f"- {text}"}.get(one.kind, text)


def _joined_lists(blocks: list[tuple[Kind, str]]) -> Iterator[str]:
    """Items that follow each other are one list."""
    items: list[str] = []
    for kind, text in blocks:
        if kind is not Kind.ITEM and items:
            yield "\n".join(items)
            items.clear()
        if kind is Kind.ITEM:
            items.append(text)
        else:
            yield text
    if items:
        yield "\n".join(items)


def _facts(view: StudentView) -> str:
    passed = sum(check.verdict is Verdict.PASSED for check in view.checks)
    seed = "" if view.seed is None else f", seed {view.seed}"
    grader, torch = for_markdown_prose(view.grader_version), for_markdown_prose(view.torch)
    return f"{passed} of {len(view.checks)} checks pass. Grader {grader}, torch {torch}{seed}."
