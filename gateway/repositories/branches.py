"""Branches and commits of a repository on GitHub, written through the Git data API.

A commit's id follows from what is in it, its parent, its message, its people and its times: asked
for twice, it is one commit. A branch is created once, and moved forward alone.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from gateway.repositories import paths
from gateway.repositories.errors import Place, SourceFailed
from gateway.repositories.writing import CONTENTS, RepositoryWriting, refused_because

_FILE_MODE = "100644"


@dataclass(frozen=True, slots=True)
class Signature:
    """Who made a commit, and when.

    Attributes:
        name: what Git shows.
        email: likewise.
        at: when, to the second.
    """

    name: str
    email: str
    at: datetime

    def entry(self) -> dict[str, str]:
        """As the API takes it."""
        at = self.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"name": self.name, "email": self.email, "date": at}


class Branches:
    """The branches of one repository.

    Args:
        writing: sends the requests.
    """

    def __init__(self, writing: RepositoryWriting) -> None:
        self._writing = writing

    async def head(self, branch: str) -> str | None:
        """The commit that a branch names, or None where there is no such branch.

        Raises:
            SourceFailed: GitHub refuses, or shows no such repository.
        """
        try:
            found = await self._ask("GET", f"git/ref/heads/{_quoted(branch)}", branch=branch)
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND":
                return None
            raise
        return str(found["object"]["sha"])

    async def commit(
        self,
        parent: str,
        files: Mapping[str, bytes | None],
        message: str,
        author: Signature,
        committer: Signature | None = None,
    ) -> str:
        """Write a commit that no branch leads to yet; its id.

        Args:
            parent: the commit that it is built upon.
            files: what it writes, by path from the root; None deletes a file.
            message: what it says.
            author: who wrote it.
            committer: who committed it; the author where it is None.

        Raises:
            SourceFailed: a path is not allowed, GitHub refuses, or has no such parent.
        """
        entries = []
        for path, content in sorted(files.items()):
            paths.checked(path, "path")
            sha = None if content is None else await self._blob(content)
            entries.append({"path": path, "mode": _FILE_MODE, "type": "blob", "sha": sha})
        base = await self._ask("GET", f"git/commits/{quote(parent, safe='')}")
        tree = await self._ask(
            "POST", "git/trees", {"base_tree": base["tree"]["sha"], "tree": entries}
        )
        made = {
            "message": message,
            "tree": tree["sha"],
            "parents": [parent],
            "author": author.entry(),
            "committer": (committer or author).entry(),
        }
        return str((await self._ask("POST", "git/commits", made))["sha"])

    async def create(self, branch: str, commit: str) -> bool:
        """Begin a branch at a commit.

        Returns:
            False where there is a branch of that name.

        Raises:
            SourceFailed: GitHub refuses.
        """
        made = {"ref": f"refs/heads/{branch}", "sha": commit}
        try:
            await self._ask("POST", "git/refs", made, branch=branch)
        except SourceFailed as failure:
            if refused_because(failure, "already exists"):
                return False
            raise _ruled(failure, branch) from None
        return True

    async def advance(self, branch: str, commit: str) -> bool:
        """Move a branch forward to a commit that is built upon it.

        Returns:
            False where the branch is elsewhere meanwhile: somebody has pushed, or deleted it.

        Raises:
            SourceFailed: GitHub refuses.
        """
        moved = {"sha": commit, "force": False}
        try:
            await self._ask("PATCH", f"git/refs/heads/{_quoted(branch)}", moved, branch=branch)
        except SourceFailed as failure:
            gone = refused_because(failure, "not a fast forward", "does not exist")
            if gone or failure.code == "NOT_FOUND":
                return False
            raise _ruled(failure, branch) from None
        return True

    async def delete(self, branch: str) -> None:
        """Delete a branch; one that is not there is none to delete.

        Raises:
            SourceFailed: GitHub refuses.
        """
        try:
            await self._ask("DELETE", f"git/refs/heads/{_quoted(branch)}", branch=branch)
        except SourceFailed as failure:
            if failure.code != "NOT_FOUND" and not refused_because(failure, "does not exist"):
                raise

    async def _blob(self, content: bytes) -> str:
        sent = {"content": base64.b64encode(content).decode(), "encoding": "base64"}
        return str((await self._ask("POST", "git/blobs", sent))["sha"])

    async def _ask(
        self, method: str, what: str, value: Any = None, *, branch: str | None = None
    ) -> Any:
        return await self._writing.ask(method, what, CONTENTS, value, branch=branch)


def _ruled(failure: SourceFailed, branch: str) -> SourceFailed:
    """What says no where the repository's own rules do, such as one on the names of branches."""
    if failure.status not in (409, 422) or "rule" not in failure.said.lower():
        return failure
    repo = failure.details.get("repo")
    text = (
        f"A rule of {repo} does not let the portal write the branch {branch}. Whoever owns the "
        "repository must exempt the portal's App under Settings, Rules."
    )
    return SourceFailed("FORBIDDEN", text, Place(repo, None, branch), status=failure.status)


def _quoted(branch: str) -> str:
    return "/".join(quote(part, safe="") for part in branch.split("/"))
