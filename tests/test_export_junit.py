"""JUnit XML: well-formed whatever students print, of pytest's form, without anything of this machine."""

import os
import subprocess
import sys
from datetime import date
from xml.dom import minidom
from xml.etree import ElementTree

import pytest
from sample_people import LATE, submission_of
from sample_report import HOSTILE, make_check, make_report, make_submission, sample_class

from grader.export.junit import junit_xml, suite_for_staff, suite_for_student
from grader.report import Feedback, Status
from grader.student_view import student_view
from grader.verdict import Verdict

#: Every character that XML 1.0 cannot hold, and what ends a section or an attribute.
ILLEGAL = "".join(map(chr, [*range(32), 0xFFFE, 0xFFFF])) + "]]><!--\"'&amp;"


def xml_of(*submissions, **fields):
    """The file for staff."""
    return junit_xml(make_report(*submissions, **fields), map(suite_for_staff, submissions))


def suites_of(text):
    """Its suites."""
    return ElementTree.fromstring(text.encode()).findall("testsuite")


def properties_of(element):
    """Name and value of its properties."""
    return {one.get("name"): one.get("value") for one in element.findall("properties/property")}


def shape_of(element):
    """Tags and attributes below an element, as pytest may write them: parent, tag, attributes."""
    return {(parent.tag, child.tag, *sorted(child.keys())) for parent in element.iter() for child in parent}


def test_junit_suite_counts_what_is_in_it():
    """Failures, errors of the grader, and what waits for something else."""
    text = xml_of(*sample_class().submissions)

    for suite in suites_of(text):
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(suite.get(name)) == len(suite.findall(f"testcase/{tag}"))
        assert int(suite.get("tests")) == len(suite.findall("testcase")) > 0


def test_junit_has_a_suite_for_each_submission_with_points_as_properties():
    """What the code earned, what was done to it, what counts."""
    (suite,) = suites_of(xml_of(submission_of("ada", 92, adjustments=[LATE])))

    assert "ada" == suite.get("name")
    assert {
        "status": "graded",
        "score": "92.00",
        "adjustment.late": "-10.00 2 days late, 5 points a day",
        "final_score": "82.00",
        "max_score": "100.00",
        "part.single_head": "92.00/100.00",
    } == properties_of(suite)


def test_junit_case_tells_verdict_points_and_message():
    """A row of a CI service's table."""
    check = make_check(message="it is wrong\n  by 3", hint="look", output="printed")

    (case,) = suites_of(xml_of(make_submission(checks=[check])))[0].findall("testcase")

    assert ["single_head.scaled_dot_product_attention", check.title, "0.012"] == [
        case.get(name) for name in ("classname", "name", "time")
    ]
    assert {"verdict": "wrong_value", "points": "0.00", "max_points": "2.00"}.items() <= properties_of(case).items()
    assert "wrong value: it is wrong" == case.find("failure").get("message")
    assert ["it is wrong\n  by 3\nhint: look", "printed"] == [case.findtext("failure"), case.findtext("system-out")]


@pytest.mark.parametrize(
    ("verdict", "tag"), [("grader_error", "error"), ("blocked", "skipped"), ("exception", "failure"), ("passed", None)]
)
def test_junit_verdict_becomes_a_kind_of_result(verdict, tag):
    """The grader's own fault is no failure of the code."""
    check = make_check(verdict=verdict, score=None if verdict == "grader_error" else 0)

    case = suites_of(xml_of(make_submission(checks=[check])))[0].find("testcase")

    assert ([tag] if tag else []) == [child.tag for child in case if child.tag != "properties"]


@pytest.mark.parametrize(("status", "tag"), [(Status.UNGRADABLE, "failure"), (Status.GRADER_ERROR, "error")])
def test_junit_submission_without_checks_has_a_case_with_the_reason(status, tag):
    """A suite of nothing would be green."""
    score = None if status is Status.GRADER_ERROR else 0
    submission = make_submission(status=status, score=score, reason="no stub file", parts=(), checks=())

    (case,) = suites_of(xml_of(submission))[0].findall("testcase")

    assert "no stub file" == case.find(tag).get("message")


def test_junit_suite_is_never_empty():
    """Some readers take one without a case for a run that broke off."""
    (suite,) = suites_of(xml_of(make_submission(checks=())))

    assert ["1", "0"] == [suite.get("tests"), suite.get("failures")]


@pytest.mark.parametrize("text", [HOSTILE, ILLEGAL, "\ud800"])
def test_junit_characters_that_xml_cannot_hold_do_no_harm(text):
    """In an id, a message, printed text and a reason; two strict parsers read it."""
    check = make_check(message=text, hint=text, output=text, blocked_by=text, verdict=Verdict.EXCEPTION)
    waits = make_check(id="b", message="", blocked_by=text, verdict=Verdict.BLOCKED)
    file = xml_of(
        make_submission(id=text, checks=[check, waits]),
        make_submission(id="b", status=Status.UNGRADABLE, score=0, reason=text, checks=()),
    )

    suites = suites_of(file)
    minidom.parseString(file.encode())

    assert [2, 1] == [len(suite.findall("testcase")) for suite in suites]
    assert not {"\x00", "\x1b", "\u202e", "\ufffe"} & set("".join(suites[0].itertext()))


def test_junit_for_a_student_holds_nothing_of_hidden_checks():
    """Titles, verdicts and points; no message, no id, no time."""
    check = make_check(visible=False, id="test_secret", message="secret", output="secret")
    report = make_report(make_submission(checks=[check]))
    view = student_view(report, report.submissions[0], Feedback(level="full"), date(2026, 11, 30))

    text = junit_xml(report, [suite_for_student(view)])

    assert "secret" not in text and "time=" not in text.replace("timestamp=", "")
    assert "hidden-1" == properties_of(suites_of(text)[0].find("testcase"))["id"]


def test_junit_names_nothing_of_this_machine():
    """pytest's own has the host's name and paths."""
    text = xml_of(*sample_class().submissions)

    assert "hostname" not in text
    assert os.getcwd() not in text


def test_junit_is_of_the_form_that_pytest_writes(tmp_path):
    """Every element stands where pytest puts one of that name, with attributes that pytest gives it."""
    source = """
import pytest
def test_pass(record_property): record_property("points", 1); print("x")
def test_fail(): assert 0
@pytest.fixture
def broken(): raise ValueError
def test_error(broken): pass
def test_skip(): pytest.skip("later")
"""
    (tmp_path / "test_it.py").write_text(source)
    options = ["-q", "-p", "no:cacheprovider", "--junitxml", "j.xml", "-o", "junit_logging=all", "test_it.py"]
    bare = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=tmp_path, env=bare, capture_output=True, check=False)
    theirs = ElementTree.parse(tmp_path / "j.xml").getroot()

    ours = ElementTree.fromstring(xml_of(*sample_class().submissions).encode())

    known = {(parent, tag): set(names) for parent, tag, *names in shape_of(theirs)}
    known |= {("testsuite", "properties"): set(), ("testsuite", "system-out"): set()}  # of `record_testsuite_property`
    for tag in ("failure", "error"):
        known["testcase", tag].add("type")  # which pytest gives to skipped cases only, and other writers to these too
    for parent, tag, *names in shape_of(ours):
        assert set(names) <= known[parent, tag]
