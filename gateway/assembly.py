"""Assembles a portal without its surfaces: services, plugins, catalog and pipeline."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auth import StaticTokens
from auth.sealer import Sealer
from gateway.approvals.approvals import Approvals
from gateway.assistant.assembly import assistant_of
from gateway.assistant.assistant import Assistant
from gateway.assistant.personal import with_conversations
from gateway.budgets.budgets import Budgets
from gateway.budgets.left import budget_left
from gateway.budgets.offer import usage_plugin
from gateway.catalog.catalog import Catalog
from gateway.catalog.missing_items import Absences
from gateway.catalog.upgrade_hint import UpgradeHint
from gateway.change_bus import Changes
from gateway.config.access_check import check_access
from gateway.config.addresses import MEMBERS_PATH
from gateway.config.plans_file import PlansFile
from gateway.config.portal import Portal
from gateway.config.tiers_file import TierRulesFile, check_keys
from gateway.contract import Absent, Database
from gateway.discovery.discovery import Discovery
from gateway.errors import ConfigError
from gateway.identity.authentication import Authentication, open_authentication
from gateway.identity.erasures import Erasures
from gateway.identity.keepers import keepers
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
from gateway.observability.usage import UsageLog
from gateway.open_portal import OpenPortal
from gateway.pipeline.answer_scrub import AnswerScrub
from gateway.pipeline.approval_gate import ApprovalGate
from gateway.pipeline.argument_scrub import ArgumentScrub
from gateway.pipeline.bulkheads import Bulkheads
from gateway.pipeline.call_context import CallContext
from gateway.pipeline.cursors import Cursors
from gateway.pipeline.exchange import Others, current_exchange
from gateway.pipeline.pipeline import Pipeline, Scrubs
from gateway.plugin_discovery import Found, discover
from gateway.plugin_host import PluginHost
from gateway.reload import files_followed
from gateway.scrubbing.rule_files import shipped
from gateway.scrubbing.scrubber import Scrubber
from gateway.services import Services, open_services
from gateway.services.service_metrics import show_services
from gateway.work.agent_work import AgentWork

if TYPE_CHECKING:
    from gateway.payments.payments import Payments


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
    tiers, plans = TierRulesFile(portal.tiers_file), PlansFile(portal.directory)
    async with AsyncExitStack() as stack:
        models = schedules or wait_ready
        services = await stack.enter_async_context(_services(portal, data_dir, models))
        authentication = await stack.enter_async_context(
            open_authentication(portal, services, tiers.access, tokens)
        )
        budgets = Budgets(plans, authentication, services.shared_database, services.cache)
        money = _money(portal, budgets, services, authentication)
        found = _with_payments(_with_usage(found, budgets, services), money["payments"])
        running = _assemble(portal, found, tiers, services, authentication, money)
        await stack.enter_async_context(running.audit.running())
        await stack.enter_async_context(running.usage.running())
        await stack.enter_async_context(services.models.running(watched=schedules))
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
        for each in running.parts_that_run:
            await stack.enter_async_context(each.running())
        await stack.enter_async_context(files_followed(running))
        await stack.enter_async_context(running.last_minute.kept())
        yield running


def _with_usage(found: Found, budgets: Budgets, services: Services) -> Found:
    """Put budgets before the models, and usage among the plugins where there is any."""
    services.models.budget = budgets.gate
    if not (budgets.file.plans or services.models.config.roles):
        return found
    own = usage_plugin(budgets)
    return replace(found, plugins=dict(sorted({**found.plugins, own.name: own}.items())))


def _money(
    portal: Portal, budgets: Budgets, services: Services, authentication: Authentication
) -> dict[str, Any]:
    """The budgets, and how people pay, as the open portal names them."""
    if not portal.config.payments:
        return {"budgets": budgets, "payments": None}
    from gateway.payments.payments import Payments

    payments = Payments(portal, budgets, authentication, services.shared_database)
    return {"budgets": budgets, "payments": payments}


def _with_payments(found: Found, payments: Payments | None) -> Found:
    if payments is None:
        return found
    from gateway.payments.offer import payments_plugin

    own = payments_plugin(payments)
    return replace(found, plugins=dict(sorted({**found.plugins, own.name: own}.items())))


@asynccontextmanager
async def _services(portal: Portal, data_dir: Path, models: bool) -> AsyncGenerator[Services]:
    opening = open_services(
        portal.config.services, data_dir, root=portal.root, allow=portal.config.scrubbing.allow
    )
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
    money: Mapping[str, Any],
) -> OpenPortal:
    catalog, database = _catalog(portal, tiers, authentication), services.shared_database
    calls, watch = AuditLog(database, portal.config.audit.retention), DatabaseWatch(database)
    metrics, board = Metrics(catalog.knows), _board(portal, services, tiers, catalog)
    last_minute = _shown(services, authentication, found, board, watch, calls, metrics)
    plugins, absences, work = _plugins(portal, found, services, catalog, board, authentication)
    approvals, answers = Approvals(catalog, authentication, tiers, database), _answers(portal)
    pipeline = _pipeline(portal, calls, metrics, absences, authentication, answers, approvals)
    discovery, assistant = _assistant(portal, services, catalog, pipeline, approvals, money)
    erasures = _erasures(database, plugins, services, work, assistant, calls)
    _notice(board, calls, watch, erasures, answers, last_minute.watchdog, *money.values())
    return OpenPortal(
        portal=portal,
        catalog=catalog,
        absences=absences,
        discovery=discovery,
        pipeline=pipeline,
        plugins=plugins,
        board=board,
        audit=calls,
        usage=UsageLog(database, metrics, partial(_owners, catalog)),
        metrics=metrics,
        last_minute=last_minute,
        changes=Changes(services.shared_cache),
        services=services,
        tiers=tiers,
        authentication=authentication,
        erasures=erasures,
        approvals=approvals,
        assistant=assistant,
        work=work,
        **money,
    )


def _board(
    portal: Portal, services: Services, tiers: TierRulesFile, catalog: Catalog
) -> HealthBoard:
    board = HealthBoard()
    board.notices(lambda: [*services.notices, *_of_the_files(portal, tiers, catalog)])
    return board


def _notice(board: HealthBoard, *parts: Any) -> None:
    """Have health tell what parts would have an admin look at."""
    for each in filter(None, parts):
        board.notices(each.notices)


def _plugins(
    portal: Portal,
    found: Found,
    services: Services,
    catalog: Catalog,
    board: HealthBoard,
    authentication: Authentication,
) -> tuple[PluginHost, Absences, AgentWork]:
    people = KnownPeople(authentication.stores, authentication.resolver)
    database = services.shared_database
    work = AgentWork(catalog, database, services.jobs.for_owner, current_exchange)
    apart = Isolation(portal, found, services.data_dir)
    plugins = PluginHost(portal, found, services, catalog, board, people, apart)
    plugins.work = work
    return plugins, Absences(catalog, plugins.offers, plugins.absent), work


def _assistant(
    portal: Portal,
    services: Services,
    catalog: Catalog,
    pipeline: Pipeline,
    approvals: Approvals,
    money: Mapping[str, Any],
) -> tuple[Discovery, Assistant]:
    discovery = Discovery(portal, catalog, services.shared_database, services.embedder)
    standing = (catalog, discovery, pipeline, approvals, budget_left(money["budgets"]))
    return discovery, assistant_of(portal, services, *standing)


def _erasures(
    database: Database,
    plugins: PluginHost,
    services: Services,
    work: AgentWork,
    assistant: Assistant,
    calls: AuditLog,
) -> Erasures:
    kept = keepers(plugins.offers, services.models, work.offers)
    return Erasures(database, with_conversations(kept, assistant), calls)


def _owners(catalog: Catalog) -> dict[str, str]:
    """Whose each item is, by its name."""
    return {item.name: item.plugin for item in catalog.items()}


def _catalog(portal: Portal, tiers: TierRulesFile, authentication: Authentication) -> Catalog:
    name, url = portal.config.name, portal.config.url
    hint = UpgradeHint(name, url, url + MEMBERS_PATH, authentication.methods.any)
    return Catalog(tiers.current, how_to_rise=hint)


def _shown(
    services: Services,
    authentication: Authentication,
    found: Found,
    board: HealthBoard,
    watch: DatabaseWatch,
    log_of_calls: AuditLog,
    metrics: Metrics,
) -> LastMinute:
    """Have health and metrics tell of the parts; what they have told in the last minute."""
    board.needs(watch.there)
    board.notices(lambda: [f"roles: {why}" for why in authentication.facts.silent.values()])
    board.notices(services.jobs.notices)
    board.notices(services.models.notices)
    board.notices(services.cache.notices)
    show_services(services, metrics)
    show_portal(board, watch, log_of_calls, authentication.followers, metrics)
    return LastMinute(metrics, found.owner_of)


def _pipeline(
    portal: Portal,
    log_of_calls: AuditLog,
    metrics: Metrics,
    absences: Absences,
    authentication: Authentication,
    answers: AnswerScrub,
    approvals: Approvals,
) -> Pipeline:
    config, scrubbing = portal.config, portal.config.scrubbing
    rules = shipped(scrubbing.allow) if scrubbing.allow else None
    scrubber = Scrubber(rules)
    deadline = config.limits.call.total_seconds()
    question = config.limits.question.total_seconds()
    return Pipeline(
        log_of_calls,
        metrics,
        Cursors(Sealer(authentication.key, "tool-page")),
        Others(absences.catalog.allows, partial(_missing, absences), authentication.assertions),
        Scrubs(ArgumentScrub(scrubber if scrubbing.enabled else None), answers),
        Bulkheads(lambda name: portal.section(name).bulkhead, deadline, question),
        ApprovalGate(approvals, ArgumentScrub(scrubber)),
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
