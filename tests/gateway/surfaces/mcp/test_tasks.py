"""The tasks extension on the wire: whose a task is, how long, and what others see of it."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ToolAnnotations
from pydantic import BaseModel

from auth import ANONYMOUS, Tier
from auth.sealer import Sealer
from gateway.cli.mcp_client import McpClient, RequestRefused
from gateway.contract import (
    Host,
    Job,
    JobRun,
    Offer,
    Page,
    Plugin,
    Tool,
    ToolFailed,
    ToolTask,
    hookimpl,
)
from gateway.observability.audit_record import AuditRecord
from gateway.surfaces.mcp.task_states import TASK_SECONDS, sealed
from gateway.testing import PluginContract, TestPortal, open_test_portal
from gateway.testing.tasks import FOLLOWS_TASKS, followed

NAME = {
    "method": "elicitation/create",
    "params": {"message": "Whose?", "requestedSchema": {"type": "object", "properties": {}}},
}
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
TIERS = {"default": "open", "items": {"garden/water": "public"}}
UNKNOWN = -32602
MISSING_CAPABILITY = -32021
gates: dict[str, asyncio.Event] = {}


class Watered(BaseModel):
    """What watering came to."""

    beds: int
    said: str = ""


class Wanted(BaseModel):
    """What to water."""

    beds: int = 1
    how: str = "well"


async def water(run: JobRun, payload: Mapping[str, Any]) -> Any:
    how = payload["how"]
    run.progress(0, payload["beds"], "filling the can")
    if how in gates:
        await gates[how].wait()
    if how == "refused":
        raise ToolFailed("dry", f"There is no water. {TOKEN}")
    if how == "broken":
        raise RuntimeError(f"the password is {TOKEN}")
    said = TOKEN if how == "told" else ""
    if how == "asked":
        said = (await run.ask({"whose": NAME}))["whose"]["content"]["name"]
    return {"beds": payload["beds"], "said": said}


@asynccontextmanager
async def _open(config: Any, host: Host) -> AsyncGenerator[Offer]:
    async def start(args: Wanted, caller: Any) -> str | None:
        if args.how == "refused at once":
            raise ToolFailed("closed", "The garden is closed.")
        if args.how == "it has rained":
            return None
        return await host.jobs.enqueue("water", args.model_dump())

    async def at_once(args: Wanted, caller: Any) -> Watered:
        return Watered(beds=args.beds)

    async def answer(result: Any, caller: Any) -> Watered:
        return Watered.model_validate(result)

    def tool(name: str, **task: Any) -> Tool:
        return Tool(
            name,
            "Waters beds.",
            at_once,
            Wanted,
            Watered,
            annotations=ToolAnnotations(read_only_hint=False),
            task=ToolTask("water", start, answer, **task),
        )

    yield Offer(
        tools=[tool("water"), tool("water_for_all", cancellable=False)],
        jobs=[Job("water", water, concurrency=20)],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("garden", "A garden.", _open)


GARDEN = sys.modules[__name__]


class TestContract(PluginContract):
    """The plugin passes the suite, which knows of tasks."""

    plugin = GARDEN
    calls = MappingProxyType({"water": [{"beds": 2}]})

    async def test_every_item_tells_what_it_is_for(self) -> None:
        """Its arguments have no descriptions here."""


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    gates.clear()
    async with open_test_portal(GARDEN, tiers=TIERS) as opened:
        yield opened


def client(portal: TestPortal, tier: str = "members", **declared: Any) -> McpClient:
    return McpClient(portal.http(tier), capabilities=declared or FOLLOWS_TASKS)


async def created(portal: TestPortal, how: str, tier: str = "members") -> dict[str, Any]:
    return await client(portal, tier).call("water", {"beds": 3, "how": how})


async def state(portal: TestPortal, task: Mapping[str, Any], *states: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            found = await client(portal).request("tasks/get", {"taskId": task["taskId"]})
            if found["status"] in states:
                return found
            await asyncio.sleep(0.02)


async def refused(asker: McpClient, method: str, id: str) -> tuple[int, str]:
    params: dict[str, Any] = {"taskId": id} | (
        {"inputResponses": {}} if method == "tasks/update" else {}
    )
    with pytest.raises(RequestRefused) as error:
        await asker.request(method, params)
    return error.value.code, error.value.message


METHODS = ("tasks/get", "tasks/update", "tasks/cancel")


async def test_who_follows_tasks_gets_one_and_then_its_result(portal: TestPortal) -> None:
    gates["slowly"] = asyncio.Event()
    task = await created(portal, "slowly")
    assert task["resultType"] == "task"
    assert task["status"] == "working"
    assert "result" not in task
    working = await state(portal, task, "working")
    assert (working["resultType"], working["taskId"]) == ("complete", task["taskId"])
    gates["slowly"].set()
    done = await state(portal, task, "completed")
    assert done["result"]["structuredContent"] == {"beds": 3, "said": ""}
    assert done["createdAt"] == task["createdAt"]
    assert 0 < done["ttlMs"] <= 24 * 3600 * 1000 + 1000


async def test_others_are_answered_as_if_there_were_no_tasks(portal: TestPortal) -> None:
    others: list[dict[str, Any]] = [{"elicitation": {}}, {"extensions": {"other": {}}}]
    for declared in others:
        result = await client(portal, **declared).call("water", {"beds": 3})
        assert result["structuredContent"] == {"beds": 3, "said": ""}
        assert "taskId" not in result
    rest = await portal.call("water", {"beds": 4})
    assert rest.structured == {"beds": 4, "said": ""}
    assert await portal.running.services.jobs.for_owner("garden").list() == []


async def test_whoever_has_not_declared_the_extension_is_told_what_to_declare(
    portal: TestPortal,
) -> None:
    for method in METHODS:
        assert (await refused(client(portal, elicitation={}), method, "x"))[0] == MISSING_CAPABILITY


async def test_another_callers_task_is_as_if_it_did_not_exist(portal: TestPortal) -> None:
    await portal.sign_in("ada")
    await portal.sign_in("bob")
    task = await created(portal, "asked", "ada")
    for method in METHODS:
        never = await refused(client(portal, "bob"), method, "never")
        for other in ("bob", "open", "public"):
            assert await refused(client(portal, other), method, task["taskId"]) == never
        assert never[0] == UNKNOWN
    found = await client(portal, "ada").request("tasks/get", {"taskId": task["taskId"]})
    assert found["status"] in ("working", "input_required")


async def test_whoever_may_use_the_tool_no_more_has_lost_its_tasks(portal: TestPortal) -> None:
    await portal.sign_in("ada")
    task = await created(portal, "well", "ada")
    (portal.config_dir / "tiers.yaml").write_text(
        "default: open\nitems: {garden/water: {tier: members, hidden: true}}\n"
    )
    async with asyncio.timeout(60):
        while True:
            if "water" not in await portal.tools("ada"):
                break
            await asyncio.sleep(0.05)
    assert (await refused(client(portal, "ada"), "tasks/get", task["taskId"]))[0] == UNKNOWN


async def test_a_failure_of_the_job_is_the_tools_and_a_fault_is_ours(portal: TestPortal) -> None:
    told = await followed(portal, "water", {"how": "refused"})
    assert (told["status"], told["result"]["isError"]) == ("completed", True)
    assert "There is no water." in told["result"]["content"][0]["text"]
    broken = await followed(portal, "water", {"how": "broken"})
    assert (broken["status"], broken["error"]["code"]) == ("failed", -32603)
    assert "result" not in broken
    assert "password" not in str(broken)


async def test_no_secret_leaves_with_a_task(portal: TestPortal) -> None:
    for how in ("told", "refused", "broken"):
        assert TOKEN not in str(await followed(portal, "water", {"how": how}))


async def test_what_is_refused_at_once_starts_no_task(portal: TestPortal) -> None:
    result = await client(portal).call("water", {"how": "refused at once"})
    assert (result["resultType"], result["isError"]) == ("complete", True)


async def test_where_there_is_nothing_to_wait_for_the_tool_answers(portal: TestPortal) -> None:
    result = await client(portal).call("water", {"beds": 5, "how": "it has rained"})
    assert (result["resultType"], result["structuredContent"]["beds"]) == ("complete", 5)


async def test_what_waits_for_a_persons_yes_starts_no_task() -> None:
    rule = {"tier": "public", "approve": {"by": "admins"}}
    tiers = {"default": "open", "items": {"garden/water": rule}}
    async with open_test_portal(GARDEN, tiers=tiers) as portal:
        await portal.sign_in("ada")
        result = await client(portal, "ada").call("water", {"beds": 3})
        assert (result["resultType"], result["isError"]) == ("complete", True)
        assert "approv" in result["content"][0]["text"]
        assert await portal.running.services.jobs.for_owner("garden").list() == []


async def test_a_task_asks_and_goes_on_with_the_answer(portal: TestPortal) -> None:
    task = await created(portal, "asked")
    waiting = await state(portal, task, "input_required")
    assert waiting["inputRequests"] == {"whose": NAME}
    update = {"taskId": task["taskId"], "inputResponses": {"nobody": {}}}
    assert "taskId" not in await client(portal).request("tasks/update", update)
    assert (await state(portal, task, "input_required"))["inputRequests"] == {"whose": NAME}
    said = {"action": "accept", "content": {"name": f"mine {TOKEN}"}}
    update["inputResponses"] = {"whose": said}
    await client(portal).request("tasks/update", update)
    done = await state(portal, task, "completed")
    assert done["result"]["structuredContent"]["said"].startswith("mine [REDACTED")


async def test_a_client_that_cannot_answer_is_told_so(portal: TestPortal) -> None:
    task = await created(portal, "asked")
    await state(portal, task, "input_required")
    deaf = client(portal, extensions=FOLLOWS_TASKS["extensions"])
    assert (await refused(deaf, "tasks/get", task["taskId"]))[0] == MISSING_CAPABILITY


async def test_a_task_is_cancelled_unless_others_wait_for_its_job(portal: TestPortal) -> None:
    gates["slowly"] = asyncio.Event()
    tasks = {
        name: await client(portal).call(name, {"how": "slowly"})
        for name in ("water", "water_for_all")
    }
    for task in tasks.values():
        ended = await client(portal).request("tasks/cancel", {"taskId": task["taskId"]})
        assert ended["resultType"] == "complete"
    assert (await state(portal, tasks["water"], "cancelled"))["status"] == "cancelled"
    gates["slowly"].set()
    await state(portal, tasks["water_for_all"], "completed")
    await client(portal).request("tasks/cancel", {"taskId": tasks["water"]["taskId"]})


async def test_a_task_is_there_after_a_restart(tmp_path: Path) -> None:
    gates.clear()
    gates["slowly"] = asyncio.Event()
    async with open_test_portal(GARDEN, tiers=TIERS, data_dir=tmp_path) as before:
        ada = await before.sign_in("ada")
        task = await created(before, "slowly", "ada")
    gates.clear()
    async with open_test_portal(GARDEN, tiers=TIERS, data_dir=tmp_path) as after:
        who = after.running.authentication
        _, token = await who.api_tokens.create(
            ada.id, "again", ceiling=Tier.MEMBERS, expires=datetime.now(UTC) + timedelta(days=1)
        )
        after._tokens["ada"] = token
        asker = client(after, "ada")
        async with asyncio.timeout(60):
            while True:
                found = await asker.request("tasks/get", {"taskId": task["taskId"]})
                if found["status"] == "completed":
                    break
                await asyncio.sleep(0.05)
        assert found["result"]["structuredContent"]["beds"] == 3


async def test_a_task_ends_with_its_time(portal: TestPortal) -> None:
    await created(portal, "well")
    running = portal.running
    (job,) = await running.services.jobs.for_owner("garden").list()
    item = next(each for each in running.catalog.items() if each.name == "water_for_all")

    async def looked_at(age: float) -> dict[str, Any]:
        assert isinstance(item.declared, Tool)
        assert item.declared.task is not None
        then = Sealer(running.authentication.key, "task", lambda: time.time() - age)
        id = sealed(item, item.declared.task, job.id, then, ANONYMOUS).id
        return await client(portal, "open").request("tasks/get", {"taskId": id})

    assert (await looked_at(TASK_SECONDS - 60))["status"] in ("working", "completed")
    with pytest.raises(RequestRefused, match="There is no such task"):
        await looked_at(TASK_SECONDS + 60)


async def test_every_request_about_a_task_is_recorded(
    portal: TestPortal, recorded: list[AuditRecord]
) -> None:
    task = await created(portal, "well")
    await client(portal).request("tasks/cancel", {"taskId": task["taskId"]})
    await refused(client(portal), "tasks/get", "never")
    assert [(each.item, each.kind, each.outcome) for each in recorded] == [
        ("garden/water", "tool", "ok"),
        ("garden/water", "task", "ok"),
        ("task", "task", "not_found"),
    ]


@given(st.text(max_size=300))
async def test_no_text_but_an_id_of_ours_is_a_task(text: str) -> None:
    sealer = Sealer(b"k" * 32, "task")
    with pytest.raises(Exception, match="not made here"):
        sealer.open(text, "")


async def test_results_in_pages_are_no_task() -> None:
    from gateway.catalog.items import tool_item
    from gateway.catalog.schemas import BadDeclaration

    async def run(args: Any, caller: Any) -> Any:
        return None

    tool = Tool("pages", "Pages.", run, Wanted, page=Page(2, str), task=ToolTask("water", run))
    with pytest.raises(BadDeclaration, match="come in pages"):
        tool_item("garden", tool, "pages")
