"""What the plugin offers, gathered for ``plugin.py``; made anew whenever an index changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.contract import Host, Job, Offer, UpstreamCredential
from gateway.repositories import Deliveries
from plugins.skills_repo.catalogue import Catalogue
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.credentials import HEADER, bearer_token
from plugins.skills_repo.index_loop import IndexLoop
from plugins.skills_repo.prompts import prompts
from plugins.skills_repo.search import Search
from plugins.skills_repo.skills import skills
from plugins.skills_repo.tools import tools
from plugins.skills_repo.views import views
from plugins.skills_repo.visibility import row_kinds
from plugins.skills_repo.webhooks import INDEX_JOB, GithubWebhook

INSTRUCTIONS = (
    "Before a task that a skill may cover, look for one with search_skills or list_skills, and "
    "read it with get_skill. list_agents and list_docs show the community's agent profiles and "
    "documentation."
)


def offer_factory(catalogue: Catalogue, search: Search) -> Callable[[], Offer]:
    """A function that makes the offer of what the catalogue holds at that moment.

    Without any source there are no tools: an agent would only read about them in vain.
    """
    fixed = tools(catalogue, search) if catalogue.library.sources else []
    shown = views() if fixed else []
    return lambda: Offer(
        tools=fixed,
        prompts=prompts(catalogue),
        skills=skills(catalogue),
        views=shown,
        instructions=INSTRUCTIONS if fixed else "",
    )


def full_offer(
    offer: Offer, config: SkillsRepoConfig, host: Host, index_loop: IndexLoop, catalogue: Catalogue
) -> Offer:
    """The whole offer, with what stays the same for as long as the plugin is open.

    Raises:
        ValueError: the webhook's secret is not where the setting says.
    """
    secret = config.github.webhook_secret
    webhooks = []
    if secret is not None:
        deliveries = Deliveries(host.secret(secret), host.cache)
        hook = GithubWebhook(deliveries, config.sources, host.jobs)
        webhooks.append(hook.declared())
    return replace(
        offer,
        credential=_credential(config.sources),
        webhooks=webhooks,
        jobs=(Job(INDEX_JOB, index_loop.run_job, schedule=config.schedule),),
        health=index_loop.health,
        rows=row_kinds(lambda: catalogue.library),
    )


def _credential(sources: Sequence[Source]) -> UpstreamCredential | None:
    """Asked for only where some source is read with the caller's own (REQ-AUTH-001, -002)."""
    if all(source.credential != "caller" for source in sources):
        return None
    return UpstreamCredential(header=HEADER, from_bearer=bearer_token, demanded=True)
