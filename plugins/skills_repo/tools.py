"""The tools, named as the requirements name them, and a search. All of them only read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from gateway.contract import Caller, Listing, Page, Tier, Tool
from gateway.toolkit.questions import Question
from plugins.skills_repo.catalogue import Catalogue, ReadRequest
from plugins.skills_repo.lists import AGENTS, SKILLS, listing
from plugins.skills_repo.outline import outline
from plugins.skills_repo.results import (
    AgentText,
    DocList,
    DocText,
    SkillFileContent,
    SkillSearch,
    SkillText,
)
from plugins.skills_repo.search import Search

_OF_INDEX = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
_OF_REPOSITORY = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)

OnlySource = Annotated[
    str | None, Field(description="The only source to look in, where several have the name.")
]
Wire = Mapping[str, Any]
"""A result as it is sent; the model that it is made of is the tool's output schema."""
Entries = Listing[Mapping[str, Any]]
Details = Annotated[
    bool,
    Field(
        description="Show every field of each: all of its description, its files or tools, and "
        "what it takes. Otherwise a line says what it is for, unless there are few."
    ),
]
SkipCache = Annotated[
    bool,
    Field(alias="skipCache", description="Read it anew, rather than from what was kept of it."),
]


def tools(catalogue: Catalogue, search: Search) -> list[Tool]:
    """The tools over the sources, in the order in which a model should consider them."""
    return [
        *_skill_search(catalogue, search),
        *_skill_files(catalogue),
        *_agents(catalogue),
        *_docs(catalogue),
    ]


def _skill_search(catalogue: Catalogue, search: Search) -> list[Tool]:
    async def search_skills(query: Question, limit: int = 10, *, caller: Caller) -> Wire:
        """Search the community's skills, by meaning and by words, for one that fits a task. Each
        result's `name` is for `get_skill`; where two sources have it, `source` tells them apart.

        Args:
            query: What to do, or a skill's name.
            limit: How many results at most, from 1 to 50.
        """
        return (await search(query, limit, caller.tier)).wire()

    async def list_skills(
        source: OnlySource = None, details: Details = False, *, caller: Caller
    ) -> Entries:
        """List the community's skills, page by page: instructions for a kind of task, with
        companion files. Read the one that fits with `get_skill` before you do such a task."""
        return listing(catalogue.listed("skills", caller.tier, source), details=details)

    return [
        _index_tool(search_skills, "Search the skills", SkillSearch),
        _list_tool(list_skills, "List the skills", SKILLS),
    ]


def _skill_files(catalogue: Catalogue) -> list[Tool]:
    async def get_skill(
        name: str, source: OnlySource = None, skip_cache: SkipCache = False, *, caller: Caller
    ) -> SkillText:
        """Get a skill's SKILL.md: its frontmatter and its instructions, to be followed.

        Args:
            name: The skill's name or directory, as `list_skills` shows it.
        """
        return await catalogue.skill(name, ReadRequest(caller, source, skip_cache))

    async def get_skill_file(
        skill: str,
        file: str,
        source: OnlySource = None,
        skip_cache: SkipCache = False,
        *,
        caller: Caller,
    ) -> SkillFileContent:
        """Get a companion file of a skill: a reference, a template, a script. Its
        bytes come in Base64, and text as text too.

        Args:
            skill: The skill's name or directory, as `list_skills` shows it.
            file: One of its `files`, such as references/details.md.
        """
        request = ReadRequest(caller, source, skip_cache)
        return await catalogue.skill_file(skill, file, request)

    return [
        _repository_tool(get_skill, "Get a skill", SkillText),
        _repository_tool(get_skill_file, "Get a file of a skill", SkillFileContent),
    ]


def _agents(catalogue: Catalogue) -> list[Tool]:
    async def list_agents(
        source: OnlySource = None, details: Details = False, *, caller: Caller
    ) -> Entries:
        """List the community's agent profiles, page by page: roles that an agent can take on,
        each with its model and the tools it is allowed."""
        return listing(catalogue.listed("agents", caller.tier, source), details=details)

    async def get_agent(
        name: str, source: OnlySource = None, skip_cache: SkipCache = False, *, caller: Caller
    ) -> AgentText:
        """Get an agent profile: its frontmatter and its instructions.

        Args:
            name: The profile's name or file, as `list_agents` shows it.
        """
        return await catalogue.agent(name, ReadRequest(caller, source, skip_cache))

    return [
        _list_tool(list_agents, "List the agent profiles", AGENTS),
        _repository_tool(get_agent, "Get an agent profile", AgentText),
    ]


def _docs(catalogue: Catalogue) -> list[Tool]:
    async def list_docs(
        source: OnlySource = None,
        section: list[str] | None = None,
        offset: int = 0,
        details: Annotated[
            bool, Field(description="Show every page, and all it says of itself, however many.")
        ] = False,
        *,
        caller: Caller,
    ) -> Wire:
        """List the pages of the community's documentation, as sections within sections. The keys
        from the outside down to a page are its path for `get_doc`. Where there are many pages,
        large sections are folded: ask for one with `section`.

        Args:
            section: The keys that lead to the only section to list, such as ["guides"].
            offset: How many of the section's entries to leave out, as `nextOffset` says.
        """
        tree = catalogue.listed("docs", caller.tier, source)
        return outline(tree, section or (), offset, details=details).wire()

    async def get_doc(
        path: list[str],
        source: OnlySource = None,
        skip_cache: SkipCache = False,
        *,
        caller: Caller,
    ) -> DocText:
        """Get a page of the documentation, as markdown.

        Args:
            path: The keys that lead to the page in `list_docs`, such as ["guides", "pages"].
        """
        return await catalogue.doc(path, ReadRequest(caller, source, skip_cache))

    return [
        _index_tool(list_docs, "List the documentation", DocList),
        _repository_tool(get_doc, "Get a page of the documentation", DocText),
    ]


def _index_tool(run: Callable[..., Awaitable[Wire]], title: str, result: type[BaseModel]) -> Tool:
    return Tool.of(run, title=title, result=result, tier=Tier.OPEN, annotations=_OF_INDEX)


def _list_tool(run: Callable[..., Awaitable[Entries]], title: str, page: Page) -> Tool:
    return Tool.of(run, title=title, page=page, result=None, tier=Tier.OPEN, annotations=_OF_INDEX)


def _repository_tool(
    run: Callable[..., Awaitable[BaseModel]], title: str, result: type[BaseModel]
) -> Tool:
    return Tool.of(run, title=title, result=result, tier=Tier.PUBLIC, annotations=_OF_REPOSITORY)
