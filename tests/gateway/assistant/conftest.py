"""A model's stand-in, and a portal whose assistant asks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from gateway.testing import TestPortal
from tests.gateway.assistant.garden import Garden, open_garden
from tests.servers.openai_compatible import OpenAICompatible


@pytest.fixture
def server() -> Iterator[OpenAICompatible]:
    with OpenAICompatible() as server:
        yield server


@pytest.fixture
def garden() -> Garden:
    return Garden()


@pytest.fixture
async def portal(server: OpenAICompatible, garden: Garden) -> AsyncIterator[TestPortal]:
    async with open_garden(server, garden) as portal:
        yield portal
