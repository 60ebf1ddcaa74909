"""Requests of a plugin's own that wait for a person, shown on the portal's page ``/approvals``.

A plugin whose tools simply wait for a yes needs none of this: an admin writes ``approve:`` into
``tiers.yaml``. This is for what a plugin itself has people decide, such as memory what everybody
may read. Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from auth import Caller


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A request that waits.

    Attributes:
        id: the plugin's own; letters, digits, ``_`` and ``-``.
        title: what is to be done, in a few words, such as ``Keep this in memory``.
        asked_by: the id of the person who asks.
        asked: when they did.
        shown: all that a person has to see to decide it, as JSON values; the page shows it whole.
        may_approve: whether the person who looks may say yes; they may say no to whatever they see.
        reason: why, in the words of who asks.
    """

    id: str
    title: str
    asked_by: str
    asked: datetime
    shown: Mapping[str, Any] = field(default_factory=dict)
    may_approve: bool = True
    reason: str = ""


Decide = Callable[[str, Caller, bool, str], Awaitable[None]]
"""``await decide(id, caller, approve, note)``."""


@dataclass(frozen=True, slots=True)
class PendingRequests:
    """What of a plugin waits for people, each known by ``Caller.person``.

    Attributes:
        of: ``await of(caller)``; what they may decide and what they have asked for, the oldest
            first, as far as it waits. It is asked whenever somebody looks.
        decide: ``await decide(id, caller, approve, note)``; the caller is signed in with a browser,
            and has sent the page's form. Raises ``ToolFailed`` where it does not count: what it
            says is shown to them.
    """

    of: Callable[[Caller], Awaitable[Sequence[PendingRequest]]]
    decide: Decide


@dataclass(frozen=True, slots=True)
class Backlog:
    """Something of a plugin's that waits for people's attention, counted for an admin.

    Attributes:
        count: how much of it waits; nothing is said of what does not.
        one, many: what it is called after the number: ``entry wants a look``, ``entries want a
            look``.
        tool: the plugin's tool whose view shows it. Who may not use that is told nothing.
    """

    count: int
    one: str
    many: str
    tool: str


Backlogs = Callable[[Caller], Awaitable[Sequence[Backlog]]]
"""``await backlog(caller)``: what waits that the caller may see."""
