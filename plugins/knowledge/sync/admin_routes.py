"""REST routes for admins: the state of the sync, a full sync, and a verification."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gateway.contract import Caller, Route, Tier
from plugins.knowledge.notes.ages import Overdue
from plugins.knowledge.sync.admin_tasks import AdminTask
from plugins.knowledge.sync.differences import Verified
from plugins.knowledge.sync.handle import KnowledgeHandle


class NoParams(BaseModel):
    """Nothing is asked for."""

    model_config = ConfigDict(extra="forbid")


class SyncParams(BaseModel):
    """What a full sync is to do."""

    model_config = ConfigDict(extra="forbid")

    emptied: bool = Field(
        False, description="Remove the documents of a directory that is empty all at once."
    )


class Rejected(BaseModel):
    """A note, or one of its values, that is not served as it stands."""

    path: str = Field(description="The file; it begins with its source's name, if that has one.")
    line: int = Field(description="Where in it.")
    severity: str = Field(
        description="error: it is not served, or in an older version; warning; "
        "secret: it is, without the secret."
    )
    reason: str = Field(description="What is wrong, and what to do.")

    @property
    def is_error(self) -> bool:
        """Whether the note is not served as it stands."""
        return self.severity == "error"


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
    documents: int = Field(0, description="How many documents are served.")
    sources: list[SourceState] = Field(description="The sources on GitHub.")
    rejected: list[Rejected] = Field(description="Every file that needs mending, and why.")
    running: bool = Field(False, description="Whether a full sync runs that was asked for.")
    doing: str = Field("", description="What is being done just now.")
    done: int = Field(0, description="How far that is, in notes or documents.")
    total: int = Field(0, description="How far it has to go; 0 where that is not known.")
    errors: list[str] = Field(
        default_factory=list, description="What stayed behind in the last full sync, and why."
    )


class VerifyParams(BaseModel):
    """What a verification is to do."""

    model_config = ConfigDict(extra="forbid")

    repair: bool = Field(False, description="Mend what is different, and compare again.")


class VerifyState(BaseModel):
    """How the last verification was."""

    running: bool = Field(description="Whether it is still comparing, or mending.")
    result: Verified | None = Field(None, description="What it found, once it is done.")
    error: str = Field("", description="Why it could not be done; empty where it could.")


class DocumentToReview(BaseModel):
    """A document that its author should look at."""

    id: str = Field(description="contentType/id.")
    path: str = Field(description="The note's file in its source.")
    authors: list[str]
    days: int = Field(description="Since somebody wrote or verified it.")
    reason: str = Field(description="Why it should be looked at.")

    @classmethod
    def of(cls, one: Overdue) -> DocumentToReview:
        """A document as it is shown."""
        entry = one.entry
        authors = list(entry.metadata.author or ())
        age, reason = one.age.days, one.reason
        return cls(id=entry.key, path=entry.path, authors=authors, days=age, reason=reason)


class ReviewState(BaseModel):
    """The documents that their authors should look at."""

    documents: list[DocumentToReview] = Field(description="The oldest first.")


def review_state(handle: KnowledgeHandle) -> ReviewState:
    """What of a knowledge base should be looked at just now."""
    found = handle.knowledge.standings.wanting_look(Tier.MEMBERS)
    return ReviewState(documents=[DocumentToReview.of(each) for each in found])


FullSync = AdminTask[list[str]]
"""A full sync; its result is what stayed behind, and why."""


def handle_state(
    handle: KnowledgeHandle, errors: Sequence[str] = (), *, running: bool = False
) -> SyncState:
    """How the sync of a knowledge base is just now.

    Args:
        handle: the knowledge base.
        errors: what stayed behind in the last full sync.
        running: whether one runs.
    """
    status, progress = handle.sync.status, handle.sync_loop.progress
    return SyncState(
        error=status.error,
        documents=handle.sync_loop.documents,
        sources=[
            SourceState(
                source=follower.source.key,
                commit=handle.sync.commits.get(follower.source.key, ""),
                synced=follower.source.listing.synced,
                looked=follower.looked,
                behind=follower.error,
            )
            for follower in handle.followers
        ],
        rejected=[
            Rejected(path=one.path, line=one.line, severity=one.severity, reason=one.reason)
            for one in status.problems
        ],
        running=running,
        doing=progress.doing if running else "",
        done=progress.done if running else 0,
        total=progress.total if running else 0,
        errors=list(errors),
    )


def routes(
    handle: KnowledgeHandle, full: FullSync, verification: AdminTask[Verified]
) -> list[Route]:
    """The routes.

    Args:
        handle: the knowledge base.
        full: the full sync that is asked for.
        verification: the verification, likewise.
    """

    def now() -> SyncState:
        errors = [*(full.result or ()), *([full.error] if full.error else [])]
        return handle_state(handle, errors, running=full.running)

    def verified() -> VerifyState:
        result, error = verification.result, verification.error
        return VerifyState(running=verification.running, result=result, error=error)

    async def look(params: NoParams, caller: Caller) -> SyncState:
        return now()

    async def sync(params: SyncParams, caller: Caller) -> SyncState:
        full.begin(lambda: handle.sync_loop.sync_all(emptied=params.emptied))
        return now()

    async def look_at_verification(params: NoParams, caller: Caller) -> VerifyState:
        return verified()

    async def verify(params: VerifyParams, caller: Caller) -> VerifyState:
        verification.begin(lambda: handle.repair.verify(repair=params.repair))
        return verified()

    async def review(params: NoParams, caller: Caller) -> ReviewState:
        return review_state(handle)

    to_look_at = "The documents that their authors should look at."
    what_was_synced = "What was synced when, at which commit, and what was rejected."
    return [
        _route("GET", "/sync", look, NoParams, SyncState, what_was_synced),
        _route("POST", "/sync", sync, SyncParams, SyncState, "Sync every source now."),
        _route("GET", "/review", review, NoParams, ReviewState, to_look_at),
        _route(
            "GET",
            "/verify",
            look_at_verification,
            NoParams,
            VerifyState,
            "What the last verification found.",
        ),
        _route(
            "POST",
            "/verify",
            verify,
            VerifyParams,
            VerifyState,
            "Compare source, store and index; and mend what is different, where asked.",
        ),
    ]


def _route(
    method: Literal["GET", "POST"],
    path: str,
    run: Callable[[Any, Caller], Awaitable[BaseModel]],
    params: type[BaseModel],
    response: type[BaseModel],
    summary: str,
) -> Route:
    return Route(
        method=method,
        path=path,
        run=run,
        tool=None,
        params=params,
        response=response,
        summary=summary,
        admin=True,
        status=200 if method == "GET" else 202,
    )
