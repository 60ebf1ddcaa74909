"""Finds plugins and checks what they declare; opens none.

Every plugin is found through the entry-point group ``porch.plugins``, ours included. Commands look
for plugins too, so that nothing is imported here that opens or serves one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pluggy

from gateway.contract import CONTRACT_VERSION, Hooks, Plugin
from gateway.toolkit.reasons import said_by

GROUP = "porch.plugins"
PORTAL = "porch"
"""The package of the portal itself."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


class NameTaken(ValueError):
    """Another plugin has the name already; the message says whose it is, and what to do."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A plugin that was found and cannot be used.

    Attributes:
        name: of its entry point, or of its module.
        error: why; with its traceback, for the log.
    """

    name: str
    error: Exception

    @property
    def reason(self) -> str:
        """Why, in a line."""
        return said_by(self.error)


@dataclass(frozen=True, slots=True)
class Found:
    """What discovery found.

    Attributes:
        plugins: the usable plugins, by name, in the order of their names.
        broken: the others.
        manager: the pluggy manager in which their modules are registered.
        sources: where a plugin's declaration is imported from, by its name, as an entry point has
            it; of those that come from a module.
        packages: the package that each is installed from, with its version; of those that are.
    """

    plugins: dict[str, Plugin]
    broken: tuple[Broken, ...]
    manager: pluggy.PluginManager
    sources: Mapping[str, str] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)

    def hears(self, name: str) -> bool:
        """Whether a plugin's module hears of changes."""
        module = self.manager.get_plugin(self.sources.get(name, ""))
        return hasattr(module, "porch_changed")

    def owner_of(self, module: str) -> str | None:
        """The plugin that a module is a part of: it is in the package that opens the plugin."""
        for name, plugin in self.plugins.items():
            own = plugin.open.__module__
            package = own.rpartition(".")[0] or own
            if module == own or f"{module}.".startswith(f"{package}."):
                return name
        return None


def discover(modules: Sequence[Any] | None = None, *, only: str | None = None) -> Found:
    """Find the installed plugins. Imports them; opens none.

    Args:
        modules: plugin modules or objects to use instead of the installed ones (tests).
        only: of the installed ones, import those alone whose entry point has this name.
    """
    manager = pluggy.PluginManager("porch")
    manager.add_hookspecs(Hooks)
    plugins: dict[str, Plugin] = {}
    broken: list[Broken] = []
    sources: dict[str, str] = {}
    packages: dict[str, str] = {}
    for each in _candidates(modules, only):
        try:
            plugin = _declared(manager, each, packages)
            plugins[plugin.name] = plugin
            sources[plugin.name], packages[plugin.name] = each.source, each.package
        except Exception as error:
            broken.append(Broken(each.name, error))
    known = {name: package for name, package in packages.items() if package}
    return Found(dict(sorted(plugins.items())), tuple(broken), manager, sources, known)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """What may be a plugin.

    Attributes:
        name: of its entry point, or of its module.
        source: where it is imported from; empty where it is no module.
        load: a call that imports it.
        package: what it is installed from, with its version; empty where it is not.
    """

    name: str
    source: str
    load: Any
    package: str = ""


def _candidates(modules: Sequence[Any] | None, only: str | None) -> Iterable[_Candidate]:
    """All of them, the portal's own first: no package takes their names."""
    if modules is not None:
        names = [getattr(module, "__name__", repr(module)) for module in modules]
        return [
            _Candidate(
                name, name if isinstance(module, ModuleType) else "", lambda module=module: module
            )
            for name, module in zip(names, modules, strict=True)
        ]
    found: list[EntryPoint] = sorted(entry_points(group=GROUP), key=_place)
    wanted = (point for point in found if only in (None, point.name))
    return [_Candidate(point.name, point.value, point.load, _package(point)) for point in wanted]


def _place(point: EntryPoint) -> tuple[bool, str, str]:
    package = _package(point)
    return not package.startswith(f"{PORTAL} "), point.name, package


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist else ""


def _declared(
    manager: pluggy.PluginManager, candidate: _Candidate, taken: Mapping[str, str]
) -> Plugin:
    module = candidate.load()
    manager.register(module, candidate.source or None)
    try:
        manager.check_pending()
        plugin: Plugin = module.porch_plugin()
        _check(plugin)
        if plugin.name in taken:
            raise _taken(plugin.name, candidate.package, taken[plugin.name])
    except Exception:
        manager.unregister(module)
        raise
    return plugin


def _taken(name: str, package: str, other: str) -> NameTaken:
    if not (package and other):
        return NameTaken(f"another plugin is already called {name!r}; rename yours")
    said = f"{package} is set aside: {other} already has a plugin named {name}; rename yours"
    return NameTaken(said)


def _check(plugin: Any) -> None:
    if not isinstance(plugin, Plugin):
        raise TypeError("porch_plugin() must return a gateway.contract.Plugin")
    if not NAME.fullmatch(plugin.name):
        raise ValueError(f"the plugin name {plugin.name!r} must match {NAME.pattern}")
    if plugin.command is not None and not NAME.fullmatch(plugin.command):
        raise ValueError(f"the command {plugin.command!r} must match {NAME.pattern}")
    if plugin.contract != CONTRACT_VERSION:
        raise ValueError(
            f"it was written for contract {plugin.contract}; this portal speaks "
            f"{CONTRACT_VERSION}. Install a version of it that matches"
        )
