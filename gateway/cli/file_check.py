"""Examines the configuration's files and the plugins' declarations; no plugin is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.config.plans_file import PlansFile
from gateway.config.portal import Portal
from gateway.config.tiers_file import TierRulesFile
from gateway.errors import ConfigError, Problem
from gateway.plugin_discovery import Found


@dataclass(frozen=True, slots=True)
class Findings:
    """The findings of a check.

    Attributes:
        problems: what an admin must mend, one line each.
        notes: what is worth knowing and needs nothing.
    """

    problems: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FileProblems:
    """What is wrong with the files and the declarations.

    Attributes:
        plugins: those that cannot be used, or are not installed; a line each.
        sections: what is wrong with a plugin's section of portal.yaml, by plugin.
        rules: why tiers.yaml cannot be read.
        plans: why plans.yaml cannot be read.
    """

    plugins: tuple[str, ...]
    sections: Mapping[str, tuple[Problem, ...]]
    rules: tuple[Problem, ...]
    plans: tuple[Problem, ...]

    @property
    def lines(self) -> list[str]:
        """All of it, one line each."""
        in_sections = (str(each) for every in self.sections.values() for each in every)
        return [*self.plugins, *in_sections, *map(str, (*self.rules, *self.plans))]


def file_problems(portal: Portal, found: Found) -> FileProblems:
    """What is wrong with plugins that cannot be used, with their sections, and with the files.

    Args:
        portal: the configuration; that ``portal.yaml`` itself is right is known by now.
        found: the plugins.
    """
    broken = (f"{each.name}: {each.reason}" for each in found.broken)
    unknown = map(str, portal.unknown_plugins(set(found.plugins)))
    sections, rules = _section_problems(portal, found), rule_problems(portal.tiers_file)
    plans = plan_problems(portal.directory)
    return FileProblems((*broken, *unknown), sections, rules, plans)


def _section_problems(portal: Portal, found: Found) -> dict[str, tuple[Problem, ...]]:
    """What is wrong with the plugins' sections of portal.yaml, by plugin; those without are left
    out."""
    problems: dict[str, tuple[Problem, ...]] = {}
    for name, plugin in found.plugins.items():
        if portal.section(name).enabled:
            try:
                portal.plugin_config(name, plugin.config)
            except ConfigError as error:
                problems[name] = error.problems
    return problems


def rule_problems(path: Path) -> tuple[Problem, ...]:
    """Why a tiers.yaml cannot be read; nothing where it can."""
    return _problems(lambda: TierRulesFile(path.expanduser().absolute()))


def plan_problems(directory: Path) -> tuple[Problem, ...]:
    """Why the plans.yaml of a configuration directory cannot be read; nothing where it can."""
    return _problems(lambda: PlansFile(directory.expanduser().absolute()))


def _problems(read: Callable[[], object]) -> tuple[Problem, ...]:
    try:
        read()
    except ConfigError as error:
        return error.problems
    return ()
