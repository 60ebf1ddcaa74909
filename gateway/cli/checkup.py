"""Examines a configuration and its plugins without touching a portal that runs.

The plugins are opened on embedded services in a directory that is thrown away, so that nothing
of the portal's data is read or written and no server is asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gateway.assembly import open_portal
from gateway.cli.file_check import Findings, file_problems, plan_problems, rule_problems
from gateway.cli.model_check import model_problems, search_model_problems
from gateway.config.access_check import check_access, check_conditions
from gateway.config.plans_file import PlansFile
from gateway.config.portal import TIERS_FILE, Portal, load_portal
from gateway.config.portal_keys import Services
from gateway.config.tiers_file import check_keys
from gateway.contract import Plugin
from gateway.errors import ConfigError, Problem
from gateway.limits.call_limits import unknown_tools
from gateway.limits.route_limits import unknown_operations
from gateway.open_portal import OpenPortal
from gateway.plugin_discovery import Found, discover
from gateway.services.cache.address import open_cache
from gateway.services.database.service import open_database
from gateway.services.objects import open_objects
from gateway.services.secrets import address
from gateway.services.vectors.address import open_vectors, vectors_address
from gateway.surfaces.rest.routes import described_routes
from gateway.toolkit.reasons import said_by

CHECK_TIMEOUT_SECONDS = 60.0
"""Seconds that a plugin's own check may take."""


async def check_directory(directory: Path) -> Findings:
    """Examine a configuration directory, and the installed plugins where its files allow it.

    Args:
        directory: where ``portal.yaml`` and ``tiers.yaml`` stand.
    """
    try:
        portal = load_portal(directory)
    except ConfigError as error:
        others = (*rule_problems(directory / TIERS_FILE), *plan_problems(directory))
        return Findings(tuple(map(str, (*error.problems, *others))), ())
    return await check_portal(portal)


async def check_portal(portal: Portal) -> Findings:
    """Examine a portal's configuration, its tier rules and the installed plugins.

    Args:
        portal: the configuration; that ``portal.yaml`` itself is right is known by now.
    """
    found = discover()
    in_files = file_problems(portal, found)
    of_search = await search_model_problems(portal)
    found_beside = (*_addresses(portal), *model_problems(portal), *of_search)
    problems = [*in_files.lines, *map(str, found_beside)]
    notes: list[str] = []
    if not in_files.plans:
        _look_at_plans(portal, problems, notes)
    files_are_good = not in_files.rules and not in_files.plans
    with TemporaryDirectory() as directory:
        beside = _beside(portal, Path(directory), files_are_good)
        async with open_portal(beside, Path(directory), schedules=False) as running:
            problems += await _opened(running, known={*in_files.sections, *_names(found)})
            notes += map(str, _empty_keys(portal, found))
            for name, plugin in found.plugins.items():
                if plugin.check and name in running.plugins.offers:
                    await _run_check(portal, plugin, running, problems, notes)
            notes += map(str, unknown_tools(portal, running.catalog))
            operations = [each.operation for each in described_routes(running.plugins.offers)]
            notes += map(str, unknown_operations(portal, operations))
            if files_are_good:
                _look_up_keys(running, problems, notes)
    return Findings(tuple(problems), tuple(notes))


def _look_at_plans(portal: Portal, problems: list[str], notes: list[str]) -> None:
    """Conditions of plans.yaml that the portal cannot read as they seem to be meant."""
    plans = PlansFile(portal.directory).plans
    found = check_conditions(plans.conditions(), plans.source, portal.config)
    problems += map(str, found.problems)
    notes += map(str, found.notices)


def _names(found: Found) -> Iterator[str]:
    return (broken.name for broken in found.broken)


def _beside(portal: Portal, directory: Path, files_are_good: bool) -> Portal:
    """The same portal on embedded services; without its other files where one is broken."""
    services = Services(embedding="none", reranker="none")
    config = portal.config.model_copy(update={"services": services})
    rules = portal.directory if files_are_good else directory
    return replace(portal, config=config, directory=rules)


def _empty_keys(portal: Portal, found: Found) -> Iterator[Problem]:
    """Keys of plugins' sections with nothing under them, which count as if they were not there."""
    for name, plugin in found.plugins.items():
        for key, value in (portal.section(name).model_extra or {}).items():
            if value is None and key in plugin.config.model_fields:
                reason = "nothing stands under it: it counts as if it were not there"
                yield portal.source.problem(("plugins", name, key), reason)


def _addresses(portal: Portal) -> Iterator[Problem]:
    """Services whose reference leads nowhere, or whose client is not installed."""
    services = portal.config.services

    def vectors(at: str) -> object:
        own = address(services.database, portal.root) if at == "database" else ""
        return open_vectors(vectors_address(at, own), portal.root)

    opened: Mapping[str, Callable[[str], object]] = {
        "database": lambda at: open_database(at, portal.root),
        "vectors": vectors,
        "objects": lambda at: open_objects(at, portal.root),
        "cache": open_cache,
    }
    for name in type(services).model_fields:
        setting = getattr(services, name)
        if not isinstance(setting, str):  # nothing, or a section of its own, as models
            continue
        try:
            # Nothing is connected, or written, before a service is used.
            opened.get(name, str)(address(setting, portal.root))
        except ValueError as error:
            yield portal.source.problem(("services", name), str(error))


async def _opened(running: OpenPortal, known: Iterable[str]) -> list[str]:
    """Problems found by opening the plugins, without plugins whose problems are known already."""
    known_plugins = set(known)
    report = await running.board.report()
    failed = [
        f"{plugin.name}: {plugin.health.detail}"
        for plugin in report.plugins
        if plugin.health.state == "failed" and plugin.name not in known_plugins
    ]
    return failed + [str(each) for each in running.catalog.set_aside]


async def _run_check(
    portal: Portal, plugin: Plugin, running: OpenPortal, problems: list[str], notes: list[str]
) -> None:
    """A plugin's own findings about its section, by file and line."""
    if plugin.check is None:
        return
    section = ("plugins", plugin.name)
    config = portal.plugin_config(plugin.name, plugin.config)
    host = running.plugins.host(plugin.name, wait_ready=True)
    try:
        async with asyncio.timeout(CHECK_TIMEOUT_SECONDS) as checking:
            found = await plugin.check(config, host)
    except Exception as error:
        late = isinstance(error, TimeoutError) and checking.expired()
        why = f"it took longer than {CHECK_TIMEOUT_SECONDS:g} s" if late else said_by(error)
        problems.append(f"{plugin.name}: its check failed: {why}")
        return
    for each in found:
        problem = portal.source.problem((*section, *each.location), each.reason)
        (notes if each.notice else problems).append(str(problem))


def _look_up_keys(running: OpenPortal, problems: list[str], notes: list[str]) -> None:
    """Lines of tiers.yaml that mean nothing here; those of absent plugins in one together."""
    catalog = running.catalog
    rules = running.tiers.current
    findings = check_keys(rules, catalog.keys(), catalog.plugins(), catalog.row_kinds)
    access = check_access(running.tiers.tiers, running.portal.config)
    problems += map(str, (*findings.problems, *access.problems))
    notes += map(str, (*findings.absent, *access.notices))
    waiting = set()
    for notice in findings.notices:
        if "did you mean" in notice.reason:
            notes.append(str(notice))
        else:
            waiting.add(notice.key.partition("/")[0])
    if waiting:
        names = ", ".join(sorted(waiting))
        notes.append(f"tiers.yaml has keys for plugins that are not open: {names}")
