"""Who runs in circles is told so, and a budget is shared by a person's applications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from auth import Caller
from gateway.config.portal_keys import Limits
from gateway.limits.call_limits import CallLimits, RateLimited
from gateway.limits.rate_counter import RateCounter
from gateway.limits.sliding_window import MemoryWindows, Taken
from tests.gateway.limits.callers import ANA, ANAS_AGENT, BEN, STRANGER, allowed, limits


@pytest.mark.parametrize(
    ("caller", "most"), [(STRANGER, 300), (BEN, 600), (ANA, 1200), (ANAS_AGENT, 600)]
)
async def test_what_an_agent_does_in_a_minute_is_far_below_the_budget(
    caller: Caller, most: int
) -> None:
    counted = CallLimits(Limits(), RateCounter(MemoryWindows()))
    assert await allowed(counted, caller) == most


async def test_the_same_call_again_and_again_is_a_loop_and_others_are_answered() -> None:
    clock = [0.0]
    counting = RateCounter(MemoryWindows(lambda: clock[0]))
    counted = CallLimits(limits(repeats="3 in 60s"), counting, b"key")

    async def call(tool: str = "dig", caller: Caller = ANA, **arguments: Any) -> Taken | None:
        return await counted.take(caller, "192.0.2.7", tool, arguments)

    for _ in range(3):
        taken = await call(bed=1, deep=True)
    assert taken is not None
    assert taken.rate.limit == 1200  # what is left of repeats is nobody's business
    with pytest.raises(RateLimited, match=r"dig with the same arguments 3 times within 60 s.*loop"):
        await call(bed=1, deep=True)
    await call(bed=2, deep=True)
    await call("sow", bed=1, deep=True)
    for somebody in (BEN, ANAS_AGENT, STRANGER):
        await call(caller=somebody, bed=1, deep=True)
    clock[0] = 60
    await call(bed=1, deep=True)


async def test_a_loop_is_told_kindly_and_for_programs() -> None:
    counted = CallLimits(limits(repeats="1 in 60s"), RateCounter(MemoryWindows()))
    await counted.take(ANA, "a", "dig", {})
    with pytest.raises(
        RateLimited, match=r"in a loop: pause.*ask the person.*Other calls are answered"
    ) as refused:
        await counted.take(ANA, "a", "dig", {})
    assert refused.value.details == {
        "retryAfterSeconds": 60,
        "limit": 1,
        "window": 60.0,
        "scope": "repeats",
        "tool": "dig",
    }


async def test_arguments_are_kept_nowhere() -> None:
    counting = RateCounter(MemoryWindows())
    counted = CallLimits(Limits(), counting, b"key")
    await counted.take(ANA, "a", "dig", {"secret": "hunter2"})
    kept = str(
        {name: list(each._late | each._early) for name, each in counting._own._limiters.items()}
    )
    assert "repeats" in kept
    assert "hunter2" not in kept
    other = CallLimits(Limits(), counting, b"another key")
    assert other._digest("", {"a": 1}) != counted._digest("", {"a": 1})


async def test_one_application_uses_its_share_and_leaves_the_rest_to_the_others() -> None:
    counted = CallLimits(limits(calls=10, client_percent=60), RateCounter(MemoryWindows()))
    assert await allowed(counted, ANAS_AGENT) == 6
    with pytest.raises(RateLimited, match="This application has used its share") as refused:
        await counted.take(ANAS_AGENT, "a", "")
    assert refused.value.details["scope"] == "client"
    other = replace(ANAS_AGENT, client="grant:other")
    assert await allowed(counted, other) == 4
    with pytest.raises(RateLimited, match="All applications of your person together") as refused:
        await counted.take(other, "a", "")
    assert refused.value.details["scope"] == "person"


async def test_one_address_leaves_the_others_of_its_network_something() -> None:
    counted = CallLimits(limits(calls=2, network_addresses=2), RateCounter(MemoryWindows()))
    assert await allowed(counted, STRANGER, peer="192.0.2.1") == 2
    with pytest.raises(RateLimited, match="Callers of your address") as refused:
        await counted.take(STRANGER, "192.0.2.1", "")
    assert refused.value.details["scope"] == "address"
    assert await allowed(counted, STRANGER, peer="192.0.2.2") == 2
    with pytest.raises(RateLimited, match="Callers of your network") as refused:
        await counted.take(STRANGER, "192.0.2.3", "")
    assert refused.value.details["scope"] == "network"
    assert await allowed(counted, STRANGER, peer="192.0.3.1") == 2
    assert await allowed(counted, STRANGER, peer="2001:db8::/64") == 2
    assert await allowed(counted, ANA, peer="192.0.2.1") == 2


async def test_without_a_budget_nothing_counts_but_tools_limits_of_their_own() -> None:
    counted = CallLimits(
        limits(calls="none", repeats=1, tools={"dig": 2}), RateCounter(MemoryWindows())
    )
    assert await allowed(counted, STRANGER, "sow") == 2000
    assert await allowed(counted, STRANGER, "dig") == 2
