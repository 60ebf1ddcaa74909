"""Whether somebody's word on a request counts, whoever the rule matches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gateway.approvals.request import OPEN, ApprovalRequest, NotDecided


@dataclass(frozen=True, slots=True)
class Voter:
    """Who decides.

    Attributes:
        person: who.
        accounts: the subjects of what they have proved; none for the operator.
        tier: theirs.
        surface: ``page``, ``cli``, or the way in of a call whose client asked its person.
    """

    person: str
    accounts: tuple[str, ...] = ()
    tier: str = "members"
    surface: str = "page"


def check_open(request: ApprovalRequest, now: datetime, shown: str | None = None) -> None:
    """Go on where a request can still be decided.

    Args:
        request: the request.
        now: the time.
        shown: the digest of the arguments that were shown; None where they name the id alone.

    Raises:
        NotDecided: it has ended, or is for other arguments.
    """
    if request.state not in OPEN or request.expires <= now:
        state = "expired" if request.state in OPEN else request.state
        raise NotDecided(f"This is decided already: it is {state}.")
    if shown is not None and shown != request.call.digest:
        raise NotDecided("The request is for other arguments than were shown. Load it again.")


def check_yes(request: ApprovalRequest, voter: Voter) -> None:
    """Go on where a yes of this voter counts; accounts that were ever linked are one person's.

    Raises:
        NotDecided: it does not.
    """
    if request.state == "approved":
        raise NotDecided("It is approved already, and waits for the call to come again.")
    if any(each.person == voter.person for each in request.votes):
        raise NotDecided("You have said yes already; it takes somebody else beside you.")
    if request.own:
        return
    if voter.person == request.call.person or _share(voter.accounts, request.accounts):
        raise NotDecided("Nobody says yes to their own call: it takes somebody else.")
    if any(_share(voter.accounts, each.accounts) for each in request.votes):
        raise NotDecided("An account of yours has said yes already; one person counts once.")


def _share(some: Sequence[str], others: Sequence[str]) -> bool:
    return not set(some).isdisjoint(others)
