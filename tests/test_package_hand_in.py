"""What Gradescope says of a submission, and the submission laid out for `grade`."""

import json
import os
from datetime import datetime

import pytest
import yaml
from conftest import write_files

from grader.layouts.recognise import read_class
from grader.package.hand_in import HandInError, copy_tree, read_hand_in, write_export

METADATA = {
    "id": 123456,
    "created_at": "2026-03-01T14:22:32.365935-08:00",
    "assignment": {"due_date": "2026-03-01T23:00:00.000000-08:00", "group_size": 2, "total_points": "100.0"},
    "users": [
        {"id": 1, "name": "Zoë Ångström", "email": "zoe@example.org"},
        {"id": 2, "name": "李 雷\n  :created_at: 1999-01-01 00:00:00 Z", "email": "lei@example.org"},
    ],
    "previous_submissions": [],
}


@pytest.fixture
def hand_in(tmp_path):
    """A group's."""
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(METADATA))
    return read_hand_in(path)


def test_hand_in_is_read(hand_in):
    """Number, moment and people; the rest is left."""
    assert (123456, datetime.fromisoformat(METADATA["created_at"])) == (hand_in.id, hand_in.created_at)
    assert ["zoe@example.org", "lei@example.org"] == [user.email for user in hand_in.users]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (None, "submission_metadata.json: No such file or directory"),
        ("{", "not valid JSON"),
        ("[]", "valid dictionary"),
        ("[" * 100_000, "not valid JSON"),
        ('{"id": 1e300, "created_at": "2026-03-01T14:22:32Z"}', "id: "),
        ('{"id": 1, "users": []}', "created_at: Field required"),
        ('{"id": 1, "created_at": "2026-03-01T14:22:32"}', "created_at: Input should have timezone info"),
    ],
)
def test_hand_in_that_cannot_be_read_says_why(tmp_path, text, fault):
    """Which file, which field, what is wrong."""
    path = tmp_path / "submission_metadata.json"
    if text is not None:
        path.write_text(text)

    with pytest.raises(HandInError, match=fault):
        read_hand_in(path)


def test_hand_in_of_somebody_without_a_name_has_its_moment(tmp_path):
    """Else whoever has none would hand in when they like."""
    path = tmp_path / "submission_metadata.json"
    path.write_text(json.dumps(METADATA | {"users": [{"name": None, "email": None}]}))

    assert datetime.fromisoformat(METADATA["created_at"]) == read_hand_in(path).created_at


def test_export_without_metadata_takes_none_from_the_submission(tmp_path):
    """A student may have put some there, about somebody else."""
    forged = {"submission_metadata.yml": "submission_7:\n  :submitters:\n  - :name: Ada\n", "submission_7/a.py": "1"}

    folder = write_export(None, write_files(tmp_path / "submission", forged), tmp_path / "export")

    with read_class(folder, ["a.py"]) as layout:
        assert [("submission_0", ())] == [(one.id, one.people) for one in layout.submissions]


def test_export_holds_people_and_moment_where_gradescope_writes_them(hand_in, tmp_path):
    """Keys as Ruby's symbols; a name that looks like another field stays on its line."""
    folder = write_export(hand_in, write_files(tmp_path / "submission", {"a.py": "1"}), tmp_path / "export")
    text = (folder / "submission_metadata.yml").read_text(encoding="utf-8")

    assert {
        "submission_123456": {
            ":submitters": [
                {":name": "Zoë Ångström", ":email": "zoe@example.org"},
                {":name": "李 雷 :created_at: 1999-01-01 00:00:00 Z", ":email": "lei@example.org"},
            ],
            ":created_at": hand_in.created_at,
        }
    } == yaml.safe_load(text)
    assert 1 == sum(line.lstrip().startswith(":created_at") for line in text.splitlines())


def test_export_holds_the_submission(hand_in, tmp_path):
    """In a folder of its number."""
    submission = write_files(tmp_path / "submission", {"a.py": "1", "deep/b.py": "2"})

    folder = write_export(hand_in, submission, tmp_path / "export")

    assert ["1", "2"] == [(folder / "submission_123456" / name).read_text() for name in ("a.py", "deep/b.py")]


def test_export_without_metadata_holds_the_submission(tmp_path):
    """It is graded all the same."""
    folder = write_export(None, write_files(tmp_path / "submission", {"a.py": "1"}), tmp_path / "export")

    assert ["submission_0"] == os.listdir(folder)


def test_copy_follows_no_link(tmp_path):
    """A link in a submission must not bring a file of this machine into it."""
    secret = write_files(tmp_path / "outside", {"secret.py": "answers"})
    source = write_files(tmp_path / "submission", {"a.py": "1"})
    (source / "link.py").symlink_to(secret / "secret.py")
    (source / "folder").symlink_to(secret)
    os.mkfifo(source / "pipe.py")

    copy_tree(source, tmp_path / "copy")

    assert ["a.py", "folder", "link.py"] == sorted(os.listdir(tmp_path / "copy"))
    assert (tmp_path / "copy" / "link.py").is_symlink()
    assert (tmp_path / "copy" / "folder").is_symlink()


def test_copy_deep_folders_are_copied(tmp_path):
    """However deep: no recursion that a student could exhaust."""
    deep = tmp_path / "submission"
    deep.mkdir()
    for _ in range(500):
        deep = deep / "d"
        deep.mkdir()

    copy_tree(tmp_path / "submission", tmp_path / "copy")

    assert 501 == sum(1 for _ in os.walk(tmp_path / "copy"))
