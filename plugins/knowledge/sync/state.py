"""``GET /api/v1/knowledge/sync``: for admins, what was synced when, and what was rejected."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route
from plugins.knowledge.sync.follow import Follower
from plugins.knowledge.sync.sync import Sync


class NoParams(BaseModel):
    """Nothing is asked for."""

    model_config = ConfigDict(extra="forbid")


class Rejected(BaseModel):
    """A note, or one of its values, that is not served as it stands."""

    path: str = Field(description="The file; it begins with its source's name, if that has one.")
    line: int = Field(description="Where in it.")
    severity: str = Field(description="error: it is not served, or in an older version; warning.")
    reason: str = Field(description="What is wrong, and what to do.")


class SourceState(BaseModel):
    """One source on GitHub."""

    source: str = Field(description="owner/repo@branch.")
    commit: str = Field(description="What is served; empty before the first sync.")
    synced: datetime | None = Field(description="When all of this commit had been fetched.")
    looked: datetime | None = Field(description="When GitHub last answered this process.")
    behind: str = Field(description="Why it is behind its branch; empty where it is not.")


class SyncState(BaseModel):
    """How the sync is."""

    error: str = Field(description="Why the last sync failed; empty where it did not.")
    sources: list[SourceState] = Field(description="The sources on GitHub.")
    rejected: list[Rejected] = Field(description="Every file that needs mending, and why.")


def state(sync: Sync, followers: Sequence[Follower]) -> SyncState:
    """How the sync is just now."""
    return SyncState(
        error=sync.status.error,
        sources=[
            SourceState(
                source=follower.source.key,
                commit=follower.source.listing.commit,
                synced=follower.source.listing.synced,
                looked=follower.looked,
                behind=follower.error,
            )
            for follower in followers
        ],
        rejected=[
            Rejected(path=one.path, line=one.line, severity=one.severity, reason=one.reason)
            for one in sync.status.problems
        ],
    )


def route(sync: Sync, followers: Sequence[Follower]) -> Route:
    """The route."""

    async def run(params: NoParams, caller: Caller) -> SyncState:
        return state(sync, followers)

    return Route(
        method="GET",
        path="/sync",
        run=run,
        tool=None,
        params=NoParams,
        response=SyncState,
        summary="What was synced when, at which commit, and what was rejected.",
        admin=True,
    )
