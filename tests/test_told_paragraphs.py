"""What a student may see as paragraphs, and the two plainest ways to write them."""

from datetime import date
from html.parser import HTMLParser

import pytest
from sample_findings import make_diagnosis
from sample_people import LATE
from sample_report import HOSTILE, SYNTAX_ERROR, graded, make_check, make_report, make_submission, sample_class

from grader.finding import Charge
from grader.report import Feedback
from grader.show import for_html
from grader.student_view import student_view
from grader.told.paragraphs import as_html, as_text, feedback
from grader.verdict import Verdict


def paragraphs_of(submission, level="hint"):
    """What is said of a submission."""
    report = make_report(submission)
    return feedback(student_view(report, submission, Feedback(level=level), date(2026, 11, 30)))


class Tags(HTMLParser):
    """Which tags and attributes a text has, and what is read of it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.read = set(), [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        self.read += "\n" if tag == "br" else ""

    def handle_data(self, data):
        self.read += data


def test_feedback_as_text_whole_text_is_as_documented():
    """One thing to fix, and what waits for it."""

    def broken(check):
        if check.part == "single_head":
            return {"verdict": Verdict.IMPORT_ERROR, "message": SYNTAX_ERROR}
        return {"verdict": Verdict.BLOCKED, "blocked_by": "single_head.py"} if check.part == "multi_head" else {}

    assert (
        "Attention: 30.00 of 100.00 points\n"
        "- Single-head attention: 0.00 of 30.00 points\n"
        "- Masked attention: 30.00 of 30.00 points\n"
        "- Multi-head attention: 0.00 of 40.00 points\n"
        "\n"
        "✗ file does not load: single_head.py\n"
        f"{SYNTAX_ERROR}\n"
        "Judged once this is fixed: 10 more.\n"
        "\n"
        "Hidden checks that do not pass\n"
    ) == as_text(paragraphs_of(graded("dmitri", broken))).partition("- Gradients of the inputs")[0]


def test_feedback_mistake_in_two_parts_is_charged_once():
    """The price where it was charged, and that it was, elsewhere."""
    text = as_text(paragraphs_of(next(one for one in sample_class().submissions if one.id == "chidi_okafor")))

    title = "The scores are divided by d, not by the square root of d"
    assert f"27.00 of 30.00 points. Charged once instead of for each check: {title} (−3.00)\n" in text
    assert f"30.00 of 30.00 points. Charged once instead of for each check: {title} (already charged)\n" in text


def test_feedback_mistake_that_only_hidden_checks_show_has_a_price_and_no_name():
    """As on the student's page."""
    charge = Charge(mistake="scale-by-d", price=3)
    checks = [make_check(id="h", visible=False)]
    parts = [make_submission().parts[0].model_copy(update={"charged": (charge,)})]

    text = as_text(paragraphs_of(make_submission(checks=checks, parts=parts, diagnoses=[make_diagnosis(checks=["h"])])))

    assert "a mistake found by hidden checks (−3.00)" in text
    assert "divided by d" not in text


def test_feedback_of_many_things_to_fix_tells_the_first_and_says_how_many_are_left_out():
    """A comment stays short, whatever was handed in."""
    checks = [make_check(id=f"c{number}", message=f"wrong {number}") for number in range(11)]

    text = as_text(paragraphs_of(make_submission(checks=checks)))

    assert 8 == text.count("✗ wrong value")
    assert "And 3 more that do not pass, left out here." in text


@pytest.mark.parametrize("text", [HOSTILE, "</pre><script>x</script>\n<img src=x onerror=y>", "&lt;b&gt;\n <!-- "])
def test_feedback_as_html_has_no_markup_of_a_student(text):
    """A few plain tags, no attribute; and the text is read as it is, line for line."""
    submission = make_submission(
        checks=[make_check(message=text, hint=text), make_check(id="b")],
        notes=[text],
        diagnoses=[make_diagnosis(evidence=text, checks=["b"])],
        adjustments=[LATE.model_copy(update={"reason": text, "points": 0})],
        final_score="12.5",
    )

    html = as_html(paragraphs_of(submission, "full"))

    parsed = Tags(html)
    assert {"p", "strong", "pre", "br"} >= parsed.tags and [] == parsed.attributes
    assert "\n" not in html
    assert parsed.read.count(for_html(text).partition("\n")[0]) >= 5


def test_feedback_says_how_far_the_code_is_from_pytorch():
    """Wherever a page does not fit, the two numbers do."""
    measured = [{"name": "output", "source": "torch.nn.MultiheadAttention", "difference": 2.2e-16, "allowed": 1e-5}]

    text = as_text(paragraphs_of(make_submission(checks=[make_check(callable="Heads", measured=measured)])))

    assert "- Heads, largest differences from torch.nn.MultiheadAttention: values 2.2e-16 (allowed 1e-05).\n" in text
