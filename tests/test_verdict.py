"""Verdicts: their order, and what people read."""

from grader.verdict import Verdict


def test_verdict_order_puts_the_graders_fault_first_and_a_pass_last():
    """Sorting by rank begins with what must be settled first."""
    ranked = sorted(Verdict, key=lambda verdict: verdict.rank)

    assert (Verdict.GRADER_ERROR, Verdict.PASSED) == (ranked[0], ranked[-1])
    assert list(range(len(Verdict))) == [verdict.rank for verdict in ranked]


def test_verdict_order_puts_a_missing_file_before_a_wrong_value():
    """What keeps code from running outranks what it answers."""
    assert Verdict.MISSING_FILE.rank < Verdict.IMPORT_ERROR.rank < Verdict.WRONG_VALUE.rank


def test_verdict_value_is_the_word_of_the_report():
    """A verdict is read from its word, and prints as it."""
    verdict = Verdict("wrong_gradient")

    assert Verdict.WRONG_GRADIENT is verdict
    assert "wrong_gradient" == f"{verdict}"


def test_verdict_labels_are_distinct_words():
    """Every verdict can be told from every other by its label alone."""
    labels = {verdict.label for verdict in Verdict}

    assert len(Verdict) == len(labels)
    assert not any("_" in label for label in labels)


def test_verdict_markers_tell_passed_failed_and_blocked_apart():
    """The markers differ where the colours do, so nobody needs the colours."""
    markers = [verdict.marker for verdict in (Verdict.PASSED, Verdict.WRONG_VALUE, Verdict.BLOCKED)]

    assert 3 == len(set(markers))
    assert all(1 == len(verdict.marker) for verdict in Verdict)
    assert [Verdict.PASSED] == [verdict for verdict in Verdict if verdict.marker == Verdict.PASSED.marker]
