"""A real HTTP server on loopback that can be told to fail: what the fakes of GitHub and Canvas are made of.

`fail` says what happens to the next requests that match: another answer, a connection that is reset before or after the
request was carried out, an answer that never comes.
"""

import json
import re
import socket
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request, as it came."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Any

    @property
    def line(self) -> str:
        """Method and path."""
        return f"{self.method} {self.path}"


@dataclass(frozen=True, kw_only=True)
class Response:
    """One answer. A body that is no bytes is sent as JSON."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Fault:
    """What happens instead. See `FakeServer.fail`."""

    pattern: re.Pattern[str]
    times: int
    response: Response | None
    is_carried_out: bool
    hangs: bool


class FakeServer:
    """The server, and what it was asked. A subclass answers in `answer`."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.requests: list[Request] = []
        self.faults: list[Fault] = []
        #: Set when nobody waits any longer for an answer that never comes.
        self.released = threading.Event()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop listening."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> None:
        """Forget requests and faults."""
        self.requests, self.faults = [], []
        self.released = threading.Event()

    def fail(
        self,
        pattern: str,
        status: int | None = None,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
        is_carried_out: bool = False,
        hangs: bool = False,
    ) -> None:
        """Let the next requests whose "METHOD /path" matches fail.

        Args:
            pattern: a regular expression.
            status: of the answer; None resets the connection.
            body: of the answer.
            headers: of the answer.
            times: how many requests.
            is_carried_out: whether the request is carried out all the same, and only its answer gets lost.
            hangs: give no answer at all until `released`.
        """
        response = None if status is None else Response(status=status, body=body, headers=headers or {})
        self.faults.append(
            Fault(
                pattern=re.compile(pattern),
                times=times,
                response=response,
                is_carried_out=is_carried_out,
                hangs=hangs,
            )
        )

    def lines(self, pattern: str = "") -> list[str]:
        """Method and path of the requests that match, in order."""
        return [request.line for request in self.requests if re.search(pattern, request.line)]

    def answer(self, request: Request) -> Response:
        """Answer as the documents say."""
        raise NotImplementedError

    def respond(self, request: Request) -> Response | None:
        """The answer, or None to reset the connection."""
        with self._lock:
            self.requests.append(request)
            fault = next((one for one in self.faults if one.times and one.pattern.search(request.line)), None)
            if fault is None:
                return self.answer(request)
            fault.times -= 1
            if fault.is_carried_out:
                self.answer(request)
        if fault.hangs:
            self.released.wait(60)
            return None
        return fault.response


def page_of(
    entries: list[Any],
    request: Request,
    url: str,
    most: int,
    wrap: Callable[[list[Any]], Any] = list,
    between: str = ", ",
) -> Response:
    """One page of a list, and the header `Link` to the next."""
    size = min(int(request.query.get("per_page", ["30"])[0]), most)
    number = int(request.query.get("page", ["1"])[0])
    begin = (number - 1) * size
    kept = urlencode({name: values for name, values in request.query.items() if name != "page"}, doseq=True)
    base = f"{url}{request.path}?{kept}&page="
    links = [f'<{base}1>; rel="first"']
    if begin + size < len(entries):
        links.insert(0, f'<{base}{number + 1}>; rel="next"')
    return Response(body=wrap(entries[begin : begin + size]), headers={"Link": between.join(links)})


def _handler_of(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 2**16  # one segment an answer: two would wait for each other's acknowledgement
        disable_nagle_algorithm = True

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            request = Request(
                method=self.command,
                path=parts.path,
                query=parse_qs(parts.query),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=json.loads(content) if content else None,
            )
            response = server.respond(request)
            if response is None:
                self._reset()
                return
            body = response.body
            content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
            self.send_response(response.status)
            for name, value in response.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

        def _reset(self) -> None:
            """End the connection by RST: a peer that died, not one that said goodbye."""
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True

        def log_message(self, *args: Any) -> None:
            """Print nothing."""

    return Handler
