"""The parts of an open portal, as its surfaces and the command line use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gateway.approvals.approvals import Approvals
from gateway.assistant.assistant import Assistant
from gateway.budgets.budgets import Budgets
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
from gateway.observability.usage import UsageLog
from gateway.observability.workers import ALONE, Workers
from gateway.pipeline.pipeline import Pipeline
from gateway.plugin_host import PluginHost
from gateway.services import Services
from gateway.work.agent_work import AgentWork

if TYPE_CHECKING:
    from gateway.payments.payments import Payments


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
    usage: UsageLog
    metrics: Metrics
    last_minute: LastMinute
    changes: Changes
    services: Services
    tiers: TierRulesFile
    authentication: Authentication
    erasures: Erasures
    approvals: Approvals
    assistant: Assistant
    budgets: Budgets
    work: AgentWork
    workers: Workers = ALONE
    payments: Payments | None = None

    @property
    def parts_that_run(self) -> tuple[Any, ...]:
        """The parts that do something by themselves: each with ``running()``."""
        return (self.erasures, self.approvals, self.budgets, self.work, self.assistant)
