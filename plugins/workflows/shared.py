"""What a link to a workflow shows, and to whom it was closed since it was made.

Two judges look each time that a link is opened: whoever made it, as the rules see them now, and an
imagined caller of the tier that the link was made for. What either may not see is not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from gateway.contract import Caller, Exchange, People, Rows, Tier, ToolFailed
from plugins.workflows import errors
from plugins.workflows.model import Workflow
from plugins.workflows.playbook import Playbook
from plugins.workflows.store.links import Link, Links

SHOWS = "get_workflow"
"""The tool whose tier in ``tiers.yaml`` says who may read a workflow, by a link too."""
_ROW = "workflow"


@dataclass(frozen=True, slots=True)
class Opened:
    """What a link shows: the workflow as its maker and the link's tier see it, and who made it."""

    link: Link
    workflow: Workflow
    maker: str | None


@dataclass(frozen=True, slots=True)
class SharedWorkflows:
    """Makes and opens links.

    Attributes:
        playbook: where the workflows are.
        links: the links.
        people: who made them, as the rules see them now.
        rows: what ``tiers.yaml`` says of single workflows.
        exchange: gives the call that is running, which knows what else of the plugin is closed.
        clock: gives the time, with its zone.
    """

    playbook: Playbook
    links: Links
    people: People
    rows: Rows
    exchange: Callable[[], Exchange]
    clock: Callable[[], datetime]

    async def make(
        self, caller: Caller, ref: str, tier: Tier, lifetime: timedelta
    ) -> tuple[Link, str]:
        """A link to a workflow of the caller's, and its secret.

        Raises:
            ToolFailed: there is no such workflow, it is another's, the tier is above the caller's
                own, or ``tiers.yaml`` shows the workflow to nobody of that tier.
        """
        person = caller.person or ""
        found = await self.playbook.workflow(ref, person)
        if found.owner != person:
            raise errors.not_yours("Workflow")
        if not caller.tier.allows(tier):
            raise errors.bad_input(
                f"Your access is {caller.tier}: a link of yours goes no further. Choose a tier up "
                "to that."
            )
        if not self._reaches(tier, found.id):
            raise errors.bad_input(
                f"The portal's tiers.yaml shows this workflow to nobody of the tier {tier}, so "
                "such a link would show nothing. Choose a higher tier, or ask the portal's admins."
            )
        return await self.links.make(person, found.id, tier, lifetime)

    async def open(self, secret: str) -> Opened:
        """What a link shows now.

        Args:
            secret: what is in the link.

        Raises:
            ToolFailed: there is no such link; or it has ended, or what it led to is not shown to
                its maker any more, which the error says, and whom to ask.
        """
        link = await self.links.of_secret(secret)
        if link is None:
            raise errors.no_link()
        maker = await self.people.caller(link.person)
        name = None if maker is None or maker.name == maker.person else maker.name
        if (ended := link.end(self.clock())) is not None:
            raise errors.link_ended(ended.date(), name)
        if not link.is_kept:
            raise errors.link_leads_nowhere(name)
        if maker is None or not self._shown_to(maker, link):
            raise errors.link_closed(name)
        try:
            workflow = await self.playbook.workflow(link.workflow, link.person)
        except ToolFailed:  # it was deleted in this moment
            raise errors.link_leads_nowhere(name) from None
        return Opened(link, workflow, name)

    def _shown_to(self, maker: Caller, link: Link) -> bool:
        """Whether what a link leads to is still shown to its maker, and to the link's tier."""
        row = self.rows.tier(f"{_ROW}:{link.workflow}")
        may_see = maker.tier.allows(row) and self.exchange().allows(SHOWS, maker)
        return may_see and maker.tier.allows(link.tier) and self._reaches(link.tier, link.workflow)

    def _reaches(self, tier: Tier, workflow: str) -> bool:
        """Whether the rules show a workflow to a tier, as far as it is published."""
        if not tier.allows(self.rows.tier(f"{_ROW}:{workflow}")):
            return False
        return self.exchange().allows(SHOWS, Caller(f"any {tier} caller", tier))
