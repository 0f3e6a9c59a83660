"""The page of experiments: whole, readable everywhere, and nobody's but ours."""

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from sample_lab import sample_against, sample_future, sample_heads, sample_lab, sample_scaling, scaling_point

import grader.lab.lab_file
from grader.lab.figures import Lab, Problem, Subject
from grader.lab.lab_file import json_schema, to_json
from grader.lab.page import page
from grader.lab.plots import future_plots, scaling_plots
from grader.report import Isolation, SourceFile
from grader.verdict import Verdict

ROOT = Path(__file__).parents[1]
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202e"


class Read(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def whole():
    """The page of a right module."""
    return page(sample_lab())


@pytest.fixture(scope="module")
def hostile():
    """Everything a student can choose is hostile."""
    problem = Problem(at="d_head = 4", verdict=Verdict.EXCEPTION, message=f"it raised\n  error     {HOSTILE}")
    files = (SourceFile(name=f"{HOSTILE}.py", sha256="0"),)
    return sample_lab(
        subject=Subject(id=HOSTILE, files=files, notes=(HOSTILE,)),
        scaling=sample_scaling(problems=(problem,)),
    )


def test_lab_page_needs_nothing_else(whole):
    """No script, nothing to load, and links within the page alone."""
    read = Read(whole)
    links = [value for _, attrs in read.tags for name, value in attrs.items() if name in ("href", "src", "xlink:href")]

    assert not {"script", "link", "iframe", "img", "image", "object"} & {tag for tag, _ in read.tags}
    assert all(link.startswith("#") for link in links)
    assert set() == set(re.findall(r"url\((?!#)[^)]*\)|@import", whole))
    assert "default-src 'none'" in whole


def test_lab_page_plots_of_all_experiments_are_there_and_are_named(whole):
    """Nine pictures, each of them with a text for who cannot see it."""
    plots = [attrs for tag, attrs in Read(whole).tags if tag == "svg"]

    assert 9 == len(plots)
    assert all("img" == attrs["role"] and attrs["aria-label"] for attrs in plots)


def test_lab_page_identifiers_are_used_once_and_lead_somewhere(whole):
    """Several plots stand on one page."""
    names = [attrs["id"] for _, attrs in Read(whole).tags if "id" in attrs]

    assert len(set(names)) == len(names)
    assert set(re.findall(r'(?:href="|url\()#([\w-]+)', whole)) <= set(names)


def test_lab_page_words_of_plots_are_words(whole):
    """They can be searched for, and are set in the page's letters."""
    words = {word.strip() for word in Read(whole).words}

    assert {"variance of the logits", "token that was changed", "thousand tokens / s", "MiB", "ms"} <= words


def test_lab_page_of_equal_figures_has_equal_bytes_in_any_process(whole, tmp_path):
    """Nothing of the moment is in it, of a person's own settings of matplotlib, or of an interpreter's hashes."""
    (tmp_path / "matplotlibrc").write_text("axes.linewidth: 9\nfont.weight: bold\n")
    code = "from sample_lab import sample_lab; from grader.lab.page import page; print(page(sample_lab()), end='')"
    environment = {"MATPLOTLIBRC": str(tmp_path), "PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "PYTHONHASHSEED": "5"}
    environment |= {"PYTHONIOENCODING": "utf-8", "HOME": str(tmp_path)}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True, cwd=tmp_path)

    assert whole == done.stdout.decode()


def test_lab_page_drawing_leaves_no_settings_behind(whole):
    """Whoever draws in the same process finds matplotlib as it was."""
    import matplotlib

    assert "none" != matplotlib.rcParams["svg.fonttype"]
    assert "matplotlib.pyplot" not in sys.modules


@pytest.fixture(scope="module")
def hostile_page(hostile):
    """Its page."""
    return page(hostile)


def test_lab_page_of_a_hostile_student_holds_their_text_and_no_markup_of_theirs(hostile_page):
    """What has no shape is spelt out."""
    text = hostile_page
    shown = "<img src=x onerror=alert(1)>⟨U+001B⟩[31m⟨U+202E⟩"

    assert "img" not in {tag for tag, _ in Read(text).tags}
    assert 4 <= "".join(Read(text).words).count(shown)


def test_lab_page_says_what_could_not_be_measured(hostile_page):
    """With the place, and the whole message, before what was measured all the same."""
    words = " ".join("".join(Read(hostile_page).words).split())

    assert "raised an error (d_head = 4) it raised error" in words
    assert "With the scaling, the variance" in words


def nothing_measured(**fields):
    """A record without figures."""
    return sample_lab(
        scaling=sample_scaling(points=()),
        future=sample_future(with_mask=(), without_mask=()),
        heads=sample_heads(points=()),
        against=sample_against(differences=(), points=()),
        **fields,
    )


def test_lab_page_of_nothing_measured_has_no_plots():
    """It says so four times, and still explains what would be seen."""
    text = page(nothing_measured())

    assert 4 == text.count("It could not be measured.")
    assert "<svg" not in text
    assert 4 == text.count("What to look for.")


def test_lab_page_weak_isolation_is_told():
    """As in every report."""
    weak = sample_lab().grader.model_copy(update={"isolation": Isolation.PARTIAL, "isolation_detail": "Why."})

    assert "Isolation: partial" in page(nothing_measured(grader=weak))


def test_lab_plots_bear_values_that_are_missing_or_0():
    """A module may give no variance, no gradient, and movements of nothing at all."""
    nothing = ((0.0, 0.0), (0.0, 0.0))
    points = (scaling_point(4, True, None, gradient_median=None, gradient_low=None), scaling_point(4, False, 0.0))

    assert 3 == len(scaling_plots(sample_scaling(points=points)))
    assert 1 == len(scaling_plots(sample_scaling(points=points[:1])))
    assert 2 == len(future_plots(sample_future(length=2, with_mask=nothing, without_mask=nothing)))


def test_lab_plots_of_the_mask_write_exact_zeros_as_0():
    """And nothing else: a trace is no zero."""
    (plot,) = future_plots(sample_future(length=2, with_mask=((0.5, 0.0), (1e-9, 2.0)), without_mask=()))

    words = [str(word) for word in Read(plot.svg).words if word.strip()]
    assert [".50", "0", "1e-9", "2.00"] == words[words.index(".50") :][:4]


def test_lab_json_is_described_by_the_schema_beside_it():
    """Which is made from the records."""
    file = Path(grader.lab.lab_file.__file__).with_name("lab.schema.json")
    schema = json.loads(file.read_text())

    assert json_schema() == schema
    jsonschema.validate(json.loads(to_json(sample_lab())), schema)


def test_lab_json_is_read_back_as_it_was(hostile):
    """Names of all alphabets, too, and what is no letter at all."""
    assert sample_lab() == Lab.model_validate_json(to_json(sample_lab()))
    assert hostile == Lab.model_validate_json(to_json(hostile))
