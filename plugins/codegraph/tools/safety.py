"""The tool that says whether something can be deleted, with the proof."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, Branch, File, Kind, Name, Repo, Wire
from plugins.codegraph.tools.doubts import Case, doubts_of
from plugins.codegraph.tools.entity_lookup import Found, find
from plugins.codegraph.tools.notes import Note, completeness, noted
from plugins.codegraph.tools.other_repositories import imports_elsewhere
from plugins.codegraph.tools.references import Used, uses_of
from plugins.codegraph.tools.result_models import Brief
from plugins.codegraph.tools.uses import USES

MAX_USES = 20
"""The most uses that an answer lists."""


class SafetyAnswer(ToolResult):
    """Whether something can be deleted."""

    entity: Brief
    verdict: Literal["safe", "used", "unsure"] = Field(
        description="safe: nothing in the repository uses it, and every place that has its name is "
        "understood; used: see uses; unsure: see why."
    )
    why: list[str] = Field(description="What speaks against deleting it, or was checked.")
    uses: list[Used] = Field(description="What would break: uses from outside of itself.")
    use_count: int
    also: list[str] | None = Field(
        None, description="Lines that list the name and go with it: file:line."
    )
    meta: Note


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def safe_to_delete(
        name: Name,
        file: File = None,
        kind: Kind = None,
        repo: Repo = None,
        branch: Branch = None,
        *,
        caller: Caller,
    ) -> Wire:
        """Whether a function, class, method or variable can be deleted, with the proof: every use
        of it and of what is in it, how the places that have its name are understood, and what
        outside of the repository may reach it (tests, entry points, decorators, bases that are not
        here). Use it before you remove code that seems dead."""
        opened = await access(caller, repo, branch)
        kinds = () if kind is None else (kind,)
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        case = await _case(opened.graph, found)
        complete = await completeness(opened.graph, found.all, references=True)
        reached = await _outside(case)
        items = await uses_of(opened.graph, found, reached[:MAX_USES])
        elsewhere = await imports_elsewhere(access, caller, opened, found.all)
        doubts = [] if reached else await doubts_of(case, complete)
        if elsewhere and not reached:
            doubts.append(f"{elsewhere[0]} imports something of that name, perhaps this.")
        verdict: Literal["safe", "used", "unsure"] = "used" if reached else "safe"
        return SafetyAnswer(
            entity=Brief.of(found.entity),
            verdict="unsure" if doubts else verdict,
            why=doubts or _checked(case, reached),
            uses=items,
            use_count=len(reached),
            also=_listed(case) or None,
            meta=noted(opened, complete, found.note, elsewhere),
        ).wire()

    return [
        Tool.of(
            safe_to_delete,
            title="Safe to delete?",
            result=SafetyAnswer,
            tier=Tier.OPEN,
            annotations=READS,
        )
    ]


async def _case(graph: Graph, found: Found) -> Case:
    within = set(found.keys)
    todo = list(found.keys)
    while todo:
        inner = [each.key for each in await graph.contained(todo.pop())]
        todo += [key for key in inner if key not in within]
        within.update(inner)
    text = await graph.source(found.entity.path) or b""
    return Case(graph, found, frozenset(within), text.decode("utf-8", "replace").split("\n"))


async def _outside(case: Case) -> list[Reached]:
    """The uses of the entity, and of what is in it, from outside of it."""
    walk = await case.graph.uses(case.within, USES)
    return [each for each in walk.reached if each.entity.key not in case.within]


def _listed(case: Case) -> list[str]:
    """The lines of its file that list the name among what it exports."""
    name = re.compile(rf"(?<![\w$]){re.escape(case.entity.name)}(?![\w$])")
    own = range(case.entity.line, case.entity.end_line + 1)
    return [
        f"{case.entity.path}:{at}"
        for at, line in enumerate(case.lines, start=1)
        if at not in own and name.search(line) and _is_list(case.lines, at - 1)
    ]


def _is_list(lines: Sequence[str], at: int) -> bool:
    """Whether a line is in a list of exports: ``__all__ = [`` or ``export {``."""
    for line in reversed(lines[: at + 1]):
        if re.match(r"\s*(?:__all__\b|export\s*\{|(?:module\.)?exports\b)", line):
            return True
        if not re.fullmatch(r"[\s\w$,\"']*", line):
            return False
    return False


def _checked(case: Case, reached: Sequence[Reached]) -> list[str]:
    if reached:
        return [f"{len(reached)} uses from outside of it would break."]
    seen = (
        " It is visible to other repositories; of these, imports by Python, TypeScript and "
        "JavaScript that you may see were looked at."
    ) * case.entity.exported
    return [
        "No call, reference, import or subclass from outside of it, and no place that has its name "
        f"is unread.{seen}"
    ]
