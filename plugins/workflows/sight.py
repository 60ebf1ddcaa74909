"""Which published workflows a caller's tier does not see, by the lines of ``tiers.yaml``.

Everything that the plugin offers runs inside :meth:`Sight.of` its caller, and every query of the
playbook carries the condition (``store/visibility.py``). Imported late, for SQLAlchemy.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from gateway.contract import (
    Caller,
    Database,
    Prompt,
    PromptFamily,
    ResourceTemplate,
    RowKind,
    Rows,
    Tool,
)
from plugins.workflows.model import PORTAL, Visibility
from plugins.workflows.store.visibility import withholding
from plugins.workflows.tables import workflows

Run = Callable[..., Awaitable[Any]]

_ROW = "workflow"
_PUBLISHED = select(workflows.c.id, workflows.c.key, workflows.c.owner).where(
    workflows.c.visibility == Visibility.PUBLIC, workflows.c.deleted.is_(None)
)


class Sight:
    """Keeps workflows from callers below the tier of a line that names them.

    A row of the portal's own is called by its key, one of a person's by its id. Its owner always
    sees it.

    Args:
        database: the plugin's database.
        rows: what ``tiers.yaml`` says.
    """

    def __init__(self, database: Database, rows: Rows) -> None:
        self._database, self._rows = database, rows
        self._names: list[str] = []

    def row_kind(self) -> RowKind:
        """What ``tiers.yaml`` calls a workflow."""
        summary = "a workflow, by its key if it is the portal's, else by its id"
        return RowKind(_ROW, summary, lambda: self._names)

    @asynccontextmanager
    async def of(self, caller: Caller) -> AsyncGenerator[None]:
        """See as a caller does, for as long as the block lasts."""
        with withholding(await self._withheld(caller)):
            yield

    async def _withheld(self, caller: Caller) -> tuple[str, ...]:
        if not self._rows.ruled:
            return ()
        async with self._database.read() as connection:
            found = (await connection.execute(_PUBLISHED)).all()
        names = {row.id: row.key if row.owner == PORTAL else row.id for row in found}
        self._names = sorted(names.values())
        return tuple(
            id
            for id, name in names.items()
            if not caller.tier.allows(self._rows.tier(f"{_ROW}:{name}"))
        )

    def tools(self, tools: Sequence[Tool]) -> list[Tool]:
        """The tools, each as its caller sees the playbook."""
        return [replace(each, run=self._seeing(each.run)) for each in tools]

    def templates(self, templates: Sequence[ResourceTemplate]) -> list[ResourceTemplate]:
        """The templates and what they list, likewise."""
        return [
            replace(
                each,
                read=self._seeing(each.read),
                listed=each.listed and self._seeing(each.listed, place=0),
            )
            for each in templates
        ]

    def family(self, family: PromptFamily) -> PromptFamily:
        """The family and its prompts, likewise."""
        find = self._seeing(family.find)

        async def found(name: str, caller: Caller) -> Prompt | None:
            prompt: Prompt | None = await find(name, caller)
            return prompt and replace(prompt, render=self._seeing(prompt.render))

        return replace(family, find=found, listed=self._seeing(family.listed, place=0))

    def _seeing(self, run: Run, place: int = -1) -> Run:
        """A function whose caller is its last argument, or stands at another place."""

        async def seen(*given: Any) -> Any:
            async with self.of(given[place]):
                return await run(*given)

        return seen
