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

GROUP = "porch.plugins"
NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")


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
        return f"{type(self.error).__name__}: {self.error}"


@dataclass(frozen=True, slots=True)
class Found:
    """What discovery found.

    Attributes:
        plugins: the usable plugins, by name, in the order of their names.
        broken: the others.
        manager: the pluggy manager in which their modules are registered.
        sources: where a plugin's declaration is imported from, by its name, as an entry point has
            it; of those that come from a module.
    """

    plugins: dict[str, Plugin]
    broken: tuple[Broken, ...]
    manager: pluggy.PluginManager
    sources: Mapping[str, str] = field(default_factory=dict)

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
    for name, source, load in _candidates(modules, only):
        try:
            plugin = _declared(manager, load(), plugins, source)
            plugins[plugin.name] = plugin
            sources[plugin.name] = source
        except Exception as error:
            broken.append(Broken(name, error))
    return Found(dict(sorted(plugins.items())), tuple(broken), manager, sources)


def _candidates(modules: Sequence[Any] | None, only: str | None) -> Iterable[tuple[str, str, Any]]:
    """The name of each, where it is imported from, and what loads it."""
    if modules is not None:
        names = [getattr(module, "__name__", repr(module)) for module in modules]
        return [
            (name, name if isinstance(module, ModuleType) else "", lambda module=module: module)
            for name, module in zip(names, modules, strict=True)
        ]
    found: list[EntryPoint] = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    wanted = (point for point in found if only in (None, point.name))
    return [(point.name, point.value, point.load) for point in wanted]


def _declared(
    manager: pluggy.PluginManager, module: Any, taken: Mapping[str, Plugin], source: str
) -> Plugin:
    manager.register(module, source or None)
    try:
        manager.check_pending()
        plugin: Plugin = module.porch_plugin()
        _check(plugin)
        if plugin.name in taken:
            raise ValueError(f"another plugin is already called {plugin.name!r}")
    except Exception:
        manager.unregister(module)
        raise
    return plugin


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
