"""What the journeys of access share: a portal whose members wear a hat, and its chain."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from eth_account import Account as Key

from auth.hat_ids import parse
from tests.browser.chromium import Wallet
from tests.chain.anvil import HATS, Chain
from tests.journeys.community import Community, Rpc
from tests.journeys.member import said

ERAS = ["legacy", "2026-07-28"]
HAT = "30.3.1"
DOCUMENT = {"contentType": "pattern", "id": "seasons"}
OPEN, MEMBERS = "search_knowledge", "get_document"
ACCESS = {"members": {"any_of": [{"hat": HAT}, {"github_org": "garden"}]}}
TIERS = {
    "access": ACCESS,
    "default": "members",
    "items": {
        "knowledge": "open",
        "knowledge/define_term": "public",
        "knowledge/get_document": "members",
    },
}
PATIENCE = 150.0


@dataclass(frozen=True)
class World:
    """A portal, and where it reads who wears which hat.

    Attributes:
        portal: the portal.
        chain: the chain with the hats.
        rpc: how the portal reads the chain.
    """

    portal: Community
    chain: Chain
    rpc: Rpc

    @property
    def url(self) -> str:
        return self.portal.url

    def wearer(self) -> Wallet:
        """A wallet that wears the members' hat."""
        wallet = Wallet(Key.create())
        self.chain.give_hat(wallet.key.address, parse(HAT))
        return wallet


def settings(reads: Rpc, **sign_in: Any) -> dict[str, Any]:
    """What ``portal.yaml`` says, with the ways to sign in."""
    return {
        "name": "The Garden",
        "chains": [{"id": 10, "rpc": [reads.url]}],
        "roles": {"hats": {"contract": HATS}, "ens": 10, "cache": "3s"},
        "sign_in": sign_in,
    }


async def eventually(true: Callable[[], Awaitable[bool]], what: str) -> float:
    """Wait until something holds; says how many seconds it took."""
    begun = time.monotonic()
    while not await true():
        assert time.monotonic() < begun + PATIENCE, f"waited in vain until {what}"
        await asyncio.sleep(0.1)
    return time.monotonic() - begun


async def refused(client: Any) -> str:
    """Why the members' tool is refused; empty where it runs."""
    result = await client.call_tool(MEMBERS, DOCUMENT)
    return said(result) if result.is_error else ""
