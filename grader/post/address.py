"""Addresses of servers: which may be sent a token, and which are the same server."""

import ipaddress
from dataclasses import dataclass
from typing import Self
from urllib.parse import SplitResult, urlsplit

from grader.post.errors import WrongUse

_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where an API begins: scheme, host and port, and a path that all its paths begin with."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, text: str, where: str) -> Self:
        """Read an address that a token may go to.

        Args:
            text: the address.
            where: the option or variable it was given in, for the message.

        Raises:
            WrongUse: it is no address, holds a password or a query, or would carry the token unencrypted.
        """
        parts = _split(text.strip())
        if parts is None or parts.scheme not in _PORTS or not parts.hostname:
            raise WrongUse(f"{where}: got {text!r}, wanted an address such as https://canvas.example.edu")
        if parts.username is not None or parts.password is not None:
            raise WrongUse(f"{where}: the address holds a name or password; tokens are read from the environment")
        if parts.query or parts.fragment:
            raise WrongUse(f"{where}: got {text!r}, wanted an address without '?' and '#'")
        address = cls(
            scheme=parts.scheme,
            host=parts.hostname,
            port=parts.port or _PORTS[parts.scheme],
            path=parts.path.rstrip("/"),
        )
        if address.scheme == "http" and not address.is_loopback:
            raise WrongUse(f"{where}: {text!r} would send the token unencrypted; wanted https://")
        return address

    @property
    def is_loopback(self) -> bool:
        """Whether it is this very machine."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def origin(self) -> str:
        """Scheme, host and port, as a URL begins."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + ("" if self.port == _PORTS[self.scheme] else f":{self.port}")

    def has(self, url: str) -> bool:
        """Whether a URL leads to this very server, and in the same way."""
        parts = _split(url)
        if parts is None or parts.scheme not in _PORTS or parts.username is not None:
            return False
        port = parts.port or _PORTS[parts.scheme]
        return (parts.scheme, parts.hostname, port) == (self.scheme, self.host, self.port)

    def __str__(self) -> str:
        return f"{self.origin}{self.path}"


def _split(text: str) -> SplitResult | None:
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises for what is no number
    except ValueError:
        return None
    return parts
