"""Who sees which row: the condition that every query of the playbook contains.

A line of ``tiers.yaml`` may keep a published workflow from a tier (decision 0020). Which ones those
are stands beside the call and not in each question, so that no question can leave it out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from plugins.workflows.model import Viewer, Visibility

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table


_WORKFLOWS = "playbook_workflows"
_HIDDEN: ContextVar[tuple[str, ...]] = ContextVar("withheld", default=())
"""The published workflows that are not there for the call that runs (``tier_filter.py``)."""


@contextmanager
def hide_workflows(workflows: tuple[str, ...]) -> Iterator[None]:
    """Hide published workflows from all but their owners, for as long as the block lasts.

    Args:
        workflows: their ids.
    """
    before = _HIDDEN.set(workflows)
    try:
        yield
    finally:
        _HIDDEN.reset(before)


def not_hidden(table: Table) -> ColumnElement[bool]:
    """The condition that a row is not hidden from this call, evaluated at every execution."""
    from sqlalchemy import Text, bindparam, true

    if table.name != _WORKFLOWS:
        return true()
    ids: Any = bindparam("withheld", callable_=_HIDDEN.get, expanding=True, unique=True, type_=Text)
    return table.c.id.not_in(ids)


def visible(table: Table, viewer: Viewer) -> ColumnElement[bool]:
    """The condition that someone sees a row: published or their own, and not deleted.

    Args:
        table: workflows, skills, mini_prompts or folders (of ``tables.py``).
        viewer: a person's id, or None.
    """
    from sqlalchemy import and_

    return and_(table.c.deleted.is_(None), visible_or_replaced(table, viewer))


def visible_or_replaced(table: Table, viewer: Viewer) -> ColumnElement[bool]:
    """The condition that someone sees a row, or saw it until an edit replaced it.

    Only what follows an older version of a workflow may ask this, and of its mini-prompts alone:
    those that an edit has left out are deleted, and were not taken back.

    Args:
        table: as for :func:`visible`.
        viewer: a person's id, or None.
    """
    from sqlalchemy import and_, or_

    seen = and_(table.c.visibility == Visibility.PUBLIC, not_hidden(table))
    return seen if viewer is None else or_(seen, table.c.owner == viewer)
