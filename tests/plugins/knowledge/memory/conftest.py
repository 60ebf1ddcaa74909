"""Memory over real services, on each database; people who use it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gateway.contract import Attribution, Caller, Fellow, Host, Tier
from gateway.plugin_host import make_host
from gateway.services import open_services
from gateway.services.vectors.store import OwnedVectors
from plugins.knowledge.knowledge import MIGRATIONS, Knowledge
from plugins.knowledge.memory.memory import Memory
from plugins.knowledge.memory.model.entry import KnowledgeEntry
from plugins.knowledge.memory.model.policy import readers
from plugins.knowledge.memory.model.requests import CreateRequest, QueryRequest, UpdateRequest
from plugins.knowledge.memory.model.responses import CreateResponse, QueryResponse
from plugins.knowledge.memory.rights.approval_rules import Agreement, ApprovalRules
from plugins.knowledge.memory.rights.roles import Roles
from plugins.knowledge.memory.write.drafts import requested_access
from plugins.knowledge.store import Store
from tests.migrated import Migrated
from tests.plugins.knowledge.retrieval.conftest import SETTINGS, Base, WordEmbedder

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANA = Caller("person:ana", Tier.MEMBERS, groups=frozenset({"garden"}), name="Ana")
BEN = Caller("person:ben", Tier.PUBLIC, groups=frozenset({"garden"}), name="Ben")
CY = Caller("person:cy", Tier.MEMBERS, name="Cy")
DEE = Caller("person:dee", Tier.PUBLIC, name="Dee")


class Clock:
    """A time that goes on whenever somebody looks, by a second if nothing else is said."""

    def __init__(self, step: timedelta = timedelta(seconds=1)) -> None:
        self.time = NOON
        self._step = step

    def __call__(self) -> datetime:
        self.time += self._step
        return self.time


@dataclass
class World:
    """A memory, its services and its time."""

    memory: Memory
    host: Host
    base: Base
    clock: Clock

    async def remember(
        self, who: Caller, content: str, policy: Any = "private", layer: str = "", **fields: Any
    ) -> KnowledgeEntry:
        """Keep an entry; ``policy`` is a name, or a whole policy with the people it names."""
        return (await self.say(who, content, policy, layer, **fields)).entry

    async def say(
        self, who: Caller, content: str, policy: Any = "private", layer: str = "", **fields: Any
    ) -> CreateResponse:
        """Keep an entry, and hear what became of it."""
        named = {"policy": policy} if isinstance(policy, str) else policy
        options: dict[str, Any] = {"access_policy": named}
        if layer:
            options["layer"] = {"type": layer, "agent_id": fields.pop("agent", None)}
        request = {"entry": {"content": content, "metadata": fields}, "options": options}
        sent = CreateRequest.model_validate(request)
        agreed = Agreement(readers(who.person or "", requested_access(sent)))
        return await self.memory.entries.create(sent, who, agreement=agreed)

    async def change(self, who: Caller, id: str, content: str, **entry: Any) -> KnowledgeEntry:
        """Write a new version of an entry."""
        request = UpdateRequest.model_validate({"entry": {"content": content, **entry}})
        return (await self.keep(id, request, who)).entry

    async def keep(self, id: str, request: UpdateRequest, who: Caller) -> CreateResponse:
        """Write a new version, to which a person said yes whomever it is for."""
        keep = self.memory.entries
        current = await keep.found(id, who)
        wanted = await keep.wanted(current, request, who)
        agreed = Agreement(wanted.readers, current.version)
        return await keep.update(id, request, who, agreed)

    async def open(self, who: Caller, id: str, content: str, policy: Any) -> KnowledgeEntry:
        """Write a new version under another policy."""
        options = {"access_policy": policy}
        request = UpdateRequest.model_validate({"entry": {"content": content}, "options": options})
        return (await self.keep(id, request, who)).entry

    async def ask(self, who: Caller, query: str, **request: Any) -> QueryResponse:
        """Query memory."""
        return await self.memory.query(
            QueryRequest.model_validate({"query": query, **request}), who
        )

    async def found(self, who: Caller, query: str, **request: Any) -> list[str]:
        """The contents that a query finds, best first."""
        answer = await self.ask(who, query, **request)
        return [result.entry.content for result in answer.results]


class OneForAll(OwnedVectors):
    """The vectors of a portal's only process, or a server's: there are no others to follow."""

    own = False


class Town:
    """Everybody is known here, by their name where they are one of the four."""

    async def names(self, ids: Collection[str]) -> dict[str, str]:
        known = {each.person: each.name for each in (ANA, BEN, CY, DEE)}
        return {id: known.get(id) or id for id in ids if id.startswith("person:")}

    async def attribution(self, person: str) -> Attribution | None:
        return None

    async def caller(self, person: str) -> Caller | None:
        return None

    async def fellows(self, caller: Caller, name: str) -> list[Fellow]:
        return []

    def groups(self) -> frozenset[str]:
        return frozenset({"garden", "kitchen", "gate"})


Opener = Callable[..., Awaitable[World]]


@pytest.fixture(scope="session")
def knowledge_migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    """The plugin's tables, migrated once."""
    # The audit log lets nobody empty it, so each test finds what earlier ones wrote there.
    folder = tmp_path_factory.mktemp("migrated")
    with Migrated("knowledge", MIGRATIONS, folder, keep={"memory_audit"}) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, knowledge_migrated: Migrated, tmp_path: Path) -> str:
    """Where a database is, migrated and empty; SQLite's lies in ``tmp_path``."""
    if request.param == "sqlite":
        shutil.copy(knowledge_migrated.file, tmp_path)
        return "sqlite"
    return knowledge_migrated.on(request.getfixturevalue("postgres_url"))


@asynccontextmanager
async def opened(
    address: str,
    data: Path,
    clock: Clock,
    embedder: Any = None,
    roles: Roles | None = None,
    approval: ApprovalRules | None = None,
    *,
    follows: bool = False,
) -> AsyncGenerator[World]:
    """A memory over the stores in a directory, which are migrated.

    With ``follows`` it is one of several processes, each with a directory of its own.
    """
    settings = SimpleNamespace(**{**vars(SETTINGS), "database": address})
    async with AsyncExitStack() as stack:
        services = await stack.enter_async_context(open_services(settings, data))
        shares = replace(services.for_plugin("knowledge"), embedder=embedder, reranker=None)
        if not follows:
            shares = replace(shares, vectors=OneForAll(services.vectors, "knowledge"))
        host = replace(make_host(shares, "knowledge", "Test portal"), people=Town())
        knowledge = await Knowledge.open(host, Store.of(host), "test")
        stack.push_async_callback(knowledge.index.close)
        memory = await stack.enter_async_context(
            Memory.opened(host, knowledge, roles or Roles(), clock, approval)
        )
        yield World(memory, host, Base(knowledge, host), clock)


@pytest.fixture
async def open_world(tmp_path: Path, address: str) -> AsyncGenerator[Opener]:
    """Opens a memory, with a model or without one, and closes the one that was open."""
    async with AsyncExitStack() as stack:

        async def opener(
            embedder: Any = None,
            roles: Roles | None = None,
            approval: ApprovalRules | None = None,
            clock: Clock | None = None,
        ) -> World:
            await stack.aclose()
            return await stack.enter_async_context(
                opened(address, tmp_path, clock or Clock(), embedder, roles, approval)
            )

        yield opener


@pytest.fixture
async def world(open_world: Opener) -> World:
    """A memory with a model."""
    return await open_world(WordEmbedder())
