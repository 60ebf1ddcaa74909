"""The parts of an open portal, as its surfaces and the command line use them."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.audit import AuditLog
from gateway.authentication import Authentication
from gateway.catalog import Catalog
from gateway.changes import Changes
from gateway.config import Portal
from gateway.erasures import Erasures
from gateway.health import HealthBoard
from gateway.metrics import Metrics
from gateway.pipeline import Pipeline
from gateway.plugin_host import PluginHost
from gateway.services import Services
from gateway.tiers_file import TierRulesFile


@dataclass(frozen=True, slots=True)
class Running:
    """The parts of an open portal that its surfaces and the command line use."""

    portal: Portal
    catalog: Catalog
    pipeline: Pipeline
    plugins: PluginHost
    board: HealthBoard
    audit: AuditLog
    metrics: Metrics
    changes: Changes
    services: Services
    tiers: TierRulesFile
    authentication: Authentication
    erasures: Erasures
