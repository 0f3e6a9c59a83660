"""From entries of the report to the files people read: pages, grades.csv, summary.md. Decides nothing."""

from collections.abc import Iterable
from datetime import date

from grader.render.html import index_page, staff_page, student_page
from grader.render.markdown import summary_markdown
from grader.render.overview import Overview, summarise
from grader.render.page import page_name
from grader.render.table import grades_csv
from grader.report import RunHeader, Submission
from grader.store import Store
from grader.student_view import student_view


def publish_submission(store: Store, header: RunHeader, submission: Submission, today: date) -> None:
    """Write both pages of one submission."""
    page = page_name(submission.id)
    store.write(f"staff/{page}", staff_page(header, submission))
    view = student_view(header, submission, header.assignment.feedback, today)
    store.write(f"students/{page}", student_page(view))


def is_published(store: Store, submission: Submission) -> bool:
    """Whether both pages of a submission are there, whatever they say."""
    return all((store.folder / folder / page_name(submission.id)).exists() for folder in ("staff", "students"))


def publish_class(store: Store, header: RunHeader, submissions: Iterable[Submission]) -> Overview:
    """Write what is about all submissions."""
    overview = summarise(header, submissions)
    store.write("index.html", index_page(overview))
    store.write("grades.csv", grades_csv(overview))
    store.write("summary.md", summary_markdown(overview))
    pages = {row.page for row in overview.rows}
    for folder in ("staff", "students"):
        store.keep_only(folder, pages)
    return overview
