"""A knowledge base on GitHub that takes drafts, in a whole portal."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auth import Account
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.portal import CallResult
from plugins.knowledge import plugin
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History
from tests.servers.github_writes import Writes

KB = "garden/kb"
HOOK = "the-webhooks-secret"
TOKEN = "ghp_" + "W" * 36
ANA = Account.of_key(f"0x{'a' * 40}", "ana")
PAGE = (
    b"---\ntitle: Coordination\ntype: pattern\npublish: true\ntags: [work]\n---\n\n# How\n\nTalk.\n"
)
OLD = "artifacts/patterns/coordination.md"
"""Where that page is."""
CHANGE = {
    "title": "Coordination",
    "contentType": "pattern",
    "body": "# How\n\nTalk, and write it down.\n",
    "updates": "pattern/coordination",
}
WATER = {"title": "Water rights", "contentType": "pattern", "body": "Who may use the well.\n"}
NO_QUESTION: Mapping[str, Any] = {
    "access": {"members": {"any_of": ["signed_in"]}},
    "items": {
        "knowledge/create_draft": {"tier": "members", "approve": "nobody"},
        "knowledge/withdraw_draft": {"tier": "members", "approve": "nobody"},
    },
}
"""``tiers.yaml`` where nobody is asked for a yes, for tests of what comes after it."""


@dataclass
class Garden:
    """The portal, and GitHub."""

    portal: TestPortal
    server: GithubContents
    history: History
    writes: Writes

    async def call(self, tool: str, arguments: Mapping[str, Any], tier: str = "ana") -> CallResult:
        return await self.portal.call(tool, arguments, tier=tier)

    async def done(self, tool: str, arguments: Mapping[str, Any], tier: str = "ana") -> Any:
        """What a call answers that has to work."""
        result = await self.call(tool, arguments, tier)
        assert not result.is_error, result.text
        return result.structured

    async def fails(self, tool: str, arguments: Mapping[str, Any], tier: str = "ana") -> Any:
        """The error of a call that must not work."""
        result = await self.call(tool, arguments, tier)
        assert result.is_error, result.text
        return json.loads(result.content[-1]["text"])["error"]

    def file(self, ref: str, path: str) -> str:
        commit = self.history.resolve(ref)
        assert commit, ref
        return (self.history.content(commit, path) or b"").decode()

    async def push(self, before: str, after: str) -> None:
        """What GitHub tells the portal once something is on main."""
        raw = json.dumps(self.history.push(before, after, KB)).encode()
        digest = hmac.new(HOOK.encode(), raw, hashlib.sha256).hexdigest()
        headers = {
            "x-github-event": "push",
            "x-github-delivery": after,
            "x-hub-signature-256": f"sha256={digest}",
        }
        answer = await self.portal.hook("knowledge", "github", raw, headers)
        assert answer.status_code == 200, answer.text


@dataclass
class Ground:
    """GitHub, and where the portal's data lies."""

    server: GithubContents
    history: History
    writes: Writes
    data: Path

    @asynccontextmanager
    async def opened(
        self, tiers: Mapping[str, Any] = NO_QUESTION, **source: Any
    ) -> AsyncGenerator[Garden]:
        async with opened_portal(self.server.url, self.data, tiers, **source) as portal:
            await portal.sign_in("ana", ANA)
            yield Garden(portal, self.server, self.history, self.writes)


@asynccontextmanager
async def opened_portal(
    url: str,
    data: Path,
    tiers: Mapping[str, Any] = NO_QUESTION,
    schedule: str | None = None,
    **source: Any,
) -> AsyncGenerator[TestPortal]:
    """A portal whose knowledge base lies on a GitHub at an address; jobs run where one is told."""
    section = {
        "sources": [{"github": KB, "drafts": True, "tier": "open"} | source],
        "github": {
            "api_url": url,
            "token": "env:DRAFTS_TOKEN",
            "webhook_secret": "env:DRAFTS_HOOK",
        },
        "memory": {"enabled": False},
    }
    timed = {} if schedule is None else {"schedule": schedule}
    config = {"plugins": {"knowledge": section | timed}}
    async with open_test_portal(
        plugin, config=config, tiers=tiers, data_dir=data, schedules=schedule is not None
    ) as portal:
        yield portal


def ground(root: Path, server: GithubContents) -> Ground:
    """A repository with one page, which the portal's token may write to."""
    history = History.begun(root / "kb")
    history.commit({"README.md": b"# Us\n", "artifacts/patterns/coordination.md": PAGE})
    writes = Writes(history, KB)
    server.repos[KB] = Repo(history.directory, tokens={TOKEN}, history=history, writes=writes)
    return Ground(server, history, writes, root / "data")
