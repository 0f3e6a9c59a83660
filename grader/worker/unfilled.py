"""Functions that were left as a stub had them, in courses whose stubs return instead of raising.

    y, weights = None, None
    # Replace "pass" statement with your code
    pass
    return y, weights

Such a function does nothing but hand constants, its own arguments and their attributes about: stubs take a shape apart,
or set an attribute of a module to None.
"""

import dis
import types
from typing import Any

#: Beginnings of the names of instructions that hand values about. Everything else does something.
_IDLE = (
    "RESUME",
    "NOP",
    "CACHE",
    "EXTENDED_ARG",
    "LOAD_CONST",
    "LOAD_SMALL_INT",
    "LOAD_FAST",
    "STORE_FAST",
    "LOAD_ATTR",
    "STORE_ATTR",
    "BUILD_TUPLE",
    "BUILD_LIST",
    "UNPACK_SEQUENCE",
    "POP_TOP",
    "SWAP",
    "COPY",
    "RETURN_VALUE",
    "RETURN_CONST",
)


def is_left_empty(function: Any, result: object) -> bool:
    """Whether a call came to nothing because there is nothing in the function, or in the `forward` of a module's class.

    Args:
        function: what was called.
        result: what it returned: None, or several of it, where it may have been left empty.
    """
    items = list(result) if isinstance(result, (tuple, list)) else [result]
    return bool(items) and all(item is None for item in items) and is_empty(function)


def is_empty(function: Any) -> bool:
    """Whether a Python function, or the `forward` of a module's class, does nothing."""
    plain = function if isinstance(function, types.FunctionType) else getattr(type(function), "forward", None)
    if not isinstance(plain, types.FunctionType):
        return False
    return all(one.opname.startswith(_IDLE) for one in dis.get_instructions(plain.__code__))
