"""The plugin's section of ``portal.yaml``."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from gateway.contract import Duration, PluginConfig


class WorkflowsConfig(PluginConfig):
    """What the playbook brings, and how long runs and deleted workflows are kept."""

    starter: bool = Field(True, description="Serve the workflows that Porch brings.")
    keep_runs: Duration = Field(
        timedelta(days=90), description="How long a finished run is kept, for `list_runs`."
    )
    keep_deleted: Duration = Field(
        timedelta(days=30),
        description="How long a deleted workflow stays in its owner's bin before it is erased.",
    )
