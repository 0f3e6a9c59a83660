"""What a server said, and what can be read from it: JSON, its own words for a refusal, where a list goes on."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from grader.post.errors import Unreachable

#: Bytes of an answer that is no JSON, as words.
_MOST_TEXT = 300
_LINK = re.compile("<([^>]*)>([^<]*)")
_IS_NEXT = re.compile(r"""\brel=["']?next\b""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server said."""

    url: str
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Raises Unreachable when it is none, as from a proxy's own page."""
        try:
            return json.loads(self.body)
        except ValueError:
            raise Unreachable(f"{self.url}: answered {self.status} with something that is no JSON") from None

    def mapping(self) -> dict[str, Any]:
        """The body as a JSON object. Raises Unreachable when it is something else."""
        found = self.json()
        if not isinstance(found, dict):
            raise Unreachable(f"{self.url}: answered with a {type(found).__name__}, wanted an object")
        return found


def words_of(body: bytes) -> str:
    """What a server gives as reason: GitHub's `message` and `errors`, Canvas's `errors` or `error`, or nothing."""
    try:
        found = json.loads(body)
    except ValueError:
        text = body[:_MOST_TEXT].decode("utf-8", "replace")
        return "" if "<" in text else text  # a page of HTML says nothing in a line
    if not isinstance(found, dict):
        return ""
    errors = found.get("errors", found.get("error", ()))
    details = [_one(error) for error in (errors if isinstance(errors, list) else [errors])]
    return "; ".join(text for text in (_one(found.get("message", "")), *details) if text)


def _one(error: object) -> str:
    if isinstance(error, dict):
        words = (error.get(name) for name in ("message", "resource", "field", "code"))
        return " ".join(word for word in words if isinstance(word, str))
    return error if isinstance(error, str) else ""


def next_page(answer: Answer) -> str:
    """The URL with `rel="next"` in a header such as `<https://…?page=2>; rel="next", <…>; rel="last"`."""
    for url, parameters in _LINK.findall(answer.headers.get("link", "")):
        if _IS_NEXT.search(parameters):
            return urljoin(answer.url, str(url))
    return ""
