"""The skills as the MCP Skills extension serves them (SEP-2640).

The extension takes only what conforms to the Agent Skills format. What does not is served by the
tools all the same, and named in health.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

from gateway.contract import Caller, Skill, SkillFile, Tier
from plugins.skills_repo.catalogue import Catalogue, ReadRequest
from plugins.skills_repo.index.build import SKILL_FILE
from plugins.skills_repo.index.entries import FileEntry, SkillEntry
from plugins.skills_repo.index.library import Found, Library
from plugins.skills_repo.media_types import media_type
from plugins.skills_repo.visibility import rows_of

MAX_NAME_CHARS = 64
MAX_DESCRIPTION_CHARS = 1024
MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def skills(catalogue: Catalogue) -> list[Skill]:
    """Every skill that conforms, at ``skill://SOURCE/…/NAME``; NAME is the frontmatter's."""
    return [
        _skill(catalogue, each, path)
        for each, path, why in _with_paths(catalogue.library)
        if not why
    ]


def nonconforming(library: Library) -> list[str]:
    """The skills that are not served so, each with the reason."""
    return [
        f"{each.source.name}/{each.entry.path}: {why}"
        for each, _, why in _with_paths(library)
        if why
    ]


def _with_paths(library: Library) -> Iterator[tuple[Found[SkillEntry], str, str]]:
    """Every skill, its path below ``skill://``, and why it cannot be served there if so."""
    taken: dict[str, str] = {}
    for each in library.skills(Tier.MEMBERS):
        path, reason = _path(each), conformance_problem(each.entry)
        if not reason and path in taken:
            reason = f"{taken[path]} in the same folder has the name {each.entry.name} already"
        if not reason:
            taken[path] = each.entry.directory
        yield each, path, reason


def _path(skill: Found[SkillEntry]) -> str:
    above = skill.entry.directory.split("/")[:-1]
    return "/".join((skill.source.name, *above, skill.entry.name))


def conformance_problem(entry: SkillEntry) -> str:
    """Why a skill does not conform to the Agent Skills format; an empty text where it does."""
    if entry.fault:
        return entry.fault
    name = entry.frontmatter.get("name")
    if reason := name_problem(name) or description_problem(entry.frontmatter.get("description")):
        return reason
    size = entry.skill_file.size + sum(each.size for each in entry.files)
    if len(entry.files) + 1 > MAX_FILES or size > MAX_BYTES:
        return f"it has more than {MAX_FILES} files or {MAX_BYTES} bytes"
    return ""


def name_problem(name: object) -> str:
    """What is wrong with the name in a skill's frontmatter, or an empty text."""
    if name in (None, ""):
        return "its frontmatter has no name"
    if not isinstance(name, str):
        return "its name is not a text; put quotes around it"
    if len(name) > MAX_NAME_CHARS or not _NAME.fullmatch(name):
        return (
            f"its name {name[:80]!r} is not 1 to {MAX_NAME_CHARS} lower-case letters and digits, "
            "with single hyphens between them"
        )
    return ""


def description_problem(description: object) -> str:
    """What is wrong with the description in a skill's frontmatter, or an empty text."""
    if description is None or (isinstance(description, str) and not description.strip()):
        return "its frontmatter has no description"
    if not isinstance(description, str):
        return "its description is not a text; put quotes around it"
    if len(description) > MAX_DESCRIPTION_CHARS:
        return f"its description is longer than {MAX_DESCRIPTION_CHARS} characters"
    return ""


def _skill(catalogue: Catalogue, skill: Found[SkillEntry], path: str) -> Skill:
    source, entry = skill.source, skill.entry
    files = [_file(each) for each in (entry.skill_file, *entry.files)]
    digests = {each.path: each.digest for each in files}

    async def read(file: str, caller: Caller) -> bytes:
        at = await catalogue.read(source, entry.file(file), ReadRequest(caller))
        content = at.reading.file.content
        if hashlib.sha256(content).hexdigest() != digests.get(file):
            catalogue.out_of_step.add(source.name)
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
    return SkillFile(path, entry.sha256, entry.size, media_type(path))
