"""What students read on GitHub and on Canvas: the words of `grade post`, and what becomes of hostile ones."""

from decimal import Decimal

import pytest
from markdown_it import MarkdownIt
from sample_findings import make_diagnosis, make_shapes
from sample_report import HOSTILE, make_check, make_header, make_part, make_submission, sample_class

from grader.adjustment import Adjustment
from grader.finding import Charge
from grader.post import plain
from grader.post.annotations import annotations
from grader.post.fit import fit
from grader.report import Assignment, Feedback, FeedbackLevel, SourceFile, Status
from grader.student_view import student_view
from grader.told import markdown
from grader.verdict import Verdict

MENTIONS = (
    "@everyone #12 school/hw#3 http://e.example www.e.example me@e.example ![i](x) <b> `code` ::error::x ##[add-mask]y"
)

MESSAGE = "f(x) returned wrong values\n  differs   130 of 130 elements (100.0 %)"


def view_of(submission, header=None, level=FeedbackLevel.HINT):
    """What the student sees."""
    header = header or make_header()
    return student_view(header, submission, Feedback(level=level), header.created.date())


def shown(submission, **options):
    """The whole Markdown."""
    return "\n\n".join(markdown.pieces(view_of(submission, **options))) + "\n"


def late(points="-2.50", **fields):
    """A change of the score."""
    return Adjustment(**{"kind": "late", "points": points, "reason": "1 day late"} | fields)


def test_words_markdown_whole_text_is_as_documented():
    """A small result reads like this."""
    submission = make_submission(
        final_score=10,
        adjustments=[late()],
        checks=[
            make_check(message=MESSAGE, hint="what are the scores divided by?"),
            make_check(id="b", title="Next", verdict="passed"),
        ],
        diagnoses=[make_diagnosis(hint="How far do they spread?")],
        notes=["Single_Head.py was read as single_head.py"],
    )

    assert (
        "## Attention: 10.00 of 100.00 points\n"
        "\n"
        "The code earned: **12.50 points**. What counts: **10.00 of 100.00 points**, after\n"
        "\n"
        "- -2.50: `1 day late`\n"
        "\n"
        "| Part | File | Points |\n"
        "| :-- | :-- | --: |\n"
        "| Single\\-head attention | `single_head.py` | 12.50 of 30.00 |\n"
        "\n"
        "### What to look at\n"
        "\n"
        "**The scores are divided by d\\, not by the square root of d** (`scaled_dot_product_attention`)\n"
        "\n"
        "*Hint:* How far do they spread\\?\n"
        "\n"
        "### Checks that did not pass: 1 of 2\n"
        "\n"
        "<details><summary>Output and weights are right: wrong value, 0.00 of 2.00</summary>\n"
        "\n"
        "Compares output and weights with the definition\\.\n"
        "\n"
        "```\n"
        "f(x) returned wrong values\n"
        "  differs   130 of 130 elements (100.0 %)\n"
        "  hint      what are the scores divided by?\n"
        "```\n"
        "\n"
        "</details>\n"
        "\n"
        "### Noticed on the way\n"
        "\n"
        "- `Single_Head.py was read as single_head.py`\n"
        "\n"
        "1 of 2 checks pass. Graded 2026-11-29 17:50 UTC by grader 0\\.1\\.0, torch 2\\.13\\.0, seed 7.\n"
    ) == shown(submission)


def test_words_plain_whole_text_is_as_documented():
    """The same, as a comment of a learning platform."""
    submission = make_submission(
        final_score=10, adjustments=[late()], checks=[make_check(message="f(x) is wrong\n  found     1")]
    )

    assert (
        "[grade: attention]\n"
        "\n"
        "Attention: 10.00 of 100.00 points\n"
        "The code earned 12.50 points.\n"
        "- Handed in late: -2.50 points. 1 day late\n"
        "- Single-head attention: 12.50 of 30.00 points\n"
        "\n"
        "✗ wrong value: Output and weights are right\n"
        "f(x) is wrong\n"
        "  found     1"
    ) == plain.comment_text(view_of(submission), "[grade: attention]")


def test_words_what_several_checks_say_is_said_once():
    """A file that does not load fails all of its checks with one message."""
    same = {"verdict": Verdict.IMPORT_ERROR, "message": "masked.py does not load"}
    submission = make_submission(checks=[make_check(id=f"c{n}", title=f"Check {n}", **same) for n in range(4)])

    text = shown(submission)

    assert "<summary>single_head.py: file does not load, 0.00 of 8.00</summary>" in text
    assert 1 == text.count("masked.py does not load")
    assert "- Check 0\n- Check 1\n- Check 2\n- Check 3\n" in text


def test_words_what_waits_for_another_check_is_counted_with_it():
    """It is judged once that is right, and is nothing to fix of its own."""
    waiting = [make_check(id=f"w{n}", title=f"Waits {n}", verdict="blocked", blocked_by="b") for n in range(2)]

    text = shown(make_submission(checks=[make_check(id="b", message="f is wrong"), *waiting]))

    assert "### Checks that did not pass: 3 of 3\n" in text
    assert 1 == text.count("<details>") and "Judged once this is fixed: 2 more\n" in text


@pytest.mark.parametrize("words", [shown, lambda one, **more: plain.comment_text(view_of(one, **more), "[grade: x]")])
def test_words_of_a_hidden_check_are_title_and_verdict(words):
    """Whatever it said stays with the staff."""
    secret = make_check(
        id="test_secret.py::test_x", title="Large scores", visible=False, message="seed 4711", hint="s3"
    )

    text = words(make_submission(checks=[secret]))

    assert "Large scores" in text and "wrong value" in text
    assert not [word for word in ("4711", "s3", "secret", "test_x") if word in text]


@pytest.mark.parametrize("words", [shown, lambda one, **more: plain.comment_text(view_of(one, **more), "[grade: x]")])
def test_words_at_level_verdict_are_titles_and_verdicts(words):
    """What the assignment does not allow is in neither."""
    submission = make_submission(diagnoses=[make_diagnosis()], checks=[make_check(output="printed")])

    text = words(submission, level=FeedbackLevel.VERDICT)

    assert not [word for word in ("divided", "0.731442", "printed") if word in text]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": Status.GRADER_ERROR, "score": None, "reason": "/srv/x died"}, ("not graded", "The grader itself")),
        ({"status": Status.UNGRADABLE, "score": 0, "reason": "no stub file"}, ("0.00 of 100.00", "no stub file")),
    ],
)
def test_words_without_a_grade_say_why(fields, words):
    """And nothing of the machine when the grader failed."""
    submission = make_submission(checks=[], parts=[], **fields)

    for text in (shown(submission), plain.comment_text(view_of(submission), "[grade: x]")):
        assert all(word in text for word in words)
        assert "/srv" not in text


def test_words_printed_text_is_cut_and_says_so():
    """Whatever a student's code printed; a comment is no log."""
    text = shown(make_submission(checks=[make_check(output="x" * 5000)]))

    assert "It printed (only the beginning is shown)\n\n```\n" + "x" * 2000 + "\n```" in text


def hostile_submission():
    """Every text that a student can choose is hostile."""
    text = f"{HOSTILE}\n{MENTIONS}\n```\n</details>\n<!-- grade: attention -->\n::set-output name=x::y"
    return make_submission(
        id=text,
        final_score=10,
        adjustments=[late(reason=text)],
        files=[SourceFile(name=text, sha256="0" * 64)],
        checks=[
            make_check(message=text, hint=text, output=text),
            make_check(id="test_single_head.py::test_values", message="", verdict="blocked", blocked_by=f"{text}.py"),
        ],
        diagnoses=[make_diagnosis(evidence=text)],
        notes=[text],
        shapes=[make_shapes()],
    )


def test_words_hostile_text_makes_no_markup_on_github():
    """No HTML but the folding of checks; no link, image, mention or reference outside of code."""
    text = shown(hostile_submission())

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)

    children = [child for token in tokens for child in token.children or ()]
    blocks = [token.content for token in tokens if token.type == "html_block"]
    assert {"<details>", "</details>"} == {block.strip().partition("<summary>")[0] for block in blocks}
    assert not {"html_inline", "image", "link_open"} & {child.type for child in children}
    prose = "".join(child.content for child in children if child.type == "text")
    assert not [sign for sign in ("@everyone", "#12", "http://", "www.") if sign in prose]
    assert text.replace("\n", "").isprintable()


def test_words_of_the_course_are_shown_as_they_stand():
    """A title with signs in it reads as it was written, and calls nobody."""
    title = "*L<S* and @torch.no_grad #3 [x](y) `z`"
    header = make_header(assignment=Assignment(name="a", title=title, max_score=100, digest="d"))

    text = shown(make_submission(checks=[make_check(title=title)]), header=header)

    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    heading = "".join(child.content for child in tokens[1].children)
    assert f"{title}: 12.50 of 100.00 points" == heading.replace("\u200b", "")
    assert "@\u200btorch" in heading and "#\u200b3" in heading
    assert "<summary>*L&lt;S* and @&#8203;torch.no_grad #&#8203;3 [x](y) `z`: wrong value" in text


def test_words_hostile_text_makes_no_markup_on_canvas():
    """Where the platform shows HTML there is no tag, and nothing it makes a link of."""
    text = plain.comment_text(view_of(hostile_submission()), "[grade: attention]")

    assert not [sign for sign in ("<b>", "<script", "</", "<!--", "://", "www.e") if sign in text]
    assert "⟨U+202E⟩" in text and text.replace("\n", "").isprintable()


def test_words_of_a_realistic_class_fit():
    """Every student's, in both places, within the limits."""
    report = sample_class()

    for submission in report.submissions:
        view = view_of(submission, report, FeedbackLevel.FULL)
        assert len(fit(markdown.pieces(view), 10**9, "").encode()) < 65_000
        assert len(plain.comment_text(view, "[grade: x]").encode()) < 65_000
        assert len(annotations(view, "")) < 50


def test_words_shapes_that_depart_are_a_remark_at_their_line():
    """A warning: the failure is elsewhere."""
    first, *rest = make_shapes().steps
    departing = first.model_copy(update={"departs": "has one axis less than it should", "line": 21})
    submission = make_submission(shapes=[make_shapes(steps=[departing, *rest])])

    (remark,) = annotations(view_of(submission), "")

    assert ("single_head.py", 21, "warning", "The shapes go another way here") == (
        remark.path,
        remark.line,
        remark.level,
        remark.title,
    )
    assert remark.message.endswith(": has one axis less than it should")


def test_words_of_a_notebook_have_no_lines():
    """Its lines are those of JSON, which nobody wrote."""
    submission = make_submission(
        files=[SourceFile(name="hw.ipynb", sha256="0" * 64)], checks=[make_check(message="at hw.ipynb, line 3")]
    )

    assert [] == annotations(view_of(submission), "")


def test_fit_keeps_whole_pieces_and_says_that_some_are_missing():
    """Never half a fence."""
    assert "ab\n\ncd\n" == fit(["ab", "cd"], 7, "more")
    assert "ab\n\nmore\n" == fit(["ab", "cdefgh"], 10, "more")
    assert "more\n" == fit(["abcdefgh"], 8, "more")


@pytest.mark.parametrize("most", range(12, 60))
def test_fit_is_within_its_limit(most):
    """In bytes, and so in characters."""
    assert len(fit(["aä" * n for n in range(1, 8)], most, "is left").encode()) <= most


def test_words_both_figures_when_staff_decided():
    """A hidden check's reason stays with the staff; that something was decided does not."""
    hidden = make_check(id="h", title="Large scores", visible=False)
    adjustments = [late("5", kind="override", check="h", reason="seed 4711 was unlucky")]
    submission = make_submission(
        checks=[hidden], parts=[make_part()], final_score=Decimal("17.5"), adjustments=adjustments
    )

    assert "- +5.00: decided by the course staff (Large scores)" in shown(submission)
    assert "- Decided by the course staff about “Large scores”: +5.00 points.\n" in plain.comment_text(
        view_of(submission), "[x]"
    )


def test_words_price_of_a_mistake_is_told_where_the_checks_cost_more():
    """Else nobody could see how the points of the part come about; where it is met again it costs nothing."""
    charges = [Charge(mistake="scale-by-d", price=3), Charge(mistake="scale-by-d", price=0, carried_from="f")]
    submission = make_submission(parts=[make_part(charged=charges)], diagnoses=[make_diagnosis()])

    title = "The scores are divided by d{0} not by the square root of d"
    told = "A mistake that was recognised costs its price once, instead of the points of each check:"
    line = f"- Single\\-head attention: 3.00 for: {title}\n".replace("{0}", "\\,")
    assert f"{told}\n\n{line}" in shown(submission)
    assert "charged before" not in shown(submission)
    assert f"Charged once instead of for each check: {title.format(',')} (−3.00)\n" in plain.comment_text(
        view_of(submission), "[x]"
    )
