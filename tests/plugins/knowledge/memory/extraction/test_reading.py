"""A conversation read by the portal's model, later where the budget is reached, or by an agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from gateway.contract import ModelFailed
from gateway.services.jobs import worker
from gateway.testing import AnsweringModel, TestPortal, open_test_portal
from gateway.testing.work import work_done
from plugins.knowledge import plugin

DEADLINE = 60.0
TURNS = [
    {"speaker": "Rosa", "text": "Shall we do the beds on the 14th?"},
    {"speaker": "Jonas", "text": "Yes, that is it then. I prefer short meetings."},
]
DECISION = {
    "kind": "decision",
    "turn": 1,
    "quote": "that is it then",
    "what": "Rosa and Jonas do the beds on the 14th.",
}
TWICE = {
    "kind": "preference",
    "turn": 1,
    "quote": "I prefer short meetings",
    "what": "Jonas likes meetings to be short.",
}
MADE_UP = {**DECISION, "quote": "we sell the garden", "what": "They sell the garden."}
ANSWER = {"found": [DECISION, TWICE, MADE_UP]}


def config(served: Mapping[str, Any] | None = None, **extraction: bool) -> dict[str, Any]:
    services = {"embedding": "none", **(served or {}).get("services", {})}
    memory = {"extraction": extraction}
    return {"services": services, "plugins": {"knowledge": {"memory": memory}}}


async def remember(portal: TestPortal, tier: str = "members") -> Any:
    told = await portal.call("remember_conversation", {"name": "beds", "turns": TURNS}, tier=tier)
    assert not told.is_error, told.text
    return told.structured


async def kept(portal: TestPortal, tier: str = "members") -> list[Any]:
    asked = {"layers": ["semantic"]}
    listed = await portal.call("list_memory", asked, tier=tier)
    assert not listed.is_error, listed.text
    return sorted(each["content"] for each in listed.structured["data"])


async def until(said: Callable[[], Any]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not await said():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.heavy
async def test_a_model_finds_more_than_the_rules_and_shows_the_words() -> None:
    with AnsweringModel(lambda prompt: ANSWER) as model:
        async with open_test_portal(plugin, config=config(model.config, model=True)) as portal:
            told = await remember(portal)
            first, second = sorted(told["found"], key=lambda each: each["kind"])
            entry = await portal.get(
                f"/openspec/v1/knowledge/{first['id']}/metadata", tier="members"
            )
            found = await portal.call("query_memory", {"query": "beds on the 14th"})
    assert (first["what"], first["quote"]) == (DECISION["what"], DECISION["quote"])
    assert first["found_by"] == "model answering"
    assert first["turn"] == told["turns"][1]
    assert second["what"] == "I prefer short meetings."
    assert "found_by" not in second
    assert "later" not in told
    assert entry.status_code == 200, entry.text
    assert entry.json()["metadata"]["custom"] == {
        "from": told["turns"][1],
        "quote": "that is it then",
        "found_by": "model",
        "model": "answering",
    }
    tags = {each["content"]: each["tags"] for each in found.structured["results"]}
    assert tags[f"Jonas: {DECISION['what']}"] == ["decision", "found-by-model"]
    (asked,) = model.prompts
    assert json.loads(asked)["turns"][0]["speaker"] == "Rosa"


async def test_nobody_is_asked_where_the_section_does_not_say_so() -> None:
    with AnsweringModel(lambda prompt: ANSWER) as model:
        async with open_test_portal(plugin, config=config(model.config)) as portal:
            told = await remember(portal)
            assert await portal.running.plugins.host("knowledge").work.states("extract") == {}
    assert model.prompts == []
    assert [each["what"] for each in told["found"]] == ["I prefer short meetings."]
    assert set(told) == {"turns", "found"}
    assert set(told["found"][0]) == {"id", "kind", "who", "what", "turn", "near"}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that wait are looked for often."""
    monkeypatch.setattr(worker, "BACKGROUND_SECONDS", 0.1)


class Full:
    """A budget that is reached, until it is not."""

    def __init__(self) -> None:
        self.reached, self.asked = True, 0

    async def before_call(self, caller: Any, call: Any) -> None:
        self.asked += 1
        if self.reached:
            raise ModelFailed("budget_reached", "Monthly model budget reached.", 1.0)

    async def after_call(self, call: Any, end: Any) -> None:
        """Nothing is counted."""


@pytest.mark.usefixtures("quick")
async def test_where_the_budget_is_reached_a_job_waits_for_it_and_keeps_what_is_found_once() -> (
    None
):
    with AnsweringModel(lambda prompt: ANSWER) as model:
        async with open_test_portal(plugin, config=config(model.config, model=True)) as portal:
            portal.running.services.models.budget = full = Full()
            told = await remember(portal)
            assert "Monthly model budget reached." in told["later"]
            assert [each["what"] for each in told["found"]] == ["I prefer short meetings."]

            async def waited() -> bool:
                return full.asked >= 2

            await until(waited)
            assert model.prompts == []
            full.reached = False

            async def found() -> bool:
                return len(await kept(portal)) == 2

            await until(found)
            assert len(model.prompts) == 1
            assert await kept(portal) == [
                "Jonas: I prefer short meetings.",
                f"Jonas: {DECISION['what']}",
            ]


@pytest.mark.usefixtures("quick")
async def test_what_was_forgotten_meanwhile_is_not_read() -> None:
    with AnsweringModel(lambda prompt: ANSWER) as model:
        async with open_test_portal(plugin, config=config(model.config, model=True)) as portal:
            portal.running.services.models.budget = full = Full()
            told = await remember(portal)
            for id in told["turns"]:
                assert not (await portal.call("forget", {"id": id})).is_error
            full.reached = False
            jobs = portal.running.plugins.host("knowledge").jobs

            async def done() -> bool:
                return [each.state for each in await jobs.list("extract_memory")] == ["done"]

            await until(done)
    assert model.prompts == []


async def test_an_agent_of_the_sender_finds_it_and_nobody_elses() -> None:
    async with open_test_portal(plugin, config=config(agents=True)) as portal:
        await remember(portal)
        taken = await portal.call("take_work", tier="public")
        assert taken.is_error or taken.structured["items"] == []
        works = portal.running.plugins.host("knowledge").work
        assert list((await works.states("extract")).values()) == ["open"]
        lie = {"answer": {"found": [MADE_UP]}, "model": "m"}
        item = (await portal.call("take_work")).structured["items"][0]
        assert [each["text"] for each in item["context"]["turns"]] == [
            each["text"] for each in TURNS
        ]
        told = await portal.call("return_work", {"id": item["id"], **lie})
        assert "does not stand in turn 1" in told.text
        right = {"answer": {"found": [DECISION, TWICE]}, "model": "m"}
        told = await portal.call("return_work", {"id": item["id"], **right})
        assert not told.is_error, told.text

        async def found() -> bool:
            return len(await kept(portal)) == 2

        await until(found)
        assert f"Jonas: {DECISION['what']}" in await kept(portal)


async def test_no_other_member_is_shown_the_conversation() -> None:
    async with open_test_portal(
        plugin, config=config(agents=True), tiers={"access": {"members": "signed_in"}}
    ) as portal:
        await portal.sign_in("ana")
        await portal.sign_in("ben")
        await remember(portal, "ana")
        assert (await portal.call("take_work", tier="ben")).structured["items"] == []
        assert len((await portal.call("take_work", tier="ana")).structured["items"]) == 1


async def test_the_work_of_who_leaves_goes_with_them() -> None:
    async with open_test_portal(plugin, config=config(agents=True)) as portal:
        await remember(portal)
        works = portal.running.plugins.host("knowledge").work
        (key,) = await works.states("extract")
        person = key.rpartition("/")[0]
        data = portal.running.plugins.offers["knowledge"].personal
        assert data is not None
        await data.erase(person)
        assert await works.states("extract") == {}


@pytest.mark.parametrize("code", ["refused", "invalid_answer", "too_long"])
async def test_what_would_be_the_same_again_is_left_to_agents(code: Any) -> None:
    with AnsweringModel(lambda prompt: ANSWER) as model:
        extraction = {"model": True, "agents": True}
        async with open_test_portal(plugin, config=config(model.config, **extraction)) as portal:

            class Refuses(Full):
                async def before_call(self, caller: Any, call: Any) -> None:
                    raise ModelFailed(code, "No.")

            portal.running.services.models.budget = Refuses()
            told = await remember(portal)
            states = await work_done(portal, "knowledge", "extract", lambda _: {"found": []})
    assert "take_work" in told["later"]
    assert list(states.values()) == ["accepted"]


@pytest.mark.parametrize("model", [False, True])
async def test_only_where_no_model_reads_it_another_language_is_told_of(model: bool) -> None:
    german = "Wir haben beschlossen, den Saatguttausch im April zu machen."
    said = {"name": "beds", "turns": [{"speaker": "Uli", "text": german}]}
    found = {"kind": "decision", "turn": 0, "quote": german[:-1], "what": german}
    with AnsweringModel(lambda prompt: {"found": [found]}) as served:
        async with open_test_portal(plugin, config=config(served.config, model=model)) as portal:
            told = await portal.call("remember_conversation", said)
    assert [each["what"] for each in told.structured["found"]] == ([german] if model else [])
    assert ("note" in told.structured) is not model
