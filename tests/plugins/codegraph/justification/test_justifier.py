"""What facts say of a whole repository, and what is done again when something changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.statement_store import StatementStore
from plugins.codegraph.justification.statement_writer import StatementWriter
from plugins.codegraph.justification.statements import Statement
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.sweeper import Sweeper
from tests.plugins.codegraph.justification.shops import SHOP, justified
from tests.plugins.codegraph.portal import World, world


async def said(made: World, owner: Owner) -> dict[str, Statement]:
    """What is said of every entity, by its name."""
    view = await made.store.view(owner.org, owner.repo)
    assert view is not None
    entities = {key.key: key for _, key in await made.store.open(view).page(0, 1_000)}
    found = await StatementStore(made.host.database).of(view, list(entities))
    return {entities[key].qualified: each for key, each in found.items()}


async def test_every_class_is_told_with_its_evidence(tmp_path: Path, codegraph_file: Path) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        found = await said(made, owner)
        shown = {name: each.shown() for name, each in found.items()}
        assert {name: each.type.value for name, each in shown.items()} == {
            "create_order": "VERTICAL",
            "show_order": "VERTICAL",
            "place_order": "VERTICAL",
            "connect": "HORIZONTAL",
            "slugify": "UTILITY",
            "even": "UTILITY",
            "odd": "UTILITY",
            "check_password": "HORIZONTAL",
            "main": "VERTICAL",
        }
        assert shown["connect"].technology_type == "database"
        assert shown["check_password"].technology_type == "authentication"
        assert all(each.evidence for each in shown.values())
        assert "test_an_order_is_placed" not in found
        assert found["place_order"].tests == 1


async def test_a_purpose_is_the_authors_words_with_their_place(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        found = await said(made, owner)
        order = found["create_order"]
        assert (order.purpose, order.purpose_at) == (
            "Take an order of a customer.",
            "shop/orders/routes.py:10",
        )
        placed = found["place_order"]
        assert placed.purpose == "Orders are written once, and never changed."
        assert placed.purpose_at == "shop/orders/store.py:4"
        assert found["show_order"].shown().purpose == "unknown"


async def test_flows_begin_at_entry_points_and_shared_code_names_its_consumers(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        found = await said(made, owner)
        assert found["create_order"].shown().entry == "POST /orders"
        assert found["main"].entry_kind == "main"
        flow = found["place_order"].flows[0]
        assert (flow.name, flow.step) == ("Orders: POST /orders", "step 2")
        assert found["slugify"].shown().consumers == ["orders"]


async def test_only_what_changed_is_read_and_written_again(
    tmp_path: Path, codegraph_file: Path
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        justifier = Justifier(made.host.database, made.store)
        silent: Any = lambda done, total, message: None  # noqa: E731
        assert await justifier.read(owner.org, owner.repo, silent) == len(SHOP)
        assert (await justifier.judge(owner.org, owner.repo, silent))["written"] == 9
        assert await justifier.lagging() == []
        assert await justifier.read(owner.org, owner.repo, silent) == 0
        assert (await justifier.judge(owner.org, owner.repo, silent))["written"] == 0
        changed = SHOP | {"shop/textutils.py": SHOP["shop/textutils.py"].replace(b"fit", b"ready")}
        await made.index("shop", changed)
        assert [each.new for each in await justifier.lagging()] == [True]
        assert await justifier.read(owner.org, owner.repo, silent) == 1


async def test_a_step_that_was_cut_off_is_not_taken_for_done(
    tmp_path: Path, codegraph_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        justifier = Justifier(made.host.database, made.store)

        async def killed(*_: object) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as broken:
            broken.setattr(StatementWriter, "_finish", killed)
            with pytest.raises(RuntimeError, match="killed"):
                await justifier.run(owner.org, owner.repo)
        assert [each.repo for each in await justifier.lagging()] == ["shop"]
        assert (await justifier.run(owner.org, owner.repo))["written"] == 0
        assert await justifier.lagging() == []


async def test_a_removed_repository_leaves_nothing(tmp_path: Path, codegraph_file: Path) -> None:
    async with world(tmp_path, None, codegraph_file) as made:
        owner = await made.index("shop", SHOP)
        await justified(made, owner)
        sweeper = Sweeper(made.host.database)
        assert (await sweeper.leftovers(owner))["codegraph_justifications"] == 9
        await sweeper.purge(owner)
        assert await sweeper.leftovers(owner) == {}
