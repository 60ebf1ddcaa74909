"""Notifies those who may decide a request, and those who made it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import reduce
from typing import TYPE_CHECKING

from plugins.knowledge.memory.model.policy import person_key
from plugins.knowledge.memory.rights.access import intersect_keys
from plugins.knowledge.memory.rights.roles import role_keys
from plugins.knowledge.memory.store.notices import Notices

if TYPE_CHECKING:
    from plugins.knowledge.memory.store.approvals import Approval, State


async def notify_approvers(
    notices: Notices, asked: Approval, roles: Sequence[str], readable: Sequence[Collection[str]]
) -> None:
    """Tell those who may decide.

    It reaches everyone whose right to decide and to read one key says together. Others, such as
    members of a group where members of the portal decide, find the request in the list.

    Args:
        notices: where it is written.
        asked: the request.
        roles: who may decide.
        readable: the readers of the entry as it would be and, where there is one, as it is.
    """
    told = reduce(intersect_keys, readable, role_keys(roles)) - {person_key(asked.requested_by)}
    body = {
        "request_id": asked.id,
        "operation": asked.operation,
        "entry_id": asked.entry,
        "requested_by": asked.requested_by,
    }
    await notices.add(told, "approval_requested", body, asked.entry)


async def notify_requester(notices: Notices, asked: Approval, state: State) -> None:
    """Tell who asked what was decided."""
    body = {
        "request_id": asked.id,
        "operation": asked.operation,
        "entry_id": asked.entry,
        "state": state,
    }
    own = {person_key(asked.requested_by)}
    await notices.add(own, "approval_decided", body, asked.entry)
