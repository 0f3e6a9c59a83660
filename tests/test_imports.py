"""Who may import whom. The rules that keep student code, answers and words apart, read from the sources."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "grader"


def module_name(file):
    """`grader.worker.wire` for grader/worker/wire.py."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_name(file): file for file in sorted(PACKAGE.rglob("*.py"))}


def imports_of(name):
    """Full names of all modules that a module imports, anywhere in it: at its top, in functions, for types."""
    found = set()
    for node in ast.walk(ast.parse(FILES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = absolute(name, node)
            found |= {f"{source}.{alias.name}" if f"{source}.{alias.name}" in FILES else source for alias in node.names}
    return found


def absolute(name, node):
    """The module that a `from` names; relative ones counted from the importing module's package."""
    if not node.level:
        return node.module
    package = name.split(".") if FILES[name].name == "__init__.py" else name.split(".")[:-1]
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *([node.module] if node.module else [])])


#: What a report is made of.
RECORDS = ("adjustment", "finding", "handed_in", "late", "measured", "record", "report")
#: What a student's eyes are given from it, and how strings are made safe for them.
SHOWN = ("show", "student_records", "student_view", "verdict")
GRAPH = {name: imports_of(name) for name in FILES}


def inside(name):
    """What a module imports of grader; the package itself holds no more than its version."""
    return {other for other in GRAPH[name] if other.startswith("grader.")}


def reachable(name):
    """All modules of grader that importing one brings with it, sooner or later."""
    seen, waiting = set(), [name]
    while waiting:
        for other in inside(waiting.pop()) - seen:
            seen.add(other)
            waiting.append(other)
    return seen


def test_imports_sources_are_found():
    """The rules below are about something."""
    assert {"grader.compare", "grader.worker.wire", "grader.render.html"} <= set(FILES)
    assert "grader.worker.wire" in GRAPH["grader.outcome"]
    assert "grader.worker.wire" in GRAPH["grader.worker.answer"]


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("grader.worker")])
def test_imports_worker_takes_nothing_but_the_standard_library_torch_safetensors_and_itself(name):
    """The program that runs student code brings nothing of the trusted side into its process."""
    allowed = {*sys.stdlib_module_names, "torch", "safetensors"}

    assert [] == sorted(
        other
        for other in GRAPH[name]
        if other.partition(".")[0] not in allowed and not f"{other}.".startswith("grader.worker.")
    )


def test_imports_nothing_of_grader_imports_tests_or_the_reference():
    """The reference is loaded from a course's folder, by the oracle, and never by name."""
    assert [] == [
        (name, other)
        for name, others in GRAPH.items()
        for other in sorted(others)
        if other.partition(".")[0] in ("tests", "reference", "assignments")
    ]


def test_imports_between_modules_have_no_cycle():
    """Dependencies go one way, those inside functions included."""
    assert [] == [name for name in FILES if name in reachable(name)]


def test_imports_no_module_is_a_drawer():
    """A module is named for what it holds."""
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "lib"}

    assert [] == [name for name in FILES if drawers & set(name.split("."))]


def test_imports_finding_submissions_reads_none():
    """Where they are is a matter of names; only `intake` opens what a student handed in."""
    assert {"grader.fault", "grader.handed_in", "grader.names", "grader.record"} == reachable("grader.find")


def test_imports_taking_archives_apart_happens_in_a_process_of_its_own():
    """No parser of archives is loaded where a grade is decided; `zipped` writes them, and is not there either."""
    parsers = {"zipfile", "tarfile", "gzip", "zlib"}

    unpackers = ["grader.worker.unpack", "grader.worker.unpack_class"]

    assert [*unpackers, "grader.zipped"] == [name for name in FILES if parsers & GRAPH[name]]
    assert [] == [name for name in FILES if GRAPH[name] & set(unpackers)]
    assert "grader.zipped" not in reachable("grader.run") | reachable("grader.grade")


def test_imports_taking_notebooks_apart_happens_in_a_process_of_its_own():
    """What parses a student's JSON and Python is loaded by nobody else."""
    parts = {name for name in FILES if name.startswith("grader.worker.notebook")}

    assert "grader.worker.notebook.program" in parts
    assert [] == [name for name in FILES if parts & GRAPH[name] and name not in parts]


@pytest.mark.parametrize("name", ["grader.verdict", "grader.show", "grader.sources", "grader.names", "grader.compare"])
def test_imports_leaves_take_nothing_of_grader(name):
    """What every stage uses depends on none."""
    assert set() == inside(name)


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("grader.render")])
def test_imports_renderers_read_reports_and_nothing_behind_them(name):
    """A page is made from the report alone: no torch, no pytest, nothing that grades."""
    allowed = {f"grader.{name}" for name in (*RECORDS, "means", "regrade", *SHOWN)}

    assert [] == sorted(
        other for other in reachable(name) if other not in allowed and not other.startswith("grader.render")
    )
    assert not {"torch", "pytest"} & {other.partition(".")[0] for other in GRAPH[name]}


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("grader.export")])
def test_imports_exporters_read_records_and_renderers_and_nothing_behind_them(name):
    """A file for another tool is made from the report, and from what that tool exported: nothing that grades."""
    allowed = {f"grader.{name}" for name in (*RECORDS, "fault", "sheet", *SHOWN)}

    beside = ("grader.export", "grader.people", "grader.render", "grader.told")

    assert [] == sorted(other for other in reachable(name) if other not in allowed and not other.startswith(beside))
    assert not {"torch", "pytest"} & {other.partition(".")[0] for other in GRAPH[name]}


@pytest.mark.parametrize("name", [name for name in FILES if name.startswith("grader.told")])
def test_imports_what_students_are_told_is_made_from_their_view(name):
    """Exports and comments share it, so it knows neither; and no answer can be reached from it."""
    allowed = {f"grader.{name}" for name in (*RECORDS, *SHOWN)}
    beside = ("grader.render", "grader.told")

    assert [] == sorted(other for other in reachable(name) if other not in allowed and not other.startswith(beside))


@pytest.mark.parametrize(
    "name",
    [
        "grader.report",
        "grader.find",
        "grader.intake",
        "grader.roll",
        "grader.assignment",
        "grader.course",
        "grader.stage",
    ],
)
def test_imports_stages_around_an_examination_do_not_reach_it(name):
    """Each can be used, and tested, without torch, pytest or a worker."""
    behind = {"grader.oracle", "grader.conversation", "grader.launch", "grader.examine", "grader.plugin", "grader.pool"}

    assert set() == reachable(name) & behind
    assert [] == [other for other in sorted({name, *reachable(name)}) if "torch" in GRAPH[other]]


def test_imports_conversation_with_a_student_does_not_reach_the_answers():
    """What talks to untrusted code knows neither the reference nor a comparison."""
    behind = {"grader.oracle", "grader.compare", "grader.checks", "grader.score", "grader.trusted"}

    assert set() == (reachable("grader.conversation") | reachable("grader.launch")) & behind


def loaded_by(statement):
    """Names of all modules in a fresh interpreter after a statement."""
    code = f"import sys; {statement}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(done.stdout.split())


def test_imports_command_line_starts_without_torch():
    """Importing the report end costs no seconds: a wrong word is told at once, a report is shown anywhere."""
    assert not {"torch", "pytest", "numpy"} & loaded_by(
        "import grader.run, grader.cli, grader.terminal, grader.publish, grader.commands.export, grader.export.canvas"
    )


def test_imports_network_is_used_by_one_module():
    """Everything that leaves the machine goes through one client; everything else works offline."""
    clients = {"httpx", "requests", "urllib3", "http.client", "urllib.request", "ftplib", "smtplib"}

    assert ["grader.post.http"] == [name for name in FILES if clients & GRAPH[name]]


def test_imports_posting_needs_neither_torch_nor_a_client_until_something_is_sent():
    """`--dry-run`, and a wrong option, are told at once."""
    loaded = loaded_by("import grader.commands.post, grader.post.github, grader.post.canvas, grader.post.target")

    assert not {"torch", "pytest", "numpy", "httpx"} & loaded


def test_imports_plots_are_drawn_by_one_module():
    """What draws them is an extra: everything else works where it is not installed, and starts without it."""
    assert ["grader.lab.plots"] == [
        name for name, others in GRAPH.items() if any("matplotlib" in one for one in others)
    ]
    assert not {"torch", "matplotlib"} & loaded_by(
        "import grader.commands.lab, grader.lab.settled, grader.lab.lab_file"
    )


@pytest.mark.parametrize("name", ["page", "plots", "said", "tables", "lab_file"])
def test_imports_page_of_experiments_is_made_from_its_record(name):
    """No worker, no torch and no student's code is near it."""
    behind = {"grader.conversation", "grader.launch", "grader.oracle", "grader.lab.bench", "grader.lab.session"}

    assert set() == reachable(f"grader.lab.{name}") & behind
    assert [] == [one for one in sorted(reachable(f"grader.lab.{name}")) if "torch" in GRAPH[one]]


@pytest.mark.parametrize("name", ["scaling", "future", "heads", "against", "opponent"])
def test_imports_experiments_do_not_reach_the_answers(name):
    """What a module does is measured, and compared with PyTorch's alone."""
    behind = {"grader.oracle", "grader.checks", "grader.score", "grader.trusted"}

    assert set() == reachable(f"grader.lab.{name}") & behind


def test_imports_entry_point_of_pytest_brings_nothing_of_grader():
    """Pytest loads it in every session of everybody who has grader installed."""
    assert {"grader", "grader.entry"} == {
        name for name in loaded_by("import grader.entry") if name.startswith("grader")
    }
    assert set() == {name for name in loaded_by("import grader.entry") if name.partition(".")[0] in ("torch", "numpy")}
