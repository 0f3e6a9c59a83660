"""Who handed in, and when, as Gradescope says beside a submission; and the same laid out as it exports a class.

Formats: gradescope.com's autograder documentation, "Submission Metadata". The layout of an export is not published;
it is the one that `grade` reads.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import yaml
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from grader.fault import Fault

#: Of an export, beside the submissions' folders.
METADATA = "submission_metadata.yml"
#: Columns after which a line is broken: never, for `grade` reads line by line.
_ONE_LINE = 1_000_000


class HandInError(Fault):
    """What Gradescope says of a submission cannot be read; the text says where and why."""


class User(BaseModel):
    """One of those who handed in."""

    model_config = ConfigDict(frozen=True)

    name: str | None = None
    email: str | None = None


class HandIn(BaseModel):
    """What is read of submission_metadata.json; there is more in it."""

    model_config = ConfigDict(frozen=True)

    id: int = Field(ge=0, lt=10**18)
    created_at: AwareDatetime
    users: tuple[User, ...] = ()


def read_hand_in(path: Path) -> HandIn:
    """Read submission_metadata.json.

    Raises:
        HandInError: it is not there, is no JSON, or lacks something.
    """
    try:
        return HandIn.model_validate(json.loads(path.read_bytes()))
    except OSError as error:
        raise HandInError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        fault = error.errors()[0]
        raise HandInError(f"{path}, {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from None
    except (ValueError, RecursionError) as error:
        raise HandInError(f"{path}: not valid JSON: {error}") from None


def write_export(hand_in: HandIn | None, submission: Path, folder: Path) -> Path:
    """Copy a submission into a folder laid out as an export of it alone; returns the folder.

    Links are copied as links. What is no file, folder or link is left out, as `grade` would.

    Raises:
        OSError: something cannot be copied.
    """
    name = f"submission_{hand_in.id if hand_in else 0}"  # else what lies in it might be taken for an export
    folder.mkdir()
    copy_tree(submission, folder / name)
    if hand_in:
        text = yaml.safe_dump({name: _entry(hand_in)}, allow_unicode=True, sort_keys=False, width=_ONE_LINE)
        (folder / METADATA).write_text(text, encoding="utf-8")
    return folder


def _entry(hand_in: HandIn) -> dict[str, Any]:
    """Keys as Ruby writes its symbols."""
    submitters = [{":name": _one_line(user.name), ":email": _one_line(user.email)} for user in hand_in.users]
    return {":submitters": submitters, ":created_at": hand_in.created_at}


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder to a place where nothing is, following no link. Raises OSError."""
    waiting = [(source, target)]
    while waiting:
        here, there = waiting.pop()
        there.mkdir()
        with os.scandir(here) as entries:
            for entry in entries:
                place = there / entry.name
                if entry.is_symlink():
                    place.symlink_to(os.readlink(entry.path))
                elif entry.is_dir(follow_symlinks=False):
                    waiting.append((Path(entry.path), place))
                elif entry.is_file(follow_symlinks=False):
                    shutil.copyfile(entry.path, place, follow_symlinks=False)
