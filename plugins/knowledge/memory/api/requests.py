"""What the endpoints take: the protocol's requests, with what stands in the path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import ConfigDict, Field, model_validator

from plugins.knowledge.memory.entries import Part
from plugins.knowledge.memory.requests import (
    CreateRequest,
    DeleteGovernance,
    DeleteOptions,
    DeleteRequest,
    QueryRequest,
    UpdateRequest,
)

_ID = Field(min_length=1, max_length=200, description="The entry's id.")


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
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _with_nul(each, f"{place}.{number}")


class Discovery(Sent):
    """What discovery takes: nothing."""


class Query(Sent, QueryRequest):
    """A question, with an example of one."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "query": "who waters the beds in July",
                    "mode": "hybrid",
                    "filters": {"tags": ["garden"]},
                    "options": {"limit": 5},
                    "layer": {"types": ["semantic", "organization"]},
                }
            ]
        }
    )


class Create(Sent, CreateRequest):
    """An entry to keep, with an example of one."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "entry": {
                        "content": "The beds are watered at six in the morning.",
                        "metadata": {"title": "Watering", "tags": ["garden"]},
                        "source": {"type": "agent_generated", "identifier": "gardener"},
                        "access_policy": "private",
                    },
                    "options": {"layer": {"type": "semantic"}},
                }
            ]
        }
    )


class Update(Sent, UpdateRequest):
    """An entry as it is to be; the path says which."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"entry": {"content": "The beds are watered at seven.", "version": 1}},
            ]
        }
    )

    id: str = _ID


class Delete(Sent):
    """An entry to remove; the options stand in the query or in the body."""

    id: str = _ID
    hard_delete: bool = Field(False, description="Remove all versions, events and copies too.")
    require_approval: bool = Field(False, description="Let a person decide.")
    reason: str | None = Field(None, max_length=2000, description="Why.")
    options: DeleteOptions = DeleteOptions()

    def request(self) -> DeleteRequest:
        """The same, as the protocol writes it."""
        asked = self.options.governance
        governance = DeleteGovernance(
            require_approval=self.require_approval or asked.require_approval,
            reason=asked.reason if self.reason is None else self.reason,
        )
        hard = self.hard_delete or self.options.hard_delete
        options = DeleteOptions(hard_delete=hard, governance=governance)
        return DeleteRequest(id=self.id, options=options)


class Metadata(Sent):
    """Of which entry the metadata is asked."""

    id: str = _ID
    include_custom: bool = Field(True, description="Whether custom fields are among it.")
