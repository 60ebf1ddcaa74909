"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ByteSize, Field, model_validator

from gateway.contract import ConfigPath, Duration, PluginConfig, Tier
from gateway.repositories import BranchName, FolderPath, Github, RepositoryName

WEEKLY = "0 7 * * 6"
"""Saturday at 07:00 UTC (REQ-BUILD-005)."""

_MEBIBYTE = 1024 * 1024
_NAME = r"^[a-z0-9][a-z0-9-]{0,31}$"


def _name(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise ValueError("must be 1 to 32 of a to z, 0 to 9 and hyphens, and begin with no hyphen")
    return value


def _schedule(value: str) -> str:
    from croniter import croniter

    if not croniter.is_valid(value):
        raise ValueError('is no cron expression; write five fields, such as "0 7 * * 6"')
    return value


def _glob(value: str) -> str:
    glob = value.strip().removeprefix("./").rstrip("/")
    if not glob or glob.startswith("/") or "\\" in glob or ".." in glob.split("/"):
        raise ValueError("must be a glob below the source's path, such as plugins/*/agents/*.md")
    return glob


Globs = tuple[Annotated[str, AfterValidator(_glob)], ...]


class Source(PluginConfig):
    """One folder of one repository that holds skills, agents or docs."""

    name: Annotated[str, AfterValidator(_name)] = Field(
        json_schema_extra={"pattern": _NAME},
        description="Tells its entries apart from those of other sources; each has its own.",
    )
    kind: Literal["skills", "agents", "docs"] = Field(description="What it holds.")
    directory: ConfigPath | None = Field(
        None, description="A directory on this machine; or else give github."
    )
    github: RepositoryName | None = Field(
        None, description="A repository on GitHub, as owner/repo; or else give directory."
    )
    branch: BranchName | None = Field(
        None,
        description="The branch; main for github if not given. For a directory that is a Git "
        "checkout, the committed state of this branch counts, not the files as they lie there.",
    )
    path: FolderPath = Field("", description="The folder in the repository; its root if not given.")
    include: Globs = Field(
        (),
        description="Globs below path, such as plugins/*/agents/*.md: only the files that one of "
        "them matches are there, and all that is in a folder that one matches. * ends at a "
        "slash, ** is any number of folders. Everything if not given.",
    )
    exclude: Globs = Field((), description="Globs as in include, of what is not there after all.")
    credential: Literal["none", "app", "caller"] = Field(
        "none",
        description="Whose GitHub credential reads a file: nobody's, the operator's (github.token "
        "or github.app), or the caller's own. The index is built with the operator's.",
    )
    tier: Tier = Field(Tier.MEMBERS, description="The tier that may see its entries.")

    @property
    def ref(self) -> str | None:
        """The branch that is read, or None for a directory as it lies there."""
        return self.branch or ("main" if self.github else None)

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.directory is None) == (self.github is None):
            raise ValueError("give either directory or github")
        if self.directory is not None and self.credential != "none":
            raise ValueError(f"credential: {self.credential} is for github; leave it out")
        return self


class SkillsRepoConfig(PluginConfig):
    """Where skills, agents and docs come from, and how they are read."""

    sources: tuple[Source, ...] = Field((), description="The repositories' folders.")
    github: Github = Field(default_factory=Github, description="How GitHub is reached.")
    schedule: Annotated[str, AfterValidator(_schedule)] = Field(
        WEEKLY, description="When the index is built anew: a cron expression in UTC."
    )
    cache: Duration = Field(
        timedelta(minutes=10), description="How long a file that was read is served from memory."
    )
    max_file: ByteSize = Field(
        ByteSize(_MEBIBYTE), gt=0, description="The largest file that is served, such as 1MiB."
    )

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [source.name for source in self.sources]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two sources are called {twice[0]}; give each a name of its own")
        return self

    @model_validator(mode="after")
    def _has_the_operators_credential(self) -> Self:
        if not self.github.has_credential:
            for source in self.sources:
                if source.credential == "app":
                    raise ValueError(f"source {source.name} needs github.token or github.app")
        return self
