"""The actions of the commands; imported late. They work with and without a running portal."""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from gateway.contract import CommandContext, Host, ToolFailed
from plugins.codegraph.api import shown as shown_as_json
from plugins.codegraph.commands import health as health_report
from plugins.codegraph.commands import justify, messages, progress_bar
from plugins.codegraph.commands.arguments import (
    AddArgs,
    HealthArgs,
    IndexArgs,
    JustifyArgs,
    ListArgs,
    RemoveArgs,
)
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.git.command import GitFailed, git
from plugins.codegraph.model import EntityKind, FileReport
from plugins.codegraph.offer import MIGRATIONS, CoreParts, now
from plugins.codegraph.repositories import urls
from plugins.codegraph.repositories.build import BuildFailed, PlainSteps, check_directory
from plugins.codegraph.repositories.leases import LEASE_TERM, Busy, Gone
from plugins.codegraph.repositories.purge import PurgeFailed, Purger
from plugins.codegraph.repositories.registry import NameTaken, UnknownRepository
from plugins.codegraph.repositories.repository import Draft, Repository
from plugins.codegraph.scip.notes import notes
from plugins.codegraph.tools import entity_lookup

_LOOKED_AT, _EXAMPLES = 2_000, 20
"""The most functions to choose an example from, and how many of them are tried."""


@asynccontextmanager
async def _opened(context: CommandContext) -> AsyncGenerator[tuple[CoreParts, Host]]:
    async with context.host() as host:
        await host.database.migrate(MIGRATIONS)
        base = CoreParts.of(context.config, host)
        try:
            yield base, host
        finally:
            await base.indexer.close()


async def add(args: AddArgs, context: CommandContext) -> int:
    """Add a repository and index it; exit code 2 for wrong arguments, 1 if it failed."""
    try:
        draft = await _draft(args, context.config)
    except (urls.BadAddress, BuildFailed, GitFailed) as error:
        return _fail(context, str(error), 2)
    holder = _me()
    async with _opened(context) as (base, host):
        try:
            repository = await base.repositories.add(draft, holder, LEASE_TERM)
        except NameTaken as error:
            return _fail(context, str(error), 1)
        try:
            found = await _made(base, repository, context, holder, scip=args.scip)
        except asyncio.CancelledError:  # Ctrl-C
            if not context.json:
                _say(context, messages.stopped(draft.name))
            raise
        if isinstance(found, str):
            # It was never served, so it has no vectors: everything can be purged here.
            await _purged(base, host, await base.repositories.remove(draft.name), whole=True)
            return _fail(context, f"{_sentence(found)} {draft.name} was not added.", 1)
        await _tell(base, await base.repositories.get(draft.name), found, context)
    return 0


async def index(args: IndexArgs, context: CommandContext) -> int:
    """Reindex repositories; exit code 1 if one of them failed."""
    done: list[dict[str, Any]] = []
    async with _opened(context) as (base, _):
        try:
            chosen = [await base.repositories.get(name) for name in args.name]
        except UnknownRepository as error:
            return _fail(context, str(error), 1)
        for repository in chosen or await base.repositories.all():
            found = await _made(base, repository, context, _me(), scip=args.scip)
            result = {"error": found} if isinstance(found, str) else found
            done.append({"name": repository.name, **result})
            if not context.json:
                _say(context, _lines(repository, found))
    if context.json:
        context.emit(done)
    elif not done:
        context.echo("No repository has been added: `porch codegraph add .` adds this directory.")
    return 1 if any("error" in each for each in done) else 0


async def justified(args: JustifyArgs, context: CommandContext) -> int:
    """Say anew what code is for; exit code 1 if a repository is unknown or has no index."""
    async with _opened(context) as parts:
        base, _ = parts
        try:
            chosen = [await base.repositories.get(name) for name in args.name]
        except UnknownRepository as error:
            return _fail(context, str(error), 1)
        chosen = chosen or list(await base.repositories.all())
        return await justify.justified(parts, chosen, args, context)


def _lines(repository: Repository, found: dict[str, Any] | str) -> list[str]:
    if isinstance(found, str):
        return [f"{repository.name}: {found}"]
    return list(messages.found(repository, found))


async def listed(args: ListArgs, context: CommandContext) -> int:
    """Show the repositories, their state, and removed ones that are not purged yet."""
    async with _opened(context) as (base, host):
        found = await base.repositories.all()
        purger = Purger(host.database, base.leases, base.kept(), now)
        removals = await purger.log(is_open=True)
        problems = {each.name: await _problems(base, each) for each in found if args.problems}
    if context.json:
        context.emit(
            {
                "repositories": [_as_json(each, problems.get(each.name)) for each in found],
                "removing": [{"name": r.name, "requested": str(r.requested)} for r in removals],
            }
        )
        return 0
    _say(context, messages.table(found))
    for name, reports in problems.items():
        _say(context, messages.problems(name, reports))
    for removal in removals:
        since = f"{removal.requested:%Y-%m-%d %H:%M} UTC"
        context.echo(f"{removal.name}: removed {since}; the portal purges the rest of it.")
    return 0


async def _problems(base: CoreParts, repository: Repository) -> list[FileReport]:
    view = await base.store.view(repository.org, repository.id)
    return [] if view is None else await base.store.open(view).reports()


def _as_json(repository: Repository, problems: list[FileReport] | None) -> dict[str, Any]:
    value = shown_as_json(repository).model_dump(mode="json")
    if problems is not None:
        value["problems"] = [
            {"file": each.path, "problem": each.problem, "skipped": each.skipped}
            for each in problems
        ]
    return value


async def health(args: HealthArgs, context: CommandContext) -> int:
    """Show the health report of a repository; exit code 1 if there is none to show."""
    async with _opened(context) as (base, _):
        try:
            repository = await base.repositories.get(args.name)
        except UnknownRepository as error:
            return _fail(context, str(error), 1)
        return await health_report.shown(base, repository, args, context)


async def remove(args: RemoveArgs, context: CommandContext) -> int:
    """Remove a repository and everything that is stored of it."""
    async with _opened(context) as (base, host):
        try:
            repository = await base.repositories.get(args.name)
            if repository.declared:
                reason = "stands in portal.yaml: take it out there, and start the portal again."
                return _fail(context, f"{args.name} {reason}", 1)
            entry = await base.repositories.remove(args.name)
        except UnknownRepository as error:
            return _fail(context, str(error), 1)
        counts = await _purged(base, host, entry)
    if context.json:
        context.emit({"name": args.name, "removal": entry, "deleted": counts})
        return 0
    _say(context, messages.removed(args.name, sum(counts.values())))
    return 0


async def _draft(args: AddArgs, config: CodegraphConfig) -> Draft:
    is_url = urls.is_address(args.location)
    if is_url:
        location = urls.checked_url(args.location)
        await git(Path(), "version")
    else:
        if args.branch:
            raise urls.BadAddress("--branch is for an address; a directory is read as it lies.")
        location = await asyncio.to_thread(_directory, args.location)
    return Draft(
        name=urls.checked_name(args.name) if args.name else urls.name_from(location),
        kind="git" if is_url else "path",
        location=location,
        branch=urls.checked_branch(args.branch) if args.branch else None,
        tier=args.tier,
        groups=args.group,
    )


def _directory(given: str) -> str:
    directory = Path(given).expanduser()
    check_directory(directory)
    return str(directory.resolve())


async def _made(
    base: CoreParts,
    repository: Repository,
    context: CommandContext,
    holder: str,
    *,
    scip: bool,
) -> dict[str, Any] | str:
    """Make an index; returns its summary, or why it failed."""
    echo = None if context.json else context.echo
    try:
        with progress_bar.shown(repository.name, echo) as progress:
            found = await base.builder.make(repository, holder, PlainSteps(), progress)
            if scip:
                record = await base.scip_merge.check(repository.org, repository.id, progress)
                found = {**found, "scip": notes(record, record["layer"] if record else None)}
            return found
    except (BuildFailed, Busy, Gone) as error:
        return str(error)


async def _purged(
    base: CoreParts, host: Host, entry: str, *, whole: bool = False
) -> dict[str, int]:
    """Purge what a command can; unless that is everything (``whole``), the portal does the rest."""
    purger = Purger(host.database, base.leases, base.kept(), now, whole=whole)
    try:
        return dict(await purger.purge(entry, _me()))
    except (Busy, PurgeFailed):
        return {}  # the portal does it


async def _tell(
    base: CoreParts, repository: Repository, found: dict[str, Any], context: CommandContext
) -> None:
    if context.json:
        context.emit({"name": repository.name, **found})
        return
    _say(context, messages.found(repository, found))
    example = await _example(base, repository)
    first = len(await base.repositories.all()) == 1
    _say(context, messages.next_steps(repository, example, context.url, first=first))


async def _example(base: CoreParts, repository: Repository) -> str:
    """A documented function with many callers, to ask about; or ""."""
    view = await base.store.view(repository.org, repository.id)
    if view is None:
        return ""
    graph = base.store.open(view)
    kinds = (EntityKind.FUNCTION, EntityKind.METHOD)
    entities = [each for _, each in await graph.page(0, _LOOKED_AT, kinds)]
    telling = {
        each.key: each
        for each in entities
        if each.doc and not each.test and not each.name.startswith("_") and "." not in each.name
    } or {each.key: each for each in entities if not each.test}
    callers = await graph.degrees(list(telling))
    ranked = sorted(telling.values(), key=lambda each: -callers[each.key][0])
    for each in ranked[:_EXAMPLES]:
        with suppress(ToolFailed):  # an ambiguous name is no good example
            if not (await entity_lookup.find(graph, each.qualified, prefer=True)).others:
                return each.qualified
    return ""


def _say(context: CommandContext, lines: Iterable[str]) -> None:
    for line in lines:
        context.echo(line)


def _fail(context: CommandContext, reason: str, code: int) -> int:
    if context.json:
        context.emit({"error": reason})
    else:
        context.echo(reason)
    return code


def _sentence(reason: str) -> str:
    return reason if reason.endswith((".", "?", "!")) else f"{reason}."


def _me() -> str:
    return f"command:{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(2)}"
