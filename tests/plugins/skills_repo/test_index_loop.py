"""Indexes are built, kept and renewed while the portal runs, and a failure costs nothing."""

from __future__ import annotations

import hashlib
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.repositories import github
from gateway.repositories.api import Api
from gateway.testing import TestPortal
from plugins.skills_repo import index_loop
from plugins.skills_repo.index.store import IndexStore
from tests.job_queue import taking_no_jobs
from tests.plugins.skills_repo.waiting import entries, names, told, until

SECRET = "the-webhooks-secret"


@pytest.fixture(autouse=True)
def _looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_loop, "POLL_INTERVAL_S", 0.05)
    monkeypatch.setenv("SKILLS_HOOK", SECRET)


async def code_of(portal: TestPortal, tool: str, /, **arguments: Any) -> str:
    result = await portal.call(tool, arguments)
    assert result.is_error, result.text
    return str(json.loads(result.content[1]["text"])["error"]["code"])


async def push(
    portal: TestPortal, delivery: str = "1", secret: str = SECRET, event: str = "push", **body: Any
) -> Any:
    sent = {"repository": {"full_name": "Garden/Tools"}, "ref": "refs/heads/main"} | body
    raw = json.dumps(sent).encode()
    headers = {
        "x-github-event": event,
        "x-github-delivery": delivery,
        "x-hub-signature-256": "sha256="
        + hmac.new(secret.encode(), raw, hashlib.sha256).hexdigest(),
    }
    return await portal.hook("skills_repo", "github", raw, headers)


# Starting.


async def test_directories_are_listed_at_once_and_repositories_soon(garden: Any) -> None:
    garden.skill("near")
    garden.skill("far", below="more")
    sources = [garden.source("house"), garden.source("away", path="more", backend="github")]
    async with garden.opened(*sources, wait_ready=False) as portal:
        assert "near" in await names(portal)

        async def both() -> bool:
            return await names(portal) == ["near", "far"]

        await until(both)
        assert set(await portal.prompts()) == {"near", "far"}

        async def well() -> bool:
            return bool((await told(portal))["state"] == "ok")

        await until(well)


async def test_a_second_start_serves_the_last_index_before_anything_answers(
    garden: Any, tmp_path: Path
) -> None:
    garden.skill("pdf")
    source, data = garden.source("house", backend="github"), tmp_path / "data"
    async with garden.opened(source, data_dir=data):
        pass
    garden.github.failing = 503
    async with garden.opened(source, data_dir=data, wait_ready=False) as portal:
        assert await names(portal) == ["pdf"]
        assert set(await portal.prompts()) == {"pdf"}
        found = (await portal.call("search_skills", {"query": "pdf"})).structured
        assert [each["name"] for each in found["results"]] == ["pdf"]


async def test_an_index_of_another_place_is_not_served(garden: Any, tmp_path: Path) -> None:
    garden.skill("pdf")
    garden.skill("other", below="more")
    data = tmp_path / "data"
    async with garden.opened(garden.source("house"), data_dir=data):
        pass
    async with garden.opened(garden.source("house", path="more"), data_dir=data) as portal:
        assert await names(portal) == ["other"]


# Rebuilding.


async def test_a_push_builds_the_index_anew_while_the_portal_runs(garden: Any) -> None:
    garden.skill("pdf")
    source = garden.source("house", backend="github")
    async with garden.opened(
        source, github={"webhook_secret": "env:SKILLS_HOOK"}, wait_ready=False
    ) as portal:

        async def first() -> bool:
            return await names(portal) == ["pdf"]

        await until(first)
        garden.skill("fresh")
        answer = await push(portal)
        assert answer.status_code == 200, answer.text
        assert answer.json()["sources"] == ["house"]

        async def renewed() -> bool:
            return await names(portal) == ["fresh", "pdf"]

        await until(renewed)
        assert set(await portal.prompts()) == {"fresh", "pdf"}


async def test_a_push_of_something_else_and_a_replay_build_nothing(garden: Any) -> None:
    garden.skill("pdf")
    source = garden.source("house", backend="github")
    async with garden.opened(source, github={"webhook_secret": "env:SKILLS_HOOK"}) as portal:
        assert (await push(portal, secret="wrong")).status_code == 403
        assert (await push(portal, event="ping")).json()["sources"] == []
        assert (await push(portal, ref="refs/heads/other")).json()["sources"] == []
        assert (await push(portal, ref="refs/tags/main")).json()["sources"] == []
        other = {"full_name": "garden/other"}
        assert (await push(portal, repository=other)).json()["sources"] == []
        unnamed: list[Any] = [None, {}]
        for wrong in unnamed:
            assert (await push(portal, repository=wrong)).status_code == 400
        assert (await push(portal, delivery="")).status_code == 400
        assert (await push(portal, delivery="7")).json()["sources"] == ["house"]
        replayed = (await push(portal, delivery="7")).json()
        assert (replayed["sources"], "before" in replayed["reason"]) == ([], True)
        same_body = (await push(portal, delivery="8")).json()
        assert same_body["sources"] == []
        assert (await push(portal, delivery="9", after="2")).json()["sources"] == ["house"]


async def test_a_push_that_could_not_be_queued_is_taken_when_it_is_sent_again(garden: Any) -> None:
    garden.skill("pdf")
    source = garden.source("house", backend="github")
    async with garden.opened(source, github={"webhook_secret": "env:SKILLS_HOOK"}) as portal:
        with taking_no_jobs():
            assert (await push(portal)).status_code == 500
        assert (await push(portal)).json()["sources"] == ["house"]
        assert (await push(portal)).json()["sources"] == []


async def test_without_a_secret_there_is_no_webhook(garden: Any) -> None:
    async with garden.opened(garden.source("house", backend="github")) as portal:
        assert (await push(portal)).status_code == 404


async def test_an_index_that_another_process_built_is_served(garden: Any, tmp_path: Path) -> None:
    garden.skill("pdf")
    data, source = tmp_path / "data", garden.source("house", backend="github")
    async with garden.opened(source, data_dir=data, wait_ready=False) as portal:

        async def first() -> bool:
            return await names(portal) == ["pdf"]

        await until(first)
        garden.skill("fresh")
        await _index(garden, portal, source)

        async def renewed() -> bool:
            return await names(portal) == ["fresh", "pdf"]

        await until(renewed)


async def test_what_another_process_built_ends_the_trouble_here(garden: Any) -> None:
    garden.skill("pdf")
    garden.github.failing = 502
    source = garden.source("house", backend="github")
    async with garden.opened(source, wait_ready=False) as portal:

        async def failed() -> bool:
            return bool((await told(portal))["state"] == "failed")

        await until(failed)
        garden.github.answers()
        await _index(garden, portal, source)

        async def well() -> bool:
            return bool((await told(portal))["state"] == "ok")

        await until(well)
        assert await names(portal) == ["pdf"]


async def _index(garden: Any, portal: TestPortal, source: Any) -> None:
    """What ``porch skills index`` does, over the same objects."""
    from plugins.skills_repo.config import SkillsRepoConfig
    from plugins.skills_repo.index.build import build
    from plugins.skills_repo.index.store import IndexStore
    from plugins.skills_repo.repositories import open_repositories

    config = SkillsRepoConfig.model_validate(garden.config(source)["plugins"]["skills_repo"])
    host = portal.running.plugins.host("skills_repo")
    async with open_repositories(config, host.secret) as repositories:
        index, texts = await build(config.sources[0], repositories[source["name"]])
    await IndexStore(host.objects).save(index, texts)


# Failing.


PATIENCE_SECONDS = 4.0
"""How long GitHub may take: far more than a busy machine needs."""
TROUBLE = {
    "vanished": "NOT_FOUND",
    "no branch": "NOT_FOUND",
    "html": "UPSTREAM_ERROR",
    "tar_cut": "",
    "failing": "UPSTREAM_ERROR",
    "limited": "FORBIDDEN",
    "too many": "UPSTREAM_ERROR",
    "slow": "UPSTREAM_ERROR",
}


@pytest.mark.parametrize("trouble", TROUBLE)
async def test_a_source_in_trouble_keeps_its_index_and_the_others_are_served(
    garden: Any, tmp_path: Path, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Api.__init__, "__defaults__", (PATIENCE_SECONDS,))
    monkeypatch.setattr(github, "TARBALL_TIMEOUT_SECONDS", PATIENCE_SECONDS)
    garden.skill("far")
    garden.skill("near", below="more")
    garden.write("docs/a.md", "A page.")
    data = tmp_path / "data"
    sources = [
        garden.source("away", backend="github"),
        garden.source("house", path="more"),
        garden.source("handbook", "docs"),
    ]
    async with garden.opened(*sources, data_dir=data):
        pass
    _get_into(garden, trouble)
    async with garden.opened(*sources, data_dir=data) as portal:
        built = await _rebuilt(portal)
        assert set(built["failed"]) == {"away"}
        how = await told(portal)
        assert how["state"] == "degraded"
        assert "The source away could not be indexed" in how["detail"]
        assert "Its last index is served." in how["detail"]
        assert set(await names(portal)) == {"far", "near"}
        if code := TROUBLE[trouble]:
            assert await code_of(portal, "get_skill", name="far") == code
        assert not (await portal.call("get_skill", {"name": "near"})).is_error
        assert not (await portal.call("get_doc", {"path": ["a"]})).is_error
        garden.github.answers()
        _get_out(garden)
        assert (await _rebuilt(portal))["failed"] == {}
        assert (await told(portal))["state"] == "ok"


async def _rebuilt(portal: TestPortal) -> Any:
    """Run the job that the schedule runs."""
    [job] = portal.running.plugins.offers["skills_repo"].jobs
    assert job.schedule == "0 7 * * 6"
    return await job.run(None, {})  # type: ignore[arg-type]


def _get_into(garden: Any, trouble: str) -> None:
    server = garden.github
    if trouble == "vanished":
        server.repos.clear()
    elif trouble == "no branch":
        server.repos["garden/tools"].branches = {"trunk"}
    elif trouble == "failing":
        server.failing = 502
    elif trouble == "limited":
        server.limit(403, {"x-ratelimit-remaining": "0", "retry-after": "30"})
    elif trouble == "too many":
        server.limit(429, {"retry-after": "30"})
    elif trouble == "slow":
        server.delay = 3 * PATIENCE_SECONDS
    else:
        server.behaves = trouble


def _get_out(garden: Any) -> None:
    from tests.servers.github_contents import Repo

    garden.github.repos["garden/tools"] = Repo(garden.root)


async def test_a_source_that_was_never_read_is_said_and_tried_again(
    garden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_loop, "RETRY_INTERVAL_S", 0.1)
    garden.skill("pdf")
    garden.github.failing = 502
    source = garden.source("house", backend="github")
    async with garden.opened(source, wait_ready=False) as portal:

        async def failed() -> bool:
            how = await told(portal)
            return how["state"] == "failed" and "It has no index yet." in how["detail"]

        await until(failed)
        garden.github.answers()

        async def renewed() -> bool:
            return await names(portal) == ["pdf"]

        await until(renewed)


async def test_an_object_store_that_fails_for_a_moment_is_looked_at_again(
    garden: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp, looks = IndexStore.stamp, list[int]()

    async def fails_after_the_start(self: IndexStore) -> bytes:
        looks.append(len(looks))
        if 0 < looks[-1] < 4:
            raise OSError("503 Slow Down")
        return await stamp(self)

    monkeypatch.setattr(IndexStore, "stamp", fails_after_the_start)
    garden.skill("pdf")
    source = garden.source("house", backend="github")
    async with garden.opened(source, wait_ready=False) as portal:

        async def served() -> bool:
            return len(looks) > 6 and await names(portal) == ["pdf"]

        await until(served)


async def test_a_source_that_holds_nothing_is_served(garden: Any) -> None:
    garden.github.failing = 502
    away = garden.source("away", backend="github")
    async with garden.opened(away, garden.source("crew", "agents"), wait_ready=False) as portal:

        async def degraded() -> bool:
            return bool((await told(portal))["state"] == "degraded")

        await until(degraded)


async def test_a_body_that_ends_early_is_an_error_of_that_file(garden: Any) -> None:
    garden.skill("pdf")
    async with garden.opened(garden.source("house", backend="github")) as portal:
        for behaves in ("cut", "short", "no_base64"):
            garden.github.behaves = behaves
            assert await code_of(portal, "get_skill", name="pdf") == "UPSTREAM_ERROR"
            assert await names(portal) == ["pdf"]
        garden.github.answers()
        assert not (await portal.call("get_skill", {"name": "pdf"})).is_error


@pytest.mark.parametrize("backend", ["local", "github"])
async def test_one_bad_file_spoils_nothing_else(garden: Any, backend: str) -> None:
    garden.skill("good")
    garden.skill("broken", description="a: b: c")
    garden.write("skills/binary/SKILL.md", bytes(range(256)) * 10)
    garden.write("skills/huge/SKILL.md", "---\nname: huge\n---\n" + "x" * 5_000_000)
    garden.skill("naïve-日本", name="naïve-日本")
    (garden.root / "skills/good/out").symlink_to("/etc/passwd")
    garden.write("skills/good/huge.bin", b"x" * 5_000_000)
    async with garden.opened(garden.source("house", backend=backend)) as portal:
        listed = await entries(portal)
        by_name = {each["name"]: each for each in listed}
        assert set(by_name) == {"good", "broken", "binary", "huge", "naïve-日本"}
        assert [by_name[name]["description"] for name in ("binary", "huge")] == [None] * 2
        assert by_name["broken"]["description"] == "a: b: c"
        assert not (await portal.call("get_skill", {"name": "good"})).is_error
        assert not (await portal.call("get_skill", {"name": "broken"})).is_error
        assert not (await portal.call("get_skill", {"name": "naïve-日本"})).is_error
        assert await code_of(portal, "get_skill", name="binary") == "UPSTREAM_ERROR"
        assert await code_of(portal, "get_skill", name="huge") == "UPSTREAM_ERROR"
        assert await code_of(portal, "get_skill_file", skill="good", file="out") != ""
        facts = (await told(portal))["facts"]
        assert any("good/out" in each for each in facts["passedOver"])
        assert facts["sources"]["house"]["built"].endswith(" UTC")
        raw = {"skill": "binary", "file": "SKILL.md"}
        assert (await portal.call("get_skill_file", raw)).structured["size"] == 2560
        large = {"skill": "good", "file": "huge.bin"}
        assert await code_of(portal, "get_skill_file", **large) == "UPSTREAM_ERROR"


async def test_an_error_names_the_setting_as_the_section_has_it(garden: Any) -> None:
    garden.github.failing = 401
    async with garden.opened(garden.source("house", backend="github")) as portal:
        detail = (await portal.health())["plugins"]["skills_repo"]["detail"]
    assert "must give the source one (credential: app or caller)." in detail
