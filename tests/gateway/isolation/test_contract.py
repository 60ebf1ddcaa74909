"""A plugin in a process of its own keeps the contract, as one in the portal does."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from gateway.testing import PluginContract
from tests.gateway.isolation import workshop

CALLS: Mapping[str, Any] = {
    "make": [{"thing": "chair"}, {"thing": "table", "count": 3}],
    "list_parts": [{}, {"count": 3}, {"count": 0}],
    "long": [{"kind": "rows"}],
    "hand_on": [{}, {"how": "relay"}],
}


class TestInThePortal(PluginContract):
    plugin = workshop
    calls = CALLS
    leaves = (("keep", {"note": "mine"}),)


@pytest.mark.heavy
class TestInAProcessOfItsOwn(PluginContract):
    plugin = workshop
    config = MappingProxyType({"isolation": "process"})
    calls = CALLS
    leaves = (("keep", {"note": "mine"}),)
