"""What members say is kept once, whoever writes at the same time, and goes with its repository."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from gateway.contract import ToolFailed
from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.justification.corrections import Correction, Corrections
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.model import Entity
from plugins.codegraph.store.graph import RepositoryView
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.workspaces.personal_data import WorkspacePersonalData
from tests.plugins.codegraph.justification.shops import SHOP
from tests.plugins.codegraph.portal import NOON, content, file_graphs, world
from tests.plugins.codegraph.store.graphs import STAMP, register

OWNER = Owner("portal", "shop")


async def indexed(database: OwnedDatabase) -> RepositoryView:
    """The shop, indexed and justified."""
    store = GraphStore(database)
    await register(database, OWNER)
    layers = store.layers(OWNER)
    layer = await layers.begin(STAMP)
    await layers.keep(layer, [content(each) for each in SHOP.values()])
    await layers.write(layer, list(file_graphs(OWNER, SHOP).values()))
    await layers.serve(layer, STAMP)
    assert (await Justifier(database, store).run(OWNER.org, OWNER.repo))["VERTICAL"] == 4
    view = await store.view(OWNER.org, OWNER.repo)
    assert view is not None
    return view


async def connect_of(database: OwnedDatabase, view: RepositoryView) -> Entity:
    """The function that opens the shop's database."""
    (found,) = await GraphStore(database).open(view).find("connect")
    return found


async def test_of_two_people_at_once_one_is_told_of_the_other(
    database: OwnedDatabase, open_another: Callable[[], OwnedDatabase]
) -> None:
    view = await indexed(database)
    entity = await connect_of(database, view)

    async def said(of: OwnedDatabase, person: str) -> Correction | ToolFailed:
        try:
            values = {"purpose": f"As {person} says."}
            return await Corrections(of).put(view, entity, values, 0, (person, NOON))
        except ToolFailed as failed:
            return failed

    both = await asyncio.gather(said(database, "ada"), said(open_another(), "bob"))
    (kept,) = [each for each in both if isinstance(each, Correction)]
    (failed,) = [each for each in both if isinstance(each, ToolFailed)]
    assert failed.details == {"version": 1, "values": dict(kept.values)}
    stored = (await StatementStore(database).of(view, [entity.key]))[entity.key]
    assert (stored.purpose, stored.corrected) == (kept.values["purpose"], 1)


async def test_a_correction_asks_for_the_features_anew(database: OwnedDatabase) -> None:
    view = await indexed(database)
    justifier = Justifier(database, GraphStore(database))
    assert await justifier.lagging() == []
    values = {"type": "VERTICAL", "feature_area": "start"}
    entity = await connect_of(database, view)
    await Corrections(database).put(view, entity, values, 0, ("ada", NOON))
    assert [(each.repo, each.new) for each in await justifier.lagging()] == [("shop", False)]
    await justifier.run(OWNER.org, OWNER.repo)
    assert "feature_start" in await StatementStore(database).features(view)


async def test_what_a_person_said_is_theirs_to_have_and_stays_without_their_name(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        database = made.host.database
        view = await indexed(database)  # type: ignore[arg-type]
        entity = await connect_of(database, view)  # type: ignore[arg-type]
        corrections = Corrections(database)
        await corrections.put(view, entity, {"purpose": "Begins."}, 0, ("ada", NOON))
        personal = WorkspacePersonalData(database, made.parts.workspaces)
        (file,) = [each async for each in personal.export("ada")]
        (told,) = json.loads(file.data)
        assert (told["name"], told["purpose"]) == ("connect", "Begins.")
        await personal.erase("ada")
        assert await personal.people() == set()
        kept = await corrections.one(view, entity)
        assert kept is not None
        assert (kept.person, kept.values) == (None, {"purpose": "Begins."})
