"""What every record of a report is made of: the strict base, points, seconds, and text a student may have chosen."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer, WithJsonSchema

_SURROGATE = re.compile("[\ud800-\udfff]")
_CENT = Decimal("0.01")
#: Largest score, and largest change of one.
MOST_POINTS = 1_000_000


def round_score(points: Decimal) -> Decimal:
    """Round points to two places, halves up, as every score of a report is."""
    return points.quantize(_CENT, ROUND_HALF_UP)


def points_text(points: Decimal | None, none: str = "") -> str:
    """Two places and a point; `none` where there are no points."""
    return none if points is None else f"{points:.2f}"


def clean_text(text: str) -> str:
    r"""Spell out what UTF-8 cannot hold: the byte 0xFF of a folder's name becomes \xff."""
    return text if text.isascii() else _SURROGATE.sub(_spell_surrogate, text)


def _spell_surrogate(match: re.Match[str]) -> str:
    code = ord(match[0])
    is_undecoded_byte = 0xDC80 <= code <= 0xDCFF  # PEP 383: how Python holds a byte of a name that is not UTF-8
    return f"\\x{code - 0xDC00:02x}" if is_undecoded_byte else f"\\u{code:04x}"


Score = Annotated[
    Decimal,
    Field(ge=0, le=MOST_POINTS, allow_inf_nan=False),
    AfterValidator(round_score),
    PlainSerializer(float, return_type=float, when_used="json"),
    WithJsonSchema({"type": "number", "minimum": 0, "description": "Points, two places, halves rounded up."}),
]
Seconds = Annotated[
    float,
    Field(ge=0, allow_inf_nan=False),
    AfterValidator(lambda seconds: round(seconds, 4)),
]
#: Text in which a student's own characters may stand: whoever shows it passes it through `grader.show`.
StudentText = Annotated[str, BeforeValidator(lambda text: clean_text(text) if isinstance(text, str) else text)]


class Record(BaseModel):
    """Base of all records here: frozen, and strict about names, so that a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
