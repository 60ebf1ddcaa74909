"""Opens the drafts of the sources that take some."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

from gateway.contract import Host, Offer
from gateway.repositories import Advice, OpenGithub, open_github
from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.drafts.places import Place
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.sync.github import GithubSource
from plugins.knowledge.sync.sources import DirectorySource, NoteSource

_ADVICE = Advice("give it one that may write (github.token or github.app)", "max_note")
INSTRUCTIONS = (
    "A page that is missing or wrong is drafted with preview_draft and proposed with create_draft,"
    " where your person wants it; list_drafts says what reviewers make of it."
)


@asynccontextmanager
async def with_drafts(
    offer: Offer,
    config: KnowledgeConfig,
    host: Host,
    knowledge: Knowledge,
    sources: Sequence[NoteSource],
) -> AsyncGenerator[Offer]:
    """The offer with what it takes to draft pages; as it is where no source takes drafts.

    Args:
        offer: what else the plugin offers.
        config: the plugin's section.
        host: the plugin's services.
        knowledge: the knowledge base.
        sources: where the notes come from, in the section's order.
    """
    taking = [pair for pair in zip(config.sources, sources, strict=False) if pair[0].drafts]
    if not taking:
        yield offer
        return
    # Late: portals without drafts read none of it.
    from plugins.knowledge.drafts.drafts import Drafts
    from plugins.knowledge.drafts.personal_data import personal_data
    from plugins.knowledge.drafts.store import DraftStore
    from plugins.knowledge.drafts.tools import tools
    from plugins.knowledge.drafts.views import views

    async with open_github(config.github, host.secret) as github:
        places = [_place(one, source, github, host.portal) for one, source in taking]
        store = DraftStore(host.database, lambda: datetime.now(UTC))
        drafts = Drafts(host, knowledge, places, store)
        yield replace(
            offer,
            tools=[*offer.tools, *tools(drafts)],
            views=[*offer.views, *views()],
            jobs=(*offer.jobs, drafts.job(config.schedule)),
            personal=personal_data(store, offer.personal),
            said={**offer.said, "create_draft": INSTRUCTIONS},
        )


def _place(config: SourceConfig, source: NoteSource, github: OpenGithub, portal: str) -> Place:
    from plugins.knowledge.drafts.directory_place import DirectoryPlace
    from plugins.knowledge.drafts.github_place import GithubPlace

    if isinstance(source, GithubSource):
        name = source.repository
        return GithubPlace(
            source,
            config.drafts_folder,
            github.repository(name, source.branch, int(source.max_note), advice=_ADVICE),
            github.branches(name, advice=_ADVICE),
            github.pull_requests(name, advice=_ADVICE),
            portal,
        )
    assert isinstance(source, DirectorySource)  # noqa: S101  (there are two kinds)
    return DirectoryPlace(source, config.drafts_folder, config.name or source.directory.name)
