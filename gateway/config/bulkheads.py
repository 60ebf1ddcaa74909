"""What ``portal.yaml`` says of how much a plugin may take of the portal."""

from __future__ import annotations

from datetime import timedelta

from pydantic import BaseModel, ByteSize, ConfigDict, Field

from gateway.contract.config_types import Duration


class Bounds(BaseModel):
    """How much the calls of one item, or of a whole plugin, may take."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    calls: int = Field(512, ge=1, description="How many calls may run at once.")
    queue: int = Field(
        1024,
        ge=0,
        description="How many more may wait; what is over is told at once who is busy.",
    )
    bytes: ByteSize = Field(
        ByteSize(8 * 1024 * 1024), description="The largest answer, such as 8MiB."
    )
    time: Duration | None = Field(
        None,
        gt=timedelta(0),
        description="How long one call may take, in place of what the item or limits.call says.",
    )


class PluginBounds(Bounds):
    """How much of the portal a plugin may take."""

    items: dict[str, Bounds] = Field(
        default_factory=dict,
        description="The same for single items beside that, by the names that the plugin declares.",
    )
