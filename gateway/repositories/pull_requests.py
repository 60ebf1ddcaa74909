"""Pull requests of a repository on GitHub: opened, found again, closed, and what reviewers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from urllib.parse import urlencode

from gateway.repositories.errors import SourceFailed
from gateway.repositories.writing import PULL_REQUESTS, RepositoryWriting, refused_because

PAGE = 100
"""Entries of a list that one answer holds, which is what GitHub gives at most."""
MAX_PAGES = 5
"""Pages of reviews or comments that are read."""

Verdict = Literal["approved", "changes_requested", "commented", "dismissed"]
"""What a review says."""


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request.

    Attributes:
        number: its number in the repository.
        url: its page.
        state: ``open``, ``closed`` or ``merged``.
        title: its title.
        head: the newest commit of its branch.
        merged_as: the commit by which it was merged, or "".
        conflicts: whether it cannot be merged as it stands; None where GitHub does not know yet.
    """

    number: int
    url: str
    state: Literal["open", "closed", "merged"]
    title: str
    head: str
    merged_as: str = ""
    conflicts: bool | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """What somebody says about a pull request.

    Attributes:
        by: their login.
        at: when.
        text: what they say, in Markdown.
        verdict: what their review says as a whole; None for a comment on its own.
        path: the file that it is about, where it is about one.
        line: the line of it.
        url: where it stands.
    """

    by: str
    at: datetime
    text: str
    verdict: Verdict | None = None
    path: str | None = None
    line: int | None = None
    url: str = ""


class PullRequests:
    """The pull requests of one repository.

    Args:
        writing: sends the requests.
    """

    def __init__(self, writing: RepositoryWriting) -> None:
        self._writing = writing

    async def open(self, branch: str, into: str, title: str, text: str) -> PullRequest:
        """Open a pull request, or find the one that the branch has already.

        Args:
            branch: what it brings.
            into: the branch that it is for.
            title: its title.
            text: what it says, in Markdown.

        Raises:
            SourceFailed: GitHub refuses.
        """
        made = {"title": title, "head": branch, "base": into, "body": text}
        try:
            return _pull_request(await self._ask("POST", "pulls", made))
        except SourceFailed as failure:
            if refused_because(failure, "already exists") and (found := await self.find(branch)):
                return found
            raise

    async def find(self, branch: str) -> PullRequest | None:
        """The newest pull request of a branch of the repository's own, whatever became of it.

        Raises:
            SourceFailed: GitHub refuses.
        """
        owner = self._writing.name.partition("/")[0]
        query = {"head": f"{owner}:{branch}", "state": "all", "per_page": "10"}
        found = await self._ask("GET", f"pulls?{urlencode(query)}")
        own = [each for each in found if each["head"]["ref"] == branch]
        return _pull_request(max(own, key=lambda each: int(each["number"]))) if own else None

    async def get(self, number: int) -> PullRequest:
        """One pull request.

        Raises:
            SourceFailed: GitHub refuses, or has none of that number.
        """
        return _pull_request(await self._ask("GET", f"pulls/{number}"))

    async def edit(self, number: int, **changes: str) -> PullRequest:
        """Change a pull request.

        Args:
            number: its number.
            changes: ``title``, ``body``, or ``state``, which is ``open`` or ``closed``.

        Raises:
            SourceFailed: GitHub refuses.
        """
        return _pull_request(await self._ask("PATCH", f"pulls/{number}", changes))

    async def remarks(self, number: int) -> Sequence[Remark]:
        """What reviewers say, the oldest first: reviews, and comments on lines and on the whole.

        A review that says nothing by itself, as one that only gathers comments, is left out.

        Raises:
            SourceFailed: GitHub refuses.
        """
        reviews = [_review(each) for each in await self._all(f"pulls/{number}/reviews")]
        lines = [_comment(each) for each in await self._all(f"pulls/{number}/comments")]
        talk = [_comment(each) for each in await self._all(f"issues/{number}/comments")]
        said = [each for each in reviews if each and (each.text or each.verdict != "commented")]
        return sorted([*said, *lines, *talk], key=lambda each: each.at)

    async def _all(self, what: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for page in range(1, MAX_PAGES + 1):
            listed = await self._ask("GET", f"{what}?per_page={PAGE}&page={page}")
            found += listed
            if len(listed) < PAGE:
                break
        return found

    async def _ask(self, method: str, what: str, value: Any = None) -> Any:
        return await self._writing.ask(method, what, PULL_REQUESTS, value)


def wants_changes(remarks: Sequence[Remark]) -> bool:
    """Whether a reviewer's last verdict asks for changes."""
    last = {each.by: each.verdict for each in remarks if each.verdict not in (None, "commented")}
    return "changes_requested" in last.values()


def _pull_request(told: dict[str, Any]) -> PullRequest:
    merged = bool(told.get("merged_at"))
    mergeable = told.get("mergeable")
    return PullRequest(
        number=int(told["number"]),
        url=str(told["html_url"]),
        state="merged" if merged else "open" if told["state"] == "open" else "closed",
        title=str(told["title"]),
        head=str(told["head"]["sha"]),
        merged_as=str(told.get("merge_commit_sha") or "") if merged else "",
        conflicts=None if mergeable is None else not mergeable,
    )


_VERDICTS: dict[str, Verdict] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "COMMENTED": "commented",
    "DISMISSED": "dismissed",
}


def _review(told: dict[str, Any]) -> Remark | None:
    """A review; None for one that its author has not sent yet."""
    verdict = _VERDICTS.get(str(told["state"]).upper())
    if verdict is None:
        return None
    at = datetime.fromisoformat(told["submitted_at"])
    url = str(told.get("html_url") or "")
    return Remark(_login(told), at, str(told.get("body") or ""), verdict, url=url)


def _comment(told: dict[str, Any]) -> Remark:
    line = told.get("line") or told.get("original_line")
    return Remark(
        _login(told),
        datetime.fromisoformat(told["created_at"]),
        str(told.get("body") or ""),
        path=told.get("path"),
        line=line if isinstance(line, int) else None,
        url=str(told.get("html_url") or ""),
    )


def _login(told: dict[str, Any]) -> str:
    """Whose words they are; GitHub calls ``ghost`` whoever has left."""
    return str((told.get("user") or {}).get("login") or "ghost")
