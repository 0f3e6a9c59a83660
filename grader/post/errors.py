"""What can go wrong on the way to a server.

    PostError
    ├── WrongUse        nothing was sent: an option, a variable or a file is not as wanted
    ├── Refused         the server answered, and said no
    ├── Unreachable     no answer, or none that can be read
    └── Unsure          it was sent, and nobody knows whether it was carried out

Their texts hold no token, and may quote a server: whoever prints one passes it through `show.for_runner_log`.
"""

from typing import Self

from grader.fault import Fault


class PostError(Fault):
    """Something could not be sent."""

    exit_code = 1

    def with_hint(self, hint: str) -> Self:
        """The same, and what to do about it."""
        return type(self)(f"{self} ({hint})")


class WrongUse(PostError):
    """Nothing was sent, and nothing can be until the command line or the environment changes."""

    exit_code = Fault.exit_code


class Refused(PostError):
    """A server's answer that is no success.

    The facts are attributes: HTTP `status`, the server's own words as `detail`, and the `method` and `path` asked for.
    """

    def __init__(self, method: str, path: str, status: int, detail: str) -> None:
        super().__init__(f"{method} {path}: answered {status}" + (f", {detail}" if detail else ""))
        self.method = method
        self.path = path
        self.status = status
        self.detail = detail

    def with_hint(self, hint: str) -> Self:
        """The same, and what to do about it."""
        detail = f"{self.detail} ({hint})" if self.detail else hint
        return type(self)(self.method, self.path, self.status, detail)


class Unreachable(PostError):
    """The server gave no answer that can be read, however often it was asked."""


class Unsure(PostError):
    """A request that must not be repeated blindly was sent, and its answer got lost. Look, then decide again."""
