"""What the tools of drafts answer."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from plugins.knowledge.notes.fields import Maybe
from plugins.knowledge.results import Result

Status = Literal[
    "proposed",
    "publishing",
    "open",
    "changes_requested",
    "withdrawing",
    "merged",
    "closed",
    "withdrawn",
]


class DraftRemark(Result):
    """What a reviewer says."""

    by: str = Field(description="Their name at the place of the review.")
    at: datetime
    text: str
    verdict: Maybe[str] = Field(default=None, description="What their review says as a whole.")
    path: Maybe[str] = None
    line: Maybe[int] = Field(default=None, description="The line of the file that it is about.")
    url: Maybe[str] = None


class DraftSummary(Result):
    """A draft, and how it stands."""

    id: str
    title: str
    document: str = Field(description="What the page is called, as contentType/id.")
    source: str
    path: str = Field(description="The file's path in its source.")
    status: Status = Field(
        description="proposed: only its author knows it, and nothing was sent; publishing, "
        "withdrawing: on its way; open: it waits for review; merged: it is the page, or will be "
        "at the next sync."
    )
    by: Maybe[str] = Field(default=None, description="Whose it is.")
    mine: bool
    version: int = Field(description="How many versions its author has said yes to.")
    url: Maybe[str] = Field(
        default=None, description="Where it is reviewed: the pull request, or the file."
    )
    problem: Maybe[str] = Field(default=None, description="Why it did not come further.")
    remarks: list[DraftRemark] = Field(description="What reviewers say, the oldest first.")
    permalink: Maybe[str] = Field(default=None, description="The page, once it is served.")
    note: Maybe[str] = Field(default=None, description="What to know about this answer.")
    changed: datetime


class DraftProblem(Result):
    """Something that keeps a draft from being proposed."""

    line: int = Field(description="Of the file.")
    reason: str
    field: Maybe[str] = None


class DraftLink(Result):
    """A link of the page."""

    written: str
    document: Maybe[str] = Field(
        default=None, description="Where it leads, as contentType/id; nowhere if left out."
    )
    title: Maybe[str] = None


class DraftAnswer(Result):
    """A draft as it would stand: its file, what it changes, and what is wrong with it."""

    draft: DraftSummary
    text: str = Field(description="The whole file.")
    preview: str = Field(description="Its text, with links that lead to pages resolved.")
    diff: str = Field(description="What it changes, as a unified diff.")
    links: list[DraftLink]
    problems: list[DraftProblem] = Field(description="To be mended before it can be proposed.")
    notices: list[str]
    base: Maybe[str] = Field(
        default=None, description="What it is built upon; hand it to create_draft."
    )
    page: str = Field(description="The page of this portal where its person sees and proposes it.")
    arguments: Maybe[dict[str, Any]] = Field(
        default=None, description="What create_draft takes to propose just this; for its author."
    )


class DraftList(Result):
    """Drafts, the one that changed last first."""

    drafts: list[DraftSummary]
    note: Maybe[str] = Field(default=None, description="What to know about this list.")
