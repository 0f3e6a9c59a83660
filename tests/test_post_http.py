"""The client of `grade post`, against a real server on loopback that fails as servers do."""

import traceback
from email.utils import formatdate

import pytest
from fake_server import FakeServer, Response

from grader.post.address import Address
from grader.post.errors import PostError, Refused, Unreachable, Unsure, WrongUse
from grader.post.http import Client
from grader.post.token import Token
from grader.post.waiting import ATTEMPTS

SECRET = "ghs_invented0123456789"
NOW = 1_790_000_000.0


class Echo(FakeServer):
    """Answers every request with success."""

    def answer(self, request):
        return Response(body={"path": request.path, "got": request.body})


@pytest.fixture(scope="module")
def running():
    """A server of this module."""
    server = Echo(SECRET)
    yield server
    server.close()


@pytest.fixture
def server(running):
    """The server, as if it had just been started."""
    running.reset()
    yield running
    running.released.set()


@pytest.fixture(scope="module")
def noted():
    """Where clients note what they would wait for."""
    return []


@pytest.fixture
def waits(noted):
    """What the client waited for, in seconds; nobody waits in earnest."""
    noted.clear()
    return noted


@pytest.fixture(scope="module")
def connected(running, noted):
    """One client for all tests: making one reads all certificates there are."""
    with client_of(running, noted) as client:
        yield client


@pytest.fixture
def client(connected, server, waits):
    """A client of the server, below /api."""
    return connected


def client_of(server, waits, **options):
    """A client that notes waits instead of waiting."""
    address = Address.parse(f"{server.url}/api", "--url")
    return Client(address, Token(SECRET, "TOKEN"), {}, wait=waits.append, clock=lambda: NOW, **options)


def test_client_sends_token_name_and_json(server, client):
    """What a request carries."""
    client.send("POST", "/things", {"name": "José"})

    (request,) = server.requests
    assert "POST /api/things" == request.line
    assert f"Bearer {SECRET}" == request.headers["authorization"]
    assert request.headers["user-agent"].startswith("attention-grader/")
    assert {"name": "José"} == request.body


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_client_tries_again_after_a_fault_of_the_server(server, client, waits, status):
    """Twice broken, then well: the waits double."""
    server.fail("GET", status, times=2)

    assert 200 == client.get("/things").status

    assert [1.0, 2.0] == waits


def test_client_gives_up_after_so_many_attempts(server, client, waits):
    """It is bounded, and the reason of the server is told."""
    server.fail("GET", 503, {"message": "down for maintenance"}, times=99)

    with pytest.raises(Refused, match=r"GET /api/things: answered 503, down for maintenance$"):
        client.get("/things")

    assert ATTEMPTS == len(server.requests)
    assert ATTEMPTS - 1 == len(waits)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "7"}, 7.0),
        (503, {"Retry-After": formatdate(NOW + 9, usegmt=True)}, 9.0),
        (503, {"Retry-After": formatdate(NOW - 9, usegmt=True)}, 0.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": f"{NOW + 30:.0f}"}, 31.0),
        (429, {"Retry-After": "soon"}, 1.0),
    ],
)
def test_client_waits_as_long_as_it_is_told(server, client, waits, status, headers, seconds):
    """`Retry-After` in seconds and as a date, and GitHub's own header; nonsense is no word at all."""
    server.fail("GET", status, headers=headers)

    client.get("/things")

    assert [seconds] == waits


def test_client_throttled_by_canvas_tries_again(server, client, waits):
    """Its 403 means "later", unlike any other; the quota that is empty adds a pause."""
    server.fail("GET", 403, b"403 Forbidden (Rate Limit Exceeded)\n", headers={"X-Rate-Limit-Remaining": "0.0"})

    assert 200 == client.get("/things").status

    assert [1.0, 1.0] == waits


def test_client_secondary_limit_without_a_time_waits_a_minute(server, client, waits):
    """As GitHub asks for."""
    body = {"message": "You have exceeded a secondary rate limit."}
    server.fail("GET", 403, body, headers={"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "4990"})

    client.get("/things")

    assert [60.0] == waits


def test_client_too_long_a_wait_is_told_instead(server, client, waits):
    """A job is not held up for an hour."""
    server.fail("GET", 429, {"message": "slow down"}, headers={"Retry-After": "3600"})

    with pytest.raises(Refused, match=r"429, slow down \(it asks to wait 3600 s; run this again then\)"):
        client.get("/things")

    assert [] == waits


def test_client_low_quota_slows_down(server, client, waits):
    """Canvas tells how much is left; a client that goes on at full speed would be cut off."""
    server.fail("GET", 200, {}, headers={"X-Rate-Limit-Remaining": "42.5"})

    client.get("/things")
    client.get("/things")

    assert [1.0] == waits


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 422])
def test_client_a_refusal_is_not_repeated(server, client, waits, status):
    """Asking again would not help."""
    server.fail("GET", status, {"message": "no"})

    with pytest.raises(Refused) as caught:
        client.get("/things")

    assert (status, "no") == (caught.value.status, caught.value.detail)
    assert 1 == len(server.requests)


def test_client_a_reset_connection_is_tried_again(server, client, waits):
    """A peer that died in the middle."""
    server.fail("GET", None, times=2)

    client.get("/things")

    assert [1.0, 2.0] == waits


def test_client_nobody_listens_is_unreachable(waits):
    """A wrong port: bounded as well, and told in words."""
    server = Echo(SECRET)
    server.close()

    with client_of(server, waits) as client, pytest.raises(Unreachable, match=r"GET /api/things: no answer \(.+\)"):
        client.get("/things")

    assert ATTEMPTS - 1 == len(waits)


def test_client_an_answer_that_never_comes_is_given_up(server, waits):
    """Time-outs are set."""
    server.fail("GET", hangs=True, times=99)

    with (
        client_of(server, waits, timeout_s=0.05) as client,
        pytest.raises(Unreachable, match=r"no answer \(nothing came for 0\.05 s\)"),
    ):
        client.get("/things")


@pytest.mark.parametrize("status", [None, 500, 502, 504])
def test_client_what_must_not_be_done_twice_is_not_repeated(server, client, status):
    """The request was carried out, and its answer got lost, here or behind a gateway: only looking tells."""
    server.fail("POST", status, is_carried_out=True)

    with pytest.raises(Unsure):
        client.send("POST", "/things", {}, is_repeatable=False)

    assert 1 == len(server.requests)


def test_client_what_must_not_be_done_twice_is_repeated_when_it_was_not_done(server, client, waits):
    """A limit is reached before anything is done."""
    server.fail("POST", 429, headers={"Retry-After": "0"})

    client.send("POST", "/things", {}, is_repeatable=False)

    assert [0.0] == waits


def test_client_settles_by_looking_again(server, client, waits):
    """The step is taken again until nothing is in doubt."""
    server.fail("POST", 502, times=2)

    client.settle(lambda: client.send("POST", "/things", {}, is_repeatable=False))

    assert [1.0, 2.0] == waits


def test_client_settling_is_bounded(server, client):
    """A server that never answers for sure is unreachable."""
    server.fail("POST", None, times=99)

    with pytest.raises(Unreachable):
        client.settle(lambda: client.send("POST", "/things", {}, is_repeatable=False))

    assert ATTEMPTS == len(server.requests)


def test_client_redirect_on_the_same_server_is_followed(server, client):
    """A repository that was renamed."""
    server.fail("GET /api/old", 301, headers={"Location": "/api/new"})

    assert "/api/new" == client.get("/old").json()["path"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_client_redirect_to_another_server_carries_no_token(server, client, status, method):
    """Nothing at all is sent there."""
    other = Echo(SECRET)
    server.fail("/api/old", status, headers={"Location": f"{other.url}/stolen"})

    with pytest.raises(Unreachable, match="leads to another server; the token was not sent there"):
        client.send(method, "/old", {})

    assert [] == other.requests
    other.close()


def test_client_redirect_of_a_post_keeps_method_and_body(server, client):
    """307 says so; 301 would make it a GET, and is told instead."""
    server.fail("POST /api/old", 307, headers={"Location": "/api/new"})
    server.fail("POST /api/older", 301, headers={"Location": "/api/new"})

    assert {"a": 1} == client.send("POST", "/old", {"a": 1}).json()["got"]
    with pytest.raises(Unreachable, match="has moved to /api/new"):
        client.send("POST", "/older", {"a": 1})


def test_client_redirects_in_a_circle_end(server, client):
    """It leads on and on."""
    server.fail("GET", 302, headers={"Location": "/api/things"}, times=99)

    with pytest.raises(Unreachable, match="leads on and on"):
        client.get("/things")


def test_client_pages_follow_the_link_header(server, client):
    """Whatever stands around the link, in any order."""
    first = f'<{server.url}/api/things?page=1>; rel="first",<{server.url}/api/things?page=2>; rel="next"'
    server.fail("GET", 200, [{"id": 1}, "no object"], headers={"Link": first})
    server.fail("GET", 200, [{"id": 2}], headers={"Link": first.replace("next", "prev")})

    assert [{"id": 1}, {"id": 2}] == list(client.pages("/things"))


def test_client_pages_on_another_server_are_not_read(server, client):
    """A link is an address like any other."""
    other = Echo(SECRET)
    server.fail("GET", 200, [], headers={"Link": f'<{other.url}/api/things?page=2>; rel="next"'})

    with pytest.raises(Unreachable, match="the token was not sent there"):
        list(client.pages("/things"))

    assert [] == other.requests
    other.close()


def test_client_pages_in_a_circle_end(server, client):
    """A list whose last page leads to its first is no list."""
    link = {"Link": f'<{server.url}/api/things?page=1>; rel="next"'}
    server.fail("GET", 200, [{"id": 1}], headers=link, times=99)

    with pytest.raises(Unreachable, match="lead in a circle"):
        list(client.pages("/things"))


@pytest.mark.parametrize("body", [b"<html>log in here</html>", b"", b"[1, 2", b'"text"', b"{}"])
def test_client_what_is_no_list_is_told(server, client, body):
    """As from a proxy that answers with its own page."""
    server.fail("GET", 200, body)

    with pytest.raises(Unreachable, match=r"no JSON|no list"):
        list(client.pages("/things"))


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 401, "body": {"message": f"bad token {SECRET}"}},
        {"status": 422, "body": f"Authorization: Bearer {SECRET}".encode()},
        {"status": 503, "body": {"errors": [{"message": SECRET}]}, "times": 99},
        {"status": 302, "headers": {"Location": f"https://elsewhere.example/{SECRET}"}},
        {"status": None, "times": 99},
    ],
)
def test_client_errors_hold_no_token(server, client, fault):
    """Not in the text, not in what an exception keeps, not in its traceback, even where the server repeats it."""
    server.fail("GET", **fault)

    with pytest.raises(PostError) as caught:
        client.get("/things")

    whole = "".join(traceback.format_exception(caught.value))
    assert SECRET not in whole + repr(caught.value) + repr(vars(caught.value)) + repr(client)
    assert caught.value.__context__ is None or SECRET not in repr(vars(caught.value.__context__))


def test_client_proxy_of_the_environment_does_not_see_what_stays_here(server, waits, monkeypatch):
    """Unencrypted requests go to this machine alone."""
    proxy = Echo(SECRET)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    with client_of(server, waits) as client:
        client.get("/things")

    assert (1, []) == (len(server.requests), proxy.requests)
    proxy.close()


def test_client_proxy_that_is_none_is_told_without_its_password(waits, monkeypatch):
    """A mistake in the environment, and a secret in it."""
    monkeypatch.setenv("HTTPS_PROXY", "gopher://me:hunter2@proxy.example:70")
    address = Address.parse("https://api.example.edu", "--url")

    with Client(address, Token(SECRET, "TOKEN"), {}) as client, pytest.raises(WrongUse, match="HTTPS_PROXY") as caught:
        client.get("/things")

    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
