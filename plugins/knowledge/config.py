"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

import re
from typing import Self

from pydantic import ByteSize, Field, field_validator, model_validator

from gateway.contract import ConfigPath, PluginConfig, Tier
from plugins.knowledge.memory.governing import ApprovalRules
from plugins.knowledge.memory.roles import Roles
from plugins.knowledge.notes.content import ContentType
from plugins.knowledge.notes.paths import EXCLUDED

_NAME = r"^[a-z0-9][a-z0-9-]{0,39}$"
_MEBIBYTE = 1024 * 1024


class SourceConfig(PluginConfig):
    """Where notes come from: a directory, or a local Git checkout."""

    directory: ConfigPath = Field(description="The directory; a Git checkout is recognised.")
    name: str | None = Field(
        None,
        pattern=_NAME,
        description="Needed where there are several sources: the first part of its paths.",
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


class MemoryConfig(PluginConfig):
    """What agents may remember."""

    enabled: bool = Field(True, description="Whether agents can remember, and ask what they did.")
    roles: Roles = Field(Roles(), description="Who may do what.")
    approval: ApprovalRules = Field(
        ApprovalRules(), description="What a person has to allow before an agent does it."
    )


class KnowledgeConfig(PluginConfig):
    """What the knowledge plugin serves, and how its notes are read."""

    sources: tuple[SourceConfig, ...] = Field((), description="Where the notes come from.")
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
