"""An index that follows the changes of a tree is the one that looks at all of it anew."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gateway.services.database.service import open_database
from plugins.codegraph.indexer.indexer import OverlayOwner
from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.worker_pool import WorkerPool
from tests.examples import examples
from tests.plugins.codegraph.indexer.bench import Bench, Dump, bench, git, write

PYTHON = ("main.py", "shop/__init__.py", "shop/cart.py", "shop/pay.py", "shop/deep/more.py")
WEB = ("web/app.ts", "web/cart.ts", "web/ui/index.ts", "web/old.js")
NAMES = ("add", "pay", "take", "Cart")
MODULES = ("shop", "shop.cart", "shop.pay", "shop.deep.more", "main")
PARTS = ("./cart", "./app", "./ui", "../cart", "@shop/cart", "./old")


@st.composite
def python_texts(draw: st.DrawFn) -> str:
    """A Python file: it imports some names, defines some, and calls them all."""
    imports = [
        draw(
            st.sampled_from(
                [
                    f"from {module} import {name}",
                    f"from .cart import {name}",
                    f"from . import {name}",
                    f"from {module} import *",
                    f"import {module} as {name}",
                ]
            )
        )
        for name in NAMES
        for module in [draw(st.sampled_from(MODULES))]
        if draw(st.booleans())
    ]
    bodies = [
        draw(
            st.sampled_from(
                [
                    f"def {name}():\n    return {other}()",
                    f"def {name}(it: {other}):\n    it.pay()\n    return it",
                    f"class {name}({other}):\n    def pay(self):\n        self.take()",
                    f"class {name}:\n    def take(self) -> {other}:\n        return {other}()",
                    f"def {name}(:\n  broken",
                ]
            )
        )
        for name in NAMES
        for other in [draw(st.sampled_from(NAMES))]
        if draw(st.booleans())
    ]
    calls = [f"def run():\n    x = {name}()\n    x.take().pay()" for name in draw(SOME)]
    return "\n\n".join([*imports, *bodies, *calls]) + "\n"


SOME = st.lists(st.sampled_from(NAMES), max_size=2)


@st.composite
def web_texts(draw: st.DrawFn) -> str:
    """A TypeScript file, likewise."""
    imports = [
        draw(
            st.sampled_from(
                [
                    f'import {{ {name} }} from "{part}";',
                    f'export * from "{part}";',
                    f'export {{ {name} }} from "{part}";',
                    f'import * as {name} from "{part}";',
                ]
            )
        )
        for name in NAMES
        for part in [draw(st.sampled_from(PARTS))]
        if draw(st.booleans())
    ]
    bodies = [
        draw(
            st.sampled_from(
                [
                    f"export function {name}() {{ return {other}(); }}",
                    f"export class {name} extends {other} {{ take() {{ this.pay(); }} }}",
                    f"export class {name} {{ pay(): {other} {{ return new {other}(); }} }}",
                    f"export const {name} = () => {other}();",
                ]
            )
        )
        for name in NAMES
        for other in [draw(st.sampled_from(NAMES))]
        if draw(st.booleans())
    ]
    calls = [f"function run() {{ new {name}().take(); {name}(); }}" for name in draw(SOME)]
    return "\n".join([*imports, *bodies, *calls]) + "\n"


TSCONFIG = st.sampled_from(
    [
        '{"compilerOptions": {"baseUrl": "."}}',
        '{"compilerOptions": {"baseUrl": ".", "paths": {"@shop/*": ["./*"]}}}',
        '{"compilerOptions": {"paths": {"@shop/*": ["./ui/*"]}}}',
        "{broken",
    ]
)
Files = dict[str, str]
TEXTS: dict[str, st.SearchStrategy[str]] = {
    **{path: python_texts() for path in PYTHON},
    **{path: web_texts() for path in WEB},
    "web/tsconfig.json": TSCONFIG,
    "pyproject.toml": st.sampled_from(['[project]\nname = "shop"\n', "[tool]\n"]),
    "README.md": st.sampled_from(["# Shop\n", "# Shop\n\nMore.\n"]),
}
FILES = st.fixed_dictionaries({}, optional=TEXTS)


@dataclass(slots=True)
class Pair:
    """One tree, indexed step by step and all at once."""

    root: Path
    following: Bench
    anew: Bench

    @property
    def source(self) -> Source:
        """What is indexed: where the tree is now."""
        return replace(self.anew.source, root=self.root)

    async def agree(self) -> None:
        """Index in both ways, and compare all that came of it."""
        await self.following.indexer.index(self.source)
        await self.anew.indexer.rebuild(self.source)
        assert await self.following.dump() == await self.anew.dump()

    async def overlay(self, base: Files, files: Files) -> None:
        """Send what differs between two states as uncommitted work."""
        edits: dict[str, bytes | None] = {
            path: text.encode() for path, text in files.items() if base.get(path) != text
        }
        edits.update((path, None) for path in base.keys() - files)
        view = await self.following.store.view("portal", "tree")
        assert view is not None
        work = OverlayOwner("ada", view.branch, "d", datetime.now(UTC) + timedelta(hours=1))
        await self.following.indexer.overlay(self.following.source, view, edits, work)

    def become(self, files: Files) -> None:
        """Let the tree have these files and no others."""
        for path in TEXTS:
            if path in files:
                write(self.root, path, files[path])
            else:
                (self.root / path).unlink(missing_ok=True)


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def shared(runner: asyncio.Runner) -> Iterator[WorkerPool]:
    """Worker processes for all examples; to start them takes longer than to index."""
    workers = runner.run(_started())
    yield workers
    runner.run(workers.close())


async def _started() -> WorkerPool:
    return WorkerPool(most=1)


@asynccontextmanager
async def pair(migrated: Path, workers: WorkerPool) -> AsyncGenerator[Pair]:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        root = directory / "tree"
        root.mkdir()
        services = []
        benches = []
        for kind in ("following", "anew"):
            (directory / kind).mkdir()
            shutil.copy(migrated, directory / kind)
            services.append(open_database("sqlite", directory / kind))
            database = services[-1].for_owner("codegraph")
            async with bench(database, directory / kind / "kept", root, workers) as found:
                benches.append(found)
        yield Pair(root, *benches)
        for service in services:
            await service.close()


@st.composite
def histories(draw: st.DrawFn) -> list[Files]:
    """A tree, and what it is after each of some edits of a file or two."""
    states = [draw(FILES)]
    for _ in range(draw(st.integers(1, 4))):
        files = dict(states[-1])
        for path in draw(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=2)):
            if draw(st.integers(0, 3)):
                files[path] = draw(TEXTS[path])
            else:
                files.pop(path, None)
        states.append(files)
    return [*states, states[draw(st.integers(0, len(states) - 1))]]


pytestmark = pytest.mark.timeout(900)
few = settings(
    max_examples=examples(12, ordinary=5),
    suppress_health_check=list(HealthCheck),
    # To make an example smaller is to index some more: at a desk, with a seed.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)


@few
@given(states=histories())
def test_any_edits_and_their_reverts_lead_to_the_same_graph(
    runner: asyncio.Runner,
    shared: WorkerPool,
    codegraph_file: Path,
    states: list[Files],
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            for files in states:
                both.become(files)
                await both.agree()

    runner.run(play())


@few
@given(first=FILES, second=FILES, path=st.sampled_from([*PYTHON, *WEB]))
def test_a_renamed_file_is_the_same_as_one_that_went_and_one_that_came(
    runner: asyncio.Runner,
    shared: WorkerPool,
    codegraph_file: Path,
    first: Files,
    second: Files,
    path: str,
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            both.become({**first, path: second.get(path, "def take(): pay()\n")})
            await both.agree()
            suffix = Path(path).suffix
            (both.root / path).rename(both.root / f"moved{suffix}")
            await both.agree()
            (both.root / f"moved{suffix}").rename(both.root / path)
            await both.agree()

    runner.run(play())


@few
@given(first=FILES, second=FILES, staged=FILES)
def test_what_is_staged_untracked_or_on_another_branch_leads_to_the_same_graph(
    runner: asyncio.Runner,
    shared: WorkerPool,
    codegraph_file: Path,
    first: Files,
    second: Files,
    staged: Files,
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            root = both.root
            git(root, "init", "-q", "-b", "main")
            both.become(first)
            await both.agree()  # all of it untracked
            git(root, "add", "-A")
            git(root, "commit", "-q", "--allow-empty", "-m", "first")
            git(root, "checkout", "-q", "-b", "other")
            both.become(second)
            git(root, "add", "-A")
            await both.agree()  # staged
            git(root, "commit", "-q", "--allow-empty", "-m", "second")
            git(root, "checkout", "-q", "main")
            await both.agree()
            both.become(staged)
            await both.agree()
            git(root, "add", "-A")
            git(root, "stash")
            git(root, "checkout", "-q", "other")
            await both.agree()
            view = await both.following.store.view("portal", "tree")
            assert view is not None
            assert view.branch == "other"

    runner.run(play())


@few
@given(first=FILES, second=FILES, third=FILES)
def test_a_worktree_leads_to_the_same_graph_as_the_checkout_that_it_belongs_to(
    runner: asyncio.Runner,
    shared: WorkerPool,
    codegraph_file: Path,
    first: Files,
    second: Files,
    third: Files,
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            main, work = both.root, both.root.parent / "work"
            git(main, "init", "-q", "-b", "main")
            both.become(first)
            git(main, "add", "-A")
            git(main, "commit", "-q", "--allow-empty", "-m", "first")
            git(main, "worktree", "add", "-q", "-b", "other", str(work))
            git(main, "worktree", "add", "-q", "--detach", str(main / ".trees" / "inner"))
            await both.agree()
            served = await both.anew.dump()
            both.root = work
            await both.agree()
            assert inside(await both.anew.dump()) == inside(served)
            both.become(second)
            await both.agree()  # changed, gone and untracked in the worktree alone
            git(work, "add", "-A")
            git(work, "commit", "-q", "--allow-empty", "-m", "second")
            both.become(third)
            await both.agree()
            view = await both.following.store.view("portal", "tree")
            assert view is not None
            assert view.branch == "other"
            both.root = main
            await both.agree()
            assert await both.anew.dump() == served

    runner.run(play())


def inside(dump: Dump) -> Dump:
    """What is of the tree itself, without the worktree that lies in it."""
    files = [row for row in dump["files"] if not row[0].startswith(".trees")]
    return {**dump, "files": files}


@settings(few, max_examples=examples(8, ordinary=4))
@given(states=histories())
def test_uncommitted_work_is_seen_as_if_it_had_been_indexed(
    runner: asyncio.Runner, shared: WorkerPool, codegraph_file: Path, states: list[Files]
) -> None:
    async def play() -> None:
        async with pair(codegraph_file, shared) as both:
            both.become(states[0])
            await both.following.index()
            for files in states[1:]:
                await both.overlay(states[0], files)
                both.become(files)
                await both.anew.indexer.rebuild(both.anew.source)
                assert await both.following.seen("ada") == await both.anew.seen()
                assert await both.following.seen("bob") == await both.following.seen()

    runner.run(play())
