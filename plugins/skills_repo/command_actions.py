"""What ``porch skills index`` and ``porch skills check`` do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gateway.contract import CommandContext, ToolFailed
from gateway.repositories import Repository
from gateway.toolkit.progress_bar import progress_bar
from plugins.skills_repo.command_arguments import CheckArgs, IndexArgs
from plugins.skills_repo.config import SkillsRepoConfig, Source
from plugins.skills_repo.index.build import SKILL_FILE, build
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.inspection import Inspection, Problem
from plugins.skills_repo.repositories import open_repositories


async def index(args: IndexArgs, context: CommandContext) -> int:
    """Build the index of every source; 1 where one cannot be read, 2 where there is none."""
    sources = selected(context, args.source)
    if not sources:
        return 2
    async with context.host() as host:
        store = IndexStore(host.objects)
        async with open_repositories(
            context.config, host.secret, sources, host.scrub
        ) as repositories:
            done = [await _index_source(each, repositories[each.name], store) for each in sources]
    if context.json:
        context.emit({"sources": done})
    else:
        for each in done:
            context.echo(_line(each))
    return 1 if any(each["error"] for each in done) else 0


async def _index_source(
    source: Source, repository: Repository, store: IndexStore
) -> dict[str, Any]:
    said: dict[str, Any] = {"source": source.name, "kind": source.kind, "entries": 0, "error": None}
    try:
        with progress_bar(unit="files") as tell:
            made, texts = await build(source, repository, lambda files: tell(source.name, files, 0))
        await store.save(made, texts)
    except ToolFailed as error:
        return said | {"error": error.message}
    except OSError as error:
        return said | {"error": f"The index cannot be kept: {error.strerror or error}."}
    return said | {
        "entries": len(made),
        "commit": made.commit,
        "unreadable": [*made.faults, *[f"{made.source}/{each}" for each in made.passed_over]],
    }


def _line(done: dict[str, Any]) -> str:
    if done["error"]:
        return f"{done['source']}: not indexed. {done['error']}"
    at = f" at {done['commit'][:12]}" if done["commit"] else ""
    count = done["entries"]
    kind = done["kind"].removesuffix("s") if count == 1 else done["kind"]
    lines = [f"{done['source']}: {count} {kind}{at}"]
    return "\n".join([*lines, *(f"  {fault}" for fault in done["unreadable"])])


async def check(args: CheckArgs, context: CommandContext) -> int:
    """Report what members should mend; 1 where there is something, 2 with nothing to look at."""
    sources = _to_check(args, context)
    if not sources:
        return 2
    problems: list[Problem] = []
    unread: dict[str, str] = {}
    counted = 0
    async with _repositories(context, sources) as repositories:
        for source in sources:
            try:
                found = await _inspect(source, repositories[source.name])
            except ToolFailed as error:
                unread[source.name] = error.message
                continue
            counted += found.count
            problems += [_with_local_path(source, problem) for problem in found.problems()]
    _report(context, problems, unread, counted)
    if args.directory is not None and not counted and not unread:
        context.echo(f"There is no {SKILL_FILE} in {args.directory}, nor below it.")
        return 2
    return 1 if problems or unread else 0


async def _inspect(source: Source, repository: Repository) -> Inspection:
    found = Inspection(source.kind)
    async with repository.snapshot() as snapshot:
        async for entry in snapshot.files(source.path):
            inside = entry.path[len(source.path) + 1 :] if source.path else entry.path
            found.take(inside, entry)
    return found


def _with_local_path(source: Source, problem: Problem) -> Problem:
    """The problem with the file's path from here, so that an editor can open it."""
    path = Path(source.directory or source.github or "") / source.path / problem.path
    if path.is_relative_to(Path.cwd()):
        path = path.relative_to(Path.cwd())
    return Problem(str(path), problem.line, problem.reason)


def _report(
    context: CommandContext, problems: Sequence[Problem], unread: Mapping[str, str], counted: int
) -> None:
    if context.json:
        listed = [asdict(each) for each in problems]
        context.emit({"checked": counted, "problems": listed, "unread": dict(unread)})
        return
    for problem in problems:
        context.echo(str(problem))
    for source, reason in unread.items():
        context.echo(f"{source}: {reason}")
    told = f"{len(problems)} problem{'s' * (len(problems) != 1)}"
    context.echo(f"{counted} file{'s' * (counted != 1)} checked, {told}.")


@asynccontextmanager
async def _repositories(context: CommandContext, sources: Sequence[Source]) -> AsyncGenerator[Any]:
    """The sources' repositories; services are opened only for a credential."""
    if all(source.directory is not None for source in sources):
        async with open_repositories(context.config, _no_secret, sources) as repositories:
            yield repositories
        return
    async with context.host() as host:
        async with open_repositories(
            context.config, host.secret, sources, host.scrub
        ) as repositories:
            yield repositories


def _no_secret(reference: str) -> str:
    raise ValueError(f"{reference} is not needed here")


def _to_check(args: CheckArgs, context: CommandContext) -> Sequence[Source]:
    if args.directory is None:
        return selected(context, args.source)
    if not args.directory.is_dir():
        context.echo(f"The directory {args.directory} is not there; name another.")
        return ()
    return (Source(name="directory", kind="skills", directory=args.directory),)


def selected(context: CommandContext, name: str | None) -> Sequence[Source]:
    """The configured sources, or the one of a name; none where there is none, which is said."""
    config: SkillsRepoConfig = context.config
    chosen = [each for each in config.sources if name in (None, each.name)]
    if not chosen:
        known = ", ".join(each.name for each in config.sources)
        context.echo(
            f"There is no source {name}; there are {known}."
            if known
            else "No source is configured; add one under plugins: skills_repo: in portal.yaml."
        )
    return chosen
