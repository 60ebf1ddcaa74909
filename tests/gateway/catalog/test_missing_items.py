"""What plugins do not show is told to those who may know of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from gateway.contract import Absent, Caller, Offer, Plugin, Tier, Tool
from gateway.testing import TestPortal, open_test_portal

OBJECT = {"type": "object"}


async def _run(args: Any, caller: Caller) -> str:
    return "done"


def _portal(*more: Any, tiers: Any = None, config: Any = None) -> Any:
    """A portal whose plugin ``shed`` offers something bad, and says what else it does not show."""

    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
        async def absent(caller: Caller) -> Sequence[Absent]:
            mine = "Yours is worn out." if caller.tier is Tier.MEMBERS else "It is worn out."
            return [Absent("shed_saw", "saw", "worn", mine, link="https://example.org/saws")]

        async def missing(args: Any, caller: Caller) -> str:
            found = await host.exchange().missing(args.get("name"))
            return "; ".join(f"{each.name} {each.why} {each.reason}" for each in found)

        tools = [
            Tool("shed_ask", "Asks.", missing, input_schema=OBJECT, tier=Tier.OPEN),
            Tool("shed_axe", "Cuts.", _run, input_schema=OBJECT, tier=Tier.MEMBERS),
            Tool("shed_bad", "Bad.", _run, input_schema={"type": "array"}, tier=Tier.OPEN),
        ]
        yield Offer(tools=tools, absent=absent)

    module = SimpleNamespace(porch_plugin=lambda: Plugin("shed", "A shed.", opened))
    return open_test_portal(_marked(module), *more, tiers=tiers, config=config)


def _marked(module: Any) -> Any:
    from gateway.contract import hookimpl

    module.porch_plugin = hookimpl(module.porch_plugin)
    return module


async def _asked(portal: TestPortal, tier: str, **given: str) -> str:
    return (await portal.call("shed_ask", given, tier=tier)).text


async def test_tiers_bad_declarations_and_the_plugins_own_words_are_told() -> None:
    async with _portal() as portal:
        told = await _asked(portal, "open")
        assert "shed_axe tier It asks for members access; the caller has open." in told
        assert "shed_bad set_aside" in told
        assert "input schema" in told
        assert "shed_saw worn It is worn out." in told
        assert "shed_saw worn Yours is worn out." in await _asked(portal, "members")


async def test_what_is_hidden_is_not_told_wherever_it_comes_from() -> None:
    hidden = {"tier": "members", "hidden": True}
    items = {f"shed/{name}": hidden for name in ("shed_axe", "shed_bad", "saw")}
    async with _portal(tiers={"items": items}) as portal:
        assert await _asked(portal, "open") == ""
        assert await _asked(portal, "open", name="shed_axe") == ""
        assert "shed_bad" in await _asked(portal, "members")


async def test_a_plugin_that_could_not_open_is_told_and_its_error_to_admins_alone() -> None:
    @asynccontextmanager
    async def broken(config: Any, host: Any) -> AsyncGenerator[Offer]:
        raise RuntimeError("the barn is on fire")
        yield Offer()

    barn = _marked(SimpleNamespace(porch_plugin=lambda: Plugin("barn", "A barn.", broken)))
    async with _portal(barn) as portal:
        told = await _asked(portal, "open", name="barn_door")
        assert "barn closed It could not be opened" in told
        assert "on fire" not in told
        admin = Caller(None, Tier.MEMBERS, admin=True)
        details = [each.detail for each in await portal.running.absences.visible_to(admin)]
        assert any("on fire" in detail for detail in details)


async def test_a_plugin_whose_reasons_fail_holds_nobody_up() -> None:
    @asynccontextmanager
    async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
        async def absent(caller: Caller) -> Sequence[Absent]:
            raise RuntimeError("no")

        yield Offer(absent=absent)

    barn = _marked(SimpleNamespace(porch_plugin=lambda: Plugin("barn", "A barn.", opened)))
    async with _portal(barn) as portal:
        assert "shed_saw" in await _asked(portal, "open")
