"""A repository's history as GitHub's API tells it, read from a real Git repository.

::

    history = History.begun(directory)
    first = history.commit({"README.md": b"# Hello"})
    second = history.commit({"README.md": None, "docs/README.md": b"# Hello"})
    history.compare(first, second)["files"]
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

LISTED = 300
"""Files that a comparison lists at most."""
PUSHED = 2048
"""Commits that a delivery lists at most."""
NOTHING = "0" * 40
_STATUS = {"A": "added", "M": "modified", "D": "removed", "T": "changed"}


class History:
    """A Git repository with a working tree.

    Args:
        directory: its root.

    Attributes:
        entries: so many entries of a tree are listed; GitHub has 100,000.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.entries = 100_000

    @classmethod
    def begun(cls, directory: Path) -> History:
        """An empty repository with the branch ``main``."""
        directory.mkdir(parents=True, exist_ok=True)
        made = cls(directory)
        made.git("init", "-q", "-b", "main")
        for name in ("allowFilter", "allowAnySHA1InWant"):
            made.git("config", f"uploadpack.{name}", "true")
        return made

    def commit(
        self, files: Mapping[str, bytes | None], date: datetime | None = None, message: str = "-"
    ) -> str:
        """Write files, or delete those that are None, and commit; the commit's id."""
        for name, content in files.items():
            file = self.directory / name
            if content is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, date=date)
        return self.git("rev-parse", "HEAD")

    def forget(self) -> None:
        """Take away what no branch leads to, as GitHub does some time after a force push."""
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")

    def resolve(self, ref: str) -> str | None:
        """The commit that a branch, a tag or a commit's id names."""
        done = self._run("rev-parse", "--verify", "-q", "--end-of-options", f"{ref}^{{commit}}")
        return done.stdout.decode().strip() if done.returncode == 0 else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was committed yet."""
        return self.resolve("HEAD") is None

    def content(self, commit: str, path: str) -> bytes | None:
        """A file's bytes, or None where there is no such file."""
        done = self._run("cat-file", "blob", f"{commit}:{path}")
        return done.stdout if done.returncode == 0 else None

    def tree(self, commit: str) -> dict[str, Any]:
        """``GET /repos/{repo}/git/trees/{commit}?recursive=1``."""
        lines = self.git("ls-tree", "-r", "-t", "-z", "-l", commit).split("\0")
        entries: list[dict[str, Any]] = []
        for line in filter(None, lines):
            described, _, path = line.partition("\t")
            mode, kind, sha, size = described.split()
            entry: dict[str, Any] = {"path": path, "mode": mode, "type": kind, "sha": sha}
            entries.append(entry | ({"size": int(size)} if kind == "blob" else {}))
        cut = entries[: self.entries]
        return {"sha": commit, "tree": cut, "truncated": len(cut) < len(entries)}

    def described(self, commit: str) -> dict[str, Any]:
        """``GET /repos/{repo}/git/commits/{commit}``."""
        date, tree = self.git("log", "-1", "--format=%cI %T", commit).split()
        return {"sha": commit, "committer": {"date": date}, "tree": {"sha": tree}}

    def touching(self, query: Mapping[str, str]) -> list[dict[str, Any]]:
        """``GET /repos/{repo}/commits?sha=&path=&per_page=``: no rename is followed."""
        most, sha = query.get("per_page", "30"), query.get("sha", "main")
        listed = self.git("log", "--format=%H", f"-n{most}", sha, "--", query["path"])
        return [self._commit(each) for each in listed.split()]

    def whole(self, commit: str) -> dict[str, Any]:
        """``GET /repos/{repo}/commits/{commit}``."""
        listing = ("diff-tree", "-r", "-z", "-M", "--root", "--no-commit-id", commit)
        return self._commit(commit) | {"files": list(_files(self.git(*listing)))[:LISTED]}

    def _commit(self, commit: str) -> dict[str, Any]:
        said = self.git("log", "-1", "--format=%P%x00%an%x00%aI%x00%cn%x00%cI%x00%B", commit)
        parents, author, written, committer, date, message = said.split("\0")
        people = {
            "author": {"name": author, "date": written},
            "committer": {"name": committer, "date": date},
        }
        return {
            "sha": commit,
            "commit": people | {"message": message.strip()},
            "parents": [{"sha": each} for each in parents.split()],
        }

    def compare(self, base: str, head: str) -> dict[str, Any] | None:
        """``GET /repos/{repo}/compare/{base}...{head}``: what leads from the merge base to head."""
        common = self._run("merge-base", base, head).stdout.decode().strip()
        if not common:
            return None
        ahead = int(self.git("rev-list", "--count", f"{common}..{head}"))
        behind = int(self.git("rev-list", "--count", f"{common}..{base}"))
        status = {(False, False): "identical", (True, False): "ahead", (False, True): "behind"}
        changed = self.git("diff-tree", "-r", "-z", "-M", "--no-commit-id", common, head)
        return {
            "status": status.get((ahead > 0, behind > 0), "diverged"),
            "ahead_by": ahead,
            "behind_by": behind,
            "total_commits": ahead,
            "merge_base_commit": {"sha": common},
            "commits": [],
            "files": list(_files(changed))[:LISTED],
        }

    def push(self, before: str, after: str, name: str, branch: str = "main") -> dict[str, Any]:
        """What GitHub delivers of a push; :data:`NOTHING` stands for a branch that is not there."""
        span = [after] if before == NOTHING else [f"{before}..{after}"]
        found = [] if after == NOTHING else self.git("rev-list", "--reverse", *span).split()
        both = NOTHING not in (before, after)
        kept = both and self._run("merge-base", "--is-ancestor", before, after).returncode == 0
        return {
            "ref": f"refs/heads/{branch}",
            "before": before,
            "after": after,
            "created": before == NOTHING,
            "deleted": after == NOTHING,
            "forced": both and not kept,
            "repository": {"full_name": name},
            "commits": [self._pushed(commit) for commit in found[-PUSHED:]],
        }

    def _pushed(self, commit: str) -> dict[str, Any]:
        listing = ("diff-tree", "-r", "-z", "--root", "--no-renames", "--no-commit-id", commit)
        changed = list(_files(self.git(*listing)))
        paths = {
            kind: [file["filename"] for file in changed if file["status"] == kind]
            for kind in ("added", "modified", "removed")
        }
        return {"id": commit, "timestamp": self.git("log", "-1", "--format=%cI", commit), **paths}

    def tarball(self, commit: str, name: str) -> bytes:
        """The commit as GitHub packs it."""
        top = f"{name.replace('/', '-')}-{commit[:7]}/"
        done = self._run("archive", "--format=tar.gz", f"--prefix={top}", commit)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def git(self, *arguments: str, date: datetime | None = None) -> str:
        """Run Git, and give what it says."""
        done = self._run(*arguments, date=date)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip("\n")

    def _run(
        self, *arguments: str, date: datetime | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        plain = ("-c", "commit.gpgsign=false", "-c", "core.autocrlf=false", "-c", "gc.auto=0")
        when = (date or datetime.now(UTC)).isoformat()
        environment = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        return subprocess.run(
            ["git", "-C", str(self.directory), *identity, *plain, *arguments],
            capture_output=True,
            env=os.environ | environment,
            check=False,
        )


def _files(changed: str) -> Any:
    """The files of a comparison, from ``git diff-tree --raw -z``."""
    parts = iter(changed.split("\0"))
    for part in parts:
        if not part:
            return
        *_, sha, status = part.split()
        path = next(parts)
        if status[0] == "R":
            renamed = next(parts)
            yield {
                "filename": renamed,
                "previous_filename": path,
                "status": "renamed",
                "sha": sha,
            }
        else:
            yield {"filename": path, "status": _STATUS[status[0]], "sha": sha}
