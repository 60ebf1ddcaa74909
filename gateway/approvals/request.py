"""A request for somebody's yes, what it is bound to, and who has said what."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple

from auth.sealer import Sealer
from gateway.errors import PortalError

State = Literal["waiting", "approved", "used", "refused", "expired", "void"]
OPEN: tuple[State, ...] = ("waiting", "approved")
"""States in which a request may still come to a run."""
MAX_NOTE_CHARACTERS = 500
"""Characters that somebody may say to a refusal."""
OWN_QUESTION = "porch/approve/"
"""How the name of the question begins that a client of 2026-07-28 is asked; its id follows."""
OPERATOR = "operator"
"""Who says yes or no by ``porch approvals``: whoever may use the portal's machine."""


class BoundCall(NamedTuple):
    """The one call that a yes is for. All of it has to be the same when it runs.

    Attributes:
        person: who calls.
        item: the tool's key.
        digest: of the arguments, and of the way in where that has arguments of its own.
        rule: the version of the rule that asks.
    """

    person: str
    item: str
    digest: str
    rule: str


class PageBack(NamedTuple):
    """Where a request goes on that a page has asked for, rather than an agent.

    Attributes:
        path: the page's path, with its query where the page itself waits.
        form: what the page's form said that it is about; empty where the page itself waits.
    """

    path: str
    form: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one person said.

    Attributes:
        person: who.
        yes: whether it was a yes.
        at: when.
        accounts: the subjects of what they had proved then; none for the operator.
    """

    person: str
    yes: bool
    at: datetime
    accounts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A request.

    Attributes:
        id: random, and no secret: whoever has it can do nothing by it alone.
        call: what it is bound to.
        name: what the portal calls the tool, or the REST route.
        arguments: what the call brings, without secrets; None once the request has ended.
        who: who may decide, in words.
        quorum: how many yeses it takes.
        own: whether the caller's own person decides.
        in_client: whether the caller's client was asked to show it.
        state: what has become of it.
        asked: when it was asked for.
        expires: until when it may be decided and run.
        ended: when it was used, refused, found to have expired, or void.
        note: what was said to a refusal.
        run: the id of the request that ran, once it did.
        accounts: the subjects of what the caller had proved when it was asked for.
        votes: what people said so far.
        back: the page that has asked for it, where its person goes on; None for an agent's.
    """

    id: str
    call: BoundCall
    name: str
    arguments: Mapping[str, Any] | None
    who: str
    quorum: int
    own: bool
    in_client: bool
    state: State
    asked: datetime
    expires: datetime
    ended: datetime | None = None
    note: str | None = None
    run: str | None = None
    accounts: tuple[str, ...] = ()
    votes: tuple[Vote, ...] = ()
    back: PageBack | None = None

    @property
    def refused_by_others(self) -> bool:
        """Whether somebody else refused it; who takes back their own may ask again."""
        return any(not each.yes and each.person != self.call.person for each in self.votes)

    @property
    def yeses(self) -> int:
        """How many people have said yes."""
        return sum(each.yes for each in self.votes)


class NotDecided(PortalError):
    """A yes or a no that does not count; the text says why, and what to do."""

    code = "not_decided"
    status = 409


class TooManyWaiting(PortalError):
    """Somebody has so many requests waiting that one more would bury others'."""

    code = "approvals_waiting"
    status = 429


def digest_of(sealer: Sealer, item: str, operation: str, arguments: Mapping[str, Any]) -> str:
    """What tells a call's arguments from all others.

    It is keyed, so that a short secret among arguments cannot be guessed from what is stored.

    Args:
        sealer: has the key.
        item: the tool's key.
        operation: the way in, where it has arguments of its own, such as a REST route.
        arguments: JSON values.
    """
    return sealer.mark(canonical([item, operation, arguments]))


def canonical(value: Any) -> str:
    """JSON values as one text: equal values give equal texts, and others give others.

    ``1`` and ``1.0`` differ, and so do texts that merely look alike.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
