"""How much waits for somebody's word: what each page says in its frame, and the start page.

It counts what the person may decide themselves, by the rules in force, and what a form of theirs
may go on with now. Whoever may decide nothing is told of nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from auth.callers import Caller, Identity
from gateway.contract import Offer, PendingRequests, ToolFailed
from gateway.observability.logs import get_logger

if TYPE_CHECKING:
    from gateway.approvals.approvals import Approvals

log = get_logger(__name__)


class Waiting:
    """Counts it.

    Args:
        approvals: the requests before tools run.
        offers: what plugins offer, some of which have people decide things themselves.
    """

    def __init__(self, approvals: Approvals, offers: Mapping[str, Offer]) -> None:
        self._approvals = approvals
        self._offers = offers

    async def count(self, identity: Identity, caller: Caller) -> int:
        """How much waits for a person; what is not known just now does not count.

        Args:
            identity: who, as the browser's session proves it.
            caller: the same person, as every check sees them.
        """
        pending = [each.pending for each in self._offers.values() if each.pending is not None]
        asked = (self._of_plugin(each, caller) for each in pending)
        return sum(await asyncio.gather(self._of_tools(identity), *asked))

    async def _of_tools(self, identity: Identity) -> int:
        if not self._approvals.rules:
            return 0
        try:
            every = await self._approvals.store.open()
            decider = self._approvals.deciders.seen_by(identity)
            decides = [await decider.may_decide(each) for each in every if each.state == "waiting"]
        except Exception as error:
            return _unknown(error)
        goes_on = [
            each.state == "approved" and decider.is_asker(each) for each in every if each.back
        ]
        return sum(decides) + sum(goes_on)

    async def _of_plugin(self, pending: PendingRequests, caller: Caller) -> int:
        try:
            return sum(each.may_approve for each in await pending.of(caller))
        except ToolFailed:  # such as: not for this tier
            return 0
        except Exception as error:
            return _unknown(error)


def _unknown(error: Exception) -> int:
    log.warning("waiting_not_counted", reason=type(error).__name__)
    return 0
