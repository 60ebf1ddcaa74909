"""Trees of files, analysed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plugins.codegraph.health.analysis import Analysed, analysed
from plugins.codegraph.health.code_base import CodeBase
from plugins.codegraph.store.whole_layer import whole_layer
from tests.plugins.codegraph.portal import world


async def read(files: Mapping[str, str], directory: Path, migrated: Path | None = None) -> Analysed:
    """What the analyses find in a tree."""
    async with world(directory, migrated=migrated) as portal:
        owner = await portal.index("shop", {path: text.encode() for path, text in files.items()})
        view = await portal.store.view(owner.org, owner.repo)
        assert view is not None
        code = CodeBase(await whole_layer(portal.host.database, view))
        return await analysed(portal.host.database, view, code)
