"""The contract suite holds for a plugin with work for agents."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from gateway.contract import Tier
from gateway.testing import PluginContract, TestPortal
from tests.gateway.work.clerk import Clerk


def judge(context: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"verdict": "good", "quote": context["text"]}


class TestContract(PluginContract):
    agents = MappingProxyType({"judge": judge, "second": judge})

    @property
    def plugin(self) -> Any:
        self.clerk = Clerk()
        return self.clerk.module()

    async def seed(self, portal: TestPortal) -> None:
        works = portal.running.plugins.host("clerk").work
        for kind in self.agents:
            await works.publish(kind, "one", {"text": "All is well."}, tier=Tier.PUBLIC)
