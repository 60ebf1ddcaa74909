"""What the protocol's operations take (Knowledge Provider, "OpenSpec Protocol Specification")."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, SkipValidation, model_validator

from gateway.toolkit.questions import MAX_QUESTION_CHARACTERS
from plugins.knowledge.memory.model.author import AUTHOR_FILTER
from plugins.knowledge.memory.model.entry import (
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
    SourceType,
)
from plugins.knowledge.memory.model.fields import (
    Flag,
    LastMoment,
    Number,
    Part,
    UtcMoment,
    Whole,
    check_span,
)
from plugins.knowledge.memory.model.outcomes import BatchOperation
from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig
from plugins.knowledge.memory.model.validity import (
    ANY_TIME,
    DECISIONS,
    MAX_RELATIONS,
    Relation,
    Validity,
)

MAX_ENTRY_BYTES = 256 * 1024
"""Bytes of an entry's content, as UTF-8."""
MAX_METADATA_CHARACTERS = 64 * 1024
"""Characters of what is said about an entry, as JSON: each value of a custom field is indexed."""
QUERIES_PER_MINUTE = 600
"""How often one caller may ask, where the admin has set nothing else."""
MAX_RESULTS = 100
MAX_OFFSET = 10_000
"""Results that an offset can skip."""
MAX_BATCH_ENTRIES = 10_000
"""Entries."""
MAX_BATCH_BYTES = 20 * 1024 * 1024
"""Bytes: so many entries of 300 characters, whichever way those are written."""
CHOSEN_ID = re.compile(r"[A-Za-z0-9._~:-]{1,100}")
"""An id that a client may choose for an entry."""
RESERVED_IDS = frozenset(
    {
        ".",
        "..",
        "approvals",
        "batch",
        "create",
        "entries",
        "openapi.json",
        "query",
        "review",
        "stream",
    }
)
"""What stands in the paths of the API where an entry's id does."""
_NAME = Field(None, min_length=1, max_length=200)


class Sent(Part):
    """The base of what clients send: no text in it holds a NUL, which PostgreSQL cannot keep."""

    @model_validator(mode="before")
    @classmethod
    def _without_nul(cls, given: Any) -> Any:
        if place := next(_with_nul(given, ""), None):
            raise ValueError(f"{place} holds a NUL character; leave it out")
        return given


def _with_nul(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, str) and "\0" in value:
        yield place.removeprefix(".")
    elif isinstance(value, dict):
        for name, each in value.items():
            if "\0" in name:
                yield f"a name in {place.removeprefix('.') or 'the body'}"
            yield from _with_nul(each, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, each in enumerate(value):
            yield from _with_nul(each, f"{place}.{number}")


class Mode(StrEnum):
    """How a question is answered."""

    SEMANTIC = "semantic"
    KEYWORD = "keyword"
    HYBRID = "hybrid"


class Metric(StrEnum):
    """A distance metric."""

    COSINE = "cosine"
    EUCLIDEAN = "euclidean"
    DOT = "dot"


class QueryFilters(Part):
    """What an entry must be; all that are given must hold."""

    source_type: SourceType | None = None
    access_policy: AccessPolicy | None = None
    created_after: UtcMoment | None = None
    created_before: LastMoment | None = None
    or_happened: Flag = Field(
        False,
        description="Whether what happened or was said in that time counts too, whenever it was "
        "written.",
    )
    tags: tuple[str, ...] = Field((), max_length=100, description="At least one of these.")
    author: str | None = Field(None, min_length=1, max_length=200, description=AUTHOR_FILTER)
    mine: Flag = Field(False, description="Only your own.")
    as_of: LastMoment | None = Field(None, description="What held then, rather than what does now.")
    custom_filters: dict[str, Any] = Field(
        default_factory=dict, max_length=20, description="Custom fields and the values they have."
    )

    @model_validator(mode="after")
    def _is_a_time(self) -> Self:
        check_span(self.created_after, self.created_before, ("created_after", "created_before"))
        return self


class QueryOptions(Part):
    """How many results, and what they carry."""

    limit: Whole = Field(10, ge=1, le=MAX_RESULTS)
    offset: Whole = Field(0, ge=0, le=MAX_OFFSET)
    distance_threshold: Number | None = Field(None, ge=0, le=2)
    distance_metric: Metric = Metric.COSINE
    include_content: Flag = True
    include_embeddings: Flag = False
    min_score: Number | None = Field(
        None, ge=0, le=1, description="Results with a lower score do not count; all where not said."
    )
    nearest: Whole = Field(
        0, ge=0, le=10, description="Of those below min_score, how many are shown apart."
    )
    top_k: Whole | None = Field(
        None, ge=1, le=MAX_RESULTS, description="How many answers of a layer are compared."
    )


class QueryLayers(Part):
    """Which layers are asked, and whose."""

    types: tuple[Layer, ...] = Field((), description="All but the archive where none is named.")
    agent_id: str | None = _NAME
    user_id: str | None = _NAME


class QueryRequest(Sent):
    """A question."""

    query: str = Field(
        min_length=1, max_length=MAX_QUESTION_CHARACTERS, json_schema_extra={"pattern": r"\S"}
    )
    mode: Mode = Mode.HYBRID
    filters: QueryFilters = QueryFilters()
    options: QueryOptions = QueryOptions()
    layer: QueryLayers = QueryLayers()

    def archived(self) -> QueryRequest:
        """The same, put to the archive, for how many fit there alone: none of them is shown."""
        update = {
            "layer": self.layer.model_copy(update={"types": (Layer.ARCHIVAL,)}),
            "options": self.options.model_copy(
                update={"limit": 1, "offset": MAX_OFFSET, "top_k": MAX_RESULTS, "nearest": 0}
            ),
        }
        return self.model_copy(update=update)


class RelationDraft(Part):
    """How an entry goes together with an earlier one."""

    kind: Relation
    target: str = Field(min_length=1, max_length=200, description="The id of the other one.")

    @model_validator(mode="after")
    def _is_decided(self) -> Self:
        if self.kind not in DECISIONS:
            raise ValueError(f"kind is one of {', '.join(DECISIONS)}")
        return self


class EntryDraft(Part):
    """An entry as a client sends it: without what the provider gives it."""

    content: str = Field(min_length=1)
    embedding: tuple[Number, ...] | None = None
    metadata: KnowledgeMetadata = KnowledgeMetadata()
    source: KnowledgeSource = KnowledgeSource()
    access_policy: AccessPolicy = AccessPolicy.PRIVATE
    version: Whole | None = Field(
        None, ge=1, description="Of an update: the version it began with."
    )
    validity: Validity = Field(ANY_TIME, description="When it happened, and when it holds.")
    created_at: UtcMoment | None = Field(
        None, description="Of an import: when it was first written; now where nothing is said."
    )
    relations: tuple[RelationDraft, ...] = Field(
        (), max_length=MAX_RELATIONS, description="Of a new entry: what it supersedes, and so on."
    )


class TargetLayer(Part):
    """Where an entry goes."""

    type: Layer
    agent_id: str | None = _NAME
    user_id: str | None = _NAME


class CreateOptions(Part):
    """How an entry is kept."""

    generate_embedding: Flag | None = Field(
        None, description="Whether it gets a vector; as its layer has it where this is not said."
    )
    access_policy: AccessPolicyConfig | None = Field(
        None, description="The policy with the people and groups it names; it comes first."
    )
    version: Flag = Field(True, description="Whether its older versions are kept.")
    layer: TargetLayer | None = None


class Governance(Part):
    """What a write asks for beside being done."""

    require_approval: Flag = False
    verification_required: Flag = False
    audit_log: Flag = Field(True, description="Ignored: every write is audited.")


class CreateRequest(Sent):
    """An entry to keep."""

    entry: EntryDraft
    options: CreateOptions = CreateOptions()
    governance: Governance = Governance()


class UpdateRequest(CreateRequest):
    """An entry as it is to be; in a batch, with its id."""

    id: str | None = Field(None, max_length=200)


class DeleteGovernance(Part):
    """What a deletion asks for beside being done."""

    require_approval: Flag = False
    reason: str | None = Field(None, max_length=2000)


class DeleteOptions(Part):
    """How an entry is removed."""

    hard_delete: Flag = Field(False, description="Remove all versions, events and copies too.")
    governance: DeleteGovernance = DeleteGovernance()


class DeleteRequest(Sent):
    """An entry to remove."""

    id: str = Field(max_length=200)
    options: DeleteOptions = DeleteOptions()


class BatchOptions(Part):
    """How a batch goes on."""

    continue_on_error: Flag = Field(
        False, description="Whether the entries after one that fails are tried as well."
    )
    notify_on_completion: Flag = Field(
        False, description="Whether a stream of notifications tells you when it has ended."
    )


class BatchRequest(Part):
    """Many writes of one kind; each entry is checked on its own, so that one is not all."""

    operation: BatchOperation
    entries: tuple[SkipValidation[CreateRequest | UpdateRequest | DeleteRequest], ...] = Field(
        min_length=1,
        json_schema_extra={"maxItems": MAX_BATCH_ENTRIES},
        description="What a single operation takes; an update and a deletion with the entry's id. "
        "An upsert is an update where the entry is there, else it is made under that id.",
    )
    options: BatchOptions = BatchOptions()
