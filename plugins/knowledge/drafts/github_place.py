"""Drafts as pull requests: one branch each, in the repository that the knowledge base lies in."""

from __future__ import annotations

import re

from pydantic_core import to_jsonable_python

from gateway.contract import ToolFailed
from gateway.repositories import (
    Branches,
    GithubRepository,
    PullRequest,
    PullRequests,
    Remark,
    Signature,
    SourceFailed,
    TooLarge,
    wants_changes,
)
from plugins.knowledge.drafts.draft import Draft, Seen
from plugins.knowledge.drafts.places import Target, Trying, changed_meanwhile
from plugins.knowledge.drafts.placing import same_place
from plugins.knowledge.sync.github import GithubSource, blob_id
from plugins.knowledge.sync.sources import NoteSource

ROUNDS = 4
"""How often a step begins anew because somebody was quicker."""
MAX_REMARKS, MAX_REMARK_CHARACTERS = 100, 2000
"""What is kept of what reviewers say: the newest, and the beginning of each."""
_UNSIGNED = re.compile(r"[<>\x00-\x1f\x7f]+")


class GithubPlace:
    """A branch on GitHub that pull requests are for.

    Args:
        source: the source.
        folder: what the names of drafts' branches begin with.
        repository: reads it.
        branches: writes its branches.
        pulls: writes its pull requests.
        portal: the portal's name, for what reviewers read.
    """

    is_remote = True

    def __init__(
        self,
        source: GithubSource,
        folder: str,
        repository: GithubRepository,
        branches: Branches,
        pulls: PullRequests,
        portal: str,
    ) -> None:
        self.source: NoteSource = source
        self.label = source.repository
        self._into = source.branch
        self._folder = folder
        self._repository = repository
        self._branches = branches
        self._pulls = pulls
        self._portal = portal

    async def target(self, path: str, draft: Draft | None) -> Target:
        """What a draft would replace (see :class:`Place`)."""
        commit = None
        if draft is not None and draft.pushed:
            commit = await self._branches.head(self._branch(draft))
        commit = commit or await self._main()
        blob, data = await self._file(path, commit)
        if blob is not None:
            return Target(blob, data)
        tree = await self._repository.tree(commit)
        others = (each.path for each in tree.files if same_place(each.path, path))
        return Target(taken=next(others, None))

    async def publish(self, draft: Draft, trying: Trying) -> Seen:
        """Push a draft's text to its branch, and have a pull request for it."""
        if draft.number is not None:
            pull = await self._pulls.get(draft.number)
            if pull.state != "open":
                return await self._seen(pull)
        blob = blob_id(draft.data)
        for _ in range(ROUNDS):
            if await self._pushed(draft, blob, trying):
                break
        else:
            raise changed_meanwhile(draft, "again and again")
        title = f"{'Change' if draft.is_change else 'Add'}: {draft.title}"
        pull = await self._pulls.open(self._branch(draft), self._into, title, self._told(draft))
        if pull.state == "open" and pull.title != title:
            pull = await self._pulls.edit(pull.number, title=title)
        return await self._seen(pull, blob)

    async def look(self, draft: Draft) -> Seen:
        """How the pull request stands."""
        pull = await self._known(draft)
        if pull is None:
            return Seen("closed", url=draft.url)
        return await self._seen(pull)

    async def withdraw(self, draft: Draft) -> Seen:
        """Close the pull request, and delete the branch."""
        pull = await self._known(draft)
        if pull is not None and pull.state == "merged":
            return await self._seen(pull)
        if pull is not None and pull.state == "open":
            pull = await self._pulls.edit(pull.number, state="closed")
        await self._branches.delete(self._branch(draft))
        if pull is None:
            return Seen("withdrawn")
        return Seen("withdrawn", number=pull.number, url=pull.url, remarks=draft.remarks)

    async def _pushed(self, draft: Draft, blob: str, trying: Trying) -> bool:
        """Whether the branch has the draft's text now; False where somebody was quicker."""
        branch = self._branch(draft)
        head = await self._branches.head(branch)
        if head is None:
            parent = await self._main()
            if (await self._file(draft.path, parent))[0] != draft.upon:
                raise changed_meanwhile(draft, f"in {self.label} at {self._into}")
            await trying(draft, blob)
            return await self._branches.create(branch, await self._commit(draft, parent))
        there = (await self._file(draft.path, head))[0]
        if there == blob:
            return True
        if there != draft.upon and there not in draft.tried:
            raise changed_meanwhile(draft, f"in the branch {branch}")
        await trying(draft, blob)
        return await self._branches.advance(branch, await self._commit(draft, head))

    async def _commit(self, draft: Draft, parent: str) -> str:
        """The commit of a version: the same one however often it is made."""
        agent = _UNSIGNED.sub(" ", str(draft.proposal.get("agent") or "")).strip()
        what = "Change" if draft.is_change else "Add"
        message = f"{what} {_UNSIGNED.sub(' ', draft.title)}\n"
        if agent:
            address = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-") or "agent"
            message += f"\nCo-authored-by: {agent} <{address}@agents.invalid>\n"
        name = _UNSIGNED.sub(" ", draft.signed.get("name") or "").strip() or "A member"
        email = draft.signed.get("email") or "member@members.invalid"
        author = Signature(name, email, draft.changed)
        return await self._branches.commit(parent, {draft.path: draft.data}, message, author)

    async def _main(self) -> str:
        commit = await self._branches.head(self._into)
        if commit is None:
            text = f"{self.label} has no branch {self._into}. The portal's admin must look."
            raise SourceFailed("NOT_FOUND", text)
        return commit

    async def _file(self, path: str, commit: str) -> tuple[str | None, bytes | None]:
        """A file's blob and bytes at a commit."""
        try:
            found = await self._repository.read(path, at=commit)
        except TooLarge:
            text = f"{path} is larger than the portal reads (max_note); change it on GitHub."
            raise ToolFailed("too_large", text) from None
        except SourceFailed as failure:
            if failure.code == "NOT_FOUND":
                return None, None
            raise
        content: bytes = getattr(found, "content", b"")
        return blob_id(content), content

    async def _known(self, draft: Draft) -> PullRequest | None:
        if draft.number is not None:
            return await self._pulls.get(draft.number)
        return await self._pulls.find(self._branch(draft))

    async def _seen(self, pull: PullRequest, blob: str | None = None) -> Seen:
        remarks = await self._pulls.remarks(pull.number)
        return Seen(
            state=pull.state,
            blob=blob,
            number=pull.number,
            url=pull.url,
            remarks=[_kept(each) for each in remarks[-MAX_REMARKS:]],
            wants_changes=wants_changes(remarks),
            conflicts=bool(pull.conflicts),
        )

    def _branch(self, draft: Draft) -> str:
        return draft.place_name(self._folder)

    def _told(self, draft: Draft) -> str:
        agent = str(draft.proposal.get("agent") or "")
        by = draft.signed.get("name") or "A member"
        helped = f", with {agent}," if agent else ""
        return (
            f"{by}{helped} proposes `{draft.path}` through {self._portal}.\n\nIts author changes "
            f"or withdraws it there (draft `{draft.id}`), and reads what you say here."
        )


def _kept(remark: Remark) -> dict[str, object]:
    text = remark.text
    shown = text if len(text) <= MAX_REMARK_CHARACTERS else f"{text[:MAX_REMARK_CHARACTERS]}…"
    told: dict[str, object] = to_jsonable_python(remark)
    return told | {"text": shown}
