"""How a commit differs from what is indexed, on each database."""

from __future__ import annotations

from gateway.services.database.service import OwnedDatabase
from plugins.codegraph.indexer.base_layer import BaseLayer
from plugins.codegraph.indexer.scan import Limits
from plugins.codegraph.indexer.tree_edits import Tree, tree_edits
from tests.plugins.codegraph.indexer.bench import OWNER, Bench, git, write


async def test_only_what_a_commit_changes_is_read_from_it(
    indexed: Bench, database: OwnedDatabase
) -> None:
    git(indexed.root, "init", "-q", "-b", "main")
    for path in ("beds.py", "paths.py", "ponds.py"):
        write(indexed.root, path, f"def {path[:-3]}():\n    pass\n")
    git(indexed.root, "add", "-A")
    git(indexed.root, "commit", "-q", "-m", "first")
    layer = (await indexed.index()).layer
    write(indexed.root, "paths.py", "def paths():\n    return 1\n")
    (indexed.root / "ponds.py").unlink()
    git(indexed.root, "add", "-A")
    git(indexed.root, "commit", "-q", "-m", "second")
    base = await BaseLayer.of(database, OWNER, layer)
    edits = await tree_edits(
        database, base, OWNER, Tree(indexed.root, "HEAD", links=True), Limits()
    )
    assert edits.given == {"paths.py": b"def paths():\n    return 1\n"}
    assert set(edits.gone) == {"ponds.py"}
