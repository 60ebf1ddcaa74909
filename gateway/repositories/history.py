"""A repository's commits on GitHub: the head of a branch, trees, and changes between commits."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from gateway.repositories import paths
from gateway.repositories.api import Api, Asking, silent
from gateway.repositories.errors import SourceFailed
from gateway.repositories.exclusions import LeavingOut
from gateway.repositories.protocol import (
    A_LINK,
    Changed,
    Comparison,
    ComparisonStatus,
    Tree,
    TreeFile,
)

MAX_COMPARISON_FILES = 300
"""Files that GitHub lists in a comparison; of more it lists none."""
MAX_TREE_BYTES = 64 * 1024 * 1024
"""Bytes of a tree's answer; GitHub lists 100,000 entries at most, and says so where it cuts."""
MAX_COMPARISON_BYTES = 32 * 1024 * 1024
MAX_COMMIT_BYTES = 4 * 1024 * 1024
"""Bytes of GitHub's answer about one commit, which is mostly its message."""

_SHA = "application/vnd.github.sha"
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_COMMIT = {409, 422}
"""How GitHub says that a repository is empty, and that a branch names nothing."""

_Answer = TypeVar("_Answer")


def is_commit(text: str) -> bool:
    """Whether a text is a commit's full id."""
    return _COMMIT.fullmatch(text) is not None


class _Item(BaseModel):
    path: str
    mode: str
    type: str
    sha: str
    size: int = 0


class _Tree(BaseModel):
    tree: list[_Item]
    truncated: bool = False


class _File(BaseModel):
    filename: str
    status: str
    sha: str | None = None
    previous_filename: str | None = None


class _Signature(BaseModel):
    date: datetime


class _Commit(BaseModel):
    committer: _Signature


class _Comparison(BaseModel):
    status: ComparisonStatus
    files: list[_File] | None = None


async def head(api: Api, url: str, asking: Asking) -> str | None:
    """The commit that a branch names, or None where it names none."""
    try:
        answer = await api.get(url, asking, 1024, accept=_SHA)
    except SourceFailed as failure:
        if failure.status in _NO_COMMIT:
            return None
        raise
    commit = answer.body.decode(errors="replace").strip()
    if not is_commit(commit):
        raise silent(asking, "answers with something else than a commit", answer.status)
    return commit


async def tree(api: Api, url: str, asking: Asking, commit: str) -> Tree:
    """The files of a tree."""
    answer = await api.get(url, asking, MAX_TREE_BYTES)
    return await asyncio.to_thread(_tree, answer.body, asking, commit)


async def committed(api: Api, url: str, asking: Asking) -> datetime:
    """When a commit was made, by its committer's clock."""
    answer = await api.get(url, asking, MAX_COMMIT_BYTES)
    return read_answer(TypeAdapter(_Commit), answer.body, asking).committer.date


async def compare(api: Api, url: str, asking: Asking) -> Comparison:
    """The changes between two commits."""
    answer = await api.get(url, asking, MAX_COMPARISON_BYTES)
    return await asyncio.to_thread(_comparison, answer.body, asking)


def _tree(body: bytes, asking: Asking, commit: str) -> Tree:
    found = read_answer(TypeAdapter(_Tree), body, asking)
    left_out = LeavingOut()
    files: list[TreeFile] = []
    for item in found.tree:
        if item.type == "tree":
            continue
        if item.type != "blob" or item.mode == "120000":
            left_out.report(item.path, A_LINK)
        elif reason := paths.problem(item.path):
            left_out.report(item.path, f"its path {reason}")
        else:
            files.append(TreeFile(item.path, item.sha, item.size))
    return Tree(commit, tuple(files), tuple(left_out.files), found.truncated)


def _comparison(body: bytes, asking: Asking) -> Comparison:
    found = read_answer(TypeAdapter(_Comparison), body, asking)
    left_out = LeavingOut()
    changed: list[Changed] = []
    for file in found.files or ():
        for each in _changes(file):
            if reason := paths.problem(each.path):
                left_out.report(each.path, f"its path {reason}")
            else:
                changed.append(each)
    few = len(found.files or ()) < MAX_COMPARISON_FILES
    leads = found.status in {"identical", "ahead"}
    listed = found.files is not None or found.status == "identical"
    return Comparison(found.status, tuple(changed), tuple(left_out.files), few and leads and listed)


def _changes(file: _File) -> list[Changed]:
    """The change in an entry of GitHub's list; a copied file counts as added."""
    path, sha = file.filename, file.sha or ""
    match file.status:
        case "removed":
            return [Changed(path, "removed")]
        case "renamed" if file.previous_filename is not None:
            previous = file.previous_filename
            return [Changed(previous, "removed"), Changed(path, "added", sha, previous)]
        case "added" | "copied" | "renamed":
            return [Changed(path, "added", sha)]
        case "unchanged":
            return []
        case _:  # modified, and changed where only the mode differs
            return [Changed(path, "modified", sha)]


def read_answer(form: TypeAdapter[_Answer], body: bytes, asking: Asking) -> _Answer:
    """What GitHub answers, in its form; raises ``SourceFailed`` where it has another."""
    try:
        return form.validate_json(body)
    except ValidationError:
        raise silent(asking, "answers with something else than its JSON", 200) from None
