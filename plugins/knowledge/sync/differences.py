"""What a verification found: each difference between source, store and index, in one line."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Kind = Literal["source", "manifest", "document", "original", "listing", "fetched", "index"]


class Difference(BaseModel):
    """One place where source, store and index do not say the same."""

    kind: Kind = Field(description="Where it is.")
    key: str = Field("", description="The document, as type/id; empty where it is none.")
    path: str = Field("", description="The note, the source or the stored object.")
    reason: str = Field(description="What is wrong.")

    def __str__(self) -> str:
        """The line: ``document tag/dao (tags/dao.md): missing``."""
        named = f"{self.key} ({self.path})" if self.key and self.path else self.key or self.path
        return f"{self.kind} {named}: {self.reason}" if named else f"{self.kind}: {self.reason}"


class Verified(BaseModel):
    """A whole verification."""

    documents: int = Field(0, description="How many documents are served.")
    differences: list[Difference] = Field(
        default_factory=list, description="What is different; nothing where all is well."
    )
    mended: list[Difference] = Field(
        default_factory=list, description="What a repair has put right."
    )
