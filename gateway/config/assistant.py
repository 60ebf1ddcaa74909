"""``assistant:`` of ``portal.yaml``: how the portal's own assistant answers."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract.config_types import Duration


class AssistantSettings(BaseModel):
    """The assistant, which is there where services.models has a model for the role chat."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(True, description="Whether it is there, where there is a model for it.")
    steps: int = Field(
        5, ge=1, le=20, description="Requests to the model that one answer may take at most."
    )
    retention: Duration = Field(
        timedelta(days=365),
        gt=timedelta(0),
        description="How long a conversation is kept after its last message.",
    )
