"""The box that commands run in as another user."""

import os
import subprocess
import sys

import pytest
from as_user import ROOT, UNUSED_UID, boxed, can_box

pytestmark = pytest.mark.skipif(not can_box(), reason="boxes need root and namespaces")


def run(uid, *command, writable=()):
    """A command in a box, from the repository."""
    return subprocess.run(
        boxed(uid, list(writable), [*command]),
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )


def run_python(uid, code, writable=()):
    """Lines of Python in a box."""
    return run(uid, sys.executable, "-c", code, writable=writable)


def test_box_command_is_that_user_and_in_no_group():
    """Its rights are those of nobody."""
    result = run(UNUSED_UID, "id")

    assert f"uid={UNUSED_UID} gid={UNUSED_UID} groups={UNUSED_UID}" == result.stdout.strip(), result.stderr


def test_box_user_reaches_torch_and_the_grader():
    """The interpreter, its packages and the repository are there, wherever they lie."""
    code = "import grader, torch; print(float(torch.ones(2).sum()), grader.__file__)"

    result = run_python(UNUSED_UID, code)

    assert ["2.0", str(ROOT / "grader" / "__init__.py")] == result.stdout.split(), result.stderr


def test_box_exit_code_is_that_of_the_command():
    """Whoever starts a box sees how its command ended."""
    assert 7 == run_python(UNUSED_UID, "raise SystemExit(7)").returncode


@pytest.mark.parametrize("uid", [0, UNUSED_UID])
def test_box_is_read_only_but_for_the_folders_named(tmp_path, uid):
    """The repository cannot be changed; the folder named can, and keeps what is written."""
    tmp_path.chmod(0o777)
    code = f"open({str(tmp_path / 'new')!r}, 'w').close(); open({str(ROOT / 'new')!r}, 'w')"

    result = run_python(uid, code, writable=[tmp_path])

    assert (tmp_path / "new").exists()
    assert "Read-only file system" in result.stderr


def test_box_has_processes_of_its_own_that_end_with_it():
    """What is left running cannot be seen from the box, and the other way round."""
    code = "import os; print(*[name for name in os.listdir('/proc') if name.isdigit()], os.getpid(), os.getppid())"

    result = run_python(UNUSED_UID, code)

    assert ["1", "2", "2", "1"] == result.stdout.split(), result.stderr


def test_box_user_may_make_namespaces_of_its_own():
    """A sandbox that uses them works in a box: the root was changed without chroot, which forbids it."""
    with open("/proc/sys/user/max_user_namespaces") as file:
        if not int(file.read()):
            pytest.skip("this kernel makes no user namespaces")

    result = run(UNUSED_UID, "unshare", "--user", "--map-root-user", "id", "-u")

    assert "0" == result.stdout.strip(), result.stderr
