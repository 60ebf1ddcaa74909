"""All pages for admins as routes."""

from __future__ import annotations

from starlette.routing import Route

from gateway.observability.audit_reader import AuditReader
from gateway.observability.usage_reader import UsageReader
from gateway.open_portal import OpenPortal
from gateway.surfaces.admin.routes import Admin
from gateway.surfaces.admin.status import Status
from gateway.surfaces.admin.tiers_lines import TiersLines
from gateway.surfaces.admin_pages.access import AccessPage
from gateway.surfaces.admin_pages.audit import AuditPage
from gateway.surfaces.admin_pages.door import Door
from gateway.surfaces.admin_pages.explain import ExplainPage
from gateway.surfaces.admin_pages.health import HealthPage
from gateway.surfaces.admin_pages.models import ModelsPage
from gateway.surfaces.admin_pages.overview import OverviewPage
from gateway.surfaces.admin_pages.people import PeoplePage
from gateway.surfaces.admin_pages.tiers import TiersPage
from gateway.surfaces.admin_pages.usage import UsagePage
from gateway.surfaces.pages.frame import Frame


def admin_pages(frame: Frame, running: OpenPortal, admin: Admin, status: Status) -> list[Route]:
    """The routes of the pages for admins.

    Args:
        frame: what all pages share.
        running: the open portal.
        admin: what the commands beside it are answered by.
        status: says what the portal does.
    """
    door, catalog, who = Door(frame), running.catalog, running.authentication
    lines = TiersLines(running.tiers)
    database = running.services.shared_database
    reader = AuditReader(database)
    health = HealthPage(door, running, status)
    pages = (
        OverviewPage(door, status, health, reader, running.approvals, running.work),
        AccessPage(door, catalog, lines),
        TiersPage(door, catalog, admin.comparing, running.tiers),
        ExplainPage(door, catalog, admin.explaining, lines),
        PeoplePage(door, who.stores, who.resolver, catalog, lines),
        health,
        UsagePage(door, catalog, running.usage, UsageReader(database), reader),
        ModelsPage(door, running.budgets),
        AuditPage(door, reader, admin.explaining.people),
    )
    return [route for page in pages for route in page.routes()]
