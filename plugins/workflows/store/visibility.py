"""Who sees which row: the one condition that every query of the playbook carries.

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
_WITHHELD: ContextVar[tuple[str, ...]] = ContextVar("withheld", default=())
"""The published workflows that are not there for the call that runs (``sight.py``)."""


@contextmanager
def withholding(workflows: tuple[str, ...]) -> Iterator[None]:
    """Let published workflows not be there, but for their owners, for as long as the block lasts.

    Args:
        workflows: their ids.
    """
    before = _WITHHELD.set(workflows)
    try:
        yield
    finally:
        _WITHHELD.reset(before)


def given(table: Table) -> ColumnElement[bool]:
    """The condition that a row is not withheld from this call, asked anew at every execution."""
    from sqlalchemy import Text, bindparam, true

    if table.name != _WORKFLOWS:
        return true()
    ids: Any = bindparam(
        "withheld", callable_=_WITHHELD.get, expanding=True, unique=True, type_=Text
    )
    return table.c.id.not_in(ids)


def visible(table: Table, viewer: Viewer) -> ColumnElement[bool]:
    """The condition that a row is there for someone: published, or their own, and not deleted.

    Args:
        table: workflows, skills, mini_prompts or folders (of ``tables.py``).
        viewer: a person's id, or None.
    """
    from sqlalchemy import and_

    return and_(table.c.deleted.is_(None), shown(table, viewer))


def shown(table: Table, viewer: Viewer) -> ColumnElement[bool]:
    """The condition that a row is there for someone, or was when it was replaced.

    Only what follows an older version of a workflow may ask this, and of its mini-prompts alone:
    those that an edit has left out are deleted, and were not taken back.

    Args:
        table: as for :func:`visible`.
        viewer: a person's id, or None.
    """
    from sqlalchemy import and_, or_

    seen = and_(table.c.visibility == Visibility.PUBLIC, given(table))
    return seen if viewer is None else or_(seen, table.c.owner == viewer)
