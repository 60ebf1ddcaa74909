import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace
from types import ModuleType

import httpx
import pytest
from pydantic import BaseModel

from auth import Tier
from gateway import app as app_module
from gateway import plugin_discovery, plugin_host
from gateway import plugin_lifecycle as openings
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from gateway.contract import (
    Change,
    Job,
    Offer,
    Plugin,
    Route,
    Tool,
    Webhook,
    hookimpl,
)
from gateway.errors import ConfigError, Problem
from gateway.observability.health import HealthBoard
from gateway.plugin_discovery import discover
from gateway.testing import open_test_portal


async def _run(args, caller):
    return "done"


def _plugin(name, diary=None, *, opening=None, closing=None, offer=None, contract=1):
    """A plugin module whose opening and closing are written into a diary."""
    diary = [] if diary is None else diary

    @asynccontextmanager
    async def open_it(config, host):
        diary.append(f"open {name}")
        if opening:
            raise opening
        tool = Tool(f"{name}_tool", "A tool.", _run, input_schema={"type": "object"})
        yield Offer(tools=[tool]) if offer is None else offer
        diary.append(f"close {name}")
        if closing:
            raise closing

    return _module(name, lambda: Plugin(name, "A plugin.", open_it, contract=contract))


def _module(name, declare=None, **hooks):
    module = ModuleType(f"module_{name}")
    given = hooks | ({"porch_plugin": declare} if declare else {})
    for key, hook in given.items():
        setattr(module, key, hookimpl(hook))
    return module


def _reasons(found):
    return {broken.name: broken.reason for broken in found.broken}


def _raise(error):
    raise error


def _unopened(config, host):
    raise AssertionError("a plugin that is refused is not opened")


class EntryPoint:
    """An installed plugin that cannot be imported, or can."""

    def __init__(self, name, load):
        self.name = name
        self.value = f"tests.{name}"
        self.load = load
        self.dist = None


async def test_a_plugin_that_cannot_be_imported_is_named_and_the_others_are_found(monkeypatch):
    points = [
        EntryPoint("good", lambda: _plugin("good")),
        EntryPoint("gone", lambda: _raise(ImportError("No module named 'gone'"))),
        EntryPoint("typo", lambda: _raise(SyntaxError("invalid syntax"))),
    ]
    monkeypatch.setattr(plugin_discovery, "entry_points", lambda group: points)
    found = discover()
    assert list(found.plugins) == ["good"]
    assert "No module named 'gone'" in _reasons(found)["gone"]
    assert "SyntaxError" in _reasons(found)["typo"]


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (_plugin("old", contract=99), "contract 99"),
        (_plugin("Bad Name"), "must match"),
        (_module("none", lambda: None), "must return"),
        (_module("raises", lambda: _raise(RuntimeError("no luck"))), "no luck"),
        (_module("empty"), "porch_plugin"),
        (
            _module("word", lambda: Plugin("word", "x", _unopened, command="Two words")),
            "the command",
        ),
        (_module("odd", lambda: None, porch_surprise=lambda: None), "porch_surprise"),
    ],
    ids=["contract", "name", "type", "raises", "no hook", "command", "unknown hook"],
)
async def test_a_plugin_that_breaks_the_contract_is_broken_by_name(module, reason):
    found = discover([module, _plugin("good")])
    assert list(found.plugins) == ["good"]
    assert reason in _reasons(found)[module.__name__]
    assert module not in found.manager.get_plugins()


async def test_of_two_plugins_with_one_name_the_later_is_broken_and_hears_nothing():
    first, second = _plugin("twin"), _plugin("twin")
    second.__name__ = "module_second"
    found = discover([first, second])
    assert "already called 'twin'" in _reasons(found)["module_second"]
    assert second not in found.manager.get_plugins()
    assert first in found.manager.get_plugins()


async def test_plugins_open_by_name_and_close_in_reverse():
    diary: list[str] = []
    async with open_test_portal(*[_plugin(name, diary) for name in ("b", "c", "a")]) as portal:
        assert diary == ["open a", "open b", "open c"]
        assert set(portal.running.plugins.offers) == {"a", "b", "c"}
    assert diary[3:] == ["close c", "close b", "close a"]


async def test_a_plugin_that_raises_while_opening_is_alone_in_it():
    diary: list[str] = []
    bad = _plugin("a", diary, opening=RuntimeError("no disk"))
    async with open_test_portal(bad, _plugin("b", diary)) as portal:
        assert set(await portal.tools()) == {"b_tool"}
        health = await portal.health()
    assert "no disk" in str(health)
    assert diary == ["open a", "open b", "close b"]


async def test_a_plugin_that_raises_while_closing_does_not_keep_the_others_from_it():
    diary: list[str] = []
    bad = _plugin("b", diary, closing=RuntimeError("stuck"))
    async with open_test_portal(_plugin("a", diary), bad):
        pass
    assert diary[2:] == ["close b", "close a"]


async def test_what_is_no_offer_is_closed_again_and_named():
    diary: list[str] = []
    async with open_test_portal(_plugin("a", diary, offer="tools")) as portal:
        assert diary == ["open a", "close a"]
        assert "must yield" in str(await portal.health())


async def test_an_item_that_cannot_be_read_is_set_aside_alone():
    good = Tool("good", "Fine.", _run, input_schema={"type": "object"})
    bad = replace(good, name="bad", summary=5)  # type: ignore[arg-type]
    async with open_test_portal(_plugin("a", offer=Offer(tools=[bad, good]))) as portal:
        assert set(await portal.tools()) == {"good"}
        assert "a/bad" in str(await portal.health())


async def test_a_plugin_that_is_switched_off_is_not_opened():
    diary: list[str] = []
    config = {"plugins": {"a": {"enabled": False}}}
    async with open_test_portal(_plugin("a", diary), config=config) as portal:
        assert await portal.tools() == {}
    assert diary == []


async def test_news_reaches_a_plugin_though_another_one_breaks_on_it():
    heard: asyncio.Queue[Change] = asyncio.Queue()
    loud, deaf = _plugin("loud"), _plugin("deaf")
    loud.porch_changed = hookimpl(lambda change: heard.put_nowait(change))
    deaf.porch_changed = hookimpl(lambda change: _raise(RuntimeError("deaf")))
    async with open_test_portal(loud, deaf) as portal:
        portal.running.changes.publish(Change("loud", "tools"))
        assert await asyncio.wait_for(heard.get(), 60) == Change("loud", "tools")


async def test_a_time_out_of_a_plugins_own_is_told_as_its_own():
    late = _plugin("late", opening=TimeoutError("the directory did not answer"))
    async with open_test_portal(late) as portal:
        health = await portal.health()
    assert health["plugins"]["late"]["detail"] == "TimeoutError: the directory did not answer"


async def test_a_plugin_that_never_opens_does_not_hold_up_the_others(monkeypatch, tmp_path):
    monkeypatch.setattr(plugin_host, "OPEN_TIMEOUT_SECONDS", 3.0)

    @asynccontextmanager
    async def never(config, host):
        await asyncio.Event().wait()
        yield Offer()

    stuck = _module("stuck", lambda: Plugin("stuck", "A plugin.", never))
    portal = load_portal(tmp_path / "config", {"services": {"embedding": "none"}})
    modules = [stuck, _plugin("well")]
    async with PortalApp(portal, tmp_path / "data", modules=modules).opened() as running:
        health = {each.name: each.health for each in (await running.board.report()).plugins}
    assert "did not open within" in health["stuck"].detail
    assert health["well"].state == "ok"


async def _until(true):
    async with asyncio.timeout(60):
        while not await true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


@asynccontextmanager
async def _serving(tmp_path, *modules, wait=True):
    """A portal that serves, as `porch serve` opens it, and a client of its HTTP surface."""
    portal = load_portal(tmp_path / "config", {"services": {"embedding": "none"}})
    app = PortalApp(portal, tmp_path / "data", modules=list(modules))
    async with app.opened(wait=wait) as running:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            yield running, http


class _Item(BaseModel):
    name: str = "late"


class _NoParams(BaseModel):
    pass


def _whole(name, opened, ran):
    """A plugin that has one of each: a tool, a route, a webhook and a job."""

    async def take(args, caller):
        return _Item()

    async def hook(body, headers):
        return {"taken": True}

    async def job(run, payload):
        ran.set()

    tool = Tool("late_tool", "A tool.", _run, input_schema={"type": "object"}, tier=Tier.OPEN)
    route = Route("GET", "/item", take, "late_tool", _NoParams, _Item, "An item.")
    webhook = Webhook("push", lambda body, headers: True, hook)
    offer = Offer(tools=[tool], routes=[route], webhooks=[webhook], jobs=[Job("work", job)])

    @asynccontextmanager
    async def open_it(config, host):
        await opened()
        yield offer

    return _module(name, lambda: Plugin(name, "A plugin.", open_it))


async def _all_of_it_is_served(running, http, ran):
    assert running.catalog.knows("late_tool")
    assert (await http.get("/api/v1/late/item")).json() == {"name": "late"}
    assert (await http.post("/hooks/late/push", json={})).json() == {"taken": True}
    await running.services.for_plugin("late").jobs.enqueue("work", {})
    await asyncio.wait_for(ran.wait(), 60)


async def test_a_plugin_that_opens_late_is_served_whole_once_it_has(monkeypatch, tmp_path):
    monkeypatch.setattr(plugin_host, "OPEN_TIMEOUT_SECONDS", 3.0)
    may_open, ran = asyncio.Event(), asyncio.Event()
    told: asyncio.Queue[Change] = asyncio.Queue()
    late = _whole("late", may_open.wait, ran)
    async with _serving(tmp_path, late, _plugin("well")) as (running, http):
        assert running.board.opening == {"late"}
        assert (await http.get("/api/v1/late/item")).status_code == 404
        running.changes.listen(told.put_nowait)
        may_open.set()
        assert await asyncio.wait_for(told.get(), 60) == Change("late", "tools")

        async def settled():
            return not running.board.opening

        await _until(settled)
        health = {each.name: each.health.state for each in (await running.board.report()).plugins}
        assert health == {"late": "ok", "well": "ok"}
        await _all_of_it_is_served(running, http, ran)


async def test_a_plugin_that_fails_is_tried_again_with_growing_pauses(monkeypatch, tmp_path):
    monkeypatch.setattr(openings, "FIRST_RETRY_SECONDS", 0.01)
    tries, ran, details = [], asyncio.Event(), []

    async def third_time():
        tries.append(1)
        if len(tries) < 4:
            raise OSError("the disk is away")

    late = _whole("late", third_time, ran)
    failed = HealthBoard.failed

    def noting(*args):
        details.append(args[2])
        failed(*args)

    monkeypatch.setattr(HealthBoard, "failed", noting)
    async with _serving(tmp_path, late, _plugin("well")) as (running, http):

        async def served():
            return "late" in running.plugins.offers and not running.board.opening

        await _until(served)
        assert len(tries) == 4
        pauses = [detail.partition("again in ")[2].partition(" s")[0] for detail in details]
        assert pauses == ["0.01", "0.02", "0.04"]
        assert details[0].startswith("OSError: the disk is away. Tried again in 0.01 s.")
        await _all_of_it_is_served(running, http, ran)


async def test_what_an_admin_has_to_mend_is_not_tried_again(monkeypatch, tmp_path):
    monkeypatch.setattr(openings, "FIRST_RETRY_SECONDS", 0.0)
    diary: list[str] = []
    bad = _plugin("bad", diary, opening=ConfigError([Problem("portal.yaml", 3, "a", "is wrong")]))
    async with _serving(tmp_path, bad) as (running, _):
        report = await running.board.report()
        assert "portal.yaml:3" in report.plugins[0].health.detail
        assert running.board.opening == frozenset()
    assert diary == ["open bad"]


async def test_a_plugin_that_is_opening_still_does_not_hold_up_the_end(monkeypatch, tmp_path):
    monkeypatch.setattr(plugin_host, "OPEN_TIMEOUT_SECONDS", 0.5)
    diary: list[str] = []

    async def never():
        try:
            await asyncio.Event().wait()
        finally:
            diary.append("ended")

    async with _serving(tmp_path, _whole("late", never, asyncio.Event())):
        assert diary == []
    assert diary == ["ended"]


async def test_a_portal_that_does_not_wait_serves_each_plugin_as_it_opens(monkeypatch, tmp_path):
    monkeypatch.setattr(app_module, "_OPENING_SECONDS", 0.05)
    may_open, ran = asyncio.Event(), asyncio.Event()
    late = _whole("late", may_open.wait, ran)
    async with _serving(tmp_path, late, _plugin("well"), wait=False) as (running, http):
        health = (await http.get("/readyz")).json()
        assert (health["status"], health["plugins"]["late"]["state"]) == ("starting", "starting")
        assert (await http.get("/api/v1/late/item")).status_code == 404, "what is there answers"
        assert running.catalog.knows("well_tool")
        may_open.set()
        async with asyncio.timeout(60):
            await running.plugins.tried()
        await _until_jobs_run(running)
        await _all_of_it_is_served(running, http, ran)
        assert list(running.plugins.offers) == ["late", "well"]


async def test_a_request_waits_for_plugins_that_open_within_a_moment(tmp_path):
    may_open = asyncio.Event()
    late = _whole("late", may_open.wait, asyncio.Event())
    async with _serving(tmp_path, late, wait=False) as (_, http):
        answer = asyncio.create_task(http.get("/api/v1/late/item"))
        assert (await http.get("/healthz")).status_code == 200
        assert not answer.done()
        may_open.set()
        assert (await asyncio.wait_for(answer, 60)).json() == {"name": "late"}


async def _until_jobs_run(running):
    async def run():
        return running.services.jobs._running

    await _until(run)


async def test_an_opening_that_awaits_something_cancelled_fails_alone(monkeypatch, tmp_path):
    cancelled = asyncio.get_running_loop().create_future()
    cancelled.cancel()

    async def awaits():
        await cancelled

    late = _whole("late", awaits, asyncio.Event())
    async with _serving(tmp_path, late, _plugin("well")) as (running, _):
        assert set(running.plugins.offers) == {"well"}
        assert running.board.opening == {"late"}
