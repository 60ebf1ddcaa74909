"""What the tools tell of a question or a list, the API tells as well."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.contract import Route
from plugins.knowledge.memory.api.api import api
from plugins.knowledge.memory.model.errors import MemoryFailed
from tests.plugins.knowledge.memory.conftest import ANA, BEN, DEE, World
from tests.plugins.knowledge.memory.tools.test_nothing_fits import KEY, SHARED, archive

pytestmark = [pytest.mark.anyio, pytest.mark.one_database]


async def asked(world: World, name: str, who: Any = ANA, **given: Any) -> Any:
    """What an endpoint answers, by its name."""
    route: Route = next(each for each in api(world.memory).routes if each.name == name)
    assert route.params is not None
    return await route.run(route.params.model_validate(given), who)


async def test_notes_that_are_not_indexed_yet_are_told(world: World) -> None:
    part = "The notes are being read for the first time. Ask again in a minute."
    assert (await asked(world, "query_knowledge", query=KEY)).metadata.note is None
    world.base.knowledge.set_unfinished(lambda: part)
    assert (await asked(world, "query_knowledge", query=KEY)).metadata.note == part
    own = await asked(world, "query_knowledge", query=KEY, layer={"types": ["semantic"]})
    assert own.metadata.note is None


async def test_what_fits_in_the_archive_is_told_and_not_shown(world: World) -> None:
    await archive(world)
    answer = await asked(world, "query_knowledge", query=KEY)
    assert answer.results == []
    assert answer.metadata.note == '1 in the archive fit: ask with layer.types=["archival"].'
    found = await asked(world, "query_knowledge", query=KEY, layer={"types": ["archival"]})
    assert (len(found.results), found.metadata.note) == (1, None)
    assert (await asked(world, "query_knowledge", BEN, query=KEY)).metadata.note is None


async def test_an_author_of_whom_there_is_nothing_is_told(world: World) -> None:
    await world.remember(ANA, "Parking is free on Sundays.", SHARED)
    await world.remember(DEE, "Parking is for members.")
    with pytest.raises(MemoryFailed, match=r"by 'Anna'\. Did you mean Ana\?"):
        await asked(world, "list_entries", BEN, author="Anna")
    by = {"filters": {"author": "Anna"}}
    answer = await asked(world, "query_knowledge", BEN, query="parking", **by)
    assert "by 'Anna'. Did you mean Ana?" in answer.metadata.note
    with pytest.raises(MemoryFailed) as refused:
        await asked(world, "list_entries", BEN, author="Deee")
    assert "Did you mean" not in refused.value.message
    assert (await asked(world, "list_entries", BEN, author="ana", tag="x")).total == 0
