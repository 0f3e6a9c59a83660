"""`assignment.toml`: what is read, and what an author is told about a mistake in it."""

import re
from decimal import Decimal
from pathlib import Path

import pytest
from sample_course import ASSIGNMENT, write_course

from grader.assignment import AssignmentError, read_assignment

ROOT = Path(__file__).parents[1]
#: A deadline as TOML.
MOMENT = "2026-11-29T23:59:00+01:00"


@pytest.fixture
def folder(tmp_path):
    """The folder of the tiny assignment."""
    return write_course(tmp_path).folder / "assignments" / "tiny"


def rewrite(folder, old, new):
    """Replace one place of `assignment.toml`."""
    assert 1 == ASSIGNMENT.count(old)
    (folder / "assignment.toml").write_text(ASSIGNMENT.replace(old, new), encoding="utf-8")


def refusal(folder):
    """What the author is told, without the name of the file."""
    with pytest.raises(AssignmentError) as refused:
        read_assignment(folder)
    start = f"{folder / 'assignment.toml'}"
    assert str(refused.value).startswith(start)
    return str(refused.value).removeprefix(start)


def test_assignment_fields_are_read(folder):
    """Parts in order, their files, and their points."""
    read = read_assignment(folder)

    assert ("tiny", "Tiny", 5) == (read.name, read.title, read.published_seed)
    assert (("mix.py", "scale.py"), Decimal(10)) == (read.files, read.max_score)


def test_assignment_fields_left_out_have_defaults(folder):
    """Limits, tolerances and feedback need not be written."""
    read = read_assignment(folder)

    assert (10.0, 2.0, 20.0) == (read.limits.import_s, read.limits.call_s, read.limits.submission_s)
    assert ("hint", None) == (read.feedback.level, read.feedback.full_from)
    assert ((), ("torch", "numpy")) == (read.rules.forbidden, read.rules.imports)
    assert 0 < read.tolerances.float64 < read.tolerances.float32


def test_assignment_sources_name_the_library_only_where_there_is_one(folder):
    """A check may compare with what the assignment names."""
    read = read_assignment(folder)

    assert {"reference": "tiny:mix", "library": "tiny:mix_again"} == dict(read.callable("mix", "mix").sources)
    assert {"reference": "tiny:gate"} == dict(read.callable("mix", "gate").sources)


def test_assignment_attention_of_the_repository_is_whole():
    """The real one: a hundred points in three parts, each stub there with every callable it names."""
    read = read_assignment(ROOT / "assignments" / "attention")

    assert {"single_head": 30, "masked": 30, "multi_head": 40} == {part.name: part.points for part in read.parts}
    for part in read.parts:
        stub = (read.folder / "stub" / part.file).read_text(encoding="utf-8")
        for name, callable_ in part.callables.items():
            word = "class" if callable_.kind == "module" else "def"
            assert f"\n{word} {name}(" in stub
            assert set(callable_.returns) <= set(callable_.axes)


# --- faults of the file -----------------------------------------------------------------------------------------


def test_assignment_without_its_file_says_so(tmp_path):
    """A folder that is no assignment."""
    assert ": cannot be read: No such file or directory" == refusal(tmp_path)


def test_assignment_that_is_no_toml_says_where(folder):
    """Line and column of the fault."""
    rewrite(folder, "points = 6", "points = ")

    assert ": not valid TOML: Invalid value (at line 7, column 10)" == refusal(folder)


def test_assignment_that_is_no_utf8_says_so(folder):
    """An editor's old encoding is named as such."""
    (folder / "assignment.toml").write_bytes(b'title = "\xe9"\n')

    assert refusal(folder).startswith(": not valid TOML: 'utf-8' codec can't decode byte 0xe9")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('title = "Tiny"\n', "", ", title: missing; it must be given"),
        ("points = 6\n", "", ", parts.0.points: missing; it must be given"),
        (
            'title = "Tiny"',
            'title = "Tiny"\nlimit = 3',
            ", limit: unknown key; did you mean 'limits'?",
        ),
        (
            'title = "Mixing"',
            'title = "Mixing"\npoint = 3',
            ", parts.0.point: unknown key; did you mean 'points'?",
        ),
        (
            'reference = "tiny:gate"',
            'reference = "tiny:gate"\nlibary = "tiny:gate"',
            ", parts.0.callables.gate.libary: unknown key; did you mean 'library'?",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nlimits = { cal_s = 1 }',
            ", limits.cal_s: unknown key; did you mean 'call_s'?",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\ntolerances = { zzz = 1 }',
            ", tolerances.zzz: unknown key; there are: float64, float32",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nfolder = "elsewhere"',
            ", folder: unknown key; there are: title, published_seed, parts, limits, tolerances, feedback, rules, "
            "late, lab, scoring, prices",
        ),
        ("points = 6", "points = -1", ", parts.0.points: Input should be greater than 0; got -1"),
        (
            "points = 6",
            'points = "six"',
            ", parts.0.points: Input should be a valid decimal; got 'six'",
        ),
        ("points = 6", "points = nan", ", parts.0.points: Input should be a finite number; got nan"),
        (
            'returns = ["mask"]',
            "returns = []",
            ", parts.0.callables.gate.returns: Tuple should have at least 1 item after validation, not 0; got []",
        ),
        (
            'kind = "module"',
            'kind = "class"',
            ", parts.1.callables.Scale.kind: Input should be 'function' or 'module'; got 'class'",
        ),
        (
            "published_seed = 5",
            "published_seed = -5",
            ", published_seed: Input should be greater than or equal to 0; got -5",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nlimits = { timeouts = 0 }',
            ", limits.timeouts: Input should be greater than or equal to 1; got 0",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nfeedback = { level = "all" }',
            ", feedback.level: Input should be 'verdict', 'hint' or 'full'; got 'all'",
        ),
        (
            'reference = "tiny:gate"',
            'reference = "tiny:gate"\nequal = { colum = "row" }',
            ", parts.mix.callables.gate.equal.colum: no value has this axis; did you mean 'column'?",
        ),
        (
            'reference = "tiny:gate"',
            'reference = "tiny:gate"\nequal = { column = "line" }',
            ", parts.mix.callables.gate.equal.column: got the axis 'line'; there are: row",
        ),
        (
            'reference = "tiny:gate"',
            'reference = "tiny:gate"\nequal = { column = "row" }\nsizes = { length = "column" }',
            ", parts.mix.callables.gate.sizes.length: got the axis 'column'; there are: row",
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nrules = { forbiden = [] }',
            ", rules.forbiden: unknown key; did you mean 'forbidden'?",
        ),
        *(
            (
                'title = "Tiny"',
                f'title = "Tiny"\nrules = {{ forbidden = ["torch.nn.Linear", "{name}"] }}',
                ", rules.forbidden.1: wanted a dotted name with its module, such as torch.nn.Linear or "
                f"torch.nn.Transformer* (* and ? may stand in the last part only); got '{name}'",
            )
            for name in ("Linear", "torch.*.Linear", "torch..nn", "torch.nn.", "torch nn", "torch.nn.[A]")
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nrules = { imports = ["torch.nn"] }',
            ", rules.imports.0: wanted the name of a package as it is imported, such as numpy; got 'torch.nn'",
        ),
        *(
            ('title = "Tiny"', f'title = "Tiny"\nlate = {{ {fields} }}', told)
            for fields, told in (
                ("percent_per_day = 10", ", late.due: missing; it must be given"),
                (f"due = {MOMENT}", ", late.percent_per_day: missing; it must be given"),
                (
                    "due = 2026-11-29T23:59:00, percent_per_day = 10",
                    ", late.due: wanted a date and time with its offset from UTC, such as 2026-11-29T23:59:00+01:00; "
                    "got 2026-11-29T23:59:00",
                ),
                (
                    "due = 1764457140, percent_per_day = 10",
                    ", late.due: wanted a date and time with its offset from UTC, such as 2026-11-29T23:59:00+01:00; "
                    "got 1764457140",
                ),
                (
                    f"due = {MOMENT}, percent_per_day = 101",
                    ", late.percent_per_day: Input should be less than or equal to 100; got 101",
                ),
                (
                    f"due = {MOMENT}, percent_per_day = 10, floor_percent = -1",
                    ", late.floor_percent: Input should be greater than or equal to 0; got -1",
                ),
                (
                    f"due = {MOMENT}, percent_per_day = 10, grace_minuets = 15",
                    ", late.grace_minuets: unknown key; did you mean 'grace_minutes'?",
                ),
                (
                    f"due = {MOMENT}, percent_per_day = 10, marked_days = 0.5",
                    ", late.marked_days: Input should be a valid integer; got 0.5",
                ),
                (
                    f"due = {MOMENT}, percent_per_day = true",
                    ", late.percent_per_day: Decimal input should be an integer, float, string or Decimal object; "
                    "got True",
                ),
            )
        ),
        *(
            ('title = "Tiny"', f'title = "Tiny"\nlab = {{ kind = "{kind}", {key} = "{name}" }}', told)
            for kind, key, name, told in (
                ("fused-self-attention", "callable", "Scael", ": no callable is called 'Scael'; did you mean 'Scale'?"),
                ("fused-self-attention", "callable", "mix", ", lab.callable: mix is a function; wanted a module"),
                (
                    "fused",
                    "callable",
                    "Scale",
                    ", lab.kind: Input should be 'fused-self-attention'; got 'fused'",
                ),
            )
        ),
        (
            'title = "Tiny"',
            'title = "Tiny"\nlab = { kind = "fused-self-attention" }',
            ", lab.callable: missing; it must be given",
        ),
        ('name = "scale"', 'name = "mix"', ", parts: two parts have one name; got ['mix', 'mix']"),
    ],
)
def test_assignment_fault_names_field_found_and_wanted(folder, old, new, told):
    """The author is told where, what was found, and what was wanted or meant."""
    rewrite(folder, old, new)

    assert told == refusal(folder)


def test_assignment_lab_names_a_module_and_does_not_change_the_digest(folder):
    """It has no part in a grade: whoever adds it grades nobody again."""
    before = read_assignment(folder).digest

    rewrite(folder, 'title = "Tiny"', 'title = "Tiny"\nlab = { kind = "fused-self-attention", callable = "Scale" }')

    assignment = read_assignment(folder)
    assert "scale" == assignment.part_of(assignment.lab.callable).name
    assert before == assignment.digest


def test_assignment_several_faults_are_told_at_once(folder):
    """One line each, so that nobody has to run it again and again."""
    rewrite(folder, "points = 6", "pionts = 6")

    file = folder / "assignment.toml"
    assert (
        f", parts.0.points: missing; it must be given\n"
        f"{file}, parts.0.pionts: unknown key; did you mean 'points'?"
    ) == refusal(folder)  # fmt: skip


def test_assignment_without_parts_is_refused(folder):
    """There would be nothing to grade."""
    (folder / "assignment.toml").write_text('title = "Tiny"\nparts = []\n', encoding="utf-8")

    assert ", parts: Tuple should have at least 1 item after validation, not 0; got []" == refusal(folder)


# --- names that checks and commands use ---------------------------------------------------------------------------


def test_assignment_unknown_part_offers_a_near_match(folder):
    """A misspelt part."""
    with pytest.raises(AssignmentError) as refused:
        read_assignment(folder).part("scal")

    assert f"{folder / 'assignment.toml'}: no part is called 'scal'; did you mean 'scale'?" == str(refused.value)


def test_assignment_unknown_callable_lists_what_there_is(folder):
    """Nothing is near: all names are shown."""
    with pytest.raises(AssignmentError) as refused:
        read_assignment(folder).callable("mix", "Zzz")

    assert f"{folder / 'assignment.toml'}: no callable of mix is called 'Zzz'; there are: mix, gate" == str(
        refused.value
    )


# --- identity ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["assignment.toml", "checks/test_mix.py", "checks/test_mix_hidden.py", "../../reference/tiny.py"]
)
def test_assignment_digest_changes_with_what_decides_a_grade(folder, name):
    """Points and tolerances, visible and hidden checks, and the reference."""
    before = read_assignment(folder).digest
    file = folder / name
    text = file.read_text(encoding="utf-8")
    changed = (
        text.replace("published_seed = 5", "published_seed = 6") if file.suffix == ".toml" else f"{text}\n# changed\n"
    )
    file.write_text(changed, encoding="utf-8")

    assert before != read_assignment(folder).digest


def test_assignment_digest_changes_with_a_new_or_renamed_check_file(folder):
    """Names count as well as contents."""
    before = read_assignment(folder).digest
    (folder / "checks/test_scale.py").rename(folder / "checks/test_scale_hidden.py")

    assert before != read_assignment(folder).digest


def test_assignment_late_policy_is_read_and_no_part_of_the_digest(folder):
    """A deadline that is set or moves decides nothing of what code earns, and makes nobody grade again."""
    before = read_assignment(folder)
    digest = before.digest
    rewrite(folder, 'title = "Tiny"', f'title = "Tiny"\nlate = {{ due = {MOMENT}, percent_per_day = 12.5 }}')

    after = read_assignment(folder)

    assert before.late is None
    assert (Decimal("12.5"), 0, 0, 1) == (
        after.late.percent_per_day,
        after.late.grace_minutes,
        after.late.floor_percent,
        after.late.marked_days,
    )
    assert digest == after.digest


def test_assignment_digest_changes_with_the_order_of_callables(folder):
    """A mistake is charged where it is met first."""
    before = read_assignment(folder).digest
    head, mix, gate = ASSIGNMENT.partition("[parts.callables.mix]")[0], *_tables("mix", "gate")
    rest = ASSIGNMENT.removeprefix(head + mix + gate)
    assert ASSIGNMENT == head + mix + gate + rest
    (folder / "assignment.toml").write_text(head + gate + mix + rest, encoding="utf-8")

    assert before != read_assignment(folder).digest


def _tables(*names):
    """The texts of these callables, up to the next table."""
    return [re.search(rf"\[parts\.callables\.{name}\]\n(?:(?!\[).*\n)*", ASSIGNMENT)[0] for name in names]


@pytest.mark.parametrize("name", ["README.md", "stub/mix.py", "checks/__pycache__/test_mix.cpython-311.pyc"])
def test_assignment_digest_ignores_what_decides_nothing(folder, name):
    """A typing error in the handout does not make reports incomparable."""
    before = read_assignment(folder).digest
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("changed", encoding="utf-8")

    assert before == read_assignment(folder).digest


def test_assignment_digest_does_not_depend_on_where_the_course_is(folder, tmp_path):
    """Two machines agree."""
    elsewhere = write_course(tmp_path / "elsewhere").folder / "assignments" / "tiny"

    assert read_assignment(folder).digest == read_assignment(elsewhere).digest


NEIGHBOUR = "from reference.more import more\n"
BOOK = '[[mistake]]\nid = "a"\nedits = [{{ file = "{}", old = "1", new = "2" }}]\n'


def test_assignment_digest_changes_with_a_module_that_its_reference_imports(folder):
    """Right answers come from there, too."""
    reference = folder.parents[1] / "reference"
    (reference / "more.py").write_text("more = 1\n", encoding="utf-8")
    (reference / "tiny.py").write_text(
        NEIGHBOUR + (reference / "tiny.py").read_text(encoding="utf-8"), encoding="utf-8"
    )
    before = read_assignment(folder).digest
    (reference / "more.py").write_text("more = 2\n", encoding="utf-8")

    assert before != read_assignment(folder).digest


def test_assignment_digest_changes_with_its_mistakes(folder):
    """They set prices."""
    before = read_assignment(folder).digest
    (folder.parents[1] / "reference/mistakes").mkdir()
    (folder.parents[1] / "reference/mistakes/tiny.toml").write_text(BOOK.format("tiny.py"), encoding="utf-8")

    assert before != read_assignment(folder).digest


def test_assignment_digest_ignores_what_another_assignment_needs(folder):
    """Next week's assignment, written while this one is graded, makes nobody grade again."""
    before = read_assignment(folder).digest
    reference = folder.parents[1] / "reference"
    (reference / "next_week.py").write_text("def next_week(): ...\n", encoding="utf-8")
    (reference / "mistakes").mkdir()
    (reference / "mistakes/next_week.toml").write_text(BOOK.format("next_week.py"), encoding="utf-8")

    assert before == read_assignment(folder).digest
