"""The workflows that are somebody's prompts: the portal's, their own, those in their library."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Row, Select, and_, exists, literal, or_, select

from gateway.contract import Database
from plugins.workflows.model import PORTAL, TargetType, Viewer
from plugins.workflows.store.tables import library, workflows
from plugins.workflows.store.visibility import visible

PREFIX = "workflow-"
MAX_PROMPT_NAME_CHARS = 45
"""Characters of a prompt's name that every client takes."""

_ID_CHARS = 8
"""Characters of an id that tell two workflows of one key apart."""
_ID_SEPARATOR = "_"
"""Before those characters; no other name has it, so that no name is two workflows'."""
_PLAIN = re.compile(r"[A-Za-z0-9-]+")


@dataclass(frozen=True, slots=True)
class WorkflowPrompt:
    """A workflow that is a prompt.

    Attributes:
        prompt: the prompt's name, for this viewer.
        name, description: the workflow's.
    """

    prompt: str
    id: str
    key: str
    name: str
    description: str | None


class PromptWorkflows:
    """Reads which workflows are prompts, and for whom.

    A workflow of one's own has the prompt of its key; so has one of the portal's, unless one's
    own has the key too. All others, and those with long or unusual keys, have a part of their id
    in it.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, viewer: Viewer, after: str | None, limit: int) -> list[WorkflowPrompt]:
        """Some of them, by key.

        Args:
            viewer: a person's id, or None: the portal's alone.
            after: the last prompt of the page before.
            limit: how many at most.
        """
        wanted = _prompt_workflows(viewer)
        if after is not None:
            wanted = wanted.where(await self._behind(after, viewer))
        return await self._read(wanted.limit(limit), viewer)

    async def find(self, prompt: str, viewer: Viewer) -> WorkflowPrompt | None:
        """The one of a prompt's name, or None."""
        if not prompt.startswith(PREFIX):
            return None
        _, mark, end = prompt.removeprefix(PREFIX).rpartition(_ID_SEPARATOR)
        is_it = workflows.c.id.startswith(end, autoescape=True) if mark else workflows.c.key == end
        found = await self._read(_prompt_workflows(viewer).where(is_it), viewer)
        return next((each for each in found if each.prompt == prompt), None)

    async def _behind(self, prompt: str, viewer: Viewer) -> ColumnElement[bool]:
        last = await self.find(prompt, viewer)
        if last is None:  # it was deleted while somebody turned the pages
            key = prompt.removeprefix(PREFIX).partition(_ID_SEPARATOR)[0]
            return or_(workflows.c.key > key)
        same = and_(workflows.c.key == last.key, workflows.c.id > last.id)
        return or_(workflows.c.key > last.key, same)

    async def _read(
        self, query: Select[tuple[object, ...]], viewer: Viewer
    ) -> list[WorkflowPrompt]:
        async with self._database.engine.connect() as connection:
            rows = (await connection.execute(query)).all()
        return [
            WorkflowPrompt(_prompt(row, viewer), row.id, row.key, row.name, row.description)
            for row in rows
        ]


def _prompt_workflows(viewer: Viewer) -> Select[tuple[object, ...]]:
    own = workflows.alias("own")
    covered: ColumnElement[bool] = literal(False)
    which = workflows.c.owner == PORTAL
    if viewer is not None:
        covered = exists().where(own.c.owner == viewer, own.c.key == workflows.c.key)
        kept = select(library.c.target).where(
            library.c.person == viewer, library.c.type == TargetType.WORKFLOW
        )
        which = or_(which, workflows.c.owner == viewer, workflows.c.id.in_(kept))
    columns = (workflows.c[each] for each in ("id", "key", "owner", "name", "description"))
    return (
        select(*columns, covered.label("covered"))
        .where(visible(workflows, viewer), which)
        .order_by(workflows.c.key, workflows.c.id)
    )


def _prompt(row: Row[tuple[object, ...]], viewer: Viewer) -> str:
    is_own = viewer is not None and row.owner == viewer
    taken = not is_own and (row.owner != PORTAL or row.covered)
    if not taken and _PLAIN.fullmatch(row.key) and len(PREFIX + row.key) <= MAX_PROMPT_NAME_CHARS:
        return f"{PREFIX}{row.key}"
    start = "".join(each if _PLAIN.fullmatch(each) else "-" for each in row.key)
    end = f"{_ID_SEPARATOR}{row.id[:_ID_CHARS]}"
    return f"{PREFIX}{start}"[: MAX_PROMPT_NAME_CHARS - len(end)] + end
