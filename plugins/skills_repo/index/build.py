"""Builds the index of a source, reading each file once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from gateway.repositories import Entry, Repository
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.entries import (
    LAYOUT_VERSION,
    AgentEntry,
    DocEntry,
    FileEntry,
    Kind,
    SkillEntry,
    SourceIndex,
    SourceTexts,
)
from plugins.skills_repo.index.frontmatter import Frontmatter, read

SKILL_FILE = "SKILL.md"
PAGE_SUFFIXES = (".md", ".mdx")
MAX_BODY_CHARS = 6_000
"""Characters of a skill's body that search reads."""

_FILES_PER_TURN = 16
REPOSITORY_FILES = frozenset(
    ("readme", "license", "contributing", "changelog", "code_of_conduct", "security")
)
"""Files among the agent profiles that are none, unless they have frontmatter."""

_HEADING = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_BETWEEN_TOOLS = re.compile(r",\s*|\s+")


Progress = Callable[[int], None]
"""Told how many files have been read."""


def source_fingerprint(source: Source) -> str:
    """Identifies what an index was built from: the place, its settings, and the code's version."""
    place = source.github or f"{source.directory}"
    parts: list[object] = [
        LAYOUT_VERSION,
        source.kind,
        place,
        source.ref or "",
        source.path,
        source.credential,
    ]
    if source.include or source.exclude:
        parts += [source.include, source.exclude]
    return ":".join(map(str, parts))


async def build(
    source: Source, repository: Repository, progress: Progress = lambda files: None
) -> tuple[SourceIndex, SourceTexts]:
    """Read a source whole, each file once, with the operator's credential.

    Bodies of a source that each caller reads with a credential of their own are not kept: what
    is in them is nobody else's to find.

    Args:
        source: the source.
        repository: where it is.
        progress: told of every file that has been read.

    Raises:
        SourceFailed: it cannot be read to its end.
    """
    with_texts = source.credential != "caller"
    builder = Builder(source.name, source.kind, source_fingerprint(source), with_texts=with_texts)
    async with repository.snapshot() as snapshot:
        count = 0
        async for entry in snapshot.files(source.path):
            inside = entry.path[len(source.path) + 1 :] if source.path else entry.path
            builder.take(inside, entry)
            count += 1
            progress(count)
            if count % _FILES_PER_TURN == 0:
                await asyncio.sleep(0)  # Reading YAML takes a while, and others want a turn.
        left_out = [f"{each.path}: {each.reason}" for each in snapshot.left_out]
        return builder.done(snapshot.commit, left_out)


class Builder:
    """Takes the files of one source in, in any order, and makes its index.

    Args:
        source: the source's name.
        kind: what the source holds.
        settings: what names the place that is read.
        with_texts: whether bodies are kept for search.
    """

    def __init__(self, source: str, kind: Kind, settings: str, *, with_texts: bool = True) -> None:
        self._source = source
        self._kind = kind
        self._settings = settings
        self._with_texts = with_texts
        self._files: dict[str, FileEntry] = {}
        self._skills: dict[str, Frontmatter] = {}
        self._bodies: dict[str, str] = {}
        self._agents: list[AgentEntry] = []
        self._docs: list[DocEntry] = []

    def take(self, path: str, entry: Entry) -> None:
        """Read one file.

        Args:
            path: from the source's root.
            entry: the file, as the snapshot found it.
        """
        if self._kind == "skills":
            self._take_skill_file(path, entry)
        elif path.endswith(PAGE_SUFFIXES):
            if self._kind == "agents":
                self._take_agent(path, _frontmatter(entry))
            else:
                self._docs.append(_doc(path, _frontmatter(entry)))

    def done(
        self, commit: str | None = None, passed_over: Sequence[str] = ()
    ) -> tuple[SourceIndex, SourceTexts]:
        """The index of all that was taken in, and the texts for search.

        Args:
            commit: the Git commit that was read, where there is one.
            passed_over: files that were not taken in, and why.
        """
        index = SourceIndex(
            source=self._source,
            kind=self._kind,
            commit=commit,
            built=datetime.now(UTC),
            passed_over=tuple(passed_over),
            settings=self._settings,
            skills=self._all_skills(),
            agents=tuple(sorted(self._agents, key=lambda each: each.path)),
            docs=tuple(sorted(self._docs, key=lambda each: each.path)),
        )
        return index, SourceTexts(bodies=self._bodies)

    def _take_skill_file(self, path: str, entry: Entry) -> None:
        self._files[path] = FileEntry(path=path, size=entry.size, sha256=entry.digest)
        directory, _, name = path.rpartition("/")
        if name == SKILL_FILE:
            found = _frontmatter(entry)
            if self._with_texts:
                self._bodies[directory] = found.body[:MAX_BODY_CHARS]
            self._skills[directory] = _without_body(found)

    def _all_skills(self) -> tuple[SkillEntry, ...]:
        files: dict[str, list[FileEntry]] = {directory: [] for directory in self._skills}
        for path, entry in self._files.items():
            for directory in _above(path):
                if directory in files:
                    inside = path[len(directory) + 1 :] if directory else path
                    files[directory].append(entry.model_copy(update={"path": inside}))
        return tuple(
            _skill(self._source, directory, found, files[directory])
            for directory, found in sorted(self._skills.items())
        )

    def _take_agent(self, path: str, found: Frontmatter) -> None:
        stem = PurePosixPath(path).stem
        if not found.present and stem.lower() in REPOSITORY_FILES:
            return
        self._agents.append(
            AgentEntry(
                path=path,
                name=found.text("name") or stem,
                description=found.text("description"),
                model=found.text("model"),
                allowed_tools=_tools(found.fields),
                fault=_fault(found),
                slip=_slip(found),
            )
        )


def _frontmatter(entry: Entry) -> Frontmatter:
    if entry.content is None:
        return Frontmatter(fault=f"its {entry.size} bytes are more than max_file allows")
    return read(entry.content)


def _above(path: str) -> list[str]:
    """The directories that hold a path, the root as an empty text."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:count]) for count in range(len(parts) + 1)]


def _without_body(found: Frontmatter) -> Frontmatter:
    return replace(found, lines={}, body="", body_line=1)


def _skill(source: str, directory: str, found: Frontmatter, files: list[FileEntry]) -> SkillEntry:
    by_path = {each.path: each for each in files}
    skill_file = by_path.pop(SKILL_FILE)
    return SkillEntry(
        directory=directory,
        name=found.text("name") or directory.rpartition("/")[2] or source,
        description=found.text("description"),
        argument_hint=_hint(found.fields.get("argument-hint")),
        user_invocable=_is_true(found.fields.get("user-invocable", True)),
        files=tuple(by_path[path] for path in sorted(by_path)),
        skill_file=skill_file,
        frontmatter=found.fields,
        fault=_fault(found),
        slip=_slip(found),
    )


def _doc(path: str, found: Frontmatter) -> DocEntry:
    heading = _HEADING.search(found.body[:20_000])
    return DocEntry(
        path=path,
        title=found.text("title") or (heading[1] if heading else None),
        description=found.text("description"),
        fault=_fault(found),
        slip=_slip(found),
    )


def _fault(found: Frontmatter) -> str:
    return f"line {found.fault_line}: {found.fault}" if found.fault else ""


def _slip(found: Frontmatter) -> str:
    return f"line {found.fault_line}: {found.slip}" if found.slip else ""


def _hint(value: Any) -> str | None:
    """An argument hint; unquoted, as in ``[file]``, YAML takes it for a list."""
    if isinstance(value, list):
        return "[" + ", ".join(str(each) for each in value) + "]"
    return None if value in (None, "", {}) else str(value)


def _is_true(value: Any) -> bool:
    return str(value).strip().lower() not in ("false", "no", "off", "0")


def _tools(fields: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The tools an agent may use, however they are written; None where nothing is said."""
    for key in ("tools", "allowed-tools", "allowedTools"):
        value = fields.get(key)
        if isinstance(value, list):
            return tuple(str(each).strip() for each in value if each not in (None, ""))
        if isinstance(value, str) and value.strip():
            return _words(value.strip())
    return None


def _words(text: str) -> tuple[str, ...]:
    """Tool names between commas or spaces; ``Bash(git add:*)`` is one."""
    found, depth, current = [], 0, ""
    for part in re.split(r"([,\s()])", text):
        depth += (part == "(") - (part == ")")
        if depth <= 0 and part and _BETWEEN_TOOLS.fullmatch(part):
            found.append(current)
            current = ""
        else:
            current += part
    return tuple(each.strip() for each in (*found, current) if each.strip())
