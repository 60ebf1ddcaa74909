"""The portal's addresses, and which of them a token is good for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.portal_addresses import Site

LOCAL = Site("http://127.0.0.1:8321", local=True)
PUBLIC = Site("https://portal.example.org", local=False)
BELOW = Site("https://example.org/portal", local=False)


@pytest.mark.parametrize("host", ["localhost:8321", "127.0.0.1:9", "[::1]:8321", "localhost"])
def test_a_local_portal_answers_to_every_loopback_name_and_port(host):
    assert LOCAL.base(host) == f"http://{host}"
    assert LOCAL.is_base(f"http://{host}")
    assert LOCAL.accepts(f"http://{host}", "/mcp")
    assert PUBLIC.base(host) == PUBLIC.url
    assert not PUBLIC.is_base(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [
        "example.org",
        "localhost.example.org",
        "user@localhost",
        "localhost/evil",
        "localhost:8321@example.org",
        "localhost:123456",
        "localhost\n",
        "[::1",
        "[",
        "127.0.0.1.example.org",
        "",
    ],
)
def test_any_other_host_gets_the_portals_own_address(host):
    assert LOCAL.base(host) == LOCAL.url
    assert not LOCAL.is_base(f"http://{host}")


@pytest.mark.parametrize(
    ("audience", "path", "accepted"),
    [
        ("https://portal.example.org", "/mcp", True),
        ("https://portal.example.org/", "/members/mcp", True),
        ("HTTPS://Portal.Example.ORG", "/mcp/knowledge", True),
        ("https://portal.example.org/mcp", "/mcp", True),
        ("https://portal.example.org/mcp/", "/mcp", True),
        ("https://portal.example.org/mcp", "/mcp/", True),
        ("https://portal.example.org/mcp", "/mcp/knowledge", False),
        ("https://portal.example.org/mcp", "/members/mcp", False),
        ("https://portal.example.org/mcp/knowledge", "/mcp", False),
        ("https://portal.example.org/members/mcp", "/mcp", False),
        ("https://portal.example.org/MCP", "/mcp", False),
        ("http://portal.example.org", "/mcp", False),
        ("https://portal.example.org.evil.org", "/mcp", False),
        ("https://portal.example.organic/mcp", "/mcp", False),
        ("https://evil.org/portal.example.org/mcp", "/mcp", False),
        ("https://evil.org/mcp", "/mcp", False),
        ("https://portal.example.org@evil.org", "/mcp", False),
        ("https://user@portal.example.org", "/mcp", False),
        ("https://portal.example.org?", "/mcp", False),
        ("https://portal.example.org/mcp#", "/mcp", False),
        ("https://portal.example.org\\mcp", "/mcp", False),
        ("portal.example.org/mcp", "/mcp", False),
        ("https://[", "/mcp", False),
        ("https://", "/mcp", False),
        ("", "/mcp", False),
        ("/mcp", "/mcp", False),
    ],
)
def test_a_token_for_the_base_is_good_everywhere_and_one_for_a_path_only_there(
    audience, path, accepted
):
    assert PUBLIC.accepts(audience, path) is accepted


DOORS = Site("https://portal.example.org", local=False, doors={"/mcp", "/members/mcp"})


@pytest.mark.parametrize("path", ["/mcp", "/members/mcp"])
def test_a_token_for_one_door_is_good_at_the_other_and_nowhere_else(path):
    for meant in ("/mcp", "/members/mcp", "/members/mcp/"):
        assert DOORS.accepts(DOORS.url + meant, path)
        assert not DOORS.accepts(f"https://elsewhere.example{meant}", path)
    for meant in ("/mcp/knowledge", "/members", "/members/mcp/more", "/mcp/../members/mcp"):
        assert not DOORS.accepts(DOORS.url + meant, path)
    for elsewhere in ("/mcp/knowledge", "/members/mcp/more", "/api/v1", "/account", "/"):
        assert not DOORS.accepts(DOORS.url + path, elsewhere)


def test_the_doors_are_one_resource_and_everything_else_is_itself():
    assert DOORS.same("https://portal.example.org/mcp", "https://PORTAL.example.org/members/mcp/")
    assert DOORS.same("https://portal.example.org/mcp/x", "https://portal.example.org/mcp/x")
    assert not DOORS.same("https://portal.example.org/mcp", "https://portal.example.org")
    assert not DOORS.same("https://portal.example.org/mcp", "https://portal.example.org/mcp/x")
    assert not DOORS.same("https://evil.org/mcp", "https://evil.org/mcp")
    assert not PUBLIC.same(f"{PUBLIC.url}/mcp", f"{PUBLIC.url}/members/mcp")


def test_a_resource_is_a_path_below_the_base():
    assert LOCAL.resource_path("http://localhost:8321/mcp/knowledge/") == "/mcp/knowledge"
    assert LOCAL.resource_path("http://127.0.0.1:8321") == ""
    assert LOCAL.resource_path("https://127.0.0.1:8321") is None
    assert BELOW.resource_path("https://example.org/portal/mcp") == "/mcp"
    assert BELOW.resource_path("https://example.org/portal") == ""
    assert BELOW.resource_path("https://example.org/portals") is None
    assert BELOW.resource_path("https://example.org") is None
    assert BELOW.accepts("https://EXAMPLE.org/portal/mcp", "/mcp")


@given(st.text() | st.from_regex(r"https?://[^/]*(/.*)?"), st.text())
def test_no_text_breaks_it(address, path):
    for site in (LOCAL, PUBLIC, BELOW):
        assert site.base(address)
        site.accepts(address, path)
        assert site.is_base(address) is (site.resource_path(address) == "")


def test_a_portal_knows_whether_cookies_may_demand_https():
    assert PUBLIC.secure
    assert not LOCAL.secure
