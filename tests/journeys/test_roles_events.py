"""A hat is taken away on the chain: the next call is refused, and open streams end."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from eth_account import Account as Key
from websockets.exceptions import ConnectionClosed

from auth.callers import Account
from auth.hat_ids import parse
from gateway.surfaces.http import open_streams
from gateway.testing import TestPortal, open_test_portal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from tests.chain.anvil import HATS, Chain
from tests.servers.streaming import Listener, Served, over_network, told

HAT = "30.3.7"
STREAM = f"{PREFIXES[0]}/stream"
TIERS = {
    "access": {"members": {"any_of": [{"hat": HAT}]}},
    "default": "members",
    "items": {"knowledge": "members"},
}
# A fact would be believed for an hour, and the portal looks by itself once in this test.
ROLES = {"cache": "1h", "events": {"every": "10s"}, "hats": {"contract": HATS}}
LISTEN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "subscriptions/listen",
    "params": {
        "notifications": {"toolsListChanged": True},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def config(chain: Chain) -> dict[str, Any]:
    return {"chains": [{"id": chain.id, "rpc": [chain.url]}], "roles": ROLES}


async def followed(portal: TestPortal) -> None:
    """Have the portal look at the chain, which it does by itself every few seconds."""
    followers = portal.running.authentication.followers
    await followers.look()
    while not all(each.followed for each in followers.states):
        await followers.look()


@asynccontextmanager
async def listening(served: Served, who: str) -> AsyncGenerator[Listener]:
    """MCP's stream of changes."""
    headers = {
        **served.headers(who),
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
    }
    url = f"http://{served.address}/mcp"
    async with httpx2.AsyncClient(timeout=60) as client:
        async with client.stream("POST", url, json=LISTEN, headers=headers) as response:
            yield Listener(response)


async def test_a_hat_that_is_taken_away_ends_what_it_gave(
    chain: Chain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_streams, "RECHECK_SECONDS", 0.02)
    wallet = Key.create().address
    chain.give_hat(wallet, parse(HAT))
    async with open_test_portal(plugin, tiers=TIERS, config=config(chain)) as portal:
        await portal.sign_in("ana", Account.of_key(wallet))
        await followed(portal)
        assert "query_memory" in await portal.tools("ana")
        async with (
            over_network(portal) as served,
            listening(served, "ana") as changes,
            served.listen(STREAM, "ana", type="updates") as updates,
            served.socket(f"{STREAM}?type=updates&format=websocket", "ana") as socket,
        ):
            assert "acknowledged" in json.dumps((await changes.next()).data)
            assert updates.response.status_code == 200
            await told(socket)
            chain.take_hat(wallet, parse(HAT))
            await followed(portal)
            refused = await portal.call("query_memory", {"query": "water"}, tier="ana")
            assert refused.is_error
            assert "Requires members access. Current: public." in refused.text
            await changes.rest()
            assert (await updates.rest())[-1].data["reason"] == "access_changed"
            with pytest.raises(ConnectionClosed, match="access_changed"):
                await told(socket)
            assert (await served.get(STREAM, "ana", type="updates")).status_code == 403
        chain.give_hat(wallet, parse(HAT))
        await followed(portal)
        assert "query_memory" in await portal.tools("ana")


async def test_one_of_two_portals_follows_and_both_refuse(chain: Chain, postgres: str) -> None:
    wallet = Key.create().address
    chain.give_hat(wallet, parse(HAT))
    shared = {**config(chain), "services": {"database": postgres}}
    async with (
        open_test_portal(plugin, tiers=TIERS, config=shared) as first,
        open_test_portal(plugin, tiers=TIERS, config=shared) as second,
    ):
        both = (first, second)
        for portal in both:
            await portal.sign_in("ana", Account.of_key(wallet))
        leading = [portal for portal in both if (await looked(portal))["leads"]]
        assert len(leading) == 1
        (other,) = [portal for portal in both if portal not in leading]
        for portal in both:
            assert "query_memory" in await portal.tools("ana")
        chain.take_hat(wallet, parse(HAT))
        await followed(leading[0])
        # As it does by itself every two seconds.
        await other.running.authentication.revocations.look()
        for portal in both:
            assert "query_memory" not in await portal.tools("ana")


async def looked(portal: TestPortal) -> dict[str, Any]:
    """How the portal follows the chain, after a look."""
    await portal.running.authentication.followers.look()
    return dict((await portal.health())["chains"]["10"])


async def test_an_admin_sees_where_the_follower_is(chain: Chain) -> None:
    async with open_test_portal(plugin, tiers=TIERS, config=config(chain)) as portal:
        await followed(portal)
        health = await portal.health()
        head = int(chain.rpc("eth_blockNumber"), 16)
        told_of = health["chains"]["10"]
        assert told_of.pop("heard")
        assert told_of == {"followed": True, "block": head, "leads": True, "problem": None}
        metrics = (await portal.get("/metrics")).text
        assert f'porch_chain_block{{chain="10"}} {float(head)}' in metrics
        assert 'porch_chain_heard_seconds{chain="10"}' in metrics


async def roles_notices(portal: TestPortal) -> list[str]:
    return [each for each in (await portal.health())["notices"] if "roles:" in each]


async def test_a_silent_chain_is_told_of_with_its_reason() -> None:
    silent = {"chains": [{"id": 10, "rpc": ["http://127.0.0.1:9"]}], "roles": ROLES}
    async with open_test_portal(plugin, tiers=TIERS, config=silent) as portal:
        # The portal's own first look may be under way, which this one leaves to it.
        while not (notices := await roles_notices(portal)):
            await portal.running.authentication.followers.look()
        (notice,) = notices
        assert notice == (
            "roles: The logs of the chain 10 are not read. The chain 10 cannot be read "
            "(127.0.0.1: there is no connection to it). Meanwhile its roles are asked for again "
            "every 20 s."
        )


async def test_where_no_rule_names_a_chain_nobody_follows_it(chain: Chain) -> None:
    async with open_test_portal(plugin, config=config(chain)) as portal:
        assert portal.running.authentication.followers.states == []
        assert "chains" not in await portal.health()
        off = {**config(chain), "roles": {**ROLES, "events": {"enabled": False}}}
    async with open_test_portal(plugin, tiers=TIERS, config=off) as portal:
        assert portal.running.authentication.followers.states == []
