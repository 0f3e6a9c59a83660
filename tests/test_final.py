"""Entries that are kept of an earlier run: what is written of them again."""

from datetime import date

from sample_findings import make_diagnosis
from sample_report import make_check, make_header, make_submission

from grader.adjust import Adjusting
from grader.final import Finals
from grader.report import Feedback, FeedbackLevel
from grader.store import Earlier, Store
from grader.terminal import Screen
from grader.verdict import Verdict

DAY_BEFORE, DAY = date(2026, 5, 1), date(2026, 5, 2)
EXPLANATION = "Because of the length of the vectors."


def test_finals_kept_page_tells_more_once_the_day_of_the_assignment_has_come(tmp_path):
    """Nothing is graded for it: going on is enough."""
    check = make_check(verdict=Verdict.WRONG_VALUE, score=0)
    entry = make_submission(checks=[check], diagnoses=[make_diagnosis(checks=[check.id], explanation=EXPLANATION)])
    header = make_header()
    feedback = Feedback(level=FeedbackLevel.FULL, full_from=DAY)
    header = header.model_copy(update={"assignment": header.assignment.model_copy(update={"feedback": feedback})})
    finals = Finals(adjusting=Adjusting(), overrides=(), screen=Screen())
    earlier = Earlier(header=header, submissions={entry.id: entry})
    told = []
    for today in (DAY_BEFORE, DAY):
        finals.begin(Store(tmp_path), header, earlier, [entry], {}, today)
        told += [EXPLANATION in page.read_text() for page in (tmp_path / "students").iterdir()]

    assert [False, True] == told
