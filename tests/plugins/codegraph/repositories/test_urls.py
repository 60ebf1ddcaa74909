from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.repositories.urls import (
    NAME,
    BadAddress,
    checked_branch,
    checked_name,
    checked_url,
    host_of,
    is_address,
    name_from,
)


@pytest.mark.parametrize(
    ("given_url", "url"),
    [
        ("https://Example.org/plants/garden", "https://example.org/plants/garden"),
        ("https://example.org:443/plants/garden.git/", "https://example.org/plants/garden.git"),
        ("https://example.org:8443/a", "https://example.org:8443/a"),
        ("HTTPS://example.org/a", "https://example.org/a"),
    ],
)
def test_an_https_address_has_one_spelling(given_url: str, url: str) -> None:
    assert checked_url(given_url) == url
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/a",
        "git@example.org:plants/garden.git",
        "ssh://example.org/a",
        "file:///etc",
        "ext::sh -c id",
        "https::https://example.org/a",
        "https://example.org",
        "https://example.org/",
        "https://example.org/a?b=c",
        "https://example.org/a#b",
        "https:///a",
        "https://example.org:0/a",
        "https://example.org:99999/a",
        "https://exa mple.org/a",
        "https://example.org\\@evil.example/a",
        "https://example.org/a\nb",
        "https://example.org/" + "a" * 2000,
        "--upload-pack=id",
        "https://example.org/a --upload-pack=id",
        "/etc/passwd",
        "../garden",
    ],
)
def test_whatever_is_no_plain_https_address_is_refused(url: str) -> None:
    with pytest.raises(BadAddress):
        checked_url(url)


def test_a_credential_in_an_address_is_refused_and_not_repeated() -> None:
    for url in ("https://me:hunter2@example.org/a", "https://hunter2@example.org/a"):
        with pytest.raises(BadAddress, match="token: env:NAME") as refused:
            checked_url(url)
        assert "hunter2" not in str(refused.value)
    with pytest.raises(BadAddress) as refused:
        checked_url("ssh://me:hunter2@example.org/a")
    assert "hunter2" not in str(refused.value)


def test_only_the_hosts_on_the_list_are_taken() -> None:
    assert checked_url("https://github.com/a/b", {"github.com"})
    for url in (
        "https://evil.example/a/b",
        "https://github.com.evil.example/a",
        "https://github.com./a/b",
        "https://sub.github.com/a/b",
        "https://github.com:8443/a/b",
    ):
        with pytest.raises(BadAddress, match="not on the list of hosts"):
            checked_url(url, {"github.com"})
    assert checked_url("https://Example.org:8443/a", {"example.org:8443"})


@given(st.text())
def test_no_text_gets_past_the_list_of_hosts(text: str) -> None:
    try:
        url = checked_url(text, {"github.com"})
    except BadAddress:
        return
    assert re.fullmatch(r"https://github\.com/[^\s\\]+", url)
    assert host_of(url) == "github.com"


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("https://example.org/a", True),
        ("git@example.org:a/b", True),
        ("ext::sh", True),
        (".", False),
        ("/srv/garden", False),
        ("garden", False),
        ("C:/garden", False),
    ],
)
def test_an_address_is_told_from_a_path(text: str, meant: bool) -> None:
    assert is_address(text) is meant


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("https://example.org/plants/garden.git", "garden"),
        ("/srv/My Garden/", "My-Garden"),
        ("/srv/.dotfiles", "dotfiles"),
        ("/srv/größe", "gr-e"),
    ],
)
def test_the_name_is_that_of_the_last_segment(location: str, name: str) -> None:
    assert name_from(location) == name


@given(st.text(min_size=1))
def test_a_name_from_any_location_is_a_name_or_an_error(location: str) -> None:
    try:
        name = name_from(location)
    except BadAddress:
        return
    assert re.fullmatch(NAME, name)


@pytest.mark.parametrize("name", ["", "-a", ".a", "a/b", "a b", "a" * 65, "..", "a\n", "ü"])
def test_a_name_that_would_read_as_something_else_is_refused(name: str) -> None:
    with pytest.raises(BadAddress, match="--name"):
        checked_name(name)


@pytest.mark.parametrize("branch", ["", "-x", "a..b", "a b", "a:b", "a.lock", "@", "x/", "a~1"])
def test_what_git_would_not_take_for_a_branch_is_refused(branch: str) -> None:
    with pytest.raises(BadAddress, match="branch"):
        checked_branch(branch)
    assert checked_branch("feature/one") == "feature/one"
