"""What several test files share: a warm zygote, conversations with tiny student sources, a tiny course.

Also the last line of a run of the suite: how many attacks were tried, and how many succeeded.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import pytest
import torch

from grader.assignment import Assignment, Limits, Part
from grader.assignment import Callable as Asked
from grader.call import Call, Payload
from grader.conversation import Conversation, TimeLimits
from grader.launch import ForkLauncher, LaunchError, Zygote
from grader.outcome import Outcome
from grader.worker.sandbox.layers import LAYERS

Value = TypeVar("Value")
#: Folders with files named like tests that are none of this suite: the attacked course's checks.
collect_ignore = ["attacks"]
#: What the attacks of a run achieved, a line each, by who graded.
_ATTACKS_TRIED: pytest.StashKey[dict[str, str]] = pytest.StashKey()
#: The file a source is handed in as when a test names none.
WORK = "work.py"
#: The tensor most calls hand over.
INPUT = torch.arange(6, dtype=torch.float64).reshape(2, 3)
#: Seconds after which something that must happen has not happened, on a machine that does much else.
PATIENCE_S = 180.0
#: The user `nobody`, of no rights.
_NOBODY = 65534

TINY_COURSE = {
    "assignments/tiny/assignment.toml": """
title = "Doubling"
limits = { import_s = 3 }
[[parts]]
name = "double"
title = "Double"
points = 3
[parts.callables.double]
kind = "function"
arguments = ["x"]
returns = ["y"]
reference = "double:double"
[[parts]]
name = "halve"
title = "Halve"
points = 1
[parts.callables.halve]
kind = "function"
arguments = ["x"]
returns = ["y"]
reference = "double:halve"
""",
    "assignments/tiny/checks/test_double.py": '''
from grader.checks import Checks

double = Checks("double")


@double.check(points=2, hint="what is x + x?")
def test_values(student, given):
    """Each element is twice what it was."""
    student(given.normal("x", 2, 3), gradients=True).matches()


@double.check(points=1, requires="values")
def test_gradients(student, given):
    """The gradient is right."""
    student(given.normal("x", 2, 3), gradients=True).gradients_match("x")
''',
    "assignments/tiny/checks/test_halve.py": '''
from grader.checks import Checks

halve = Checks("halve")


@halve.check(points=1)
def test_values(student, given):
    """Each element is half of what it was."""
    student(given.normal("x", 2, 3)).matches()
''',
    "reference/__init__.py": "",
    "reference/double.py": "def double(x):\n    return x * 2\n\n\ndef halve(x):\n    return x / 2\n",
}
DOUBLE = "def double(x):\n    return x + x\n"
HALVE = "def halve(x):\n    return x * 0.5\n"
#: A student whose every answer is right.
RIGHT = {"double.py": DOUBLE, "halve.py": HALVE}


def pytest_configure(config: pytest.Config) -> None:
    """Nothing has been tried yet. What tests start hears Ctrl-C, even where the suite was begun not to."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell's background jobs are, and all they start
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_ATTACKS_TRIED] = {}


def note_attacks(config: pytest.Config, user: str, found: Any) -> None:
    """Keep for the end of the run how the attacks of a scene went. `found`: an `attacks.scene.Findings`."""
    succeeded = sum(map(bool, found.achieved.values())) + bool(found.unattributed)
    changed = sum(map(bool, found.honest.values()))
    config.stash[_ATTACKS_TRIED][user] = (
        f"attacks tried {len(found.achieved)}, succeeded {succeeded}, honest submissions changed {changed} "
        f"(as {user}, seed {found.seed}, {found.seconds:.0f} s)"
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what this process knows to the one that will say it, where tests run side by side."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["attacks"] = session.config.stash[_ATTACKS_TRIED]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take what one of several processes knows."""
    node.config.stash[_ATTACKS_TRIED].update(getattr(node, "workeroutput", {}).get("attacks", {}))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how the attacks went, whether tests passed or not."""
    for line in config.stash[_ATTACKS_TRIED].values():
        terminalreporter.write_line(line)


def wait_until(read: Callable[[], Value], what: str) -> Value:
    """Poll until `read` gives something true; fails the test after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if value := read():
            return value
        time.sleep(0.01)
    raise AssertionError(f"waited {PATIENCE_S:.0f} s in vain until {what}")


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, which is made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder of a user who may not read everything, as root may; the test is that user."""
    with tempfile.TemporaryDirectory() as name:  # not below tmp_path, which only its owner may enter
        folder = Path(name).resolve()
        is_root = os.geteuid() == 0
        if is_root:
            folder.chmod(0o777)
            os.seteuid(_NOBODY)
        try:
            yield folder
        finally:
            if is_root:
                os.seteuid(0)
            for inside, folders, _ in os.walk(folder):
                for one in folders:
                    os.chmod(os.path.join(inside, one), 0o755)


# --- talking to a worker ----------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def zygote() -> Iterator[Zygote]:
    """One warm zygote for all tests that end none."""
    with Zygote(1) as zygote:
        zygote.wait()
        yield zygote


@pytest.fixture
def launcher(zygote: Zygote) -> ForkLauncher:
    """Forks workers from the session's zygote."""
    return ForkLauncher(zygote.controls[0])


def tiny_assignment(limits: Limits | None = None) -> Assignment:
    """An assignment of two parts, `work` and `other`, for whoever needs no checks."""
    asked = Asked(kind="function", arguments=("x",), returns=("y",), reference="work:answer")
    parts = tuple(
        Part(name=name, title=name, points=Decimal(1), callables={"answer": asked}) for name in ("work", "other")
    )
    return Assignment(folder=Path("/nowhere"), title="Work", parts=parts, limits=limits or Limits())


def make_call(*tensors: torch.Tensor, **fields: object) -> Call:
    """A call of `work.answer` with tensors `x`, `y`, ...; any field of `Call` may be given instead."""
    named = dict(zip("xyz", tensors or (INPUT,), strict=False))
    settings = {
        "part": "work",
        "name": "answer",
        "arguments": tuple({"tensor": name} for name in named),
        "payload": Payload(named, {}),
    }
    return Call(**(settings | fields))


Talk = Callable[..., Conversation]


def warm_process(started: int) -> int:
    """The process that workers are forked from: where there are namespaces, the child of the one that was started."""
    inside = [child for child in children_of(started) if _namespace_of(child) != _namespace_of(started)]
    return inside[0] if inside else started


def workers_of(started: int) -> list[int]:
    """Workers that are running, by the numbers they have here; what they left behind counts too."""
    return descendants_of(warm_process(started))


def _namespace_of(pid: int) -> str:
    """The processes among which this one is."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:  # it has gone
        return ""


@pytest.fixture
def talk(launcher: ForkLauncher) -> Iterator[Talk]:
    """Begin a conversation with sources: a text for `work.py`, or file names to texts. It ends with the test."""
    with ExitStack() as stack:

        def begin(sources: str | Mapping[str, str], limits: Limits | None = None, **deadlines: float) -> Conversation:
            files = {WORK: sources} if isinstance(sources, str) else sources
            conversation = Conversation(launcher, files, tiny_assignment(limits), TimeLimits(**deadlines))
            return stack.enter_context(conversation)

        yield begin


@pytest.fixture
def answer_of(talk: Talk) -> Callable[..., Outcome]:
    """The outcome of one call of `answer`, from the lines of its body (`x` is its argument)."""

    def ask(body: str, *tensors: torch.Tensor, upstream: torch.Tensor | None = None, **fields: object) -> Outcome:
        wants = {"wants": ("x",)} if upstream is not None else {}
        return talk(function(body)).ask(make_call(*tensors, **(wants | fields)), upstream)

    return ask


@pytest.fixture
def own_zygote() -> Iterator[Talk]:
    """Begin a conversation through a zygote of the test's own, which it may end."""
    with ExitStack() as stack:

        def begin(source: str, layers: Collection[str] = LAYERS, **deadlines: float) -> tuple[Conversation, Zygote]:
            zygote = stack.enter_context(Zygote(1))
            zygote.wait()
            launcher = ForkLauncher(zygote.controls[0])
            conversation = Conversation(launcher, {WORK: source}, tiny_assignment(), TimeLimits(**deadlines), layers)
            stack.callback(_close, conversation)
            return conversation, zygote

        yield begin


def _close(conversation: Conversation) -> None:
    with contextlib.suppress(LaunchError):  # its zygote has gone
        conversation.close()


def function(body: str) -> str:
    """A source that defines `answer(x, y)` with these lines."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return f"import os, sys, time, torch\n\n\ndef answer(x=None, y=None):\n{lines}\n"


# --- running the command ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Command:
    """`python -m grader`, started from a folder, such as a course's."""

    folder: Path

    def start(self, *arguments: object, **options: object) -> subprocess.Popen[str]:
        """Start it in a process group of its own, so that a test can end all of it at once."""
        return subprocess.Popen(
            [sys.executable, "-m", "grader", *map(str, arguments)],
            cwd=self.folder,
            env=options.pop("env", environment()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        )

    def run(self, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        with self.start(*arguments, **options) as process:
            return finish(process)


def environment() -> dict[str, str]:
    """That of a person's shell: wide, with no colours, and nothing of this pytest session."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return kept | {"COLUMNS": "200", "NO_COLOR": "1"}


def finish(process: "subprocess.Popen[str]") -> subprocess.CompletedProcess[str]:
    """Wait for the end of a command, and read what it wrote. One that hangs is ended, and fails the test."""
    try:
        out, err = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


@pytest.fixture(scope="session")
def tiny_course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one small assignment, so that a run costs little more than its start. Nobody changes it."""
    return write_files(tmp_path_factory.mktemp("course"), TINY_COURSE)


@pytest.fixture(scope="session")
def grade(tiny_course: Path) -> Command:
    """The command, in the tiny course."""
    return Command(tiny_course)


def children_of(pid: int) -> list[int]:
    """Processes whose parent this one is."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and _parent_of(folder) == pid:
            found.append(int(folder.name))
    return found


def descendants_of(pid: int) -> list[int]:
    """Children, and theirs."""
    children = children_of(pid)
    return children + [other for child in children for other in descendants_of(child)]


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended."""
    try:
        return _fields(Path(f"/proc/{pid}"))[0] not in "ZX"
    except OSError:
        return False


def is_zygote(pid: int) -> bool:
    """Whether a process is an interpreter for students' code, and no fork of this one."""
    try:
        return b"boot.py" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _parent_of(folder: Path) -> int:
    try:
        return int(_fields(folder)[1])
    except OSError:
        return -1


def _fields(folder: Path) -> list[str]:
    """State, parent and what follows in `stat`; the name before them may hold blanks (proc(5))."""
    return (folder / "stat").read_text().rpartition(")")[2].split()
