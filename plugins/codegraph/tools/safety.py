"""The tool that says whether something can be deleted, with the proof."""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from pydantic import Field

from gateway.contract import Caller, Tier, Tool, ToolResult
from plugins.codegraph.model import Entity, EntityKind, Strategy
from plugins.codegraph.store.graph import Reached
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Access
from plugins.codegraph.tools.base import READS, File, Kind, Name, Repo, Wire
from plugins.codegraph.tools.entity_detail import INHERITS
from plugins.codegraph.tools.entity_lookup import CALLABLE, TYPES, Found, find
from plugins.codegraph.tools.notes import Completeness, Note, completeness, noted
from plugins.codegraph.tools.overrides import overridden, overriding
from plugins.codegraph.tools.references import Used, uses_of
from plugins.codegraph.tools.result_models import Brief
from plugins.codegraph.tools.uses import USES

MAX_USES = 20
"""The most uses that an answer lists."""
_RUN_BY_NAME = re.compile(r"__\w+__|main|init|setUp|tearDown|(?:test|pytest|visit|do|on)_\w+")
"""Names that something outside of the repository may call: special methods, entry points, tests."""
_READS_NAMES = re.compile(
    r"\b(?:globals|locals|vars|dir)\(|__subclasses__|__init_subclass__|getmembers|metaclass="
)
_WORD = re.compile(r"[^\W\d]\w*")
_HEAD_WORDS = frozenset(
    {"class", "interface", "struct", "enum", "record", "trait", "type", "extends", "implements"}
    | {"abstract", "final", "public", "private", "protected", "static", "export", "default"}
    | {"declare", "sealed", "pub", "crate", "object", "Object", "Generic", "Protocol", "ABC"}
    | {"func", "any", "typing", "abc"}
)
"""What the head of a class may say without having a base that is not here."""


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


@dataclass(frozen=True, slots=True)
class _Case:
    """What is to be deleted.

    Attributes:
        graph: where it is.
        found: the entity.
        within: the keys of it and of everything in it.
        lines: the lines of its file.
    """

    graph: Graph
    found: Found
    within: frozenset[int]
    lines: Sequence[str]

    @property
    def entity(self) -> Entity:
        """The entity itself."""
        return self.found.entity


def tools(access: Access) -> list[Tool]:
    """The tools of this group."""

    async def safe_to_delete(
        name: Name, file: File = None, kind: Kind = None, repo: Repo = None, *, caller: Caller
    ) -> Wire:
        """Whether a function, class, method or variable can be deleted, with the proof: every use
        of it and of what is in it, how the places that have its name are understood, and what
        outside of the repository may reach it (tests, entry points, decorators, bases that are not
        here). Use it before you remove code that seems dead."""
        opened = await access(caller, repo)
        kinds = () if kind is None else (kind,)
        found = await find(opened.graph, name, file, kinds, prefer=kind is None)
        case = await _case(opened.graph, found)
        complete = await completeness(opened.graph, found.all, references=True)
        reached = await _outside(case)
        items = await uses_of(opened.graph, found, reached[:MAX_USES])
        doubts = [] if reached else await _doubts(case, complete)
        verdict: Literal["safe", "used", "unsure"] = "used" if reached else "safe"
        return SafetyAnswer(
            entity=Brief.of(found.entity),
            verdict="unsure" if doubts else verdict,
            why=doubts or _checked(case, reached),
            uses=items,
            use_count=len(reached),
            also=_listed(case) or None,
            meta=noted(opened, complete, found.note),
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


async def _case(graph: Graph, found: Found) -> _Case:
    within = set(found.keys)
    todo = list(found.keys)
    while todo:
        inner = [each.key for each in await graph.contained(todo.pop())]
        todo += [key for key in inner if key not in within]
        within.update(inner)
    text = await graph.source(found.entity.path) or b""
    return _Case(graph, found, frozenset(within), text.decode("utf-8", "replace").split("\n"))


async def _outside(case: _Case) -> list[Reached]:
    """The uses of the entity, and of what is in it, from outside of it."""
    walk = await case.graph.uses(case.within, USES)
    return [each for each in walk.reached if each.entity.key not in case.within]


async def _doubts(case: _Case, complete: Completeness) -> list[str]:
    """Why something that nothing uses may be used nevertheless."""
    doubts = [] if complete.state == "complete" else [complete.why or "Its uses are not known."]
    entity = case.entity
    if entity.kind is EntityKind.FILE:
        doubts.append("It is a whole file: ask for what is in it, and for get_imports.")
    if entity.test or any(each.test for each in case.found.all):
        doubts.append("It is a test: the test runner calls it.")
    if _RUN_BY_NAME.fullmatch(entity.name):
        doubts.append(f"The name {entity.name} may be called by convention, from outside.")
    doubts += await _of_members(case)
    doubts += await _of_names(case)
    if _decorated(case.lines, entity):
        doubts.append("What decorates or annotates it may register it.")
    if entity.kind is EntityKind.VARIABLE and "(" in _own_text(case):
        doubts.append("Its value is computed by a call, which may do more than that.")
    return doubts


async def _of_names(case: _Case) -> list[str]:
    """The doubts that other code may come to it by its name, though no place is unread."""
    entity, found = case.entity, []
    if _READS_NAMES.search("\n".join(case.lines)):
        found.append("Its file reads names as data (globals, dir, subclasses): it may be found so.")
    if entity.kind in CALLABLE and entity.name in _of_builtins():
        found.append("What looks like a list, a mapping or a file is asked for a method so named.")
    if entity.kind is not EntityKind.METHOD:
        return found
    same = [each.key for each in await case.graph.find(entity.name, None, (EntityKind.METHOD,))]
    walk = await case.graph.uses(set(same) - case.within, USES)
    guessed = [each for each in walk.reached if each.strategy is Strategy.INFERRED]
    if guessed:
        where = f"{guessed[0].path}:{guessed[0].line}"
        found.append(f"A call at {where} leads to a method of that name by inference, or to it.")
    return found


@cache
def _of_builtins() -> frozenset[str]:
    """The methods of what Python and its library take for granted of an object."""
    kinds = (list, dict, set, str, bytes, io.TextIOWrapper, io.BytesIO, Generator, Mapping)
    return frozenset(name for kind in kinds for name in dir(kind))


async def _of_members(case: _Case) -> list[str]:
    """The doubts about a member: what its class inherits, overrides and shows."""
    graph, entity = case.graph, case.entity
    parents = await graph.entities([] if entity.parent is None else [entity.parent])
    around = next(iter(parents.values()), None)
    if around is None or around.kind not in TYPES:
        return []
    found = [
        f"It overrides {each.qualified} ({each.path}:{each.line})."
        for each in (await overridden(graph, case.found.all)).methods[:1]
    ]
    found += [
        f"{each.qualified} ({each.path}:{each.line}) overrides it."
        for each in (await overriding(graph, case.found.all))[:1]
    ]
    bases = await graph.walk([around.key], INHERITS, False, depth=5)
    owners = (around, *(each.entity for each in bases.reached))
    known = {each.name for each in owners}
    if any([await _has_other_bases(graph, owner, known) for owner in owners]):
        found.append("Its class has a base outside of the repository, which may use it.")
    return found + _of_kind(case, around)


def _of_kind(case: _Case, around: Entity) -> list[str]:
    """The doubts about a member by what it and its class are."""
    entity = case.entity
    method = entity.kind in CALLABLE
    asked = (
        (
            around.kind is EntityKind.INTERFACE,
            "It belongs to an interface, for others.",
        ),
        (not method and _decorated(case.lines, around), "What decorates its class may use fields."),
        (method and _of_trait(case.lines, entity), "It implements a trait, which others call."),
        (
            entity.language == "go" and entity.exported,
            "An interface outside of the repository may ask for a method of its name.",
        ),
    )
    return [doubt for holds, doubt in asked if holds]


async def _has_other_bases(graph: Graph, owner: Entity, known: Collection[str]) -> bool:
    """Whether the head of a class names something that is not a base in the graph."""
    text = await graph.source(owner.path) or b""
    lines = text.decode("utf-8", "replace").split("\n")[owner.line - 1 : owner.end_line]
    head = ""
    for line in lines[:12]:
        head += line + " "
        if line.rstrip().endswith((":", "{")) or "{" in line:
            break
    head = head.partition("{")[0]
    words = set(_WORD.findall(re.sub(r"<[^>]*>|\[[^\]]*\]", "", head))) - _HEAD_WORDS
    return bool(words - set(known) - {owner.name})


def _decorated(lines: Sequence[str], entity: Entity) -> bool:
    """Whether a decorator, an annotation or an attribute stands directly above."""
    at = entity.line - 1
    if at < len(lines) and lines[at].lstrip().startswith(("@", "#[")):
        return True
    while at > 0 and lines[at - 1].strip():
        above = lines[at - 1].lstrip()
        if above.startswith(("@", "#[")):
            return True
        if not above.startswith(("//", "*", "/*", ")", "]")):
            return False
        at -= 1
    return False


def _of_trait(lines: Sequence[str], entity: Entity) -> bool:
    """Whether a Rust method stands in the ``impl`` of a trait."""
    if entity.language != "rust":
        return False
    for line in reversed(lines[: entity.line - 1]):
        if line.lstrip().startswith("impl"):
            return " for " in line
    return False


def _own_text(case: _Case) -> str:
    return "\n".join(case.lines[case.entity.line - 1 : case.entity.end_line])


def _listed(case: _Case) -> list[str]:
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


def _checked(case: _Case, reached: Sequence[Reached]) -> list[str]:
    if reached:
        return [f"{len(reached)} uses from outside of it would break."]
    seen = " It is visible to other repositories, which are not looked at." * case.entity.exported
    return [
        "No call, reference, import or subclass from outside of it, and no place that has its name "
        f"is unread.{seen}"
    ]
