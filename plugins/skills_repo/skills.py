"""The skills as the MCP Skills extension serves them (SEP-2640).

The extension takes only what conforms to the Agent Skills format. What does not is served by the
tools all the same, and named in health.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterator

from gateway.contract import Caller, Skill, SkillFile, Tier
from plugins.skills_repo.index.build import SKILL_FILE
from plugins.skills_repo.index.entries import FileEntry, SkillEntry
from plugins.skills_repo.index.library import Found, Library
from plugins.skills_repo.shelf import Shelf
from plugins.skills_repo.visible import rows_of

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
MOST_FILES = 512
MOST_BYTES = 16 * 1024 * 1024

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_TYPES = {".md": "text/markdown", ".mdx": "text/markdown"}


def skills(shelf: Shelf) -> list[Skill]:
    """Every skill that conforms, at ``skill://SOURCE/…/NAME``; NAME is the frontmatter's."""
    return [_skill(shelf, each, path) for each, path, why in _placed(shelf.library) if not why]


def left_out(library: Library) -> list[str]:
    """The skills that are not served so, each with the reason."""
    return [
        f"{each.source.name}/{each.entry.path}: {why}" for each, _, why in _placed(library) if why
    ]


def _placed(library: Library) -> Iterator[tuple[Found[SkillEntry], str, str]]:
    """Every skill, its path below ``skill://``, and why it cannot be served there if so."""
    taken: dict[str, str] = {}
    for each in library.skills(Tier.MEMBERS):
        path, reason = _path(each), problem(each.entry)
        if not reason and path in taken:
            reason = f"{taken[path]} in the same folder has the name {each.entry.name} already"
        if not reason:
            taken[path] = each.entry.directory
        yield each, path, reason


def _path(skill: Found[SkillEntry]) -> str:
    above = skill.entry.directory.split("/")[:-1]
    return "/".join((skill.source.name, *above, skill.entry.name))


def problem(entry: SkillEntry) -> str:
    """Why a skill does not conform to the Agent Skills format; an empty text where it does."""
    if entry.fault:
        return entry.fault
    name = entry.frontmatter.get("name")
    if reason := name_problem(name) or description_problem(entry.frontmatter.get("description")):
        return reason
    size = entry.skill_file.size + sum(each.size for each in entry.files)
    if len(entry.files) + 1 > MOST_FILES or size > MOST_BYTES:
        return f"it has more than {MOST_FILES} files or {MOST_BYTES} bytes"
    return ""


def name_problem(name: object) -> str:
    """What is wrong with the name in a skill's frontmatter, or an empty text."""
    if name in (None, ""):
        return "its frontmatter has no name"
    if not isinstance(name, str):
        return "its name is not a text; put quotes around it"
    if len(name) > LONGEST_NAME or not _NAME.fullmatch(name):
        return (
            f"its name {name[:80]!r} is not 1 to {LONGEST_NAME} lower-case letters and digits, "
            "with single hyphens between them"
        )
    return ""


def description_problem(description: object) -> str:
    """What is wrong with the description in a skill's frontmatter, or an empty text."""
    if description is None or (isinstance(description, str) and not description.strip()):
        return "its frontmatter has no description"
    if not isinstance(description, str):
        return "its description is not a text; put quotes around it"
    if len(description) > LONGEST_DESCRIPTION:
        return f"its description is longer than {LONGEST_DESCRIPTION} characters"
    return ""


def _skill(shelf: Shelf, skill: Found[SkillEntry], path: str) -> Skill:
    source, entry = skill.source, skill.entry
    files = [_file(each) for each in (entry.skill_file, *entry.files)]
    digests = {each.path: each.digest for each in files}

    async def read(file: str, caller: Caller) -> bytes:
        at = await shelf.read(source, entry.file(file), False, caller)
        content = at.reading.file.content
        if hashlib.sha256(content).hexdigest() != digests.get(file):
            shelf.out_of_step.add(source.name)
        return content

    return Skill(
        path=path,
        frontmatter=entry.frontmatter,
        files=files,
        read=read,
        tier=source.tier,
        floor=source.tier,
        rows=rows_of(source, entry.path),
    )


def _file(entry: FileEntry) -> SkillFile:
    path = entry.path or SKILL_FILE
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    guessed = _TYPES.get(ending) or mimetypes.guess_type(path, strict=False)[0]
    return SkillFile(path, entry.sha256, entry.size, guessed or "application/octet-stream")
