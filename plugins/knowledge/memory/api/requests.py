"""What the endpoints take: the protocol's requests, with what stands in the path."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from plugins.knowledge.memory.model.requests import (
    CreateRequest,
    DeleteGovernance,
    DeleteOptions,
    DeleteRequest,
    QueryRequest,
    Sent,
    UpdateRequest,
)

_ID = Field(min_length=1, max_length=200, description="The entry's id.")


class Discovery(Sent):
    """What discovery takes: nothing."""


class Query(QueryRequest):
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


class Create(CreateRequest):
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


class Update(UpdateRequest):
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
