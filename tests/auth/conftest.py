"""The chain of the tests, and how it is read."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from auth.chain.rpc import Rpc
from tests.chain.anvil import Chain, chain

__all__ = ["chain", "rpc"]


@pytest.fixture
async def rpc(chain: Chain) -> AsyncIterator[Rpc]:
    """The chain, read as the portal reads it."""
    rpc = Rpc(chain.id, [chain.url])
    yield rpc
    await rpc.close()
