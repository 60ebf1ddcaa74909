"""The tool that gives an overview of a repository."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.model import CONFIDENCE, EdgeKind, EntityKind
from plugins.codegraph.scip.notes import notes
from plugins.codegraph.search.embedder import EMBEDDED
from plugins.codegraph.search.search import Search
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, Branch, Repo, Wire
from plugins.codegraph.tools.notes import Note, noted

OTHER = "other"
"""The name under which files of unknown language are listed."""
MAX_PROBLEMS = 20
"""The most files with a problem that one answer lists."""

From = Annotated[
    int,
    Field(ge=0, description="Where to go on in the problems: the nextOffset of the last answer."),
]


class LanguageStats(ToolResult):
    """How much there is of one language."""

    language: str = Field(description=f"{OTHER}, where it is not known.")
    files: int
    lines: int


class StrategyStats(ToolResult):
    """How many edges were found in one way."""

    strategy: str
    edges: int
    confidence: float = Field(description="How often such an edge is right, at least.")


class ProblemFile(ToolResult):
    """A file that is not, or not wholly, in the graph."""

    file: str
    problem: str
    skipped: bool = Field(description="Whether nothing of it is in the graph.")


class StatsAnswer(ToolResult):
    """A repository in figures."""

    files: int
    lines: int
    languages: list[LanguageStats]
    entities: dict[str, int] = Field(description="By kind.")
    edges: dict[str, int] = Field(description="By kind.")
    strategies: list[StrategyStats]
    unresolved_calls: int = Field(description="Calls whose target is not known.")
    problem_count: int
    problems: list[ProblemFile]
    next_offset: int | None = Field(
        None, description="Give it as offset for the problems that follow."
    )
    search: str = Field(description="hybrid: by meaning and words; keyword: by words alone.")
    embedded: int | None = Field(
        None, description="How many entities have a vector so far; null: there is no model."
    )
    to_embed: int = Field(description="How many entities are to have one.")
    scip: list[str] = Field(
        description="What SCIP indexers added, and how far they agree; or why they did not run."
    )
    meta: Note


def tools(access: Access, search: Search) -> list[Tool]:
    """The tools of this group."""

    async def get_project_stats(
        repo: Repo = None, branch: Branch = None, offset: From = 0, *, caller: Caller
    ) -> Wire:
        """An overview of a repository: its languages, how many files, functions and edges the
        graph has, how sure they are, which files are missing from it and why, and when it was
        indexed. Use it first in a repository that you do not know, or where answers seem thin."""
        opened = await access(caller, repo, branch)
        stats = await opened.graph.stats()
        problems = await opened.graph.reports()
        languages = sorted(stats.languages.items(), key=lambda each: (-each[1].lines, each[0]))
        return StatsAnswer(
            files=sum(each.files for each in stats.languages.values()),
            lines=sum(each.lines for each in stats.languages.values()),
            languages=[
                LanguageStats(language=name or OTHER, files=each.files, lines=each.lines)
                for name, each in languages
            ],
            entities={kind.value: stats.entities.get(kind, 0) for kind in EntityKind},
            edges={kind.value: stats.edges.get(kind, 0) for kind in EdgeKind},
            strategies=[
                StrategyStats(strategy=each.value, edges=count, confidence=CONFIDENCE[each])
                for each, count in sorted(stats.strategies.items(), key=lambda pair: -pair[1])
            ],
            unresolved_calls=stats.unresolved,
            problem_count=len(problems),
            problems=[
                ProblemFile(file=each.path, problem=each.problem, skipped=each.skipped)
                for each in problems[offset : offset + MAX_PROBLEMS]
            ],
            next_offset=offset + MAX_PROBLEMS if len(problems) > offset + MAX_PROBLEMS else None,
            search=await search.mode(opened.graph.repo),
            embedded=await search.embedded(opened.graph.repo),
            to_embed=sum(stats.entities.get(kind, 0) for kind in EMBEDDED),
            scip=notes(opened.graph.repo.scip, opened.graph.repo.layer),
            meta=noted(opened),
        ).wire()

    return [
        Tool.of(
            get_project_stats,
            title="Repository overview",
            result=StatsAnswer,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]
