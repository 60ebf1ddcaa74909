"""The same questions as work for members' agents, where the portal has no model for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gateway.contract import Caller, Database, ToolFailed, Work, WorkAnswer, Works, WorkState
from plugins.codegraph.justification.justifier import Justifier
from plugins.codegraph.justification.opinions.asking import believed
from plugins.codegraph.justification.opinions.claims import TASK, Claims
from plugins.codegraph.justification.opinions.contradictions import contradictions
from plugins.codegraph.justification.opinions.opinion import AGENT
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.opinions.ripples import Ripples
from plugins.codegraph.repositories.registry import Repositories
from plugins.codegraph.repositories.repository import Repository

WORK = "justify"
"""The kind of work."""
_MAX_REASONS = 5


@dataclass(frozen=True, slots=True)
class AgentWork:
    """Publishes what is to be asked, and keeps what agents answer.

    Attributes:
        works: the plugin's work.
        database: the plugin's database.
        repositories: the registry.
        opinions: keeps answers.
        ripples: has callers asked again.
        justifier: puts together what is said.
    """

    works: Works
    database: Database
    repositories: Repositories
    opinions: Opinions
    ripples: Ripples
    justifier: Justifier

    def declared(self) -> Work:
        """The kind of work."""
        return Work(
            name=WORK,
            title="Why code exists",
            task=TASK,
            schema=Claims,
            accept=self.accept,
            check=check,
            may_read=self.may_read,
        )

    async def publish(self, repository: Repository, context: Mapping[str, Any]) -> bool:
        """Have agents asked about a group.

        Returns:
            Whether it can be; a context of more than 64 KiB cannot.
        """
        first = context["entities"][0]["key"]
        rows = (f"repository:{repository.name}",)
        key = f"{repository.id}/{first}"
        try:
            await self.works.publish(WORK, key, context, tier=repository.tier, rows=rows)
        except ValueError:
            return False
        return True

    async def states(self, repo: str) -> Mapping[str, WorkState]:
        """The items of a repository by the key of the group's first entity."""
        found = await self.works.states(WORK)
        mine = f"{repo}/"
        return {key.removeprefix(mine): each for key, each in found.items() if key.startswith(mine)}

    async def withdraw(self, repo: str, key: str) -> None:
        """Have an item not asked any more."""
        await self.works.withdraw(WORK, f"{repo}/{key}")

    async def purge(self, org: str, repo: str) -> int:
        """Withdraw everything about a removed repository; returns the number of items."""
        found = await self.states(repo)
        for key in found:
            await self.withdraw(repo, key)
        return len(found)

    async def leftovers(self, org: str, repo: str) -> int:
        """The number of items that are left of a repository."""
        return len(await self.states(repo))

    async def accept(self, answer: WorkAnswer) -> None:
        """Keep an answer; of a repository that is gone, nothing."""
        repo = answer.key.partition("/")[0]
        repository = await self.repositories.by_id(repo)
        if repository is None:
            return
        source = answer.source
        who, person = (AGENT, source.model[:100]), source.person or None
        found = believed(answer.value, answer.context, who, person, source.at)
        if repository.layer is not None:
            await self.ripples.before(repository.org, repository.id, repository.layer, found)
        async with self.database.begin() as connection:
            if await answer.once(connection):
                await self.opinions.put_in(connection, repository.org, repo, found)
        await self.justifier.stale(repository.org, repo)

    async def may_read(self, key: str, caller: Caller) -> bool:
        """Whether a caller sees the repository."""
        seen = await self.repositories.visible(caller)
        return key.partition("/")[0] in {each.id for each in seen}


async def check(claims: Claims, context: Mapping[str, Any]) -> None:
    """Tell an agent what the graph contradicts.

    Raises:
        ToolFailed: something; says what.
    """
    if wrong := list(contradictions(claims, context))[:_MAX_REASONS]:
        text = f"The code contradicts this: {'; '.join(wrong)}. Look again, and mend it."
        raise ToolFailed("contradicted", text)
