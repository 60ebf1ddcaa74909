"""What has become of one file on GitHub: its commits, read through the API, renames and all.

GitHub lists the commits of a path and follows no rename; where the first commit of a path says
that the file was renamed there, the list goes on under its earlier name.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import datetime
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from gateway.repositories import paths
from gateway.repositories.api import Api, Asking
from gateway.repositories.file_history import FileVersion
from gateway.repositories.history import read_answer

MAX_RENAMES = 5
"""How many earlier names of a file are followed."""
_MAX_LIST_BYTES = 8 * 1024 * 1024
_MAX_COMMIT_BYTES = 16 * 1024 * 1024
"""Bytes of GitHub's answer about a commit and the up to 300 files that it lists with it."""


class _Signature(BaseModel):
    name: str = ""
    date: datetime


class _Said(BaseModel):
    author: _Signature
    committer: _Signature
    message: str = ""


class _Parent(BaseModel):
    sha: str


class _File(BaseModel):
    filename: str
    status: str
    previous_filename: str | None = None


class _Commit(BaseModel):
    sha: str
    commit: _Said
    parents: list[_Parent] = []


class _Whole(_Commit):
    files: list[_File] = []


async def touches(
    api: Api, name: str, asking: Asking, path: str, at: str, most: int
) -> AsyncGenerator[FileVersion]:
    """The commits that touched a file, the newest first, without its content; one that removed
    the file is among them.

    Args:
        api: GitHub.
        name: ``owner/repo``.
        asking: who asks.
        path: the file's path at the commit.
        at: the commit to begin with.
        most: how many at most.

    Raises:
        SourceFailed: GitHub refuses, or does not answer as it should.
    """
    left, follow = most, MAX_RENAMES
    while True:
        query = f"sha={quote(at, safe='')}&path={quote(path, safe='')}&per_page={left}"
        answer = await api.get(f"/repos/{name}/commits?{query}", asking, _MAX_LIST_BYTES)
        listed = read_answer(TypeAdapter(list[_Commit]), answer.body, asking)
        for each in listed[:left]:
            yield _version(each, path)
        left -= len(listed)
        if not listed or left <= 0 or follow == 0:
            return
        earlier = await _renamed(api, name, asking, path, listed[-1].sha)
        if earlier is None:
            return
        path, at = earlier
        follow -= 1


async def _renamed(
    api: Api, name: str, asking: Asking, path: str, commit: str
) -> tuple[str, str] | None:
    """What a file was called before a commit, and the commit before; None where it was not."""
    url = f"/repos/{name}/commits/{quote(commit, safe='')}"
    answer = await api.get(url, asking, _MAX_COMMIT_BYTES)
    whole = read_answer(TypeAdapter(_Whole), answer.body, asking)
    file = next((each for each in whole.files if each.filename == path), None)
    previous = file.previous_filename if file and file.status == "renamed" else None
    if previous is None or paths.problem(previous) or not whole.parents:
        return None
    return previous, whole.parents[0].sha


def _version(found: _Commit, path: str) -> FileVersion:
    said = found.commit
    subject = said.message.partition("\n")[0]
    return FileVersion(found.sha, said.committer.date, said.author.name, subject, path, None)
