"""Updates the registry to what ``portal.yaml`` declares."""

from __future__ import annotations

from collections.abc import Sequence

from plugins.codegraph.config import CodegraphConfig, Declared
from plugins.codegraph.repositories.registry import NameTaken, Repositories
from plugins.codegraph.repositories.repository import Draft, Repository


def drafts(config: CodegraphConfig) -> list[Draft]:
    """The repositories declared in the plugin's section."""
    return [_draft(each, config) for each in config.repositories]


def _draft(declared: Declared, config: CodegraphConfig) -> Draft:
    return Draft(
        name=declared.called(),
        kind="path" if declared.path is not None else "git",
        location=str(declared.path.resolve()) if declared.path else str(declared.url),
        branch=declared.branch,
        tier=declared.tier,
        groups=declared.groups,
        declared=True,
    )


async def declare(repositories: Repositories, config: CodegraphConfig) -> Sequence[str]:
    """Add, change and remove repositories so that the declared ones match the section.

    Repositories added by a command stay; if one is also declared, the declaration wins.

    Returns:
        What could not be done, one sentence each.
    """
    known = {each.name: each for each in await repositories.all()}
    wanted = {each.name: each for each in drafts(config)}
    for name, repository in known.items():
        if repository.declared and not _is_same(repository, wanted.get(name)):
            await repositories.remove(name)
    problems = []
    for name, draft in wanted.items():
        there = known.get(name)
        try:
            if there is not None and _is_same(there, draft):
                await repositories.regroup(there, draft)
            else:
                await repositories.add(draft)
        except NameTaken as taken:
            problems.append(f"repositories: {name}: {taken}")
    return problems


def _is_same(repository: Repository, draft: Draft | None) -> bool:
    if draft is None:
        return False
    of_draft = (draft.kind, draft.location, draft.branch, draft.org)
    return (repository.kind, repository.location, repository.branch, repository.org) == of_draft
