"""Assembles a portal without its surfaces: services, plugins, catalog and pipeline."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from auth import StaticTokens
from auth.sealer import Sealer
from gateway.catalog.catalog import Catalog
from gateway.catalog.missing_items import Absences
from gateway.catalog.upgrade_hint import UpgradeHint
from gateway.change_bus import Changes
from gateway.config.access_check import check_access
from gateway.config.addresses import MEMBERS_PATH
from gateway.config.portal import Portal
from gateway.config.tiers_file import TierRulesFile, check_keys
from gateway.contract import Absent
from gateway.discovery.discovery import Discovery
from gateway.errors import ConfigError
from gateway.identity.authentication import Authentication, open_authentication
from gateway.identity.erasures import Erasures
from gateway.identity.known_people import KnownPeople
from gateway.isolation.plugin import Isolation
from gateway.limits.call_limits import unknown_tools
from gateway.observability import audit
from gateway.observability.audit import AuditLog
from gateway.observability.database_watch import DatabaseWatch
from gateway.observability.health import HealthBoard
from gateway.observability.metrics import Metrics
from gateway.observability.portal_metrics import show_portal
from gateway.observability.recent_traffic import LastMinute
from gateway.open_portal import OpenPortal
from gateway.pipeline.answer_scrub import AnswerScrub
from gateway.pipeline.argument_scrub import ArgumentScrub
from gateway.pipeline.bulkheads import Bulkheads
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.exchange import Others
from gateway.pipeline.pipeline import Pipeline
from gateway.plugin_discovery import Found, discover
from gateway.plugin_host import PluginHost
from gateway.reload import files_followed
from gateway.scrubbing.rule_files import shipped
from gateway.scrubbing.scrubber import Scrubber
from gateway.services import Services, open_services
from gateway.services.service_metrics import show_services


@asynccontextmanager
async def open_portal(
    portal: Portal,
    data_dir: Path,
    *,
    tokens: StaticTokens | None = None,
    modules: Sequence[Any] | None = None,
    wait: bool = True,
    wait_ready: bool = False,
    schedules: bool = True,
) -> AsyncGenerator[OpenPortal]:
    """Open everything but the surfaces: services, plugins, catalog and pipeline.

    Args:
        portal: the configuration.
        data_dir: where the embedded services keep their data.
        tokens: the static tokens.
        modules: plugin modules to use instead of the installed ones (tests).
        wait: whether the block begins once all plugins are open, late or failed, or at once.
        wait_ready: whether plugins should finish their first work before they open.
        schedules: whether it goes on by itself: jobs run by their schedules, and a plugin that
            fails is tried again. Without, what runs jobs starts when one is first queued, and with
            neither this nor ``wait_ready`` a model is loaded by the first who asks it.

    Raises:
        ConfigError: ``tiers.yaml`` is wrong, or a service's address is.
    """
    found = discover(modules)
    tiers = TierRulesFile(portal.tiers_file)
    async with AsyncExitStack() as stack:
        models = schedules or wait_ready
        services = await stack.enter_async_context(_services(portal, data_dir, models))
        authentication = await stack.enter_async_context(
            open_authentication(portal, services, tiers.access, tokens)
        )
        running = _assemble(portal, found, tiers, services, authentication)
        await stack.enter_async_context(running.audit.running())
        await stack.enter_async_context(running.discovery.running())
        await stack.enter_async_context(running.changes.carried())
        running.changes.signal(found.manager.hook.porch_changed.get_hookimpls())
        await stack.enter_async_context(
            running.plugins.opened(
                running.changes.publish, wait=wait, wait_ready=wait_ready, retries=schedules
            )
        )
        after = None if wait else running.plugins.tried
        await stack.enter_async_context(services.jobs_running(on_demand=not schedules, after=after))
        await stack.enter_async_context(running.erasures.running())
        await stack.enter_async_context(files_followed(running))
        await stack.enter_async_context(running.last_minute.kept())
        yield running


@asynccontextmanager
async def _services(portal: Portal, data_dir: Path, models: bool) -> AsyncGenerator[Services]:
    opening = open_services(portal.config.services, data_dir, root=portal.root)
    async with AsyncExitStack() as stack:
        with _located(portal):
            services = await stack.enter_async_context(opening)
            ready = await services.made_ready(audit.MIGRATIONS, models=models)
        yield ready


@contextmanager
def _located(portal: Portal) -> Generator[None]:
    """Name the line in ``portal.yaml`` of what is wrong with a service."""
    try:
        yield
    except ConfigError as error:
        located = [portal.source.problem(tuple(p.key.split(".")), p.reason) for p in error.problems]
        raise ConfigError(located) from None


def _assemble(
    portal: Portal,
    found: Found,
    tiers: TierRulesFile,
    services: Services,
    authentication: Authentication,
) -> OpenPortal:
    config, url = portal.config, portal.config.url
    hint = UpgradeHint(config.name, url, url + MEMBERS_PATH, authentication.methods.any)
    catalog = Catalog(tiers.current, how_to_rise=hint)
    log_of_calls = AuditLog(services.shared_database, config.audit.retention)
    metrics, board, answers = Metrics(catalog.knows), HealthBoard(), _answers(portal)
    watch = DatabaseWatch(services.shared_database)
    board.notices(lambda: [*services.notices, *_of_the_files(portal, tiers, catalog)])
    last_minute = LastMinute(metrics, found.owner_of)
    _show(services, authentication, board, watch, log_of_calls, metrics)
    people = KnownPeople(authentication.stores, authentication.resolver)
    apart = Isolation(portal, found, services.data_dir)
    plugins = PluginHost(portal, found, services, catalog, board, people, apart)
    absences = Absences(catalog, plugins.offers, plugins.absent)
    erasures = Erasures(services.shared_database, plugins.offers, log_of_calls)
    for each in (log_of_calls, watch, erasures, answers, services.cache, last_minute.watchdog):
        board.notices(each.notices)
    return OpenPortal(
        portal=portal,
        catalog=catalog,
        absences=absences,
        discovery=Discovery(portal, catalog, services.shared_database, services.embedder),
        pipeline=_pipeline(portal, log_of_calls, metrics, absences, authentication, answers),
        plugins=plugins,
        board=board,
        audit=log_of_calls,
        metrics=metrics,
        last_minute=last_minute,
        changes=Changes(services.shared_cache),
        services=services,
        tiers=tiers,
        authentication=authentication,
        erasures=erasures,
    )


def _show(
    services: Services,
    authentication: Authentication,
    board: HealthBoard,
    watch: DatabaseWatch,
    log_of_calls: AuditLog,
    metrics: Metrics,
) -> None:
    """Have health and metrics tell of the parts."""
    board.needs(watch.there)
    board.notices(lambda: [f"roles: {why}" for why in authentication.facts.silent.values()])
    board.notices(services.jobs.notices)
    show_services(services, metrics)
    show_portal(board, watch, log_of_calls, authentication.followers, metrics)


def _pipeline(
    portal: Portal,
    log_of_calls: AuditLog,
    metrics: Metrics,
    absences: Absences,
    authentication: Authentication,
    answers: AnswerScrub,
) -> Pipeline:
    config, scrubbing = portal.config, portal.config.scrubbing
    rules = shipped(scrubbing.allow) if scrubbing.allow else None
    deadline = config.limits.call.total_seconds()
    question = config.limits.question.total_seconds()
    return Pipeline(
        log_of_calls,
        metrics,
        Cursors(Sealer(authentication.key, "tool-page")),
        Others(absences.catalog.allows, partial(_missing, absences), authentication.assertions),
        ArgumentScrub(Scrubber(rules) if scrubbing.enabled else None),
        answers,
        Bulkheads(lambda name: portal.section(name).bulkhead, deadline, question),
    )


def _answers(portal: Portal) -> AnswerScrub:
    scrub = portal.config.scrubbing
    return AnswerScrub(scrub.allow, scrub.as_is, enabled=scrub.enabled)


async def _missing(absences: Absences, context: CallContext, name: str | None) -> Sequence[Absent]:
    return await absences.visible_to(context.caller, name, context.only)


def _of_the_files(portal: Portal, tiers: TierRulesFile, catalog: Catalog) -> list[str]:
    """What an admin should look at in what they wrote, and in what plugins offer."""
    found = check_keys(tiers.current, catalog.keys(), catalog.plugins(), catalog.row_kinds)
    misplaced = (*found.problems, *found.absent)
    access = check_access(tiers.tiers, portal.config).problems
    limits = unknown_tools(portal, catalog)
    return [
        str(each) for each in (*catalog.set_aside, *tiers.problems, *misplaced, *limits, *access)
    ]
