"""What ``porch skills install`` does."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.contract import CommandContext, ToolFailed
from gateway.repositories import LeftOut, checked_path
from plugins.skills_repo.client_places import ClientKind, ClientPlace, place, places
from plugins.skills_repo.command_actions import selected
from plugins.skills_repo.command_arguments import InstallArgs
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.entries import SkillEntry
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.installation import Outcome, Step, Wanted, planned, written
from plugins.skills_repo.repositories import open_repositories
from plugins.skills_repo.source_lookup import Content, Named, SourceLookup


@dataclass(frozen=True, slots=True)
class Goal:
    """Where something is to be.

    Attributes:
        place: where the client reads what is of its kind.
        name: its folder's name, or a profile's without an ending.
        root: what it may not lead out of.
        folder: where its files belong.
        files: the files, by their paths from the folder.
    """

    place: ClientPlace
    name: str
    root: Path
    folder: Path
    files: Sequence[Wanted]


async def install(args: InstallArgs, context: CommandContext) -> int:
    """Copy a skill or a profile to where a client reads it.

    Returns:
        1 where something that is there differs, or cannot be read or written; 2 where the command
        cannot be followed as it stands.
    """
    if problem := _problem(args):
        return _refused(context, problem, 2)
    sources = [each for each in selected(context, args.source) if each.kind != "docs"]
    if not sources:
        return 2
    try:
        found, content = await _read(args.name, context, sources)
        goal = _goal(args, found, content)
        if goal is None:
            return _refused(context, _unread(args, found), 2)
        steps = await asyncio.to_thread(planned, goal.folder, goal.root, goal.files)
        kept = any(each.outcome is Outcome.DIFFERS for each in steps) and not args.force
        if not kept and not args.dry_run:
            steps = [await asyncio.to_thread(written, each) for each in steps]
    except ToolFailed as error:
        return _refused(context, error.message, 1)
    except OSError as error:
        why = f"{error.filename} cannot be read or written: {error.strerror}."
        return _refused(context, why, 1)
    _report(context, found, goal, steps, content.left_out)
    if not context.json:
        context.echo(f"\n{_next(args, goal, steps, kept)}")
    return 1 if kept else 0


def _problem(args: InstallArgs) -> str:
    if args.client is None:
        words = ", ".join(each.client.value for each in places("skills"))
        return f"Say which client is to read it: --client with one of {words}."
    if args.user and args.into is not None:
        return "--user is for your home directory and --into for a project: give one of them."
    if args.into is not None and not args.into.is_dir():
        return f"{args.into} is not a directory. Give the root of the project."
    return ""


def _refused(context: CommandContext, why: str, code: int) -> int:
    if context.json:
        context.emit({"error": why})
    else:
        context.echo(why)
    return code


async def _read(
    name: str, context: CommandContext, sources: Sequence[Source]
) -> tuple[Named, Content]:
    async with context.host() as host:
        async with open_repositories(
            context.config, host.secret, sources, host.scrub
        ) as repositories:
            lookup = SourceLookup(sources, repositories, IndexStore(host.objects))
            found = await lookup.find(name)
            return found, await lookup.read(found)


def _goal(args: InstallArgs, found: Named, content: Content) -> Goal | None:
    """Where it is to be; None where the client reads nothing of its kind."""
    kind = _kind(found)
    read_at = place(args.client, kind) if args.client is not None else None
    if read_at is None:
        return None
    name = _name(found)
    project = args.into or Path()
    above = Path.home() / read_at.user if args.user else project / read_at.project
    root = above if args.user else project
    if kind == "skills":
        return Goal(read_at, name, root, above / name, content.files)
    file = content.files[0]
    alone = Wanted(read_at.file.replace("{name}", name), file.content, file.executable)
    return Goal(read_at, name, root, above, [alone])


def _kind(found: Named) -> ClientKind:
    return "skills" if isinstance(found.entry, SkillEntry) else "agents"


def _name(found: Named) -> str:
    """The name of its folder, or of its file; raises ``ToolFailed`` where it can be none."""
    entry = found.entry
    if not isinstance(entry, SkillEntry):
        return entry.stem.rpartition("/")[2]
    name = checked_path(entry.folder or entry.name, "The skill's name")
    if "/" in name:
        message = f"{found.source.name} calls its skill {name}, which no folder can be called."
        raise ToolFailed("INVALID_PATH", message)
    return name


def _unread(args: InstallArgs, found: Named) -> str:
    kind = _kind(found)
    words = ", ".join(each.client.value for each in places(kind))
    title = args.client.label if args.client is not None else ""
    return f"{title} reads no agent profile as it is. Of the clients, these do: {words}."


def _report(
    context: CommandContext,
    found: Named,
    goal: Goal,
    steps: Sequence[Step],
    left_out: Sequence[LeftOut],
) -> None:
    if context.json:
        context.emit(_values(found, goal, steps, left_out))
        return
    for line in _lines(goal, steps, left_out):
        context.echo(line)


def _values(
    found: Named, goal: Goal, steps: Sequence[Step], left_out: Sequence[LeftOut]
) -> dict[str, Any]:
    return {
        "name": goal.name,
        "kind": goal.place.kind,
        "source": found.source.name,
        "client": goal.place.client.value,
        "folder": str(goal.folder),
        "files": [{"path": each.file.path, "outcome": each.outcome.value} for each in steps],
        "leftOut": [{"path": each.path, "reason": each.reason} for each in left_out],
    }


def _lines(goal: Goal, steps: Sequence[Step], left_out: Sequence[LeftOut]) -> Iterator[str]:
    for each in steps:
        yield f"{each.outcome.value:<8}  {goal.folder / each.file.path}"
    for other in left_out:
        yield f"left out  {other.path}: {other.reason}"


def _next(args: InstallArgs, goal: Goal, steps: Sequence[Step], kept: bool) -> str:
    """What is so now, and what to do."""
    if kept:
        return (
            "Nothing was written: what is there differs, and may be someone's own work. "
            "--force replaces it."
        )
    if args.dry_run:
        return "Nothing was written. Leave out --dry-run to have it so."
    client = goal.place.client.label
    if all(each.outcome is Outcome.CURRENT for each in steps):
        return f"{client} has {goal.name} already."
    commit = "" if args.user else " Commit it for those who work on the project with you."
    return (
        f"Read {goal.name} before you let an agent follow it. {client} finds it when it starts "
        f"next.{commit}"
    )
