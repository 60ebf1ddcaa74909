"""A note with a long name is served like any other, from the database to its address."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateway.contract import Tier
from gateway.services.database.service import open_database
from plugins.knowledge.knowledge import MIGRATIONS
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.retrieval.embeddings import Embeddings
from plugins.knowledge.retrieval.filters import SearchFilters
from tests.conftest import new_database

LONGEST = "why-we-decided-" + "é" * 110
KEY = f"gathering/{LONGEST}"


@pytest.fixture(params=["sqlite", "postgresql"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Any]:
    async with AsyncExitStack() as stack:
        url = "sqlite"
        if request.param == "postgresql":
            server = request.getfixturevalue("postgres_url")
            url = await stack.enter_async_context(new_database(server))
        service = open_database(url, tmp_path)
        stack.push_async_callback(service.close)
        made = service.for_owner("knowledge")
        await made.migrate(MIGRATIONS)
        yield made


async def test_its_vectors_are_kept_in_both_databases(database: Any) -> None:
    kept = Embeddings(database, "words")
    await kept.keep({KEY: {"0" * 32: np.ones(4, np.float32)}})
    assert KEY in await kept.all()


async def test_a_document_with_the_longest_id_is_found_and_fetched(base: Any, make: Any) -> None:
    assert len(LONGEST.encode()) == 235
    await base.put(make(KEY, "Bread and water."))
    found = await base.knowledge.search("bread and water", SearchFilters(), Tier.OPEN)
    assert [one.id for one in found.results] == [LONGEST]
    document = await base.knowledge.document(ContentType.GATHERING, LONGEST, Tier.OPEN)
    assert document.content == "Bread and water."
    await base.remove(KEY)
    assert base.knowledge.store.entries(Tier.MEMBERS) == ()
