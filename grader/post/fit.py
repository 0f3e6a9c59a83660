"""A text that must not be longer than its place: whole pieces of it, and a sentence where some are left out."""

from collections.abc import Sequence

#: Between two pieces: a blank line, in Markdown and in plain text alike.
_BETWEEN = "\n\n"


def fit(pieces: Sequence[str], most_bytes: int, left_out: str) -> str:
    """Join pieces as long as they fit.

    Args:
        pieces: in the order of importance; none is ever cut in itself, so that no fence or tag stays open.
        most_bytes: of UTF-8. A limit in characters is kept as well, whatever a server takes for one.
        left_out: the sentence at the end where pieces are missing.
    """
    whole = _BETWEEN.join(pieces) + "\n"
    if _size(whole) <= most_bytes:
        return whole
    kept: list[str] = []
    room = most_bytes - _size(left_out) - 1
    for piece in pieces:
        room -= _size(piece) + len(_BETWEEN)
        if room < 0:
            break
        kept.append(piece)
    return _BETWEEN.join([*kept, left_out]) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
