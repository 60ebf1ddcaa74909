"""An item of work and an answer, as they are kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from pydantic_core import to_json

from auth import Tier
from gateway.contract.work import MAX_CONTEXT_BYTES, WorkState

MAX_KEY_CHARACTERS = 500
"""Characters of an item's key."""

Outcome = Literal["waits", "accepted", "agreed", "differed", "refused", "void"]
"""What has become of an answer: it waits for others or for its plugin, was put to use, said the
same as that one, said something else, was refused by the plugin, or its item is gone."""


@dataclass(frozen=True, slots=True)
class WorkItem:
    """An item.

    Attributes:
        id: random; one that replaces another has another.
        kind: with its plugin, such as ``knowledge/extract``.
        key: the plugin's own, once in its kind.
        digest: of the context.
        state: what has become of it.
        tier: from which its context may be seen.
        rows: the rows of the plugin that the context shows.
        context: what an agent needs; None once it is accepted.
        extra: how many answers it takes beyond those of its kind, as others did not agree.
        refusals: how often its plugin has refused what was answered.
        reason: why that was last, or why nothing is settled.
        published: when.
        changed: when its state last changed.
    """

    id: str
    kind: str
    key: str
    digest: str
    state: WorkState
    tier: Tier
    rows: tuple[str, ...]
    context: Mapping[str, Any] | None
    extra: int
    refusals: int
    reason: str | None
    published: datetime
    changed: datetime

    @property
    def plugin(self) -> str:
        """Whose it is."""
        return self.kind.partition("/")[0]

    @classmethod
    def of(cls, row: Any) -> WorkItem:
        """The item in a row of the table."""
        values = {**row._mapping, "tier": Tier(row.tier), "rows": tuple(row.rows)}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        id: random.
        item: the item's id.
        kind: the item's.
        key: the item's.
        person: whose; empty once their account is erased.
        client: what their client calls itself.
        model: the model that the agent states.
        answer: JSON values; None once nobody needs it.
        outcome: what has become of it.
        at: when.
    """

    id: str
    item: str
    kind: str
    key: str
    person: str
    client: str
    model: str
    answer: Mapping[str, Any] | None
    outcome: Outcome
    at: datetime

    @classmethod
    def of(cls, row: Any) -> Answer:
        """The answer in a row of the table."""
        return cls(**row._mapping)


def checked_context(context: Mapping[str, Any]) -> bytes:
    """An item's context as canonical JSON.

    Raises:
        ValueError: it is no JSON, or larger than an agent is to read.
    """
    try:
        written = to_json(_sorted(dict(context)), inf_nan_mode="strings")
    except Exception as error:
        raise ValueError(f"The context is not JSON: {error}.") from error
    if len(written) > MAX_CONTEXT_BYTES:
        raise ValueError(
            f"The context has {len(written)} bytes, of {MAX_CONTEXT_BYTES} that are allowed. "
            "Publish several items, or leave out what the task does not need."
        )
    return written


def checked_key(key: str) -> str:
    """An item's key.

    Raises:
        ValueError: it is empty, too long, or not of printable characters.
    """
    if not key or len(key) > MAX_KEY_CHARACTERS or not key.isprintable():
        raise ValueError(
            f"The key {key[:80]!r} is not 1 to {MAX_KEY_CHARACTERS} printable characters."
        )
    return key


def digest_of(context: bytes) -> str:
    """What tells a context from others."""
    return hashlib.sha256(context).hexdigest()


def _sorted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _sorted(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_sorted(each) for each in value]
    return value
