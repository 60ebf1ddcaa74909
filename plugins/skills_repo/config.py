"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, ByteSize, Field, model_validator

from gateway.contract import ConfigPath, Duration, PluginConfig, SecretRef, Tier
from plugins.skills_repo import paths

WEEKLY = "0 7 * * 6"
"""Saturday at 07:00 UTC (REQ-BUILD-005)."""

_MEBIBYTE = 1024 * 1024
_NAME = r"^[a-z0-9][a-z0-9-]{0,31}$"
_REPOSITORY = r"^[A-Za-z0-9](-?[A-Za-z0-9]){0,38}/\.{0,98}[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"
# What git-check-ref-format(1) refuses, and a leading hyphen, which would read as an option.
_NO_REF = re.compile(r"^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[/.]$|^@$")


def _folder(value: str) -> str:
    folder = value.removeprefix("./").strip("/")
    if folder in {"", "."}:
        return ""
    if reason := paths.problem(folder):
        raise ValueError(reason)
    return folder


def _name(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise ValueError("must be 1 to 32 of a to z, 0 to 9 and hyphens, and begin with no hyphen")
    return value


def _repository(value: str) -> str:
    if not re.fullmatch(_REPOSITORY, value):
        raise ValueError("must be owner/repo, as in the repository's address on GitHub")
    return value


def _branch(value: str) -> str:
    if not value or len(value) > 255 or _NO_REF.search(value):
        raise ValueError("is not the name of a branch, a tag or a commit")
    return value


def _api(value: str) -> str:
    try:
        parts = urlsplit(value)
        whole = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        whole = False
    if not whole or parts.username or parts.query or parts.fragment:
        raise ValueError("must be a whole address such as https://api.github.com")
    return value.rstrip("/")


_Repository = Annotated[
    str, AfterValidator(_repository), Field(json_schema_extra={"pattern": _REPOSITORY})
]


def _schedule(value: str) -> str:
    from croniter import croniter

    if not croniter.is_valid(value):
        raise ValueError('is no cron expression; write five fields, such as "0 7 * * 6"')
    return value


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
    github: _Repository | None = Field(
        None, description="A repository on GitHub, as owner/repo; or else give directory."
    )
    branch: Annotated[str, AfterValidator(_branch)] | None = Field(
        None,
        description="The branch; main for github if not given. For a directory that is a Git "
        "checkout, the committed state of this branch counts, not the files as they lie there.",
    )
    path: Annotated[str, AfterValidator(_folder)] = Field(
        "", description="The folder in the repository; its root if not given."
    )
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


class App(PluginConfig):
    """A GitHub App that may read the repositories; its tokens stay in memory."""

    id: int | str = Field(description="The App's id, or its client id.")
    installation: int = Field(gt=0, description="The id of its installation.")
    private_key: SecretRef = Field(description="Its private key (PEM), as env:NAME or file:PATH.")


class Github(PluginConfig):
    """How GitHub is reached, and the operator's own credential there."""

    api_url: Annotated[str, AfterValidator(_api)] = Field(
        "https://api.github.com", description="The API; that of a GitHub Enterprise server."
    )
    token: SecretRef | None = Field(
        None, description="The operator's token, as env:NAME or file:PATH; or else give app."
    )
    app: App | None = Field(None, description="A GitHub App; or else give token.")
    webhook_secret: SecretRef | None = Field(
        None, description="The secret of the push webhook, as env:NAME or file:PATH."
    )

    @model_validator(mode="after")
    def _is_one_credential(self) -> Self:
        if self.token is not None and self.app is not None:
            raise ValueError("give token or app, not both")
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
        if self.github.token is None and self.github.app is None:
            for source in self.sources:
                if source.credential == "app":
                    raise ValueError(f"source {source.name} needs github.token or github.app")
        return self
