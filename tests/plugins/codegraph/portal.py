"""Repositories in a portal's real services, with tools that people call."""

from __future__ import annotations

import shutil
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import jsonschema_rs
import numpy as np

from auth.sealer import Sealer
from gateway.catalog.items import tool_item
from gateway.config.portal_keys import Services
from gateway.contract import Caller, Host, Listing, Tier, Tool, ToolFailed
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.pager import Pager
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.codegraph.model import FileReport
from plugins.codegraph.repositories.indexes import Indexes
from plugins.codegraph.repositories.repository import State
from plugins.codegraph.store.compression import Content, deflated
from plugins.codegraph.store.layers import Change, Overlay
from plugins.codegraph.store.name_split import split
from plugins.codegraph.store.owner import Owner
from plugins.codegraph.store.rows import FileGraph
from plugins.codegraph.store.store import GraphStore
from plugins.codegraph.tools.parts import ToolParts
from tests.plugins.codegraph.linker.in_memory import link_tree
from tests.plugins.codegraph.store.graphs import STAMP, register

MIGRATIONS = Path(__file__).parents[3] / "plugins" / "codegraph" / "migrations"
NOON = datetime.now(UTC).replace(microsecond=0)
Files = Mapping[str, bytes]


class WordsModel:
    """An embedder in this process: texts with the same words are near each other."""

    model = "words"
    dimensions = 64

    def __init__(self) -> None:
        self.read: list[str] = []

    async def passages(self, texts: Sequence[str]) -> Any:
        self.read += texts
        return np.stack([self._vector(text) for text in texts])

    async def query(self, text: str) -> Any:
        return self._vector(text)

    def _vector(self, text: str) -> Any:
        vector = np.full(self.dimensions, 1e-3, np.float32)
        for word in split(text):
            vector[sum(word.encode()) * 31 % self.dimensions] += 1
        return vector / np.linalg.norm(vector)


@dataclass(frozen=True)
class Known:
    """A repository, and who may see it."""

    id: str
    org: str
    name: str
    people: frozenset[str | None] = frozenset({None})


class Registry:
    """Repositories by name."""

    def __init__(self) -> None:
        self.all: list[Known] = []
        self.doing = State()

    async def named(self, caller: Caller, name: str | None, *, fresh: bool = False) -> Known:
        seen = await self.visible(caller)
        chosen = [each for each in seen if name in (None, each.name)]
        if len(chosen) != 1:
            raise ToolFailed("repo_needed", f"Say which: {[each.name for each in seen]}")
        return chosen[0]

    async def visible(self, caller: Caller, *, fresh: bool = False) -> list[Known]:
        return [each for each in self.all if {None, caller.person} & each.people]

    async def state(self, repo: str) -> State:
        return self.doing


@dataclass
class World:
    """A portal's code graph.

    Attributes:
        host: the plugin's services.
        trees: what each repository was indexed from.
        time: what the clock shows.
    """

    host: Host
    store: GraphStore
    registry: Any = field(default_factory=Registry)
    trees: dict[Owner, Files] = field(default_factory=dict)
    time: datetime = NOON
    parts: ToolParts = field(init=False)
    tools: dict[str, Tool] = field(init=False)
    pager: Cursors = field(default_factory=lambda: Cursors(Sealer(b"k" * 32, "pages")))

    def __post_init__(self) -> None:
        overlays = cast(Indexes, self)  # as far as tools ask
        self.parts = ToolParts.of(
            self.host, self.registry, self.store, overlays, 12, lambda: self.time
        )
        self.tools = {each.name: each for each in self.parts.tools()}

    async def index(
        self,
        name: str,
        files: Files,
        org: str = "portal",
        people: frozenset[str | None] | None = None,
    ) -> Owner:
        """Index a tree; the repository is new, or was there before."""
        owner = Owner(org, name)
        if owner not in self.trees:
            await register(self.host.database, owner)
            seen = frozenset({None}) if people is None else people
            self.registry.all.append(Known(name, org, name, seen))
        self.trees[owner] = files
        graphs = file_graphs(owner, files)
        layers = self.store.layers(owner)
        layer = await layers.begin(STAMP)
        await layers.keep(layer, [content(each) for each in files.values()])
        await layers.write(layer, list(graphs.values()))
        await layers.serve(layer, STAMP)
        return owner

    async def change(self, owner: Owner, files: Mapping[str, bytes | None]) -> None:
        """Write what is other in a changed tree into the layer that is served."""
        change = self._change(owner, files)
        view = await self.store.view(owner.org, owner.repo)
        assert view is not None
        gone = {each.report.path for each in change.files if each.gone}
        there = [each for each in change.files if not each.gone]
        await self.store.layers(owner).rewrite(
            view.layer, replace(change, files=there, gone=gone), STAMP
        )
        self.trees[owner] = {
            path: text for path, text in {**self.trees[owner], **files}.items() if text is not None
        }

    async def overlay(
        self,
        owner: Owner,
        files: Mapping[str, bytes | None],
        person: str,
        branch: str,
        digest: str,
        expires: datetime,
    ) -> None:
        """Write what is other in a changed tree beside the base."""
        change = self._change(owner, files)
        view = await self.store.view(owner.org, owner.repo)
        assert view is not None
        over = Overlay(person, branch, digest, expires, view.layer, view.generation)
        await self.store.layers(owner).overlay(over, change)

    def _change(self, owner: Owner, files: Mapping[str, bytes | None]) -> Change:
        """Link the changed tree anew; what is other in it than before."""
        tree = self.trees[owner]
        after = {path: text for path, text in {**tree, **files}.items() if text is not None}
        before, now = file_graphs(owner, tree), file_graphs(owner, after)
        changed = [now[path] for path in now if now[path] != before.get(path)]
        gone = [
            FileGraph(FileReport(path, "", "", 0, 0, skipped=True), gone=True)
            for path in before.keys() - now.keys()
        ]
        contents = [content(after[each.report.path]) for each in changed]
        return Change([*changed, *gone], contents=contents)

    async def call(
        self, tool: str, person: Caller | str | None = None, **args: Any
    ) -> dict[str, Any]:
        """What a tool answers, as it is sent, checked against its own schema."""
        declared = self.tools[tool]
        parse, checked = _told(declared)
        caller = caller_of(person)
        cursor = args.pop("cursor", None)
        result = await declared.run(parse(args), caller)
        if isinstance(result, Listing):
            assert declared.page is not None
            pager = Pager(declared.page, self.pager, f"{person} {tool} {sorted(args)}")
            after = self.pager.open(cursor, pager.purpose)
            result = pager.show(result, after, await pager.ready(result, after))
        checked.validate(result)
        return dict(result)

    async def refused(self, tool: str, person: str | None = None, **args: Any) -> ToolFailed:
        """The error of a call that fails."""
        try:
            found = await self.call(tool, person, **args)
        except ToolFailed as failed:
            return failed
        raise AssertionError(f"{tool} answered {found}")


_TOLD: dict[str, tuple[Any, Any]] = {}


def _told(tool: Tool) -> tuple[Any, Any]:
    """What reads a tool's arguments, and what checks its answers; made once for all worlds."""
    if tool.name not in _TOLD:
        item = tool_item("codegraph", tool, tool.name)
        validator = jsonschema_rs.validator_for(item.entry["outputSchema"])
        _TOLD[tool.name] = item.parse, validator
    return _TOLD[tool.name]


def caller_of(person: Caller | str | None) -> Caller:
    """Somebody who has signed in, or nobody."""
    if isinstance(person, Caller):
        return person
    tier = Tier.OPEN if person is None else Tier.MEMBERS
    return Caller(person=person, tier=tier)


@asynccontextmanager
async def world(
    data: Path, model: WordsModel | None = None, migrated: Path | None = None
) -> AsyncGenerator[World]:
    """A portal's code graph over the embedded services; ``migrated`` saves making the tables."""
    if migrated is not None:
        shutil.copy(migrated, data)
    async with open_services(Services(embedding="none"), data) as services:
        host = make_host(services.for_plugin("codegraph"), "codegraph", "Test")
        await host.database.migrate(MIGRATIONS)
        yield World(replace(host, embedder=model), GraphStore(host.database))


def file_graphs(owner: Owner, files: Files) -> dict[str, FileGraph]:
    """Everything about each file, as an index of the tree has it."""
    linked = link_tree(owner.repo, files)
    found = {}
    for report in linked.reports:
        path = report.path
        found[path] = FileGraph(
            FileReport(
                path,
                digest(files[path]),
                report.language,
                report.lines,
                report.size,
                report.problem,
            ),
            entities=[each for each in linked.entities if each.path == path],
            edges=[each for each in linked.edges if each.path == path],
            unresolved=[each for each in linked.unresolved if each.path == path],
            mentions=[each for each in linked.mentions if each.path == path],
            endpoints=[each for each in linked.endpoints if each.path == path],
        )
    return found


def digest(text: bytes) -> str:
    """What a text is kept by."""
    return sha256(text).hexdigest()


def content(text: bytes) -> Content:
    """A text as it is kept."""
    return Content(digest(text), deflated(text))
