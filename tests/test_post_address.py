"""Which servers may be sent a token, and how a token is read."""

import pytest

from grader.post.address import Address
from grader.post.errors import WrongUse
from grader.post.token import Token, read_token


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://canvas.example.edu/", "https://canvas.example.edu"),
        ("https://ghe.example.edu/api/v3", "https://ghe.example.edu/api/v3"),
        ("https://canvas.example.edu:8443", "https://canvas.example.edu:8443"),
        ("http://127.0.0.1:3000", "http://127.0.0.1:3000"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("http://[::1]:3000", "http://[::1]:3000"),
    ],
)
def test_address_that_may_be_sent_a_token(text, shown):
    """Encrypted, or this very machine."""
    assert shown == str(Address.parse(text, "--url"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("http://canvas.example.edu", "unencrypted; wanted https://"),
        ("http://127.0.0.1.example.edu", "unencrypted"),
        ("http://localhost.example.edu", "unencrypted"),
        ("canvas.example.edu", "wanted an address such as"),
        ("ftp://canvas.example.edu", "wanted an address such as"),
        ("https://", "wanted an address such as"),
        ("https://canvas.example.edu:port", "wanted an address such as"),
        ("https://me:secret@canvas.example.edu", "holds a name or password"),
        ("https://canvas.example.edu/?next=x", r"without '\?' and '#'"),
    ],
)
def test_address_that_may_not_is_refused(text, reason):
    """Before anything is sent; a password is not repeated."""
    with pytest.raises(WrongUse, match=reason) as caught:
        Address.parse(text, "--url")

    assert str(caught.value).startswith("--url: ")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.edu.evil.example/x",
        "https://api.example.edu@evil.example/x",
        "https://api.example.edu:8443/x",
        "http://api.example.edu/x",
        "//evil.example/x",
        "https://[bad/x",
    ],
)
def test_address_another_server_is_another(url):
    """Host, port and scheme decide, and nothing that looks alike."""
    assert not Address.parse("https://api.example.edu", "--url").has(url)


def test_address_knows_its_own_server():
    """With the port written out, or not."""
    assert Address.parse("https://api.example.edu/v3", "--url").has("https://api.example.edu:443/other")


def test_token_is_the_first_variable_that_is_set():
    """A line break from pasting is no part of it."""
    token = read_token(("GITHUB_TOKEN", "GH_TOKEN"), {"GITHUB_TOKEN": "", "GH_TOKEN": " ghp_invented\n"})

    assert ("GH_TOKEN", "Bearer ghp_invented") == (token.variable, token.header())


def test_token_missing_says_which_variables():
    """And that looking costs none."""
    with pytest.raises(WrongUse, match=r"^no token: set GITHUB_TOKEN or GH_TOKEN in the environment \(--dry-run"):
        read_token(("GITHUB_TOKEN", "GH_TOKEN"), {})


@pytest.mark.parametrize("text", ["two words", "tok\x00en", "tökén", "a\nb"])
def test_token_that_no_header_carries_is_refused_unquoted(text):
    """Libraries would quote it in their error."""
    with pytest.raises(WrongUse, match="CANVAS_TOKEN holds blanks or characters that no token has") as caught:
        read_token(("CANVAS_TOKEN",), {"CANVAS_TOKEN": text})

    assert text not in str(caught.value)


def test_token_shows_itself_to_nobody():
    """Neither printed nor in the text of an error."""
    token = Token("ghp_invented", "GH_TOKEN")

    assert "<token of GH_TOKEN>" == f"{token}" == repr(token)
    assert "sent ***" == token.redact("sent ghp_invented")
