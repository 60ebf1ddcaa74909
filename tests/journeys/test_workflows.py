"""A member finds a workflow with the official Inspector, walks it to its end, and writes one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.journeys.balancer import Member
from tests.journeys.community import Community, running
from tests.journeys.inspecting import failed, inspected

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
ERAS = ["legacy", "modern"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory as a newcomer has it, with one page, where whoever signs in is a member."""
    place = tmp_path_factory.mktemp("playbook")
    shutil.copytree(ROOT / "config", place / "config")
    (place / "content").mkdir()
    shutil.copy(ROOT / "content" / "notes" / "welcome-members.md", place / "content")
    tiers = place / "config" / "tiers.yaml"
    written = tiers.read_text().replace("members: {any_of: []}", "members: {any_of: [signed_in]}")
    tiers.write_text(written)
    return place


@pytest.fixture(scope="module")
def portal(place: Path) -> Iterator[Community]:
    """The portal of that directory."""
    with running(place) as portal:
        yield portal


@pytest.fixture(scope="module")
def token(portal: Community) -> Iterator[str]:
    """An API token of somebody who has signed in with a wallet."""
    with Member(portal, portal.url) as member:
        member.sign_in()
        yield member.api_token()


class Client:
    """The Inspector as somebody uses it."""

    def __init__(self, url: str, era: str, token: str | None, place: Path) -> None:
        self._given = (f"{url}/mcp", era, place, token)

    def ask(self, method: str, *arguments: str) -> dict[str, Any]:
        return inspected(*self._given, "--method", method, *arguments)

    def call(self, tool: str, **arguments: Any) -> Any:
        answer = self.ask("tools/call", "--tool-name", tool, *_options(arguments))
        assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
        return answer["structuredContent"]

    def refusal(self, tool: str, **arguments: Any) -> str:
        return failed(
            *self._given, "--method", "tools/call", "--tool-name", tool, *_options(arguments)
        )

    def names(self) -> set[str]:
        """The keys of all workflows that this client is shown."""
        found = self.call("get_available_workflows", limit=50)["workflows"]
        return {each["key"] for each in found}


def _options(arguments: dict[str, Any]) -> list[str]:
    told = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in arguments.items()
    }
    return ["--tool-arg", *(f"{name}={value}" for name, value in told.items())] if told else []


@pytest.fixture(params=ERAS)
def member(request: pytest.FixtureRequest, portal: Community, token: str, tmp_path: Path) -> Client:
    return Client(portal.url, str(request.param), token, tmp_path)


@pytest.fixture(params=ERAS)
def stranger(request: pytest.FixtureRequest, portal: Community, tmp_path: Path) -> Client:
    return Client(portal.url, str(request.param), None, tmp_path)


def test_a_member_finds_a_workflow_walks_every_step_and_finishes_the_run(
    member: Client, portal: Community, token: str, tmp_path: Path
) -> None:
    found = member.call("get_available_workflows", task="code review workflow")
    assert found["workflows"][0]["key"] == "code-review"
    chosen = found["workflows"][0]["id"]
    selected = member.call("select_workflow", workflow_id=chosen, start_run=True)
    run, plan = selected["run"]["runId"], selected["executionPlan"]
    assert plan["totalSteps"] == len(plan["items"]) == 5
    steps = [member.call("get_next_step", run_id=run)]
    # On to another client, which knows nothing but the run.
    other = Client(portal.url, "modern", token, tmp_path)
    while steps[-1]["hasNext"]:
        steps.append(other.call("get_next_step", run_id=run))
    assert [each["index"] for each in steps] == [0, 1, 2, 3, 4]
    assert [each["name"] for each in steps] == [each["name"] for each in plan["items"]]
    assert all(each["content"] for each in steps)
    assert "finish_run" in member.refusal("get_next_step", run_id=run)
    (going_on,) = member.call("list_runs", workflow_id=chosen)["runs"]
    assert (going_on["runId"], going_on["step"]) == (run, 4)
    done = member.call("finish_run", run_id=run, note="Merged.")
    assert (done["outcome"], done["note"]) == ("done", "Merged.")
    assert member.call("list_runs", workflow_id=chosen)["runs"] == []


def test_a_stranger_walks_the_same_plan_without_a_run(stranger: Client) -> None:
    selected = stranger.call("select_workflow", workflow_id="code-review", start_run=True)
    assert selected["run"] is None
    step = stranger.call("get_next_step", workflow_id="code-review", step_index=4)
    assert (step["name"], step["hasNext"]) == ("Report the review", False)
    beyond = stranger.refusal("get_next_step", workflow_id="code-review", step_index=5)
    assert "5 steps" in beyond
    assert "list_runs" not in {each["name"] for each in stranger.ask("tools/list")["tools"]}


def test_a_stranger_sees_what_a_member_publishes_and_nothing_else(
    stranger: Client, member: Client
) -> None:
    before = stranger.names()
    step = {"name": "Plan", "content": "Draw the beds."}
    given = {"name": "Plant beds", "stages": [{"name": "Spring", "prompts": [step]}]}
    made = member.call("add_workflow", **given)
    assert made["visibility"] == "PRIVATE"
    assert made["key"] in member.names() - stranger.names()
    refusal = stranger.refusal("select_workflow", workflow_id=made["id"])
    assert "Access denied: workflow is private" in refusal
    uri = f"playbook://workflows/{made['id']}"
    listed = {each["uri"] for each in stranger.ask("resources/list")["resources"]}
    assert uri not in listed
    one = {"type": "WORKFLOW", "id": made["id"]}
    member.call("publish", **one, version=1)
    assert stranger.names() == before | {made["key"]}
    page = stranger.ask("resources/read", "--uri", uri)["contents"][0]
    assert (page["mimeType"], "Draw the beds." in page["text"]) == ("text/markdown", True)
    gone = member.call("edit_workflow", workflow_id=made["id"], version=2, is_active=False)
    assert gone["done"] == "deleted"
    assert stranger.names() == before


def test_workflows_are_prompts_and_pages(member: Client) -> None:
    prompts = {each["name"]: each for each in member.ask("prompts/list")["prompts"]}
    assert prompts["workflow-code-review"]["arguments"][0]["name"] == "task"
    got = member.ask(
        "prompts/get", "--prompt-name", "workflow-code-review", "--prompt-args", "task=Review it."
    )
    text = got["messages"][0]["content"]["text"]
    assert "The task: Review it." in text
    assert "get_next_step" in text
    uris = [each["uri"] for each in member.ask("resources/list")["resources"]]
    page = next(uri for uri in uris if uri.startswith("playbook://workflows/"))
    assert member.ask("resources/read", "--uri", page)["contents"][0]["text"].startswith("# ")
