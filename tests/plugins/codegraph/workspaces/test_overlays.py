"""What an overlay answers is what an index of the changed tree would answer, for nobody else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.plugins.codegraph.workspaces.desk import SHOP, Desk, desk, dump

FUNCTIONS = ["run", "take", "helper"]
MODULES = ["a", "b", "pkg/c"]


@st.composite
def modules(draw: st.DrawFn) -> bytes:
    """A module with functions and a class that call what it imports, has, or does not know."""
    imported = draw(st.lists(st.sampled_from([m.replace("/", ".") for m in MODULES]), max_size=2))
    lines = [f"from {m} import {draw(st.sampled_from(FUNCTIONS))}" for m in imported]
    for name in draw(st.lists(st.sampled_from(FUNCTIONS), unique=True, max_size=3)):
        called = draw(st.sampled_from([*FUNCTIONS, "missing", "x.run"]))
        lines += [f"def {name}(x):", f'    """It is {name}."""', f"    return {called}(x)"]
    if draw(st.booleans()):
        lines += ["class Base:", "    def run(self):", "        return self.run()"]
    return ("\n".join(lines) + "\n").encode()


Tree: TypeAlias = dict[str, bytes]
TREES = st.dictionaries(st.sampled_from([f"{m}.py" for m in MODULES]), modules(), min_size=1)


@pytest.mark.heavy
def test_an_overlay_answers_as_an_index_of_the_changed_tree_would(
    tmp_path: Path, codegraph_file: Path
) -> None:
    homes = tmp_path / "mine", tmp_path / "other"
    for home in homes:
        home.mkdir()
    with asyncio.Runner() as runner:
        opened = [desk(home, codegraph_file) for home in homes]
        mine, other = [runner.run(each.__aenter__()) for each in opened]

        @settings(max_examples=examples(15), deadline=None)
        @given(before=TREES, after=TREES, again=TREES)
        def check(before: Tree, after: Tree, again: Tree) -> None:
            runner.run(_compared(mine, other, before, [after, again]))

        try:
            check()
        finally:
            for each in opened:
                runner.run(each.__aexit__(None, None, None))


async def _compared(mine: Desk, other: Desk, before: Tree, trees: list[Tree]) -> None:
    await mine.commit(before)
    unchanged = await dump(await mine.graph("bob"))
    for after in trees:
        told = await mine.sync(after)
        assert (told["conflicts"], told["skipped"]) == ([], [])
        await other.index(after)
        assert await dump(await mine.graph("ada")) == await dump(await other.graph(None))
        # Nobody else sees any of it: neither somebody else who has signed in, nor nobody.
        assert await dump(await mine.graph("bob")) == unchanged
        assert await dump(await mine.graph(None)) == unchanged
    await mine.send("")
    assert await dump(await mine.graph("ada")) == unchanged


async def test_search_by_meaning_finds_what_was_just_written_for_its_writer_alone(
    ada: Desk,
) -> None:
    await ada.commit({"a.py": b"def run(x):\n    return x\n"})
    await ada.world.parts.embedder.embed(SHOP.org, SHOP.repo)
    new = b"def run(x):\n    return x\n\n\ndef frobnicate_invoice(x):\n    return run(x)\n"
    await ada.sync({"a.py": new})
    for tool in ("semantic_search", "search_code"):
        mine = await ada.world.call(tool, "ada", query="frobnicate invoice")
        assert mine["data"][0]["name"] == "frobnicate_invoice"
        assert mine["meta"]["workspace"]["branch"] == "main"
        for other in ("bob", None):
            theirs = await ada.world.call(tool, other, query="frobnicate invoice")
            assert "frobnicate_invoice" not in str(theirs)
            assert "workspace" not in theirs["meta"]
