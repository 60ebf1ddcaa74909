"""Of two plugins with one name the portal's own is served, and the other is told whose it is."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from gateway import plugin_discovery
from gateway.contract import Plugin, hookimpl
from gateway.plugin_discovery import discover


def installed(point: str, package: str) -> Any:
    """An entry point of a package, for a plugin that calls itself knowledge."""
    module = ModuleType(f"{package}.{point}")

    @hookimpl
    def porch_plugin() -> Plugin:
        return Plugin("knowledge", "Knows.", SimpleNamespace)  # type: ignore[arg-type]

    module.porch_plugin = porch_plugin  # type: ignore[attr-defined]
    dist = SimpleNamespace(name=package, version="0.1.0")
    return SimpleNamespace(name=point, value=module.__name__, load=lambda: module, dist=dist)


@pytest.mark.parametrize("point", ["knowledge", "a_name_that_comes_first"])
def test_no_package_takes_a_name_of_the_portal_s_own(
    monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    points = [installed(point, "a-porch-knowledge"), installed("knowledge", "porch")]
    monkeypatch.setattr(plugin_discovery, "entry_points", lambda group: points)
    found = discover()
    assert found.packages == {"knowledge": "porch 0.1.0"}
    assert found.sources == {"knowledge": "porch.knowledge"}
    ((name, reason),) = ((each.name, each.reason) for each in found.broken)
    assert name == point
    assert reason == (
        "a-porch-knowledge 0.1.0 is set aside: porch 0.1.0 already has a plugin named knowledge; "
        "rename yours"
    )
