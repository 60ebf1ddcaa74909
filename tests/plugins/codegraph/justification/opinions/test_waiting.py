"""Where the budget is reached or the provider throttles, a run waits, and nothing is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gateway.testing import open_test_portal
from plugins.codegraph import plugin
from plugins.codegraph.justification.opinions.opinion_store import Opinions
from plugins.codegraph.justification.opinions.runs import Runs
from plugins.codegraph.offer import now
from plugins.codegraph.store.store import GraphStore
from tests.plugins.codegraph.justification.opinions.asked import (
    answering,
    asked_shop,
    begun,
    config,
    context,
    questions,
    until,
    written,
)
from tests.servers.openai_compatible import OpenAICompatible, throttled

WANTED = {"connect", "check_password", "even", "odd", "main", "show_order"}
PLANS = "plans: {own: {title: Own, budget: 0.001}}\ndefault: own\nportal: own\n"


async def test_a_provider_that_throttles_is_asked_later_and_everything_is_answered(
    tmp_path: Path,
) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible()) as server:
        server.then(*[throttled("1")] * 12)
        async with asked_shop(tree, server, model=True) as (portal, runs):
            repo = await begun(portal, runs)
            await until(runs, repo, "done")
            said = await context(portal, "main", lambda found: "answeredBy" in found)
            assert said["answeredBy"]["model"] == "large"
        assert {name for group in questions(server) for name in group} == WANTED


async def test_at_the_end_of_the_budget_what_was_answered_is_kept_and_the_rest_waits(
    tmp_path: Path,
) -> None:
    tree = written(tmp_path / "shop")
    with answering(OpenAICompatible()) as server:
        made = config(tree, server, model=True)
        async with open_test_portal(plugin, config=made, plans=PLANS, wait_ready=False) as portal:
            await context(portal, "connect", lambda found: True)
            host = portal.running.plugins.host("codegraph")
            runs = Runs(host.database, now)
            repo = await begun(portal, runs)
            async with asyncio.timeout(90):
                while True:
                    run = await runs.of(repo)
                    assert run is not None
                    status = await host.jobs.status(run.job) if run.job else None
                    if status is not None and "its budget" in status.message:
                        break
                    await asyncio.sleep(0.2)
            assert (run.state, status.state) == ("asking", "queued")
            told = portal.running.plugins.offers["codegraph"].health
            assert told is not None
            (asking,) = (await told()).facts["asking"]
            assert asking.startswith("shop: a model is asked what code is for, level ")
            asked = len(server.asked)
            view = await GraphStore(host.database).view(run.org, repo)
            assert view is not None
            kept = await Opinions(host.database).of(view)
            assert kept
            assert len(kept) < len(WANTED)
            assert all(not each.refused for each in kept)
            await asyncio.sleep(3)
            assert len(server.asked) == asked
