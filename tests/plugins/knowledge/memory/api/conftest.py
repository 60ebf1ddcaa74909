"""The whole portal with the plugin, and clients of its API."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin


@pytest.fixture
async def portal() -> AsyncGenerator[TestPortal]:
    """The portal, without a model, open to whoever signed in; no limits but the API's own."""
    async with open_test_portal(plugin, tiers={"items": {"knowledge": "public"}}) as opened:
        yield opened
