"""lab.json as text, and the folder that it and the page are written to.

The schema beside this file is made from the records: `python -m grader.lab.lab_file > grader/lab/lab.schema.json`.
"""

import json
from pathlib import Path
from typing import Any

from grader.fault import Fault
from grader.lab.figures import Lab
from grader.show import for_json
from grader.whole_file import replace_whole

FIGURES, PAGE = "lab.json", "index.html"


class LabFolderError(Fault):
    """The output folder cannot be used; the text says why and what to do."""


def must_be_usable(folder: Path, *, is_forced: bool) -> None:
    """Raises LabFolderError where writing into the folder would lose something, or is not possible."""
    if folder.exists() and not folder.is_dir():
        raise LabFolderError(f"{folder} is a file; wanted a folder for the page (-o)")
    if (folder / FIGURES).exists():
        if not is_forced:
            raise LabFolderError(
                f"{folder} holds the figures of an earlier run; replace them with --force, or name another folder "
                "with -o"
            )
    elif folder.is_dir() and any(folder.iterdir()):
        raise LabFolderError(f"{folder} is not empty and holds no {FIGURES}; name an empty or a new folder with -o")


def write(folder: Path, lab: Lab, page: str) -> tuple[Path, Path]:
    """Write page and figures, and return where they are. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / PAGE, folder / FIGURES
    for file, text in zip(files, (page, to_json(lab)), strict=True):
        try:
            replace_whole(file, [text.encode()])
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(file)) from None
    return files


def to_json(lab: Lab) -> str:
    """Write the record as JSON: the same bytes for the same record."""
    return for_json(lab.model_dump_json(indent=2)) + "\n"


def json_schema() -> dict[str, Any]:
    """Describe lab.json as a JSON Schema."""
    schema = Lab.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


if __name__ == "__main__":
    print(json.dumps(json_schema(), indent=2))
