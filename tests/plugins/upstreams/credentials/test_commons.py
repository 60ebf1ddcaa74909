"""A search of the commons asks a server with the caller's account there, or says to connect."""

from __future__ import annotations

from typing import Any

from gateway.testing import TestPortal
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import guarded_server
from tests.plugins.upstreams.portals import until_offered

SEARCH: dict[str, Any] = {
    "commons": {"tool": "add", "argument": "a"},
    "tools": {"fixed": {"add": {"b": 2}}},
}


async def searched(portal: TestPortal, who: str) -> Any:
    answer = await portal.call("commons_search", {"query": "trust"}, tier=who)
    assert not answer.is_error, answer.text
    return answer.structured


async def test_who_has_no_account_there_is_named_the_link_and_no_other_account_is_used() -> None:
    with guarded_server() as guarded:
        async with portal_of(guarded, **SEARCH) as portal:
            ben = await member(portal, "ben")
            await ben.connect(guarded)
            await until_offered(portal, "far__add", tier="ben")
            await portal.sign_in("ana")
            before = len(guarded.calls)
            heard = await searched(portal, "ana")
            [other] = heard["unanswered"]
            assert (other["source"], other["why"]) == ("far", "connection_needed")
            assert other["link"].startswith("http://localhost/account?connect=upstreams%2Ffar&for=")
            assert not heard["complete"]
            assert len(guarded.calls) == before
            await searched(portal, "ben")
            assert guarded.calls[before:] == [("ben-there", "trust")]
