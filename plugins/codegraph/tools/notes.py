"""How complete an answer is, and what it is based on: part of every answer's ``meta``."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from gateway.toolkit.counts import counted
from plugins.codegraph.languages.composed_names import spellings
from plugins.codegraph.languages.registry import language_of
from plugins.codegraph.linker.mentions import as_outside
from plugins.codegraph.model import EdgeKind, Entity, EntityKind, FileReport, Sort
from plugins.codegraph.store.stored_graph import Graph
from plugins.codegraph.tools.access import Opened
from plugins.codegraph.tools.overrides import Overridden

MAX_PLACES = 5
"""The most examples of unresolved calls and unread files in an answer."""
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__", "constructor"})
"""Methods that are called by their class's name, never by their own."""
_FAMILIES = (frozenset({"typescript", "javascript"}),)
_WITH_CALLS = frozenset({"python", "typescript", "javascript", "go", "java", "rust"})
"""Languages with call edges; of any other, only files are known."""


class _Part(BaseModel):
    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, serialize_by_alias=True, frozen=True
    )


class Completeness(_Part):
    """Whether an answer about callers or dependents can be relied on to be all."""

    state: Literal["complete", "incomplete", "unknown"] = Field(
        description="complete: nothing in the repository is missing; incomplete: it is not "
        "known to be complete, see why; unknown: calls of this language are not followed."
    )
    why: str | None = None
    passed_sites: int | None = Field(
        None,
        description="Places that pass or store it, or name it in a macro: what is handed on may "
        "be called from anywhere. find_references lists them.",
    )
    unresolved_sites: int | None = Field(
        None, description="Calls by that name whose target is not known: they may be more callers."
    )
    unresolved_at: list[str] | None = None
    named_sites: int | None = Field(
        None,
        description="Places outside of the definition that have the name and that no call and "
        "no reference explains, such as strings, and members of objects of an unknown type.",
    )
    named_at: list[str] | None = Field(None, description="The first in each file: file:line.")
    routes: list[str] | None = Field(
        None,
        description="HTTP routes that it serves: whoever sends a request calls it. get_routes "
        "lists the requests in the repositories that you may see.",
    )
    unread_files: int | None = Field(
        None, description="Files of the language that are not, or not wholly, in the graph."
    )
    unread: list[str] | None = None


class WorkspaceNote(_Part):
    """The caller's own uncommitted work, which this answer includes."""

    branch: str
    files: int = Field(description="How many files differ from the index.")
    synced_at: datetime
    expires_at: datetime
    stale: bool | None = Field(
        None, description="true: the repository was indexed anew since; sync again."
    )


class BranchNote(_Part):
    """The branch that was asked for, which is laid over the indexed one."""

    files: int = Field(description="How many files differ from the indexed branch.")
    indexed_commit: str | None = Field(None, description="What it is laid over.")
    checked_at: datetime = Field(description="When it was looked where the branch is.")


class Note(_Part):
    """What an answer was answered from."""

    repo: str
    commit: str | None = Field(None, description="The commit that this answer is of.")
    branch: str | None = None
    other_branch: BranchNote | None = Field(
        None,
        description="Where the branch is not the indexed one. Owners, and uses in other "
        "repositories, are those of indexed branches all the same.",
    )
    indexed_at: datetime | None = None
    index: str | None = Field(None, description="What is wrong with the index, or going on.")
    workspace: WorkspaceNote | None = Field(
        None, description="Your uncommitted work, which only you see; null: none is included."
    )
    completeness: Completeness | None = None
    elsewhere: list[str] | None = Field(
        None,
        description="Places in other repositories that import something of that name from a module "
        "of that name: repository/file:line. Of Python, TypeScript and JavaScript.",
    )
    note: str | None = Field(None, description="What else to know about this answer.")


def noted(
    opened: Opened,
    completeness: Completeness | None = None,
    note: str | None = None,
    elsewhere: Sequence[str] = (),
) -> Note:
    """The note of an answer.

    Args:
        opened: the graph that it is based on.
        completeness: how complete it is, if that matters.
        note: anything else to say.
        elsewhere: places in other repositories (``other_repositories.imports_elsewhere``).
    """
    repo = opened.graph.repo
    wrong = "; ".join(filter(None, (repo.problem, opened.state)))
    return Note(
        repo=repo.name,
        commit=repo.commit[:12] or None,
        branch=repo.branch or None,
        indexed_at=repo.indexed,
        index=wrong or None,
        workspace=_workspace(opened),
        other_branch=_branch(opened),
        completeness=completeness,
        elsewhere=list(elsewhere) or None,
        note=note,
    )


def _workspace(opened: Opened) -> WorkspaceNote | None:
    overlay, known = opened.graph.repo.overlay, opened.workspace
    if overlay is None or known is None:
        return None
    return WorkspaceNote(
        branch=overlay.branch,
        files=len(known.files),
        synced_at=known.synced,
        expires_at=known.expires,
        stale=overlay.stale or None,
    )


def _branch(opened: Opened) -> BranchNote | None:
    known = opened.branch
    if known is None:
        return None
    return BranchNote(
        files=len(known.files),
        indexed_commit=known.base_commit[:12] or None,
        checked_at=known.checked,
    )


async def completeness(
    graph: Graph,
    about: Sequence[Entity],
    through: Overridden | None = None,
    *,
    references: bool = False,
) -> Completeness:
    """Whether everything that refers to some entities of one name is known.

    Args:
        graph: where to look.
        about: the entities; the first one's language counts.
        through: what they override; None if calls of those are already included.
        references: whether the answer has the references too, and not the calls alone.
    """
    languages = _family(about[0].language)
    if not languages & _WITH_CALLS:
        language = about[0].language or "this kind of file"
        return Completeness(state="unknown", why=f"Calls in {language} are not followed.")
    total, places = await _unresolved(graph, about)
    names = {each.name for each in about} - _CONSTRUCTORS
    spelt = {each for name in names for each in spellings(name)}
    spelt.update(*(as_outside(each.path, each.qualified) for each in about))
    named = await graph.mentions(spelt)
    sites, files = sum(each.sites for each in named), {each.path for each in named}
    unread = [each for each in await graph.reports() if _counts(each, languages, files)]
    passed = 0 if references else await _passed(graph, about)
    served = await _routes(graph, about)
    reasons = _reasons(through, sites, passed, total, len(unread))
    reasons += [f"it serves {served[0]}, which anybody may request"] if served else []
    if not reasons:
        return Completeness(state="complete")
    return Completeness(
        state="incomplete",
        why=f"Not known to be complete: {'; '.join(reasons)}.",
        passed_sites=passed or None,
        unresolved_sites=total or None,
        unresolved_at=places[:MAX_PLACES] or None,
        named_sites=sites or None,
        named_at=[f"{each.path}:{each.line}" for each in named[:MAX_PLACES]] or None,
        routes=served[:MAX_PLACES] or None,
        unread_files=len(unread) or None,
        unread=[f"{each.path}: {each.problem}"[:160] for each in unread[:MAX_PLACES]] or None,
    )


def _reasons(
    through: Overridden | None, sites: int, passed: int, unresolved: int, unread: int
) -> list[str]:
    """Why something may refer to an entity that no edge tells of."""
    reasons = []
    if through is not None and through.calls:
        first = through.methods[0]
        where = f"{first.qualified} ({first.path}:{first.line})"
        reasons.append(f"{through.calls} users of {where}, which it overrides, may mean it")
    if sites:
        where = "one more place" if sites == 1 else f"{sites} more places"
        reasons.append(f"the name stands in {where}, and no edge says what for")
    if passed:
        where = "one place passes" if passed == 1 else f"{passed} places pass"
        reasons.append(f"{where} or store it, from where it may be called (find_references)")
    if unresolved:
        what = "calls by that name have a receiver that nothing in the code tells"
        reasons.append(f"{unresolved} {what}")
    if unread:
        reasons.append(f"{counted(unread, 'file was', 'files were')} not read, or only in part")
    return reasons


async def _unresolved(graph: Graph, about: Sequence[Entity]) -> tuple[int, list[str]]:
    """The calls by the names of some entities whose target is unknown, and where some of them
    are."""
    found = [
        await graph.unresolved(name, MAX_PLACES)
        for name in dict.fromkeys(each.name for each in about)
    ]
    return sum(each.total for each in found), [place for each in found for place in each.places]


async def _routes(graph: Graph, about: Sequence[Entity]) -> list[str]:
    """The HTTP routes that some entities serve."""
    found = await graph.endpoints([each.key for each in about])
    served = (f"{each.method} {each.template}".strip() for each in found if each.serves)
    return list(dict.fromkeys(served))


async def _passed(graph: Graph, about: Sequence[Entity]) -> int:
    """At how many places something that can be called is handed on as a value."""
    keys = [each.key for each in about if each.kind is not EntityKind.VARIABLE]
    walk = await graph.uses(keys, EdgeKind.REFERENCES, (Sort.VALUE, Sort.MACRO))
    return sum(each.sites for each in walk.reached)


def _family(language: str) -> frozenset[str]:
    return next((each for each in _FAMILIES if language in each), frozenset({language}))


def _counts(report: FileReport, languages: Collection[str], named: Collection[str]) -> bool:
    """Whether what a file lacks may be a call: not for a skipped image, nor for a partly read file
    that does not contain the name."""
    if not report.skipped and report.path not in named:
        return False
    if report.language:
        return report.language in languages
    known = language_of(report.path)
    return known is not None and known.name in languages
