"""How long to wait before a request is put again, from what the server says and how often it was tried.

Sources: GitHub, "Best practices for using the REST API" (`retry-after`, else `x-ratelimit-reset` when
`x-ratelimit-remaining` is 0, else a minute); Canvas, "Throttling" (403 or 429 with "Rate Limit Exceeded", and
`X-Rate-Limit-Remaining`); RFC 9110, section 10.2.3 (`Retry-After` in seconds or as a date).
"""

import math
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

#: How often a request is put at most.
ATTEMPTS = 5
#: Longest single wait, in seconds. Who asks for more is told to the caller instead: a CI job is not held up for it.
MOST_WAIT_S = 120.0
#: Wait after the first failure; it doubles with every further one. One client alone needs no jitter.
_FIRST_WAIT_S = 1.0
#: GitHub wants a minute at least where its second limit gives no time.
_LIMIT_WITHOUT_TIME_S = 60.0
#: Below this much of Canvas's quota (600 when full, filled by 10 a second) each request is preceded by a pause.
_LOW_QUOTA = 100.0
_EASE_S = 1.0

Headers = Mapping[str, str]


def is_throttled(status: int, headers: Headers, body: bytes) -> bool:
    """Whether an answer says "too many", in one of the ways that GitHub and Canvas do."""
    if status == 429:
        return True
    if status != 403:
        return False
    is_empty = headers.get("x-ratelimit-remaining") == "0"
    return is_empty or "retry-after" in headers or b"rate limit" in body[:4096].lower()


def backoff_s(attempt: int) -> float:
    """Seconds to wait after a failure without further word; the first attempt is 1."""
    return min(_FIRST_WAIT_S * 2.0 ** (attempt - 1), MOST_WAIT_S)


def wait_s(headers: Headers, attempt: int, now: float) -> float:
    """Seconds to wait after an answer that asks to come again.

    Args:
        headers: those of the answer, names in lower case.
        attempt: how often the request was put by now.
        now: seconds since 1970.
    """
    asked = _retry_after_s(headers.get("retry-after", ""), now)
    if asked is None and headers.get("x-ratelimit-remaining") == "0":
        asked = _number(headers.get("x-ratelimit-reset", ""))
        asked = None if asked is None else asked - now + 1  # clocks differ a little
    if asked is None and "x-ratelimit-limit" in headers:
        asked = _LIMIT_WITHOUT_TIME_S
    return backoff_s(attempt) if asked is None else max(asked, 0.0)


def pause_s(headers: Headers) -> float:
    """Seconds to wait before the next request although this one went well."""
    left = _number(headers.get("x-rate-limit-remaining", ""))
    return _EASE_S if left is not None and left < _LOW_QUOTA else 0.0


def _retry_after_s(text: str, now: float) -> float | None:
    seconds = _number(text)
    if seconds is not None or not text:
        return seconds
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
