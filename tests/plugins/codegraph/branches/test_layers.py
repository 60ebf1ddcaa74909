"""A branch as a layer says what an index of its tree would say, whatever happened before."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plugins.codegraph.indexer.source import Source
from plugins.codegraph.indexer.tree_edits import Tree
from plugins.codegraph.store.graph import OverlayView
from plugins.codegraph.store.layers import LayerGone, Stamp
from plugins.codegraph.store.stored_graph import Graph
from tests.examples import examples
from tests.plugins.codegraph.portal import NOON
from tests.plugins.codegraph.test_secrets import TOKEN
from tests.plugins.codegraph.workspaces.conftest import ada as ada
from tests.plugins.codegraph.workspaces.desk import SHOP, Desk, desk, dump
from tests.plugins.codegraph.workspaces.test_overlays import TREES

Files: TypeAlias = dict[str, bytes]
ODD: dict[str, list[bytes]] = {
    "pyproject.toml": [b"[project]\nname = 'shop'\n", b"[tool.x]\nrun = 'a:run'\n"],
    "keys.py": [f"def run(x):\n    return '{TOKEN}'\n".encode(), b"def run(x):\n    return x\n"],
    "logo.png": [b"\x89PNG", b"\x89PNG more"],
    "data.txt": [b"a\0b", b"plain\n", b""],
    "latin.py": ["# é\ndef take(x): pass\n".encode("latin-1"), b"def take(x): run(x)\n"],
    "node_modules/x/index.js": [b"function run() {}\n"],
    "node_modules/y.js": [b"function run() {}\n"],
    "id_rsa": [b"a key\n"],
    "back\\slash.py": [b"def helper(x): pass\n"],
    "long.txt": [b"x\n" * 1_100_000],
}
"""Files that are left out, read in a way of their own, or named oddly."""


@st.composite
def trees(draw: st.DrawFn) -> Files:
    """The files of a commit."""
    odd = draw(st.lists(st.sampled_from(sorted(ODD)), unique=True))
    return draw(TREES) | {path: draw(st.sampled_from(ODD[path])) for path in odd}


STEPS = st.lists(st.tuples(st.sampled_from(["indexed", "branch"]), trees()), min_size=1, max_size=4)


@pytest.mark.heavy
def test_a_branch_says_what_an_index_of_its_tree_says_over_any_history(
    tmp_path: Path, codegraph_file: Path
) -> None:
    homes = tmp_path / "mine", tmp_path / "other"
    for home in homes:
        home.mkdir()
    with asyncio.Runner() as runner:
        opened = [desk(home, codegraph_file) for home in homes]
        mine, other = [runner.run(each.__aenter__()) for each in opened]

        @settings(max_examples=examples(12), deadline=None)
        @given(before=trees(), branch=trees(), steps=STEPS)
        def check(before: Files, branch: Files, steps: list[tuple[str, Files]]) -> None:
            runner.run(_compared(mine, other, before, [("branch", branch), *steps]))

        try:
            check()
        finally:
            for each in opened:
                runner.run(each.__aexit__(None, None, None))


async def _compared(mine: Desk, other: Desk, before: Files, steps: list[tuple[str, Files]]) -> None:
    await mine.index(before)
    indexed, branch = before, before
    for what, files in steps:
        if what == "indexed":
            await mine.index(files)
            indexed = files
        else:
            branch = files
        unchanged = await _all(await mine.graph(None))
        graph, differing = await on_branch(mine, mine.worktree.commit(branch))
        await other.index(branch)
        assert await _all(graph) == await _all(await other.graph(None))
        # Nobody who asks for no branch sees any of it.
        assert await _all(await mine.graph(None)) == unchanged
        plain = {path for path in {*indexed, *branch} if path.endswith(".py")}
        assert {each for each in differing if each in plain} == {
            path for path in plain if indexed.get(path) != branch.get(path)
        }


async def on_branch(mine: Desk, commit: str, links: bool = True) -> tuple[Graph, tuple[str, ...]]:
    """The graph of a commit of the checkout, laid over the index, and the paths that differ."""
    store, root = mine.world.store, mine.worktree.root
    view = await store.view(SHOP.org, SHOP.repo)
    assert view is not None
    source, tree = Source(SHOP.org, SHOP.repo, root), Tree(root, commit, links)
    made = await mine.indexer.branch(source, view, tree, Stamp(commit, "spring"))
    async with store.layers(SHOP).show(made.layer, "spring"):
        pass
    over = OverlayView(made.layer, None, "spring", NOON, None)
    return store.open(replace(view, overlay=over)), made.files


async def _all(graph: Graph) -> dict[str, Any]:
    reports = await graph.reports(problems_only=False)
    secrets = await graph.secrets()
    return {**await dump(graph), "files": sorted(map(repr, reports)), "secrets": secrets}


@pytest.mark.parametrize("links", [True, False], ids=["a directory", "a copy"])
async def test_links_and_submodules_are_left_out_as_where_the_branch_is_checked_out(
    ada: Desk, links: bool
) -> None:
    await ada.commit({"a.py": b"def run(x): pass\n"})
    root = ada.worktree.root
    (root / "link.py").symlink_to("a.py")
    ada.worktree.git("add", "-A")
    ada.worktree.git("update-index", "--add", "--cacheinfo", f"160000,{ada.head},inner")
    ada.worktree.git("commit", "-q", "-m", "odd")
    commit = ada.worktree.git("rev-parse", "HEAD").decode().strip()
    graph, differing = await on_branch(ada, commit, links)
    assert differing == ("inner", "link.py")
    why = {each.path: each.problem for each in await graph.reports(problems_only=False)}
    assert why["inner"] == "a submodule or a repository of its own"
    assert (why["link.py"] == "symbolic link") is links
    assert (await graph.source("link.py") == b"a.py") is not links


async def test_a_layer_that_was_being_written_when_the_process_died_ends_with_the_next(
    ada: Desk,
) -> None:
    await ada.commit({"a.py": b"def run(x): pass\n"})
    layers = ada.world.store.layers(SHOP)
    view = await ada.world.store.view(SHOP.org, SHOP.repo)
    assert view is not None
    left = await layers.begin(Stamp("c", "autumn"), (view.layer, view.generation))
    await on_branch(ada, ada.worktree.commit({"b.py": b"def take(x): pass\n"}))
    with pytest.raises(LayerGone, match="dead, not building"):
        async with layers.show(left, "autumn"):
            pass
