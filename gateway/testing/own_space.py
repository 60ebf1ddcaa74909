"""The part of the contract suite on a plugin's own space: its tables, its tools, its people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.testing.own_tables import portal_metadata
from gateway.testing.portal import TestPortal
from gateway.testing.suite_part import SuitePart


class OwnSpaceContract(SuitePart):
    """What a plugin owes those it shares a portal with; a part of ``PluginContract``.

    Attributes:
        calls: arguments with which each tool named must succeed.
        tables: other beginnings that names of its tables have, from before it was called what it
            is called.
    """

    calls: Mapping[str, Sequence[Mapping[str, Any]]]
    tables: Sequence[str] = ()

    async def test_its_tables_begin_with_its_name(self) -> None:
        """All plugins share one database, so a table says whose it is."""
        async with self.opened() as portal:
            own = await _own_tables(portal)
        beginnings = (f"{self.declared.name}_", *self.tables)
        strange = [each for each in own if not each.startswith(beginnings)]
        assert strange == [], (
            f"Begin the names of tables with {beginnings[0]}: others may have them."
        )

    async def test_the_calls_given_are_of_its_tools(self) -> None:
        """A slip of the pen in `calls` or `leaves` is an error, not a check that is left out."""
        async with self.opened() as portal:
            offered = set(await portal.tools())
        unknown = {*self.calls, *(tool for tool, _ in self.leaves)} - offered
        assert unknown == set(), f"`calls` and `leaves` may name {sorted(offered)}."

    async def test_what_it_keeps_of_people_is_declared(self) -> None:
        """Who makes the calls given is found in none of its tables, or it offers `personal`."""
        async with self.opened({"items": {self.declared.name: "open"}}) as portal:
            if portal.running.plugins.offers[self.declared.name].personal is not None:
                return
            person = await portal.sign_in("zoe")
            for tool, each in self.calls.items():
                for arguments in each:
                    await portal.call(tool, arguments, tier="zoe")
            kept = [
                name for name in await _own_tables(portal) if await _tells(portal, name, person.id)
            ]
        assert kept == [], "Offer `personal`: these tables tell who called."


async def _own_tables(portal: TestPortal) -> list[str]:
    """The tables of the plugins, as the portal's own are known."""
    from sqlalchemy import inspect

    engine = portal.running.services.database.engine
    async with engine.connect() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    ours = set(portal_metadata().tables)
    return sorted(name for name in names if name not in ours and not _keeps_versions(name))


def _keeps_versions(table: str) -> bool:
    return table.startswith("alembic_version_")


async def _tells(portal: TestPortal, table: str, person: str) -> bool:
    """Whether a table holds somebody's id anywhere."""
    from sqlalchemy import select, text
    from sqlalchemy import table as named

    async with portal.running.services.database.read() as connection:
        rows = await connection.execute(select(text("*")).select_from(named(table)))
        return any(person in str(value) for row in rows for value in row)
