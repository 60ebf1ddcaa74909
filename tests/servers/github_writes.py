"""What a small GitHub writes: refs, blobs, trees, commits, pull requests, reviews and comments.

A real Git repository stands behind it::

    github.repos["garden/kb"] = Repo(history.directory, history=history, writes=Writes(history))
    pulls = github.repos["garden/kb"].writes
    pulls.review(1, "ana", "CHANGES_REQUESTED", "Say when.", path="a.md", line=3)
    pulls.merge(1)                          # a merge commit on main, as the button makes it
    pulls.withheld = {"pull_requests"}      # a permission that the credential lacks
    pulls.loses = {"POST pulls"}            # does it, and answers 502, once
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs

from tests.servers.github_history import History

Answered = tuple[int, Any, Mapping[str, str]]
_BEGAN = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Writes:
    """A repository that can be written to.

    Args:
        history: its commits.
        name: ``owner/repo``.

    Attributes:
        pulls: the pull requests by their number, as the API tells them.
        withheld: permissions that the credential lacks: ``contents``, ``pull_requests``.
        ruled: how the names of branches begin that a rule of the repository forbids.
        loses: requests, as ``METHOD what``, that are done and then answered with 502, once each.
        asked: how often each such request came.
        seen: told each request before it is answered; a test stops the world there.
    """

    def __init__(self, history: History, name: str = "garden/kb") -> None:
        self.history = history
        self.name = name
        self.pulls: dict[int, dict[str, Any]] = {}
        self.withheld: set[str] = set()
        self.ruled = ""
        self.loses: set[str] = set()
        self.asked: Counter[str] = Counter()
        self.seen: Callable[[str], None] = lambda asked: None
        self._said: dict[int, list[tuple[str, dict[str, Any]]]] = {}
        self._moments = 0
        self._lock = threading.Lock()

    def answer(self, method: str, what: str, path: str, query: str, body: bytes) -> Answered | None:
        """The answer to a request, or None where it is none of these."""
        parts = path.split("/") if path else []
        handler = self._handler(method, what, parts)
        if handler is None:
            return None
        asked = f"{method} {'/'.join([what, *parts[:1]]) if what == 'git' else what}"
        self.seen(asked)
        with self._lock:
            self.asked[asked] += 1
            if refused := self._withheld(method, what):
                return refused
            given = json.loads(body) if body else {}
            status, value = handler(parts, given | {"?": parse_qs(query)})
            if asked in self.loses:
                self.loses.discard(asked)
                return 502, {"message": "Server Error"}, {}
        return status, value, {}

    def merge(self, number: int) -> str:
        """Merge a pull request as the button does; the commit."""
        pull = self.pulls[number]
        branch, into = pull["head"]["ref"], pull["base"]["ref"]
        tree = self._git("merge-tree", "--write-tree", into, branch).split("\n")[0]
        parents = [self.history.resolve(each) or "" for each in (into, branch)]
        text = f"Merge pull request #{number}"
        commit = self._git("commit-tree", tree, "-p", parents[0], "-p", parents[1], "-m", text)
        self._git("update-ref", f"refs/heads/{into}", commit)
        self._git("reset", "-q", "--hard")
        pull |= {"state": "closed", "merged_at": self._now(), "merge_commit_sha": commit}
        return commit

    def close(self, number: int) -> None:
        """Close a pull request without merging it."""
        self.pulls[number]["state"] = "closed"

    def review(
        self, number: int, by: str, state: str, text: str = "", path: str = "", line: int = 0
    ) -> None:
        """Review a pull request, with a comment on a line where a path is given."""
        url = f"{self.pulls[number]['html_url']}#review"
        one = {"user": {"login": by}, "html_url": url}
        told = one | {"state": state, "body": "" if path else text, "submitted_at": self._now()}
        self._said.setdefault(number, []).append(("reviews", told))
        if path:
            self.comment(number, by, text, path, line)

    def comment(self, number: int, by: str, text: str, path: str = "", line: int = 0) -> None:
        """Say something, of a line or of the whole."""
        told: dict[str, Any] = {"user": {"login": by}, "body": text, "created_at": self._now()}
        told["html_url"] = f"{self.pulls[number]['html_url']}#comment"
        kind = "comments" if path else "talk"
        self._said.setdefault(number, []).append(
            (kind, told | ({"path": path, "line": line} if path else {}))
        )

    def branches(self) -> list[str]:
        """The names of the branches."""
        listed = self._git("for-each-ref", "--format=%(refname:short)", "refs/heads")
        return sorted(listed.split())

    def _handler(self, method: str, what: str, parts: list[str]) -> Any:
        handlers: dict[tuple[str, str, str], Any] = {
            ("GET", "git", "ref"): self._ref,
            ("POST", "git", "refs"): self._create_ref,
            ("PATCH", "git", "refs"): self._move_ref,
            ("DELETE", "git", "refs"): self._delete_ref,
            ("POST", "git", "blobs"): self._blob,
            ("POST", "git", "trees"): self._tree,
            ("POST", "git", "commits"): self._commit,
            ("POST", "pulls", ""): self._open,
            ("GET", "pulls", ""): self._list,
            ("GET", "pulls", "1"): self._get,
            ("PATCH", "pulls", "1"): self._edit,
            ("GET", "pulls", "reviews"): self._reviews,
            ("GET", "pulls", "comments"): self._comments,
            ("GET", "issues", "comments"): self._talk,
        }
        if what == "git":
            return handlers.get((method, what, parts[0] if parts else ""))
        second = parts[1] if len(parts) > 1 else "1" if parts else ""
        return handlers.get((method, what, second))

    def _withheld(self, method: str, what: str) -> Answered | None:
        permission = "contents" if what == "git" else "pull_requests"
        if permission not in self.withheld or method == "GET":
            return None
        headers = {"x-accepted-github-permissions": f"{permission}=write"}
        return 403, {"message": "Resource not accessible by integration"}, headers

    def _ref(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        name = "/".join(parts[2:])
        commit = self.history.resolve(f"refs/heads/{name}")
        if commit is None:
            return 404, {"message": "Not Found"}
        return 200, {"ref": f"refs/heads/{name}", "object": {"sha": commit, "type": "commit"}}

    def _create_ref(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        ref, commit = given["ref"], given["sha"]
        if self.ruled and ref.removeprefix("refs/heads/").startswith(self.ruled):
            return 422, {"message": "Repository rule violations found"}
        if self.history.resolve(ref):
            return 422, {"message": "Reference already exists"}
        if not self.history.resolve(commit):
            return 422, {"message": "Object does not exist"}
        self._git("update-ref", ref, commit)
        return 201, {"ref": ref, "object": {"sha": commit}}

    def _move_ref(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        ref = f"refs/{'/'.join(parts[1:])}"
        before = self.history.resolve(ref)
        if before is None:
            return 422, {"message": "Reference does not exist"}
        common = self._git("merge-base", before, given["sha"])
        if common != before and not given.get("force"):
            return 422, {"message": "Update is not a fast forward"}
        self._git("update-ref", ref, given["sha"])
        return 200, {"ref": ref, "object": {"sha": given["sha"]}}

    def _delete_ref(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        ref = f"refs/{'/'.join(parts[1:])}"
        if self.history.resolve(ref) is None:
            return 422, {"message": "Reference does not exist"}
        self._git("update-ref", "-d", ref)
        for pull in self.pulls.values():  # GitHub closes what has lost its branch
            if pull["state"] == "open" and f"refs/heads/{pull['head']['ref']}" == ref:
                pull["state"] = "closed"
        return 204, None

    def _blob(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        content = base64.b64decode(given["content"], validate=True)
        return 201, {"sha": self._git("hash-object", "-w", "--stdin", stdin=content)}

    def _tree(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        with TemporaryDirectory() as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._git("read-tree", given["base_tree"], env=index)
            for entry in given["tree"]:
                at = f"{entry['mode']},{entry['sha']},{entry['path']}"
                change = ("--force-remove", entry["path"])
                if entry["sha"] is not None:
                    change = ("--cacheinfo", at)
                self._git("update-index", "--add", *change, env=index)
            return 201, {"sha": self._git("write-tree", env=index)}

    def _commit(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        people = {
            f"GIT_{role.upper()}_{part.upper()}": given[role][part]
            for role in ("author", "committer")
            for part in ("name", "email", "date")
        }
        parents = [each for parent in given["parents"] for each in ("-p", parent)]
        message = given["message"].encode()
        made = self._git("commit-tree", given["tree"], *parents, env=people, stdin=message)
        return 201, {"sha": made}

    def _open(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        head = self.history.resolve(f"refs/heads/{given['head']}")
        errors = []
        if head is None:
            errors.append({"resource": "PullRequest", "field": "head", "code": "invalid"})
        elif any(self._is_open(pull, given["head"]) for pull in self.pulls.values()):
            owner = self.name.partition("/")[0]
            text = f"A pull request already exists for {owner}:{given['head']}."
            errors.append({"resource": "PullRequest", "code": "custom", "message": text})
        if errors:
            return 422, {"message": "Validation Failed", "errors": errors}
        number = len(self.pulls) + 1
        self.pulls[number] = {
            "number": number,
            "html_url": f"https://github.test/{self.name}/pull/{number}",
            "state": "open",
            "title": given["title"],
            "body": given["body"],
            "head": {"ref": given["head"]},
            "base": {"ref": given["base"]},
            "merged_at": None,
            "merge_commit_sha": None,
        }
        return 201, self._told(self.pulls[number])

    def _list(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        branch = given["?"]["head"][0].partition(":")[2]
        found = [each for each in self.pulls.values() if each["head"]["ref"] == branch]
        return 200, [self._told(each) for each in found]

    def _get(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        pull = self.pulls.get(int(parts[0]))
        return (404, {"message": "Not Found"}) if pull is None else (200, self._told(pull))

    def _edit(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        pull = self.pulls[int(parts[0])]
        if pull["merged_at"] and given.get("state") == "open":
            return 422, {"message": "Cannot change the state of a merged pull request"}
        if not pull["merged_at"] or "state" not in given:
            pull |= {name: given[name] for name in ("title", "body", "state") if name in given}
        return 200, self._told(pull)

    def _reviews(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        return self._page("reviews", parts, given)

    def _comments(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        return self._page("comments", parts, given)

    def _talk(self, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        return self._page("talk", parts, given)

    def _page(self, kind: str, parts: list[str], given: dict[str, Any]) -> tuple[int, Any]:
        said = [told for each, told in self._said.get(int(parts[0]), []) if each == kind]
        size, page = int(given["?"]["per_page"][0]), int(given["?"]["page"][0])
        return 200, said[(page - 1) * size : page * size]

    def _told(self, pull: dict[str, Any]) -> dict[str, Any]:
        branch = self.history.resolve(f"refs/heads/{pull['head']['ref']}")
        pull["head"]["sha"] = branch or pull["head"].get("sha", "")
        merged = pull["state"] != "open" or not branch
        done = None if merged else self._run("merge-tree", "--write-tree", "main", branch or "")
        return pull | {"mergeable": None if done is None else done.returncode == 0}

    def _is_open(self, pull: dict[str, Any], branch: str) -> bool:
        return bool(pull["state"] == "open" and pull["head"]["ref"] == branch)

    def _now(self) -> str:
        self._moments += 1
        return (_BEGAN + timedelta(minutes=self._moments)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _git(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> str:
        done = self._run(*arguments, stdin=stdin, env=env)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode().strip("\n")

    def _run(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        identity = ("-c", "user.name=GitHub", "-c", "user.email=noreply@github.test")
        return subprocess.run(
            ["git", "-C", str(self.history.directory), *identity, *arguments],
            input=stdin,
            capture_output=True,
            env=os.environ | (env or {}),
            check=False,
        )
