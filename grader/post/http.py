"""One client for one server: every request of `grade post` goes through it, one at a time.

It retries what may be retried, waits as it is told, follows no redirect and no link to another server (the token
stays here), reads no more than it must, and turns whatever happens into one of `errors`. Proxies and certificates
are as httpx finds them in the environment: HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlencode, urljoin

from grader import __version__
from grader.post.address import Address
from grader.post.answer import Answer, next_page, words_of
from grader.post.errors import PostError, Refused, Unreachable, Unsure, WrongUse
from grader.post.token import Token
from grader.post.waiting import ATTEMPTS, MOST_WAIT_S, backoff_s, is_throttled, pause_s, wait_s

if TYPE_CHECKING:
    import httpx

Value = TypeVar("Value")
#: Seconds for a connection, and for each piece of an answer.
TIMEOUT_S = 30.0
#: How many times that an answer may take as a whole.
_WHOLE_ANSWER = 4
#: Largest answer: a page of a hundred submissions with their comments is far below it.
_MOST_BYTES = 32 * 2**20
#: Pages of one list, a hundred entries each.
_MOST_PAGES = 1000
_MOST_REDIRECTS = 5
#: Characters of a server's own words in a message.
_MOST_DETAIL = 300


class _Lost(Exception):
    """A request without an answer; `was_sent` unless it certainly was not."""

    def __init__(self, reason: str, was_sent: bool) -> None:
        super().__init__(reason)
        self.was_sent = was_sent


class Client:
    """Talks to one server with one token. A context manager: leaving it closes the connection."""

    def __init__(
        self,
        base: Address,
        token: Token,
        headers: Mapping[str, str],
        *,
        wait: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.base = base
        self._token = token
        self._headers = {"User-Agent": f"attention-grader/{__version__}", **headers}
        self._wait, self._clock, self._timeout_s = wait, clock, timeout_s
        self._pause_s = 0.0
        self._http: httpx.Client | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    # --- what callers use -----------------------------------------------------------------------------------------

    def get(self, path: str, **params: str) -> Answer:
        """Read one thing."""
        return self.send("GET", f"{path}?{urlencode(params)}" if params else path)

    def pages(self, path: str, key: str = "", **params: str) -> Iterator[dict[str, Any]]:
        """Read a whole list, page by page as the header `Link` leads (RFC 8288).

        Args:
            path: of the first page.
            key: the field that holds the list, where a page is an object.
            params: the query; a list of a hundred entries a page is asked for.

        Raises:
            PostError: as `send`; or a page is no list, leads to another server, or back.
        """
        url = f"{path}?{urlencode({'per_page': '100', **params})}"
        seen: set[str] = set()
        while url:
            if url in seen or len(seen) == _MOST_PAGES:
                raise Unreachable(f"{path}: its pages lead in a circle, or there are more than {_MOST_PAGES}")
            seen.add(url)
            answer = self.send("GET", url)
            found = answer.mapping().get(key) if key else answer.json()
            if not isinstance(found, list):
                raise Unreachable(f"{path}: answered with something that is no list")
            yield from (entry for entry in found if isinstance(entry, dict))
            url = next_page(answer)

    def send(self, method: str, path: str, body: object = None, *, is_repeatable: bool = True) -> Answer:
        """Put one request until it is answered with success.

        Args:
            method: of HTTP.
            path: below the base, or a whole URL on the same server.
            body: sent as JSON; None sends nothing.
            is_repeatable: whether doing it twice is the same as once.

        Raises:
            Refused: the server said no, or asks for a longer wait than is sensible.
            Unreachable: there is no answer.
            Unsure: not repeatable, sent, and the answer got lost. See `settle`.
        """
        url = self._url(path)
        for attempt in range(1, ATTEMPTS + 1):
            self._ease()
            try:
                answer = self._exchange(method, url, body)
            except _Lost as lost:
                if lost.was_sent and not is_repeatable:
                    raise Unsure(f"{method} {self._short(url)}: {lost}") from None
                self._back_off(attempt, Unreachable(f"{method} {self._short(url)}: no answer ({lost})"))
                continue
            if answer.status < 400:
                return answer
            refused = Refused(method, self._short(url), answer.status, self._detail(answer))
            if is_throttled(answer.status, answer.headers, answer.body):
                self._back_off(attempt, refused, wait_s(answer.headers, attempt, self._clock()))
            elif answer.status >= 500 and not is_repeatable:
                raise Unsure(str(refused))
            elif answer.status >= 500 or answer.status == 408:
                self._back_off(attempt, refused, wait_s(answer.headers, attempt, self._clock()))
            else:
                raise refused
        raise AssertionError("the last attempt returns or raises")

    def settle(self, step: Callable[[], Value]) -> Value:
        """Take a step that looks first and then acts, again as long as nobody knows whether it was carried out."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return step()
            except Unsure as unsure:
                self._back_off(attempt, Unreachable(str(unsure)))
        raise AssertionError("the last attempt returns or raises")

    # --- one request ----------------------------------------------------------------------------------------------

    def _exchange(self, method: str, url: str, body: object) -> Answer:
        """Put a request once, following redirects on this server. Raises _Lost; Unreachable when led elsewhere."""
        for _ in range(_MOST_REDIRECTS):
            answer = self._put(method, url, body)
            self._pause_s = pause_s(answer.headers)
            if answer.status not in (301, 302, 303, 307, 308):
                return answer
            leads = urljoin(url, answer.headers.get("location", ""))
            if not self.base.has(leads):
                raise Unreachable(f"{method} {self._short(url)}: leads to another server; the token was not sent there")
            if method != "GET" and answer.status not in (307, 308):  # the others would turn it into a GET
                raise Unreachable(f"{method} {self._short(url)}: has moved to {self._short(leads)}; name the new place")
            url = leads
        raise Unreachable(f"{method} {self._short(url)}: leads on and on")

    def _put(self, method: str, url: str, body: object) -> Answer:
        import httpx

        http = self._opened()
        content = None if body is None else json.dumps(body).encode()
        kind = {} if body is None else {"Content-Type": "application/json"}
        lost: _Lost
        try:
            with http.stream(method, url, content=content, headers=kind) as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Answer(url=url, status=response.status_code, headers=headers, body=self._read(response))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError) as error:
            lost = _Lost(self._quote(str(error)) or "no connection", was_sent=False)
        except httpx.TimeoutException:
            lost = _Lost(f"nothing came for {self._timeout_s:g} s", was_sent=True)
        except httpx.RequestError as error:
            lost = _Lost(self._quote(str(error)) or "the connection broke off", was_sent=True)
        raise lost  # outside of the handler: httpx's own error, which knows the request's headers, is not kept with it

    def _read(self, response: "httpx.Response") -> bytes:
        deadline = time.monotonic() + _WHOLE_ANSWER * self._timeout_s
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            if size > _MOST_BYTES:
                raise _Lost(f"the answer is larger than {_MOST_BYTES // 2**20} MiB", was_sent=True)
            if time.monotonic() > deadline:
                raise _Lost("the answer came too slowly", was_sent=True)
        return b"".join(pieces)

    def _opened(self) -> "httpx.Client":
        if self._http is None:
            import httpx

            headers = {**self._headers, "Authorization": self._token.header()}
            # a proxy must not see what goes to this very machine: http is allowed there alone
            trusts_environment = self.base.scheme == "https"
            try:
                self._http = httpx.Client(headers=headers, timeout=self._timeout_s, trust_env=trusts_environment)
            except Exception as error:  # of many kinds; its text may quote a proxy's password
                kind = type(error).__name__
                raise WrongUse(
                    f"the proxy or certificates of the environment cannot be used ({kind}); "
                    "look at HTTPS_PROXY, ALL_PROXY, NO_PROXY and SSL_CERT_FILE"
                ) from None
        return self._http

    # --- waiting, and words ---------------------------------------------------------------------------------------

    def _back_off(self, attempt: int, error: PostError, seconds: float | None = None) -> None:
        """Wait before the next attempt. Raises the error when this was the last, or the wait is too long."""
        asked = backoff_s(attempt) if seconds is None else seconds
        if asked > MOST_WAIT_S:
            raise error.with_hint(f"it asks to wait {asked:.0f} s; run this again then") from None
        if attempt == ATTEMPTS:
            raise error from None
        self._wait(asked)

    def _ease(self) -> None:
        if self._pause_s:
            self._wait(self._pause_s)
            self._pause_s = 0.0

    def _url(self, path: str) -> str:
        if path.startswith("/"):
            return f"{self.base}{path}"
        if self.base.has(path):
            return path
        raise Unreachable(f"{self._quote(path)}: leads to another server; the token was not sent there")

    def _short(self, url: str) -> str:
        """A URL or path as messages name it: without the server and the query."""
        return self._quote(url.partition("?")[0].removeprefix(self.base.origin))

    def _detail(self, answer: Answer) -> str:
        return self._quote(words_of(answer.body))

    def _quote(self, text: str) -> str:
        line = " ".join(self._token.redact(text).split())
        return line if len(line) <= _MOST_DETAIL else line[: _MOST_DETAIL - 1] + "…"
