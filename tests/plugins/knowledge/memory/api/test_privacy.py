"""Whoever writes what for whom, in whichever way: no answer over HTTP or MCP shows it to others."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from tests.examples import examples
from tests.plugins.skills_repo.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.heavy, pytest.mark.timeout(600)]
OWN = PREFIXES[0]
PEOPLE = ["ana", "ben", "public", "members"]
"""Two who signed in, and two with tokens of the portal's own, of whom one is a member."""
READERS = {
    "private": [],
    "restricted": ["ben"],
    "shared": [],
    "organization": ["members"],
    "public": PEOPLE,
}
UNLIMITED = ["queries", "creates", "updates", "deletes", "metadata", "approvals", "batches"]
UNLIMITED += ["batch_results", "streams", "lists", "reads"]
_number = count()
drafts = st.fixed_dictionaries(
    {
        "owner": st.sampled_from(PEOPLE),
        "policy": st.sampled_from(sorted(READERS)),
        "way": st.sampled_from(["single", "batch", "tool", "approval"]),
        "then": st.sampled_from(["", "narrowed", "removed"]),
    }
)


class Village:
    """A portal, the people who use it, and how they write.

    Attributes:
        ids: the signed-in people's ids.
        requests: the ids of requests that wait.
        batches: the ids of batches.
    """

    def __init__(self, portal: TestPortal) -> None:
        self.portal = portal
        self.ids: dict[str, str] = {}
        self.requests: list[str] = []
        self.batches: list[str] = []

    async def send(self, who: str, method: str, path: str, body: Any = None) -> str:
        """What an endpoint answers, refusals too."""
        answer = await self.portal.http(who).request(method, OWN + path, json=body)
        assert answer.status_code < 500, answer.text
        return answer.text

    async def call(self, who: str, tool: str, **arguments: Any) -> str:
        """What a tool answers, likewise."""
        return str(await self.portal.call(tool, arguments, tier=who))

    async def batch(self, who: str, operation: str, **entry: Any) -> str:
        """What became of a batch of one."""
        body = {"operation": operation, "entries": [entry]}
        id = json.loads(await self.send(who, "POST", "/batch", body))["operation_id"]
        self.batches.append(id)
        done = ""

        async def is_done() -> bool:
            nonlocal done
            done = await self.send(who, "GET", f"/batch/{id}")
            return json.loads(done)["status"] in {"completed", "failed"}

        await until(is_done)
        return done

    async def keep(self, owner: str, policy: str, way: str, mark: str) -> str:
        """Keep an entry that holds a mark; its id."""
        named = [self.ids["ben"]] if policy == "restricted" else []
        access = {"policy": policy, "approved_users": named}
        sent = {
            "entry": {"content": f"The {mark} sleeps.", "metadata": {"title": mark}},
            "options": {"access_policy": access},
            "governance": {"require_approval": way == "approval" and named != []},
        }
        if way == "tool" and policy != "shared":  # which names a group there
            told = {"content": f"The {mark} sleeps.", "title": mark, **access}
            kept = (await self.portal.call("remember", told, tier=owner)).structured
            assert kept is not None
            self.requests += [kept["approval"]] if kept.get("approval") else []
            return str(kept["id"])
        if way == "batch":
            id = f"own-{mark}"
            done = json.loads(await self.batch(owner, "upsert", id=id, **sent))
            assert done["results"]["succeeded"] == 1, done
            waits = done["entries"][0].get("request_id")
            self.requests += [] if waits is None else [waits]
            return id
        made = json.loads(await self.send(owner, "POST", "/create", sent))
        if made["status"] == "pending_approval":
            self.requests.append(made["approval_required"]["request_id"])
        return str(made["entry"]["id"])

    async def shown(self, who: str, id: str, mark: str) -> str:
        """All that anything says to somebody who knows an entry's id and words."""
        asked = {"query": mark, "options": {"include_embeddings": True}}
        asked |= {"layer": {"types": ["semantic", "archival", "organization", "user"]}}
        change = {"entry": {"content": "x", "version": 1}}
        question = json.dumps({"query": mark})
        said = [
            await self.send(who, "POST", "/query", asked),
            await self.send(who, "POST", "/query", {"query": mark, "mode": "keyword"}),
            await self.send(who, "GET", f"/stream?type=query&query={question}"),
            await self.send(who, "GET", f"/{id}/metadata"),
            await self.send(who, "GET", f"/{id}"),
            await self.send(who, "GET", "/entries"),
            await self.send(who, "PUT", f"/{id}", change),
            await self.send(who, "DELETE", f"/{id}"),
            await self.send(who, "GET", "/approvals?limit=100"),
            await self.call(who, "query_memory", query=mark),
            await self.call(who, "memory_history", id=id),
            await self.call(who, "get_memory", id=id),
            await self.call(who, "list_memory"),
            await self.call(who, "update_memory", id=id, content="x"),
            await self.call(who, "forget", id=id),
            await self.call(who, "list_approvals"),
            await self.batch(who, "update", id=id, **change),
            await self.batch(who, "delete", id=id),
        ]
        for request in self.requests[-2:]:
            for path in (f"/approvals/{request}", f"/approvals/{request}/approve"):
                method = "POST" if path.endswith("approve") else "GET"
                said.append(await self.send(who, method, path, {} if method == "POST" else None))
        return " ".join(said)


@pytest.fixture
async def village() -> AsyncGenerator[Village]:
    config = {"limits": {"operations": {f"knowledge.{each}": "none" for each in UNLIMITED}}}
    tiers = {"items": {"knowledge": "public"}}
    async with open_test_portal(plugin, tiers=tiers, config=config) as portal:
        made = Village(portal)
        for name in ("ana", "ben"):
            made.ids[name] = (await portal.sign_in(name)).id
        yield made


@settings(
    max_examples=examples(10, ordinary=5),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(drafts, min_size=1, max_size=2))
async def test_no_answer_shows_an_entry_to_whom_its_policy_excludes(
    village: Village, wanted: list[dict[str, str]]
) -> None:
    for draft in wanted:
        owner, mark = draft["owner"], f"quokka{next(_number)}"
        before = len(village.requests)
        id = await village.keep(owner, draft["policy"], draft["way"], mark)
        if draft["then"] == "narrowed":
            access = {"access_policy": {"policy": "private"}}
            change = {"entry": {"content": f"The {mark} woke."}, "options": access}
            await village.send(owner, "PUT", f"/{id}", change)
        if draft["then"] == "removed":
            await village.send(owner, "DELETE", f"/{id}")
        may = [] if draft["then"] and len(village.requests) == before else READERS[draft["policy"]]
        for who in PEOPLE:
            if who != owner and who not in may:
                said = await village.shown(who, id, mark)
                assert f"The {mark}" not in said, (who, draft)
        if len(village.requests) == before:  # nothing waits for anybody
            seen = f"The {mark}" in await village.shown(owner, id, mark)
            assert seen == (draft["then"] != "removed"), draft
