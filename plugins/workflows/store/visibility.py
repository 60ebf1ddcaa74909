"""Who sees which row: the one condition that every query of the playbook carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plugins.workflows.model import Viewer, Visibility

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Table


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
    from sqlalchemy import or_

    seen = table.c.visibility == Visibility.PUBLIC
    return seen if viewer is None else or_(seen, table.c.owner == viewer)
