"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ByteSize, Field, model_validator

from gateway.contract import ConfigPath, Duration, PluginConfig, SecretRef, Tier
from plugins.codegraph.repositories import urls

_GIBIBYTE = 1024**3


def _name(text: str) -> str:
    return urls.checked_name(text)


def _url(text: str) -> str:
    return urls.checked_url(text)


def _branch(text: str) -> str:
    return urls.checked_branch(text)


class Host(PluginConfig):
    """How one host of Git repositories is reached."""

    token: SecretRef | None = Field(
        None, description="A token that may read its repositories, as env:NAME or file:PATH."
    )
    user: str = Field(
        "x-access-token",
        pattern=r"^[^:\s]{1,100}$",
        description="The user name that goes with the token; GitLab wants oauth2.",
    )
    webhook_secret: SecretRef | None = Field(
        None,
        description="The secret of the push webhook of its repositories, as env:NAME or "
        "file:PATH; a push is then indexed at once.",
    )
    ca_file: ConfigPath | None = Field(
        None, description="Certificates of the authorities that vouch for it (PEM)."
    )


class Declared(PluginConfig):
    """A repository that is served because it stands here."""

    path: ConfigPath | None = Field(
        None, description="A directory on this machine; its working tree is served."
    )
    url: Annotated[str, AfterValidator(_url)] | None = Field(
        None, description="An https address; a working copy of it is kept. Or else give path."
    )
    name: Annotated[str, AfterValidator(_name)] | None = Field(
        None, description="What it is called; the last segment of path or url if not given."
    )
    branch: Annotated[str, AfterValidator(_branch)] | None = Field(
        None, description="The branch of a url; the host's default one if not given."
    )
    tier: Tier | None = Field(None, description="The tier that may see it; else default_tier.")
    groups: tuple[str, ...] = Field(
        (), description="Who of that tier may see it: those of one of these groups; empty for all."
    )

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.path is None) == (self.url is None):
            raise ValueError("give either path or url")
        if self.path is not None and self.branch is not None:
            raise ValueError("branch is for url; a path is served as its working tree lies there")
        self.called()
        return self

    def called(self) -> str:
        """Its name.

        Raises:
            BadAddress: neither the name nor the last segment of the location is valid.
        """
        return self.name or urls.name_from(self.url or str(self.path))


class JustificationRules(PluginConfig):
    """Who is asked what code is for, beside the rules; nobody where nothing is said."""

    model: bool = Field(
        False,
        description="Whether the portal's models are asked (roles simple and complex), where facts "
        "are unsure or say nothing; `porch codegraph justify --estimate` says what that costs.",
    )
    agents: bool = Field(
        False,
        description="Whether it becomes work for members' agents, where no model answers "
        "(take_work).",
    )


class CodegraphConfig(PluginConfig):
    """Which repositories are indexed, who may add them, and how much they may cost."""

    repositories: tuple[Declared, ...] = Field(
        (), description="Repositories that are served because they stand here."
    )
    hosts: dict[Annotated[str, AfterValidator(str.lower)], Host] = Field(
        default_factory=dict,
        description="The hosts whose repositories an admin may add over REST, such as github.com "
        "or git.example.org:8443, and how each is reached.",
    )
    default_tier: Tier | None = Field(
        None,
        description="The tier that may see a repository that names none: members, or open while "
        "the portal is for this machine alone.",
    )
    refresh: Duration | None = Field(
        timedelta(hours=1), description="How often repositories of other hosts are fetched."
    )
    fetch_timeout: Duration = Field(
        timedelta(minutes=15), description="How long one fetch may take."
    )
    largest_copy: ByteSize = Field(
        ByteSize(4 * _GIBIBYTE), gt=0, description="The largest working copy, such as 4GiB."
    )
    most_files: int = Field(
        200_000, gt=0, description="The most files of a repository that are indexed."
    )
    most_branches: int = Field(
        8,
        gt=0,
        description="For how many branches of a repository, besides the indexed one, a graph is "
        "kept; the one that was asked about longest ago goes first.",
    )
    largest_file: ByteSize = Field(
        ByteSize(2 * 1024**2), gt=0, description="The largest file that is indexed, such as 2MiB."
    )
    workspace_hours: int = Field(
        12,
        ge=1,
        le=24,
        description="Hours for which uncommitted work is kept after it was last sent.",
    )
    embeddings: bool = Field(
        True, description="Make vectors of the code, so that it is found by meaning too."
    )
    scip: Literal["auto", "off"] = Field(
        "auto",
        description="auto: where scip-python or scip-typescript is installed, it is run after a "
        "full index, and what it knows besides is added to the graph; off: never.",
    )

    justification: JustificationRules = Field(
        default_factory=JustificationRules,
        description="Who is asked what code is for, beside the rules.",
    )

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [each.called().lower() for each in self.repositories]
        if len(set(names)) < len(names):
            raise ValueError("repositories: give each one a name of its own")
        return self
