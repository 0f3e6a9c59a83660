"""The attacks and their honest neighbours, read from the TOML files beside this module. Starts and judges nothing."""

import re
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = "attention.py"
#: A file of attacks each; the name is the kind.
KINDS = (
    "lying_results",
    "hijack",
    "stealing",
    "forging",
    "denial",
    "escape",
    "collusion",
    "folder",
    "reader",
    "delegation",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """One submission that tries something, and what it may get for it."""

    #: Unique, in words.
    id: str
    kind: str
    #: What it wants, in a sentence.
    aim: str
    #: Stands in the names of its folder and of whatever it leaves anywhere, so that it is known by it.
    tag: str
    #: Number in the catalogue of attacks the corpus began with; 0 when it has none.
    number: int = 0
    files: Mapping[str, str] = field(default_factory=dict)
    #: Files of a second submission, graded before this one, that helps it.
    accomplice: Mapping[str, str] = field(default_factory=dict)
    #: Name of a function in `folders` that makes the submission.
    builder: str = ""
    #: The most its code is worth without the attack.
    points: float = 0.0
    #: The verdicts its checks may get; none named: all but `passed` and `grader_error`.
    verdicts: tuple[str, ...] = ()
    #: The statuses it may get.
    statuses: tuple[str, ...] = ("graded",)
    #: Texts that its student must not read.
    private: tuple[str, ...] = ()
    #: It uses what the assignment forbids: "forbidden" (a verdict) or "flagged" (a sign for staff).
    rule: str = ""
    #: Without a sandbox it ends the whole run, so that nothing can be said of the others.
    ends_run: bool = False

    @property
    def slug(self) -> str:
        """Its id as a name for a folder."""
        return f"{self.tag}-{self.id.replace(' ', '-')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Honest:
    """One submission that tries nothing."""

    id: str
    files: Mapping[str, str]
    points: float


def attacks() -> list[Attack]:
    """All attacks, by kind."""
    read = [(kind, entry) for kind in KINDS for entry in _read(kind).get("attack", [])]
    found = [_attack(kind, entry, f"a{number:03}") for number, (kind, entry) in enumerate(read, 1)]
    ids = [attack.id for attack in found]
    twice = {one for one in ids if ids.count(one) > 1}
    if twice:
        raise ValueError(f"two attacks share an id: {sorted(twice)}")
    return found


def honest() -> list[Honest]:
    """The neighbours."""
    entries = _read("honest")["submission"]
    return [Honest(id=one["id"], files=_files(one), points=one.get("points", 10.0)) for one in entries]


def filled(text: str, places: Mapping[str, object]) -> str:
    """The text with each `@NAME@` replaced by what stands there in this run."""
    for name, value in places.items():
        text = text.replace(f"@{name}@", str(value))
    return text


def write(folder: Path, files: Mapping[str, str], places: Mapping[str, object]) -> Path:
    """Write a submission's files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(text, places), encoding="utf-8")
    return folder


def _attack(kind: str, entry: dict[str, Any], tag: str) -> Attack:
    known = {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
    helper = f"{entry.get('uses')}_helps"
    return Attack(
        kind=kind,
        tag=tag,
        files=_files(entry),
        accomplice={FILE: _expand(entry["code"], helper)} if helper in _TEMPLATES else {},
        **{name: value for name, value in known.items() if name not in ("uses", "code", "files")},
    )


def _files(entry: Mapping[str, Any]) -> dict[str, str]:
    files = dict(entry.get("files", {}))
    if "code" in entry:
        files[FILE] = _expand(entry["code"], entry.get("uses"))
    return files


def _expand(code: str, template: str | None) -> str:
    """The code where the template wants it, with the tools that templates share."""
    if template is None:
        return code
    text: str = _TEMPLATES[template].replace("@TOOLS@", _TEMPLATES["tools"])
    return re.sub(r"(?m)^( *)@CODE@", lambda place: textwrap.indent(code.strip("\n"), place[1]), text)


def _read(name: str) -> dict[str, Any]:
    path = HERE / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


_TEMPLATES = _read("templates")
