"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ByteSize,
    Field,
    field_validator,
    model_validator,
)

from gateway.contract import ConfigPath, PluginConfig, Tier
from gateway.repositories import BranchName, Github, RepositoryName
from plugins.knowledge.memory.rights.approval_rules import ApprovalRules
from plugins.knowledge.memory.rights.extraction_rules import ExtractionRules
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.notes.conversion import KINDS
from plugins.knowledge.notes.layouts import recognise
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


def _lower_case(types: dict[str, ContentType]) -> dict[str, ContentType]:
    return {word.lower(): type for word, type in types.items()}


def _which(value: object) -> object:
    """What ``publish`` may be, as one thing to say of what it is not."""
    paths = isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)
    if paths or value in ("marked", "all"):
        return value
    raise ValueError("must be marked, all or a list of paths; for every page write all")


FieldName = Annotated[str, Field(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]{0,63}$")]


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
    layout: Literal["none", "auto"] = Field(
        "none",
        description="auto: what the directory looks like (Obsidian, MkDocs, Docusaurus, Hugo, "
        "Jekyll, Starlight, VitePress, Sphinx, mdBook, GitBook, plain files) decides the keys "
        "below that are not given.",
    )
    publish: Annotated[Literal["marked", "all"] | tuple[str, ...], BeforeValidator(_which)] = Field(
        "marked",
        description="Which notes are served: those that say publish: true (marked); all but those "
        "that say publish: false; or, of a list, those under such paths too. A draft never is.",
    )
    tier: Tier = Field(Tier.OPEN, description="The tier of a note that names none itself.")
    path_map: dict[str, ContentType] = Field(
        default_factory=dict,
        description="More folders, or patterns of paths, and the type of the notes in them: "
        "{data/recipes: practice, 'docs/*/runbook-*': playbook}.",
    )
    types: dict[str, ContentType] = Field(
        default_factory=dict,
        description="Types that this source's notes name, beside those of all: "
        "{standards track: protocol}.",
    )
    map: dict[FieldName, str] = Field(
        default_factory=dict,
        description="Fields that notes call by another name, {title: name}; a dot leads into a "
        "mapping, {date: last_update.date}.",
    )
    ids: Literal["name", "path"] = Field(
        "name",
        description="What a document is called by: its file's name, or its whole path, for trees "
        "in which names come twice.",
    )
    inline_tags: bool = Field(
        False,
        description="Whether #garden in a note's text is a tag of it, as in Obsidian.",
    )
    documents: bool | tuple[str, ...] = Field(
        False,
        description="Whether PDF, DOCX, HTML and EPUB files are read too, or which of them: "
        "[pdf, docx]; `make documents` installs what converts them.",
    )
    drafts: bool = Field(
        False,
        description="Whether members may draft pages for it: as a pull request on GitHub, in a "
        "directory as a file of drafts_folder.",
    )
    drafts_folder: str = Field(
        "drafts",
        pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]*(/[A-Za-z0-9][A-Za-z0-9_-]*)*$",
        description="Where drafts lie: a folder of the directory, of which nothing is served, or "
        "what the names of branches on GitHub begin with.",
    )
    include: tuple[str, ...] = Field(
        (), description="The files that alone are notes, such as /docs/; all if not given."
    )
    exclude: tuple[str, ...] = Field(
        tuple(EXCLUDED),
        description="Files that are no notes: /README.md at the root, *.draft.md anywhere, "
        "templates/ for a folder.",
    )

    @field_validator("types")
    @classmethod
    def _in_lower_case(cls, types: dict[str, ContentType]) -> dict[str, ContentType]:
        return _lower_case(types)

    @field_validator("documents")
    @classmethod
    def _are_known(cls, documents: bool | tuple[str, ...]) -> bool | tuple[str, ...]:
        kinds = () if isinstance(documents, bool) else documents
        if unknown := [one for one in kinds if one not in KINDS]:
            raise ValueError(f"{unknown[0]!r} is none of {', '.join(KINDS)}")
        return documents

    @property
    def key(self) -> str:
        """What tells this source apart from the others: its directory, or repository and branch."""
        return str(self.directory) if self.directory else f"{self.github}@{self.branch or 'main'}"

    def laid_out(self) -> SourceConfig:
        """The source with what its directory looks like, where ``layout: auto`` asks; blocks."""
        if self.layout == "none" or self.directory is None:
            return self
        proposed = dict(recognise(self.directory).settings)
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return SourceConfig.model_validate({**proposed, **given, "layout": "none"})

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.directory is None) == (self.github is None):
            raise ValueError("give either directory or github")
        if self.directory is not None and self.branch is not None:
            raise ValueError("branch is for github; leave it out")
        if self.github is not None and self.layout == "auto":
            raise ValueError(
                "layout: auto is for directories; run `porch knowledge check` in a checkout, and "
                "paste what it proposes"
            )
        return self


class MemoryConfig(PluginConfig):
    """What agents may remember."""

    enabled: bool = Field(True, description="Whether agents can remember, and ask what they did.")
    roles: Roles = Field(Roles(), description="Who may do what.")
    approval: ApprovalRules = Field(
        ApprovalRules(), description="What a person has to allow first."
    )
    extraction: ExtractionRules = Field(
        ExtractionRules(),
        description="Who looks for what a conversation says, beside the rules; nobody if not "
        "given.",
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
    review_days: dict[ContentType, Annotated[int, Field(ge=1, le=36500)]] = Field(
        default_factory=dict,
        description="After how many days without a change or a look a document of a type asks its "
        "author to look at it, {practice: 365}; a parent type counts for its children.",
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
    def _in_lower_case(cls, types: dict[str, ContentType]) -> dict[str, ContentType]:
        return _lower_case(types)

    @model_validator(mode="after")
    def _names_are_unique(self) -> Self:
        names = [source.name for source in self.sources]
        if len(names) > 1 and (None in names or len(set(names)) < len(names)):
            raise ValueError("give each source a name of its own, so that their paths differ")
        return self

    memory: MemoryConfig = Field(
        MemoryConfig(), description="What agents may remember, beside the notes."
    )

    def laid_out(self) -> KnowledgeConfig:
        """The section with every source as its directory looks (:meth:`SourceConfig.laid_out`)."""
        return self.model_copy(update={"sources": tuple(one.laid_out() for one in self.sources)})

    def namespace(self, portal: str) -> str:
        """The community's part of the resource URIs.

        Args:
            portal: the portal's name, which stands in where no ``resource_namespace`` is given.
        """
        slug = re.sub(r"[^a-z0-9]+", "-", portal.lower()).strip("-")
        return self.resource_namespace or slug[:40] or "portal"
