"""Each skill that people may start is a prompt: its text, with what they wrote after its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from gateway.contract import Caller, Prompt, Tier
from plugins.skills_repo.catalogue import Catalogue, ReadRequest
from plugins.skills_repo.index.entries import SkillEntry
from plugins.skills_repo.index.frontmatter import read
from plugins.skills_repo.index.library import Found
from plugins.skills_repo.lists import summary_line
from plugins.skills_repo.visibility import rows_of

MAX_NAME_CHARS = 45
"""Characters of a prompt's name that every client takes."""

_PLACE = "$ARGUMENTS"
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]+")


def prompts(catalogue: Catalogue) -> list[Prompt]:
    """A prompt for each skill that people may start."""
    started = [each for each in catalogue.library.skills(Tier.MEMBERS) if each.entry.user_invocable]
    return [_prompt(catalogue, each, name) for name, each in _with_unique_names(started)]


def _with_unique_names(
    skills: Iterable[Found[SkillEntry]],
) -> Iterator[tuple[str, Found[SkillEntry]]]:
    """Each skill with a name of its own: the source's in front where two have the same.

    One of whose names nothing is left that a prompt's may have is left out.
    """
    wanted = [(_slug(each.entry.name), each) for each in skills]
    counts = Counter(name for name, _ in wanted)
    taken: set[str] = set()
    for name, each in wanted:
        source, directory = each.source.name, each.entry.directory
        tried = [name] if counts[name] == 1 else [_slug(f"{source}-{name}")] if name else []
        for own in (*tried, _slug(directory), _slug(f"{source}-{directory}")):
            if own and own not in taken and own != source:
                taken.add(own)
                yield own, each
                break


def _slug(name: str) -> str:
    return _NO_NAME.sub("-", name).strip("-")[:MAX_NAME_CHARS].rstrip("-")


def _prompt(catalogue: Catalogue, skill: Found[SkillEntry], name: str) -> Prompt:
    source, entry = skill.source, skill.entry

    async def render(args: Any, caller: Caller) -> str:
        text = (await catalogue.read(source, entry.path, ReadRequest(caller))).text
        return _with_arguments(read(text.encode()).body.strip(), args.arguments)

    return Prompt(
        name=name,
        summary=summary_line(entry.description) or f"The skill {entry.name}.",
        render=render,
        args=_arguments(entry.argument_hint),
        tier=source.tier,
        floor=source.tier,
        title=entry.name,
        rows=rows_of(source, entry.path),
    )


def _with_arguments(body: str, arguments: str) -> str:
    """The skill's text, with the arguments where it asks for them, or else below it."""
    if _PLACE in body:
        return body.replace(_PLACE, arguments)
    return f"{body}\n\nArguments: {arguments}" if arguments else body


@lru_cache(maxsize=1024)
def _arguments(hint: str | None) -> type[BaseModel]:
    """The one argument; skills with the same hint share the model, which is slow to make."""
    described = f"What the skill should work on: {hint}" if hint else "What it should work on."
    return create_model(
        "SkillArguments",
        __config__=ConfigDict(extra="forbid"),
        arguments=(str, Field("", description=described)),
    )
