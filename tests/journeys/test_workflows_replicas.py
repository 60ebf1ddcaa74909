"""Two processes on one PostgreSQL and one Redis serve one playbook."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, NamedTuple

import httpx2
import pytest

from benchmarks.processes import free_port
from tests.faults.conftest import Place, Portal, eventually, modern
from tests.faults.playbook import Person, configure, stage, token_of, tokens
from tests.journeys.balancer import empty_database

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

PEOPLE = ("ana", "ben")


class Pair(NamedTuple):
    """Two portals, that started in the same moment."""

    place: Place
    first: Portal
    second: Portal


@pytest.fixture(scope="module")
def pair(
    postgres_url: str, redis_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Pair]:
    place = Place(tmp_path_factory.mktemp("playbooks"))
    services = f"database: env:ADDRESS, cache: env:CACHE, objects: {place.root / 'objects'}"
    configure(place, services, starter=True)
    with ExitStack() as stack:
        shared = {
            "ADDRESS": stack.enter_context(empty_database(postgres_url)),
            "CACHE": redis_url,
            "PORCH_SIGNING_KEY": uuid.uuid4().hex,
            **tokens(*PEOPLE),
        }
        stack.callback(stopped, place)
        ports = [str(free_port()) for _ in range(2)]
        both = [
            place.serve("--port", port, "--data", str(place.root / port), **shared)
            for port in ports
        ]
        for each in both:
            eventually(partial(is_ready, each), "it is ready")
        yield Pair(place, *both)
        for each in both:
            assert "Traceback" not in each.printed, each.printed


def stopped(place: Place) -> None:
    for portal in place.running:
        portal.process.kill()
        portal.process.wait()


def is_ready(portal: Portal) -> bool:
    try:
        status: str = portal.health()["status"]
        return status == "ok"
    except httpx2.TransportError:
        assert portal.process.poll() is None, portal.printed
        return False


@pytest.fixture
def ana(pair: Pair) -> Person:
    return Person("ana", pair.first)


@pytest.fixture
def ana_too(pair: Pair) -> Person:
    """The same person at the second portal."""
    return Person("ana", pair.second)


@pytest.fixture
def ben_too(pair: Pair) -> Person:
    return Person("ben", pair.second)


def name_of(kind: str) -> str:
    """A name that no other test gives."""
    return f"{kind} {uuid.uuid4().hex[:8]}"


def add(person: Person, **more: Any) -> dict[str, Any]:
    given = {"name": name_of("Orchard"), "stages": [stage("Dig", "Plant", "Water")], **more}
    return person.call("add_workflow", **given)


def uris(person: Person) -> list[str]:
    return [each["uri"] for each in person.listed("resources/list", "resources")]


def uri(workflow: dict[str, Any]) -> str:
    return f"playbook://workflows/{workflow['id']}"


def contents(person: Person, id: str) -> list[str]:
    """The texts of all steps, walked one by one."""
    total = person.call("select_workflow", workflow_id=id)["executionPlan"]["totalSteps"]
    steps = (
        person.call("get_next_step", workflow_id=id, step_index=index) for index in range(total)
    )
    return [each["content"] for each in steps]


def test_the_starter_workflows_are_there_once(pair: Pair, ana: Person, ana_too: Person) -> None:
    """Both took them in at the same moment."""
    for person in (ana, ana_too):
        assert person.call("get_available_workflows", task="code review", limit=50)["workflows"]
        keys = [each["name"] for each in person.listed("resources/list", "resources")]
        assert "code-review" in keys
        assert len(keys) == len(set(keys))
        selected = person.call("select_workflow", workflow_id="code-review")
        assert selected["executionPlan"]["totalSteps"] == 5
        assert selected["version"] == 1, "the second one changed nothing"
    for portal in (pair.first, pair.second):
        health = portal.health()["plugins"]["workflows"]
        assert (health["state"], health["detail"]) == ("ok", "")


def test_what_one_writes_the_other_finds_lists_selects_and_walks_at_once(
    ana: Person, ana_too: Person, ben_too: Person
) -> None:
    for turn in range(3):
        made = add(ana, name=name_of("Harvest"), visibility="PUBLIC")
        for person in (ana_too, ben_too):
            assert person.found(made["name"])[0] == made["id"], turn
            assert uri(made) in uris(person)
            assert contents(person, made["id"]) == ["Do Dig.", "Do Plant.", "Do Water."]
        prompts = ben_too.listed("prompts/list", "prompts")
        assert f"workflow-{made['key']}" not in [each["name"] for each in prompts]
        ben_too.call("add_to_library", id=made["id"], type="WORKFLOW")
        ben = Person("ben", ana.portal)
        kept = [each["name"] for each in ben.listed("prompts/list", "prompts")]
        assert [each for each in kept if each.startswith(f"workflow-{made['key']}")]


def test_files_that_came_in_at_one_are_read_at_the_other(ana: Person, ana_too: Person) -> None:
    files = [{"name": "beds.md", "text": "# Beds\n"}]
    card = {"name": name_of("Digging"), "content": "Dig.", "attachments": files}
    made = ana.call("add_skill", **card)
    asked = {"skill_id": made["id"], "name": "beds.md"}
    assert ana_too.call("get_attachment", **asked)["content"] == "IyBCZWRzCg=="
    gone = ana_too.call("edit_skill", skill_id=made["id"], version=1, attachments=[])
    assert gone["version"] == 2
    assert "not found" in ana.refused("get_attachment", **asked)


def test_a_run_is_gone_on_with_at_the_other(ana: Person, ana_too: Person) -> None:
    made = add(ana)
    run = ana.call("select_workflow", workflow_id=made["id"], start_run=True)["run"]["runId"]
    walked = [each.call("get_next_step", run_id=run) for each in (ana, ana_too, ana)]
    assert [each["index"] for each in walked] == [0, 1, 2]
    (open_run,) = ana_too.call("list_runs", workflow_id=made["id"])["runs"]
    assert (open_run["runId"], open_run["step"]) == (run, 2)
    ana_too.call("finish_run", run_id=run)
    assert "finished" in ana.refused("get_next_step", run_id=run)


def test_two_clients_of_one_run_get_each_step_once(ana: Person, ana_too: Person) -> None:
    made = add(ana, stages=[stage(*(f"Step {number}" for number in range(40)))])
    run = ana.call("select_workflow", workflow_id=made["id"], start_run=True)["run"]["runId"]

    def walk(person: Person) -> list[int]:
        steps: list[int] = []
        while True:
            done, answer = person.attempt("get_next_step", run_id=run)
            if not done:
                assert "finish_run" in answer["said"]
                return steps
            steps.append(answer["index"])

    clients = [Person("ana", each.portal) for each in (ana, ana_too) * 2]
    with ThreadPoolExecutor(4) as pool:
        walked = list(pool.map(walk, clients))
    assert sorted(step for steps in walked for step in steps) == list(range(40))
    assert all(steps == sorted(steps) for steps in walked)


def test_an_edit_at_one_makes_the_plan_at_the_other_new(ana: Person, ana_too: Person) -> None:
    card = ana.call("add_skill", name=name_of("Pruning"), content="Cut 1.")
    made = add(ana, stages=[stage("Dig", skills=[card["id"]])])
    for turn in range(1, 4):
        assert contents(ana_too, made["id"]) == [
            f"Do {'Dig' if turn == 1 else turn}.",
            f"Cut {turn}.",
        ]
        ana.call("edit_skill", skill_id=card["id"], version=turn, content=f"Cut {turn + 1}.")
        version = ana_too.call("get_workflow", workflow_id=made["id"])["version"]
        stages = [stage(str(turn + 1), skills=[card["id"]])]
        ana.call("edit_workflow", workflow_id=made["id"], version=version, stages=stages)


def test_what_one_takes_back_the_other_denies_at_once(ana: Person, ben_too: Person) -> None:
    made = add(ana)
    one = {"type": "WORKFLOW", "id": made["id"]}
    for turn in range(1, 6, 2):
        ana.call("publish", **one, version=turn)
        assert len(contents(ben_too, made["id"])) == 3
        assert made["id"] in ben_too.found(made["name"])
        ana.call("publish", **one, version=turn + 1, visibility="PRIVATE")
        denied = "Access denied: workflow is private"
        assert denied in ben_too.refused("select_workflow", workflow_id=made["id"])
        assert denied in ben_too.refused("get_next_step", workflow_id=made["id"], step_index=0)
        assert made["id"] not in ben_too.found(made["name"])
        assert uri(made) not in uris(ben_too)


def test_of_edits_at_once_one_wins_and_the_others_are_told_what_changed(
    pair: Pair, ana: Person
) -> None:
    made = add(ana)
    accepted: list[tuple[int, str]] = []

    def edit(person: Person, number: int, version: int) -> bool:
        text = f"{version}.{number}"
        done, answer = person.attempt(
            "edit_workflow", workflow_id=made["id"], version=version, description=text
        )
        if done:
            accepted.append((answer["version"], text))
        else:
            assert "Workflow has changed since version" in answer["said"]
            assert "description" in answer["said"]
            assert "Nothing was written" in answer["said"]
        return done

    editors = [Person("ana", portal) for portal in (pair.first, pair.second) * 3]
    with ThreadPoolExecutor(len(editors)) as pool:
        for version in range(1, 7):
            turns = [
                pool.submit(edit, person, number, version) for number, person in enumerate(editors)
            ]
            assert sum(each.result() for each in turns) == 1
            assert accepted[-1][0] == version + 1
            read = ana.call("get_workflow", workflow_id=made["id"])
            assert (read["version"], read["description"]) == accepted[-1]


@contextmanager
def hearing(portal: Portal, name: str) -> Iterator[Iterator[str]]:
    """The lines of a stream of changes of the lists."""
    wanted = {"promptsListChanged": True, "resourcesListChanged": True}
    request = modern("subscriptions/listen", notifications=wanted)
    headers = request["headers"] | {"authorization": f"Bearer {token_of(name)}"}
    url = f"{portal.url}/mcp"
    with httpx2.stream("POST", url, headers=headers, json=request["json"], timeout=60) as stream:
        lines = stream.iter_lines()
        assert any("acknowledged" in line for line in lines)
        yield lines


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda ana, made: add(ana), id="a workflow is added"),
        pytest.param(
            lambda ana, made: ana.call("publish", type="WORKFLOW", id=made["id"], version=1),
            id="one is published",
        ),
        pytest.param(
            lambda ana, made: ana.call(
                "edit_workflow", workflow_id=made["id"], version=1, is_active=False
            ),
            id="one is deleted",
        ),
    ],
)
def test_clients_of_the_other_hear_that_lists_have_changed(
    pair: Pair, ana: Person, change: Callable[[Person, dict[str, Any]], Any]
) -> None:
    with hearing(pair.second, "ben") as lines:
        made = add(ana)
        wait_for_news(lines)
        change(ana, made)
        wait_for_news(lines)


def wait_for_news(lines: Iterator[str]) -> None:
    """Read on until both lists are said to have changed."""
    missing = {"prompts", "resources"}
    while missing:
        line = next(lines)
        missing -= {kind for kind in missing if f"notifications/{kind}/list_changed" in line}
