"""Tokens: read from the environment, put into one header, and kept out of everything that anybody reads."""

from collections.abc import Iterable, Mapping

from grader.post.errors import WrongUse


class Token:
    """A secret. It shows itself to nobody but the request it is for."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str, variable: str) -> None:
        self._text = text
        #: The variable it was read from, to be named in messages.
        self.variable = variable

    def __repr__(self) -> str:
        return f"<token of {self.variable}>"

    def header(self) -> str:
        """The value of the header `Authorization`."""
        return f"Bearer {self._text}"

    def redact(self, text: str) -> str:
        """A text without the token, such as an error in which a server repeats what it was sent."""
        return text.replace(self._text, "***")


def read_token(variables: Iterable[str], environ: Mapping[str, str]) -> Token:
    """Read the first of these variables that is set.

    Raises:
        WrongUse: none is, or it holds what no header can carry. The message does not quote it.
    """
    names = tuple(variables)
    for name in names:
        text = environ.get(name, "").strip()  # a secret that was pasted often ends in a line break
        if not text:
            continue
        if not (text.isascii() and text.isprintable()) or " " in text:
            raise WrongUse(f"{name} holds blanks or characters that no token has; paste the token alone")
        return Token(text, name)
    wanted = " or ".join(names)
    raise WrongUse(f"no token: set {wanted} in the environment (--dry-run shows what would be sent without one)")
