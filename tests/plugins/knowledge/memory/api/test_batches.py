"""Batches over the whole portal: taken at once, done by its jobs, and seen by who sent them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from plugins.knowledge.memory.api.discovery import DiscoveryResponse
from plugins.knowledge.memory.api.errors import ErrorResponse
from plugins.knowledge.memory.model.errors import ErrorCode
from plugins.knowledge.memory.model.requests import MAX_BATCH_ENTRIES
from plugins.knowledge.memory.model.responses import BatchReport, BatchResponse

pytestmark = pytest.mark.anyio
OWN = PREFIXES[0]
each_prefix = pytest.mark.parametrize("prefix", PREFIXES)


async def send(portal: TestPortal, prefix: str, sent: Any, tier: str = "members") -> BatchResponse:
    answer = await portal.http(tier).post(f"{prefix}/batch", json=sent)
    assert answer.status_code == 202, answer.text
    return BatchResponse.model_validate_json(answer.content)


async def ended(portal: TestPortal, url: str | None, tier: str = "members") -> BatchReport:
    while True:
        answer = await portal.http(tier).get(str(url))
        assert answer.status_code == 200, answer.text
        report = BatchReport.model_validate_json(answer.content)
        if report.status not in ("pending", "processing"):
            return report
        await asyncio.sleep(0.02)


def refused(answer: httpx2.Response, status: int, code: ErrorCode) -> ErrorResponse:
    said = ErrorResponse.model_validate_json(answer.content)
    assert (answer.status_code, said.error.code) == (status, code), answer.text
    assert answer.headers["x-provider-version"]
    return said


@each_prefix
async def test_a_batch_is_taken_at_once_and_done_soon(portal: TestPortal, prefix: str) -> None:
    many = [{"entry": {"content": f"Bed {n} is watered."}} for n in range(30)]
    many[4] = {"entry": {"contents": "no"}}
    options = {"continue_on_error": True}
    sent = await send(portal, prefix, {"operation": "create", "entries": many, "options": options})
    assert (sent.status, sent.results.succeeded) == ("pending", 0)
    report = await ended(portal, sent.results_url)
    assert (report.status, report.results.succeeded, report.results.failed) == ("completed", 29, 1)
    assert [(each.index, each.code) for each in report.results.errors] == [(4, 400)]
    assert report.completed_at is not None
    found = await portal.http("members").post(
        f"{prefix}/query", json={"query": "watered", "options": {"limit": 100}}
    )
    written = {each.id for each in report.entries if each.status == "created"}
    assert {each["entry"]["id"] for each in found.json()["results"]} == written
    gone = [{"id": id} for id in sorted(written)]
    sent = await send(portal, prefix, {"operation": "delete", "entries": gone})
    report = await ended(portal, sent.results_url)
    assert {each.status for each in report.entries} == {"deleted"}


async def test_its_results_come_in_pages(portal: TestPortal) -> None:
    many = [{"entry": {"content": f"Bed {n}."}} for n in range(5)]
    sent = await send(portal, OWN, {"operation": "upsert", "entries": many})
    await ended(portal, sent.results_url)
    pages = [
        (await portal.http("members").get(f"{sent.results_url}?limit=2&offset={offset}")).json()
        for offset in (0, 2, 4)
    ]
    assert [page.get("next_offset") for page in pages] == [2, 4, None]
    beyond = await portal.http("members").get(f"{sent.results_url}?offset={2**90}")
    assert (beyond.status_code, beyond.json()["entries"]) == (200, [])
    assert [each["index"] for page in pages for each in page["entries"]] == list(range(5))


async def test_a_batch_is_not_there_for_others(portal: TestPortal) -> None:
    entries = [{"entry": {"content": "Mine."}}]
    sent = await send(portal, OWN, {"operation": "create", "entries": entries})
    answer = await portal.http("public").get(str(sent.results_url))
    said = refused(answer, 404, ErrorCode.NOT_FOUND)
    other = await portal.http("public").get(f"{OWN}/batch/batch_none")
    assert refused(other, 404, ErrorCode.NOT_FOUND).error.message == said.error.message
    answer = await portal.http("open").get(str(sent.results_url))
    refused(answer, 401, ErrorCode.UNAUTHORIZED)
    answer = await portal.http("open").post(f"{OWN}/batch", json={"operation": "create"})
    refused(answer, 401, ErrorCode.UNAUTHORIZED)


async def test_as_many_entries_as_discovery_says_are_taken_and_no_more(portal: TestPortal) -> None:
    discovery = (await portal.http("members").get(OWN)).content
    provider = DiscoveryResponse.model_validate_json(discovery).provider
    assert provider.limits.max_batch_size == MAX_BATCH_ENTRIES
    assert {"batch", "upsert"} <= set(provider.capabilities.storage.operations)
    text = "\u0431" * 300  # as some programs write it: six bytes each
    entry = json.dumps({"entry": {"content": text, "metadata": {"title": "Bed", "tags": ["x"]}}})
    for count, status in ((MAX_BATCH_ENTRIES, 202), (MAX_BATCH_ENTRIES + 1, 400)):
        body = f'{{"operation": "create", "entries": [{", ".join([entry] * count)}]}}'
        answer = await portal.http("members").post(
            f"{OWN}/batch", content=body.encode(), headers={"content-type": "application/json"}
        )
        assert answer.status_code == status, answer.text[:300]
    assert refused(answer, 400, ErrorCode.BATCH_FAILED).error.details["limit"] == MAX_BATCH_ENTRIES


async def test_a_body_of_50_mb_is_refused(portal: TestPortal) -> None:
    body = b'{"operation": "create", "entries": ["' + b"x" * (50 * 1024 * 1024) + b'"]}'
    headers = {"content-type": "application/json"}
    answer = await portal.http("members").post(f"{OWN}/batch", content=body, headers=headers)
    refused(answer, 413, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("sent", "place"),
    [
        ({"operation": "merge", "entries": [{}]}, "operation"),
        ({"operation": "create", "entries": []}, "entries"),
        ({"operation": "create", "entries": {}}, "entries"),
        ({"entries": [{}]}, "operation"),
        ({"operation": "create", "entries": [{}], "options": {"colour": 1}}, "options.colour"),
    ],
)
async def test_a_batch_that_is_none_names_what_is_wrong(
    portal: TestPortal, sent: Any, place: str
) -> None:
    answer = await portal.http("members").post(f"{OWN}/batch", json=sent)
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert place in [each["parameter"] for each in said.error.details["errors"]]


async def test_a_batch_takes_the_tier_of_the_tool_that_does_the_same() -> None:
    tiers = {"items": {"knowledge": "public", "knowledge/forget": "members"}}
    async with open_test_portal(plugin, tiers=tiers) as portal:
        sent = {"operation": "delete", "entries": [{"id": "none"}]}
        answer = await portal.http("public").post(f"{OWN}/batch", json=sent)
        assert "forget" in refused(answer, 403, ErrorCode.FORBIDDEN).error.message
        await send(portal, OWN, sent)
        entries = [{"entry": {"content": "Mine."}}]
        await send(portal, OWN, {"operation": "create", "entries": entries}, "public")


async def test_batches_have_a_limit_of_their_own_on_both_prefixes_together() -> None:
    config = {"limits": {"operations": {"knowledge.batches": "2 in 60s"}}}
    async with open_test_portal(plugin, config=config) as portal:
        sent = {"operation": "delete", "entries": [{"id": "none"}]}
        answers = [
            await portal.http("members").post(f"{prefix}/batch", json=sent)
            for prefix in (*PREFIXES, OWN)
        ]
        assert [each.status_code for each in answers] == [202, 202, 429]
        refused(answers[2], 429, ErrorCode.RATE_LIMITED)
        url = answers[0].json()["results_url"]
        assert (await portal.http("members").get(url)).status_code == 200


async def test_the_document_has_the_batch_and_its_example_works(portal: TestPortal) -> None:
    document = (await portal.get(f"{OWN}/openapi.json")).json()
    post = document["paths"][f"{OWN}/batch"]["post"]
    assert "202" in post["responses"]
    assert post["x-rate-limit"]["operation"] == "knowledge.batches"
    schema = post["requestBody"]["content"]["application/json"]["schema"]
    assert schema["properties"]["entries"]["maxItems"] == MAX_BATCH_ENTRIES
    for example in [schema["example"]] if "example" in schema else schema["examples"]:
        sent = await send(portal, OWN, example)
        report = await ended(portal, sent.results_url)
        assert [each.status for each in report.entries] == ["created", "created"]
