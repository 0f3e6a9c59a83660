"""What a check can conclude, from the grader's own fault down to a pass.

Every stage speaks of verdicts, and none needs more than this list: the module imports nothing of grader.
"""

import enum
from typing import Self


class Verdict(enum.StrEnum):
    """What one check concludes. Listed from what must be settled first to what is well.

    The value is the word in report.json; the other attributes are for people.
    """

    #: Position in the order below, 0 first; the smallest rank is the problem to mention first.
    rank: int
    #: The verdict in a student's words, to be read without knowing this list.
    label: str
    #: One character that tells the kinds apart without colour.
    marker: str

    GRADER_ERROR = "grader_error", "grader error", "!"
    MISSING_FILE = "missing_file", "file missing", "?"
    IMPORT_ERROR = "import_error", "file does not load", "✗"
    MISSING_NAME = "missing_name", "name missing", "?"
    NOT_IMPLEMENTED = "not_implemented", "not implemented", "○"
    BLOCKED = "blocked", "blocked", "–"
    TIMEOUT = "timeout", "took too long", "✗"
    OUT_OF_MEMORY = "out_of_memory", "out of memory", "✗"
    CRASHED = "crashed", "crashed", "✗"
    EXCEPTION = "exception", "raised an error", "✗"
    NOT_RAISED = "not_raised", "error not raised", "✗"
    FORBIDDEN = "forbidden", "forbidden call", "✗"
    WRONG_PARAMETERS = "wrong_parameters", "wrong parameters", "✗"
    WRONG_TYPE = "wrong_type", "wrong type", "✗"
    WRONG_SHAPE = "wrong_shape", "wrong shape", "✗"
    WRONG_DTYPE = "wrong_dtype", "wrong dtype", "✗"
    NOT_FINITE = "not_finite", "NaN or infinity", "✗"
    WRONG_VALUE = "wrong_value", "wrong value", "✗"
    NO_GRADIENT = "no_gradient", "no gradient", "✗"
    WRONG_GRADIENT = "wrong_gradient", "wrong gradient", "✗"
    INPUT_CHANGED = "input_changed", "input changed", "✗"
    UNSTABLE = "unstable", "different on a second call", "✗"
    PASSED = "passed", "passed", "✓"

    def __new__(cls, value: str, label: str = "", marker: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.rank = len(cls.__members__)
        member.label = label
        member.marker = marker
        return member
