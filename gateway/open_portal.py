"""The parts of an open portal, as its surfaces and the command line use them."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.catalog.catalog import Catalog
from gateway.catalog.missing_items import Absences
from gateway.change_bus import Changes
from gateway.config.portal import Portal
from gateway.config.tiers_file import TierRulesFile
from gateway.discovery.discovery import Discovery
from gateway.identity.authentication import Authentication
from gateway.identity.erasures import Erasures
from gateway.observability.audit import AuditLog
from gateway.observability.health import HealthBoard
from gateway.observability.metrics import Metrics
from gateway.observability.recent_traffic import LastMinute
from gateway.observability.workers import ALONE, Workers
from gateway.pipeline.pipeline import Pipeline
from gateway.plugin_host import PluginHost
from gateway.services import Services


@dataclass(frozen=True, slots=True)
class OpenPortal:
    """The parts of an open portal that its surfaces and the command line use."""

    portal: Portal
    catalog: Catalog
    absences: Absences
    discovery: Discovery
    pipeline: Pipeline
    plugins: PluginHost
    board: HealthBoard
    audit: AuditLog
    metrics: Metrics
    last_minute: LastMinute
    changes: Changes
    services: Services
    tiers: TierRulesFile
    authentication: Authentication
    erasures: Erasures
    workers: Workers = ALONE
