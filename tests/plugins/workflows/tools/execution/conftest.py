"""A portal with a playbook, on each database, and people who have signed in.

The tests of a file share it; each writes what it needs, and looks at nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from tests.conftest import new_database
from tests.plugins.workflows.playing import opened
from tests.plugins.workflows.tools.execution.playbooks import Playbook


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(request: pytest.FixtureRequest) -> str:
    """``sqlite``, or the URL of a PostgreSQL server."""
    if request.param == "sqlite":
        return "sqlite"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="module")
async def playbook(server: str) -> AsyncIterator[Playbook]:
    """Where Ann, Bob and Carl have signed in, and may publish."""
    async with AsyncExitStack() as stack:
        is_embedded = server == "sqlite"
        address = server if is_embedded else await stack.enter_async_context(new_database(server))
        config = {"services": {"database": address}}
        portal = await stack.enter_async_context(opened("ann", "bob", "carl", config=config))
        yield Playbook(portal)
