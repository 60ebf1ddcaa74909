"""What the shipped plugins offer, for the tests of pages that name it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gateway.assembly import open_portal
from gateway.catalog.catalog import Catalog
from gateway.config.portal import load_portal
from gateway.testing.migrations import replayed_migrations


@pytest.fixture(scope="session")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """The items of all shipped plugins, of a portal without content that was closed again."""
    return asyncio.run(_opened(tmp_path_factory.mktemp("portal")))


async def _opened(directory: Path) -> Catalog:
    # Without a source or a repository these plugins offer nothing, and without something that
    # members' agents may do the portal itself offers nothing.
    source = {"name": "example", "kind": "skills", "directory": str(directory)}
    plugins = {
        "knowledge": {"sources": []},
        "skills_repo": {"sources": [source]},
        "codegraph": {
            "repositories": [{"path": str(directory), "name": "example"}],
            "justification": {"agents": True},
        },
        "workflows": {"starter": False},
    }
    overrides = {"services": {"embedding": "none"}, "plugins": plugins}
    portal = load_portal(directory / "config", overrides)
    with replayed_migrations():
        async with open_portal(portal, directory / "data", wait_ready=True) as running:
            assert running.catalog.plugins() >= {*plugins, "upstreams", "porch"}
            return running.catalog
