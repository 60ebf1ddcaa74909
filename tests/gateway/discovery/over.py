"""The discovery over a catalog, without a portal around it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.catalog.catalog import Catalog
from gateway.config.portal import Portal
from gateway.config.portal_keys import PortalConfig
from gateway.config.yaml_source import YamlSource
from gateway.contract import Database, Embedder
from gateway.discovery.discovery import Discovery


class NoDatabase:
    """A database that is out of reach."""

    def read(self) -> Any:
        raise ConnectionError("There is none.")


def discovery_over(
    catalog: Catalog,
    settings: Mapping[str, Any] | None = None,
    database: Database | None = None,
    embedder: Embedder | None = None,
) -> Discovery:
    """The discovery over a catalog.

    Args:
        catalog: what there is, and for whom.
        settings: the section ``tools`` of ``portal.yaml``.
        database: where the audit log is; by default it is out of reach.
        embedder: the model, or None.
    """
    config = PortalConfig.model_validate({"tools": dict(settings or {})})
    source = YamlSource("portal.yaml", {}, None)
    portal = Portal(Path("config"), Path(), config, source, {})
    return Discovery(portal, catalog, database or NoDatabase(), embedder)  # type: ignore[arg-type]
