"""What a call is told that waits for a person's yes, or was refused: alike over every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gateway.contract import ToolFailed

if TYPE_CHECKING:
    from gateway.approvals.request import ApprovalRequest

APPROVAL_NEEDED, APPROVAL_REFUSED = "approval_needed", "approval_refused"
"""The codes of the two failures."""


class NotApproved(ToolFailed):
    """A call has not run for want of a person's yes.

    Args:
        code: one of the two.
        message: as of every failure.
        asked: the request, for those who draw it rather than say it.
        base: the portal's address as the client sees it.
    """

    def __init__(self, code: str, message: str, asked: ApprovalRequest, base: str) -> None:
        super().__init__(code, message, _details(asked, base))
        self.asked = asked
        self.page = page_of(asked, base)


def needed(asked: ApprovalRequest, base: str) -> NotApproved:
    """The failure of a call that nobody has said yes to yet.

    Args:
        asked: the request.
        base: the portal's address as the client sees it.
    """
    page, until = page_of(asked, base), asked.expires.isoformat(timespec="minutes")
    if asked.own:
        how = (
            "It waits for your person's yes, which you cannot say for them. They open "
            f"{page}, look at the arguments and approve"
        )
    else:
        how = f"It waits for the yes of {asked.who}. They look at the arguments on {page}"
        if asked.yeses:
            how += f"; {asked.yeses} of {asked.quorum} have said yes"
    message = (
        f"{asked.name} has not run. {how}. Tell your person so. Once it is approved, and before "
        f"{until}, call {asked.name} again with the very same arguments: then it runs, once."
    )
    return NotApproved(APPROVAL_NEEDED, message, asked, base)


def refused(asked: ApprovalRequest, base: str) -> NotApproved:
    """The failure of a call that somebody has said no to."""
    said = f" They said: {asked.note}" if asked.note else ""
    if asked.own:
        message = f"{asked.name} has not run: your person said no. Do not call it again for this."
    else:
        until = asked.expires.isoformat(timespec="minutes")
        message = (
            f"{asked.name} has not run: it was refused.{said} The refusal holds for these "
            f"arguments until {until}. Tell your person so, and do not try other ways to the same "
            "end."
        )
    return NotApproved(APPROVAL_REFUSED, message, asked, base)


def _details(asked: ApprovalRequest, base: str) -> dict[str, Any]:
    return {
        "approval": asked.id,
        "state": asked.state,
        "by": asked.who,
        "quorum": asked.quorum,
        "given": asked.yeses,
        "expires": asked.expires.isoformat(timespec="seconds"),
        "url": page_of(asked, base),
    }


def page_of(asked: ApprovalRequest, base: str) -> str:
    """The address of the page where people decide a request."""
    return f"{base}/approvals/{asked.id}"
