"""The errors that callers get, worded as seed 004 ("Error Handling") has them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from gateway.contract import ToolFailed
from plugins.workflows.model import Revision


class Damaged(ToolFailed):
    """A stored row is corrupt; the reason names the column, for the admin."""

    def __init__(self, reason: str) -> None:
        super().__init__("damaged", reason)


def sign_in_first() -> ToolFailed:
    """The tool needs a person, and the caller has not signed in."""
    return ToolFailed("authentication_required", "Authentication required")


def not_found(what: str) -> ToolFailed:
    """The item does not exist or was deleted; ``what`` is "Workflow", "Skill", "Folder" ..."""
    return ToolFailed("not_found", f"{what} not found")


def workflow_of_run_deleted(*, in_own_bin: bool) -> ToolFailed:
    """The workflow that a run follows was deleted; the run itself stays its person's."""
    if in_own_bin:
        return ToolFailed(
            "workflow_deleted",
            "The workflow of this run is in your bin. restore_workflow brings it back, and the run "
            "goes on where it was; finish_run closes the run.",
        )
    return ToolFailed(
        "workflow_deleted",
        "The workflow of this run was deleted by its owner, and its steps are not shown any more. "
        "finish_run closes the run.",
    )


def no_link() -> ToolFailed:
    """Nothing is known of the link: it is mistyped, or ended so long ago that it is forgotten."""
    return ToolFailed(
        "not_found",
        "There is no such link: part of it may be missing, or it ended long ago. Ask whoever gave "
        "it to you.",
    )


def link_ended(on: date, maker: str | None) -> ToolFailed:
    """The link was ended, or its time is up; ``maker`` is what to call who made it."""
    return ToolFailed("ended", f"This link ended on {on}. {_ask(maker)} for another one.")


def link_leads_nowhere(maker: str | None) -> ToolFailed:
    """The workflow behind the link was deleted."""
    return ToolFailed(
        "ended", f"The workflow behind this link was deleted. {_ask(maker)} what became of it."
    )


def link_closed(maker: str | None) -> ToolFailed:
    """The rules have closed the workflow since the link was made."""
    return ToolFailed(
        "ended",
        "The portal's rules have closed this workflow to who made the link, or to those whom it "
        f"was made for, since it was made. {_ask(maker)} about it.",
    )


def _ask(maker: str | None) -> str:
    return f"Ask {maker}" if maker else "Ask whoever gave it to you"


def private(what: str) -> ToolFailed:
    """It is another owner's, and not published."""
    return ToolFailed("access_denied", f"Access denied: {what.lower()} is private")


def not_yours(what: str) -> ToolFailed:
    """The caller may see the item, but only its owner may change it."""
    return ToolFailed("access_denied", f"Access denied: {what.lower()} is not yours to edit")


def may_not_publish() -> ToolFailed:
    """The writer's tier is below the one that ``tiers.yaml`` asks for publishing."""
    return ToolFailed(
        "may_not_publish",
        "Publishing needs a higher tier: this was not written. Leave visibility at PRIVATE; "
        "who may publish is for the portal's admins to say.",
    )


def stale(what: str, yours: int, current: int, changes: Sequence[Revision]) -> ToolFailed:
    """The item has changed since the caller read it; the answer says what did.

    Args:
        what: "Workflow", "Skill", "Folder" ...
        yours: the version that the caller named.
        current: the one that there is.
        changes: the versions after the caller's, as far as they are kept.
    """
    if yours > current:
        return ToolFailed(
            "stale",
            f"{what} has no version {yours}: it is at {current}. Nothing was written. Read it, "
            "and edit the version you then have.",
            {"yourVersion": yours, "currentVersion": current},
        )
    told = [
        {
            "version": each.version,
            "at": each.at.isoformat(),
            "by": each.by,
            "fields": list(each.fields),
        }
        for each in changes
    ]
    fields = ", ".join(sorted({field for each in changes for field in each.fields}))
    return ToolFailed(
        "stale",
        f"{what} has changed since version {yours}: {fields}. Nothing was "
        "written. Read it again, and edit the version you then have.",
        {"yourVersion": yours, "currentVersion": current, "changed": told},
    )


def no_version(what: str, version: int, current: int) -> ToolFailed:
    """The item never had such a version."""
    return ToolFailed("not_found", f"{what} has no version {version}: it is at {current}.")


def version_not_kept(what: str, version: int) -> ToolFailed:
    """The version is too old: its content was never stored, or has been deleted since."""
    return ToolFailed(
        "not_kept",
        f"What the {what.lower()} said in version {version} is not kept. `get_versions` lists the "
        "versions there are; a later one may still be shown.",
    )


def bad_input(message: str, **details: object) -> ToolFailed:
    """The arguments cannot be taken; the message names the place and what to do."""
    return ToolFailed("bad_input", message, details)


def unavailable(request_id: str) -> ToolFailed:
    """The database or the object store does not answer, or accepts no more data."""
    return ToolFailed(
        "unavailable",
        "The playbook cannot be read or written at the moment. Try again in a minute; where "
        "this was to write something, look first whether it is there. If it goes on, tell the "
        f"admin the request id {request_id}.",
    )


def damaged(request_id: str) -> ToolFailed:
    """A row that the call needs is corrupt."""
    return ToolFailed(
        "damaged",
        "What is stored of this is damaged, and trying again does not help. Everything else in "
        f"the playbook can be used. Tell the admin the request id {request_id}.",
    )


def lost(name: str) -> ToolFailed:
    """The bytes of an attached file are gone from the object store."""
    return ToolFailed(
        "lost",
        f"The file {name} is lost: its bytes are not in the portal's store any more. Its owner "
        "attaches it again with edit_skill, or leaves it out.",
    )
