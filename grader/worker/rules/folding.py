"""Text that a program puts together from constants: `"scaled" + "_dot"`, `"".join([...])`, slices. Runs nothing."""

import ast

#: Characters of a text that may still be a name.
MOST_TEXT = 200


def folded(node: ast.AST, depth: int = 0) -> str | None:
    """The text that an expression of constants makes; None when it is not made of constants, or not text."""
    if depth > 50:
        return None
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _concatenated([folded(node.left, depth + 1), folded(node.right, depth + 1)])
    if isinstance(node, ast.JoinedStr):
        return _concatenated([folded(one, depth + 1) for one in node.values])
    if isinstance(node, ast.FormattedValue):
        return folded(node.value, depth + 1)
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return _sliced(folded(node.value, depth + 1), node.slice)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join" and node.args:
        between, items = folded(node.func.value, depth + 1), node.args[0]
        if between is not None and isinstance(items, (ast.List, ast.Tuple)):
            return _concatenated([folded(one, depth + 1) for one in items.elts], between)
    return None


def _concatenated(parts: list[str | None], between: str = "") -> str | None:
    """The parts together; None when one of them is None, or when it is too long to be a name."""
    texts = [part for part in parts if part is not None]
    return between.join(texts) if len(texts) == len(parts) and sum(map(len, texts)) <= MOST_TEXT else None


def _sliced(text: str | None, part: ast.Slice) -> str | None:
    if text is None:
        return None
    try:
        bounds = [None if one is None else ast.literal_eval(one) for one in (part.lower, part.upper, part.step)]
        return text[slice(*bounds)]
    except (ValueError, TypeError):
        return None
