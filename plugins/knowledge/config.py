"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ByteSize, Field, field_validator, model_validator

from gateway.contract import ConfigPath, PluginConfig, Tier
from gateway.repositories import BranchName, Github, RepositoryName
from plugins.knowledge.memory.rights.approval_rules import ApprovalRules
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.notes.content import ContentType
from plugins.knowledge.notes.paths import EXCLUDED

_NAME = r"^[a-z0-9][a-z0-9-]{0,39}$"
_MEBIBYTE = 1024 * 1024
EVERY_FIVE_MINUTES = "*/5 * * * *"
EVERY_TEN_MINUTES = "*/10 * * * *"


def _schedule(value: str) -> str:
    from croniter import croniter

    if not croniter.is_valid(value):
        raise ValueError(
            f'is no cron expression; write five fields, such as "{EVERY_FIVE_MINUTES}"'
        )
    return value


class SourceConfig(PluginConfig):
    """Where notes come from: a directory, a local Git checkout, or a branch on GitHub."""

    directory: ConfigPath | None = Field(
        None, description="The directory; a Git checkout is recognised. Or else give github."
    )
    github: RepositoryName | None = Field(
        None, description="A repository on GitHub, as owner/repo; or else give directory."
    )
    branch: BranchName | None = Field(None, description="Its branch on GitHub; main if not given.")
    name: str | None = Field(
        None,
        pattern=_NAME,
        description="Needed where there are several sources: the first part of its paths.",
    )
    publish: Literal["marked", "all"] = Field(
        "marked",
        description="Which notes are served: those that say publish: true, or all but those that "
        "say publish: false. A draft never is.",
    )
    tier: Tier = Field(Tier.OPEN, description="The tier of a note that names none itself.")
    path_map: dict[str, ContentType] = Field(
        default_factory=dict,
        description="More folders and the type of the notes in them, {data/recipes: practice}.",
    )
    exclude: tuple[str, ...] = Field(
        tuple(EXCLUDED),
        description="Files that are no notes: /README.md at the root, *.draft.md anywhere, "
        "templates/ for a folder.",
    )

    @property
    def key(self) -> str:
        """What tells this source apart from the others: its directory, or repository and branch."""
        return str(self.directory) if self.directory else f"{self.github}@{self.branch or 'main'}"

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.directory is None) == (self.github is None):
            raise ValueError("give either directory or github")
        if self.directory is not None and self.branch is not None:
            raise ValueError("branch is for github; leave it out")
        return self


class MemoryConfig(PluginConfig):
    """What agents may remember."""

    enabled: bool = Field(True, description="Whether agents can remember, and ask what they did.")
    roles: Roles = Field(Roles(), description="Who may do what.")
    approval: ApprovalRules = Field(
        ApprovalRules(), description="What a person has to allow first."
    )
    upkeep: Annotated[str, AfterValidator(_schedule)] = Field(
        EVERY_TEN_MINUTES,
        description="When memory is kept in order: a cron expression in UTC.",
    )


class KnowledgeConfig(PluginConfig):
    """What the knowledge plugin serves, and how its notes are read."""

    sources: tuple[SourceConfig, ...] = Field((), description="Where the notes come from.")
    github: Github = Field(default_factory=Github, description="How GitHub is reached.")
    schedule: Annotated[str, AfterValidator(_schedule)] = Field(
        EVERY_FIVE_MINUTES,
        description="When GitHub is asked for what no push told of: a cron expression in UTC.",
    )
    types: dict[str, ContentType] = Field(
        default_factory=dict,
        description="Types that notes name and the ontology does not know, {concept: tag}.",
    )
    resource_namespace: str | None = Field(
        None,
        pattern=_NAME,
        description="The community's part in mcp://NAME/data/groups; the portal's name if not "
        "given.",
    )
    max_note: ByteSize = Field(
        ByteSize(5 * _MEBIBYTE), gt=0, description="The largest note, such as 5MiB."
    )

    @field_validator("types")
    @classmethod
    def _lower_case(cls, types: dict[str, ContentType]) -> dict[str, ContentType]:
        return {word.lower(): type for word, type in types.items()}

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        if len(names) > 1 and (None in names or len(set(names)) < len(names)):
            raise ValueError("give each source a name of its own, so that their paths differ")
        return self

    memory: MemoryConfig = Field(
        MemoryConfig(), description="What agents may remember, beside the notes."
    )

    def namespace(self, portal: str) -> str:
        """The community's part of the resource URIs.

        Args:
            portal: the portal's name, which stands in where no ``resource_namespace`` is given.
        """
        slug = re.sub(r"[^a-z0-9]+", "-", portal.lower()).strip("-")
        return self.resource_namespace or slug[:40] or "portal"
