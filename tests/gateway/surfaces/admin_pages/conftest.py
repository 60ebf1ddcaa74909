"""A portal whose pages for admins are looked at, by an admin and by others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from eth_account import Account as Key

from auth import Account
from auth.stores import Person
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.surfaces.pages.browser import Browser
from tests.journeys import garden

BASE = "http://localhost"
ADMIN = Key.create()
EVIL = '<script>alert(1)</script>"><img src=x onerror=alert(2)>\u202egnp.exe\u2066'
"""A name that would run, or turn what stands around it."""
TIERS: dict[str, Any] = {
    "access": {
        "members": {"any_of": [{"email": "*@example.org"}, {"address": ADMIN.address}]},
        "admins": {"any_of": [{"address": ADMIN.address}]},
    },
    "items": {
        "garden": "open",
        "garden/water": "public",
        "garden/harvest": {"tier": "members", "hidden": True},
    },
}


@dataclass
class Looked:
    """A portal, and who looks at it."""

    portal: TestPortal
    opened: list[Browser] = field(default_factory=list)

    def browser(self) -> Browser:
        """A browser in which nobody is signed in."""
        self.opened.append(Browser(self.portal.app, BASE))
        return self.opened[-1]

    async def admin(self) -> Browser:
        """A browser in which an admin is signed in."""
        browser = self.browser()
        await browser.sign_in(ADMIN)
        return browser

    async def person(self, name: str, number: int = 1, email: str | None = None) -> Person:
        """Somebody who has signed in, under a name."""
        account = Account(f"github:{number}", "github", name, email, {"login": name})
        return await self.portal.running.authentication.accounts.sign_in(account)


@pytest.fixture
async def looked() -> AsyncIterator[Looked]:
    async with open_test_portal(garden, tiers=TIERS) as portal:
        found = Looked(portal)
        yield found
        for each in found.opened:
            await each.aclose()
