"""An entry as the portal stores it: with its layer, its owner and its use."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from plugins.knowledge.memory.model.entry import (
    OWNER_ONLY_LAYERS,
    KnowledgeEntry,
    KnowledgeMetadata,
    KnowledgeSource,
    Layer,
)
from plugins.knowledge.memory.model.fingerprint import fingerprint
from plugins.knowledge.memory.model.policy import PRIVATE, AccessPolicyConfig, readers
from plugins.knowledge.memory.model.responses import Standing
from plugins.knowledge.memory.model.validity import ANY_TIME, Validity, Verification

NOTE_PREFIX = "note:"
"""How the ids of the knowledge base's notes begin; the document's type and id follow."""
SUPERSEDED_BY = "supersededBy"
"""The custom field in which a note says which one stands in its place."""
NOBODY = ""
"""The owner of the knowledge base's notes: the community, and no person."""
FORMER_PERSON = "former"
"""The owner of an entry that stays after its owner has left."""
UPKEEP = "upkeep"
"""The portal itself, as histories and the audit log name it where it moves or settles entries."""
_GENERATED_ID = re.compile(r"mem_[0-9a-f]{24}")


class Writer(NamedTuple):
    """Who wrote what an entry says now.

    Attributes:
        person: the one who wrote it last; upkeep, which changes no word, counts for nobody.
        approved_by: who allowed it, where that was somebody else.
    """

    person: str
    approved_by: str | None


@dataclass(frozen=True, slots=True)
class Record:
    """One entry.

    Attributes:
        id: the entry's id.
        layer: where it is.
        owner: the person whose it is.
        agent: the agent that wrote it, where one was named.
        content: what it says.
        metadata: what is said about it.
        source: where it comes from.
        access: who may read it.
        version: how often it was written.
        versioned: whether its older versions are kept.
        embedded: whether it has a vector.
        created: when it was first written.
        updated: when it was last written, if that was later.
        worded: when its content was last written, where its last change was of something else.
        placed: when it came to its layer.
        uses: how often it was an answer, or was read.
        used: when that was last, or when it was written.
        expires: when its layer gives it up, or None.
        validity: when what it says happened and holds, as far as that was said.
        verified: who last looked whether it holds, or None.
        challenged: whether a later entry ends, contests or seems to replace it, or is only newer,
            or it contests one itself.
        number: its place in the order in which entries were written; 0 of one that is not yet.
        follows: the number of the turn of a conversation before it, or None.
        taken_from: the number of the turn whose words it has, where it was found in one.
        writer: who wrote what it says, where it was read for somebody and that is known; no part
            of what it is.
        digest: of a note, what tells its content from what it was before; likewise.
        standing: of a note, what the knowledge base says to who reads it of whether it holds;
            likewise.
    """

    id: str
    layer: Layer
    owner: str
    agent: str | None
    content: str
    metadata: KnowledgeMetadata
    source: KnowledgeSource
    access: AccessPolicyConfig
    created: datetime
    placed: datetime
    used: datetime
    updated: datetime | None = None
    worded: datetime | None = None
    version: int = 1
    versioned: bool = True
    embedded: bool = False
    uses: int = 0
    expires: datetime | None = None
    validity: Validity = ANY_TIME
    verified: Verification | None = None
    challenged: bool = False
    number: int = 0
    follows: int | None = None
    taken_from: int | None = None
    writer: Writer | None = field(default=None, compare=False)
    digest: str = field(default="", compare=False)
    standing: Standing | None = field(default=None, compare=False)

    @property
    def starts(self) -> datetime:
        """From when on it holds."""
        return self.validity.starts(self.created)

    @property
    def readers(self) -> frozenset[str]:
        """The keys that let their holder read it; any one is enough."""
        return readers(self.owner, PRIVATE if self.layer in OWNER_ONLY_LAYERS else self.access)

    @property
    def changed(self) -> datetime:
        """When it was last written."""
        return self.updated or self.created

    @property
    def said(self) -> datetime:
        """When what it says was last written: who changes its tags or readers says nothing anew."""
        return self.worded or self.changed

    @property
    def looked_at(self) -> datetime | None:
        """When somebody last wrote or verified what it says; None where nobody has to look.

        What happened is as it was, however long ago.
        """
        if self.layer is Layer.EPISODIC or self.validity.event_at is not None:
            return None
        return self.said if self.verified is None else max(self.said, self.verified.at)

    @property
    def state(self) -> str:
        """What tells it from what it was before: its source's version, or when it was written."""
        return self.source.version or f"{self.changed.timestamp():.0f}"

    def is_as_verified(self, verified: Verification) -> bool:
        """Whether a note still says what it said when something was verified against it.

        What was verified before digests were kept names the note's state alone.
        """
        return self.digest == verified.digest or (
            verified.digest is None and self.state == verified.version
        )

    @property
    def fingerprint(self) -> str:
        """What it has in common with others that say the same in the same words."""
        return fingerprint(self.content)

    @property
    def text(self) -> str:
        """What is searched and embedded: its title, description and content."""
        parts = (self.metadata.title, self.metadata.description, self.content)
        return "\n".join(part for part in parts if part)

    def fields(self) -> dict[str, Any]:
        """What a version keeps, and what two changes are merged by, as JSON values."""
        said = self.metadata.model_dump(mode="json", exclude_none=True)
        return {
            "content": self.content,
            **said,
            "source": self.source.model_dump(mode="json"),
            "access": self.access.model_dump(mode="json"),
            **({"validity": timed} if (timed := dumped(self.validity)) else {}),
        }

    def entry(self, embedding: tuple[float, ...] | None = None) -> KnowledgeEntry:
        """The entry as the protocol writes it.

        Args:
            embedding: its vector, where that is asked for.
        """
        return KnowledgeEntry(
            id=self.id,
            content=self.content,
            embedding=embedding,
            metadata=self.metadata,
            source=self.source,
            access_policy=self.access.policy,
            created_at=self.created,
            updated_at=self.updated,
            version=self.version,
            validity=self.validity if dumped(self.validity) else None,
            verified=self.verified,
        )


def attributes_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a record that :meth:`Record.fields` stands for.

    Args:
        fields: as that gives them; they may come from a merge or an older version.
    """
    outer = {"content", "source", "access", "validity"}
    said = {name: value for name, value in fields.items() if name not in outer}
    return {
        "content": fields["content"],
        "metadata": KnowledgeMetadata.model_validate(said),
        "source": KnowledgeSource.model_validate(fields["source"]),
        "access": AccessPolicyConfig.model_validate(fields["access"]),
        "validity": Validity.model_validate(fields.get("validity", {})),
    }


def dumped(validity: Validity) -> dict[str, Any]:
    """What is said of when an entry holds, as JSON values; empty where nothing is."""
    return validity.model_dump(mode="json", exclude_none=True)


def new_id() -> str:
    """An id that nobody can guess."""
    return f"mem_{secrets.token_hex(12)}"


def is_generated_id(id: str) -> bool:
    """Whether an id is one of :func:`new_id`, and not one that a client chose."""
    return _GENERATED_ID.fullmatch(id) is not None
