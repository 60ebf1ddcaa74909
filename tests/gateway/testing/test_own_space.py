"""The contract suite finds what a plugin does in others' space, or does not say."""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from gateway.contract import Caller, Offer, PersonalData, Plugin, Tier, Tool, hookimpl
from gateway.testing import PluginContract

MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade():
    op.create_table("{table}", sa.Column("who", sa.Text), sa.Column("text", sa.Text))
"""


def suite(place: Path, table: str, *, personal: bool = False) -> Any:
    """The suite over a plugin that keeps who called it in a table of this name."""
    (place / "versions").mkdir()
    (place / "versions" / "0001_kept.py").write_text(MIGRATION.format(table=table))
    kept = sa.table(table, sa.column("who"), sa.column("text"))

    @asynccontextmanager
    async def opened(config: Any, host: Any) -> Any:
        await host.database.migrate(place)

        async def keep(text: str, *, caller: Caller) -> str:
            """Keep something.

            Args:
                text: what.
            """
            async with host.database.begin() as connection:
                row = {"who": f"<{caller.person}>", "text": text}
                await connection.execute(sa.insert(kept).values(row))
            return "Kept."

        async def nobody(*_: str) -> list[str]:
            return []

        data = PersonalData(nobody, nobody, nobody)  # type: ignore[arg-type]
        yield Offer(tools=[Tool.of(keep, floor=Tier.PUBLIC)], personal=data if personal else None)

    declared = Plugin(name="keeper", summary="Keeps.", open=opened)
    contract = PluginContract()
    contract.plugin = SimpleNamespace(porch_plugin=hookimpl(lambda: declared))
    contract.calls = {"keep": [{"text": "a word"}]}
    return contract


async def test_a_table_in_its_own_space_and_declared_is_well(tmp_path: Path) -> None:
    contract = suite(tmp_path, "keeper_kept", personal=True)
    await contract.test_its_tables_begin_with_its_name()
    await contract.test_the_calls_given_are_of_its_tools()
    await contract.test_what_it_keeps_of_people_is_declared()


@pytest.mark.parametrize("table", ["kept", "memory_kept", "porch_kept", "keepers"])
async def test_a_table_in_others_space_is_found(tmp_path: Path, table: str) -> None:
    contract = suite(tmp_path, table)
    with pytest.raises(AssertionError, match="Begin the names of tables with keeper_"):
        await contract.test_its_tables_begin_with_its_name()
    contract.tables = (table,)
    await contract.test_its_tables_begin_with_its_name()


async def test_calls_of_tools_that_there_are_not_are_found(tmp_path: Path) -> None:
    contract = suite(tmp_path, "keeper_kept")
    contract.calls = {"keeep": [{}]}
    with pytest.raises(AssertionError, match=r"`calls` and `leaves` may name \['keep'\]"):
        await contract.test_the_calls_given_are_of_its_tools()
    contract.calls, contract.leaves = {}, [("kept", {})]
    with pytest.raises(AssertionError, match="may name"):
        await contract.test_the_calls_given_are_of_its_tools()


async def test_people_who_are_kept_and_not_declared_are_found(tmp_path: Path) -> None:
    contract = suite(tmp_path, "keeper_kept")
    with pytest.raises(AssertionError, match="Offer `personal`: these tables tell who called"):
        await contract.test_what_it_keeps_of_people_is_declared()
