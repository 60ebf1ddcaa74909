"""What an index holds of each skill, agent and page, and how it is kept as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Kind = Literal["skills", "agents", "docs"]

LAYOUT_VERSION = 4
"""The version of the index files: one of another version is built anew."""


class _StoredModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class FileEntry(_StoredModel):
    """A file of a skill: its path from the skill's directory, its bytes and their SHA-256."""

    path: str
    size: int
    sha256: str


class SkillEntry(_StoredModel):
    """A skill, from the frontmatter of its SKILL.md.

    Attributes:
        directory: from the source's root; empty where the source is itself one skill.
        name: the frontmatter's, or else the directory's.
        files: every file but SKILL.md, by path.
        skill_file: SKILL.md itself.
        frontmatter: all of it, in JSON values.
        fault: why the frontmatter cannot be read, with its line, or an empty text.
        slip: why it is no YAML, with its line, where its lines were read one by one.
    """

    directory: str
    name: str
    description: str | None
    argument_hint: str | None = None
    user_invocable: bool = True
    files: tuple[FileEntry, ...] = ()
    skill_file: FileEntry
    frontmatter: Mapping[str, Any] = {}
    fault: str = ""
    slip: str = ""

    @property
    def folder(self) -> str:
        """The name of the skill's own directory."""
        return self.directory.rpartition("/")[2]

    @property
    def names(self) -> tuple[str, ...]:
        """What it is found by, the surest first: its directory, its name, its own folder."""
        return tuple(dict.fromkeys(n for n in (self.directory, self.name, self.folder) if n))

    @property
    def path(self) -> str:
        """The path of SKILL.md from the source's root."""
        return self.file("SKILL.md")

    def file(self, path: str) -> str:
        """The path, from the source's root, of one of its files."""
        return f"{self.directory}/{path}" if self.directory else path


class AgentEntry(_StoredModel):
    """An agent profile, from the frontmatter of its file; ``path`` is from the source's root."""

    path: str
    name: str
    description: str | None
    model: str | None = None
    allowed_tools: tuple[str, ...] | None = None
    fault: str = ""
    slip: str = ""

    @property
    def stem(self) -> str:
        """The path without its ending: what ``get_agent`` makes a path of."""
        return self.path.rpartition(".")[0]

    @property
    def names(self) -> tuple[str, ...]:
        """What it is found by, the surest first: its path, its name, its file's own name."""
        return tuple(dict.fromkeys((self.stem, self.name, self.stem.rpartition("/")[2])))


class DocEntry(_StoredModel):
    """A page; ``path`` is its file's path from the source's root."""

    path: str
    title: str | None
    description: str | None
    fault: str = ""
    slip: str = ""


class SourceIndex(_StoredModel):
    """All of one source.

    Attributes:
        source: the source's name.
        kind: which of the three lists is filled.
        commit: the Git commit that was read, where there is one.
        built: when, in UTC.
        settings: what names the place that was read; when it changes, so does the index.
        passed_over: files that were not read, such as links that lead elsewhere, and why.
    """

    layout: int = LAYOUT_VERSION
    source: str
    kind: Kind
    commit: str | None = None
    built: datetime | None = None
    settings: str = ""
    passed_over: tuple[str, ...] = ()
    skills: tuple[SkillEntry, ...] = ()
    agents: tuple[AgentEntry, ...] = ()
    docs: tuple[DocEntry, ...] = ()

    def __len__(self) -> int:
        return len(self.skills) + len(self.agents) + len(self.docs)

    def says_as(self, other: SourceIndex) -> bool:
        """Whether another index, whenever it was built, says the same."""
        return self.model_copy(update={"built": other.built}) == other

    @property
    def entries(self) -> tuple[SkillEntry | AgentEntry | DocEntry, ...]:
        """Everything that is indexed."""
        return (*self.skills, *self.agents, *self.docs)

    @property
    def faults(self) -> list[str]:
        """The files whose frontmatter cannot be read, and why."""
        return [f"{self.source}/{each.path}: {each.fault}" for each in self.entries if each.fault]

    @property
    def slips(self) -> list[str]:
        """The files whose frontmatter is no YAML and was read line by line, and why."""
        return [f"{self.source}/{each.path}: {each.slip}" for each in self.entries if each.slip]


class SourceTexts(_StoredModel):
    """What search reads of a source beside its index: the beginning of each skill's body."""

    layout: int = LAYOUT_VERSION
    bodies: Mapping[str, str] = {}
