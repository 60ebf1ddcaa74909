"""The Knowledge Provider API over the whole portal, on each of its prefixes."""

from __future__ import annotations

from typing import Any

import httpx2
import openapi_spec_validator
import pytest
from pydantic import BaseModel

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from plugins.knowledge import plugin
from plugins.knowledge.memory.api.api import PREFIXES
from plugins.knowledge.memory.api.discovery import DiscoveryResponse
from plugins.knowledge.memory.api.errors import ErrorResponse
from plugins.knowledge.memory.api.examples import EXAMPLES
from plugins.knowledge.memory.model.errors import ErrorCode
from plugins.knowledge.memory.model.record import NOTE_PREFIX
from plugins.knowledge.memory.model.requests import MAX_ENTRY_BYTES, MAX_RESULTS, RESERVED_IDS
from plugins.knowledge.memory.model.responses import CreateResponse, MetadataResponse, QueryResponse

OWN = PREFIXES[0]
JSON = {"content-type": "application/json"}
ENTRY = {
    "content": "The beds are watered at six.",
    "metadata": {"title": "Watering", "tags": ["garden"], "custom": {"bed": 4}},
}

each_prefix = pytest.mark.parametrize("prefix", PREFIXES)


async def ask(
    portal: TestPortal, method: str, path: str, *, tier: str = "members", **given: Any
) -> httpx2.Response:
    return await portal.http(tier).request(method, path, **given)


async def create(portal: TestPortal, prefix: str = OWN, **request: Any) -> CreateResponse:
    answer = await ask(portal, "POST", f"{prefix}/create", json={"entry": ENTRY, **request})
    assert answer.status_code == 200, answer.text
    return CreateResponse.model_validate_json(answer.content)


async def query(portal: TestPortal, words: str, **given: Any) -> QueryResponse:
    answer = await ask(portal, "POST", f"{OWN}/query", json={"query": words}, **given)
    return QueryResponse.model_validate_json(answer.content)


def refused(answer: httpx2.Response, status: int, code: ErrorCode) -> ErrorResponse:
    said = ErrorResponse.model_validate_json(answer.content)
    assert (answer.status_code, said.error.code) == (status, code), answer.text
    assert said.request_id == answer.headers["x-request-id"]
    assert said.timestamp.tzinfo is not None
    assert answer.headers["x-provider-version"]
    return said


@each_prefix
async def test_an_entry_is_kept_found_changed_looked_at_and_removed(
    portal: TestPortal, prefix: str
) -> None:
    made = await create(portal, prefix)
    id = made.entry.id
    assert (made.status, made.entry.version) == ("created", 1)
    found = await ask(portal, "POST", f"{prefix}/query", json={"query": "watered beds"})
    assert [each["entry"]["id"] for each in found.json()["results"]] == [id]
    wanted = {"entry": {"content": "The beds are watered at seven.", "version": 1}}
    changed = await ask(portal, "PUT", f"{prefix}/{id}", json=wanted)
    assert (changed.json()["status"], changed.json()["entry"]["version"]) == ("updated", 2)
    told = MetadataResponse.model_validate_json(
        (await ask(portal, "GET", f"{prefix}/{id}/metadata")).content
    )
    assert told.metadata.custom == {"bed": 4}
    assert [each.version for each in told.version_history or ()] == [2, 1]
    without = await ask(portal, "GET", f"{prefix}/{id}/metadata?include_custom=false")
    assert not without.json()["metadata"].get("custom")
    gone = await ask(portal, "DELETE", f"{prefix}/{id}")
    assert gone.json() == {"deleted": True, "entry_id": id}
    refused(await ask(portal, "GET", f"{prefix}/{id}/metadata"), 404, ErrorCode.NOT_FOUND)


@pytest.mark.parametrize("given", [{"params": {"hard_delete": "true"}}, {"body": True}])
async def test_a_hard_delete_is_asked_for_in_the_query_or_the_body(
    portal: TestPortal, given: dict[str, Any]
) -> None:
    id = (await create(portal)).entry.id
    if given.pop("body", False):
        given["json"] = {"options": {"hard_delete": True, "governance": {"reason": "wrong"}}}
    gone = await ask(portal, "DELETE", f"{OWN}/{id}", **given)
    assert gone.json()["deleted"] is True
    assert (await query(portal, "watered beds")).results == []


async def test_discovery_says_what_is_true_of_this_portal(portal: TestPortal) -> None:
    answer = await ask(portal, "GET", OWN)
    provider = DiscoveryResponse.model_validate_json(answer.content).provider
    assert provider.version == answer.headers["x-provider-version"]
    assert provider.limits.max_entry_size == MAX_ENTRY_BYTES
    assert provider.capabilities.query.modes == ["keyword"]
    assert not provider.features.semantic_search
    assert provider.features.versioning


async def test_another_person_neither_finds_nor_touches_what_is_private(
    portal: TestPortal,
) -> None:
    id = (await create(portal)).entry.id
    assert (await query(portal, "watered beds", tier="public")).results == []
    for method, path, body in (
        ("GET", f"/{id}/metadata", None),
        ("PUT", f"/{id}", {"entry": ENTRY}),
        ("DELETE", f"/{id}", None),
    ):
        answer = await ask(portal, method, OWN + path, tier="public", json=body)
        refused(answer, 404, ErrorCode.NOT_FOUND)


@each_prefix
async def test_who_is_not_signed_in_is_challenged(portal: TestPortal, prefix: str) -> None:
    for method, path in (
        ("GET", ""),
        ("POST", "/query"),
        ("POST", "/create"),
        ("PUT", "/x"),
        ("DELETE", "/x"),
        ("GET", "/x/metadata"),
    ):
        answer = await ask(portal, method, prefix + path, tier="open")
        refused(answer, 401, ErrorCode.UNAUTHORIZED)
        assert answer.headers["www-authenticate"].startswith("Bearer")
    wrong = {"authorization": "Bearer wrong"}
    answer = await ask(portal, "GET", prefix, tier="open", headers=wrong)
    refused(answer, 401, ErrorCode.UNAUTHORIZED)
    assert "invalid_token" in answer.headers["www-authenticate"]


@pytest.mark.parametrize(
    ("request_", "place"),
    [
        ({"query": "x", "color": 1}, "color"),
        ({"query": "x", "filters": {"colour": 1}}, "filters.colour"),
        ({"query": "x", "options": {"limit": MAX_RESULTS + 1}}, "options.limit"),
        ({"query": "x", "layer": {"types": ["attic"]}}, "layer.types.0"),
        ({"query": "x", "options": {"offset": False}}, "options.offset"),
        ({"query": "x", "options": {"include_content": 1}}, "options.include_content"),
        ({"query": "x", "options": {"distance_threshold": "1"}}, "options.distance_threshold"),
        ({"query": "x", "filters": {"created_after": 1}}, "filters.created_after"),
        ({"query": ""}, "query"),
        ({}, "query"),
    ],
)
async def test_a_wrong_field_is_named_with_its_place(
    portal: TestPortal, request_: Any, place: str
) -> None:
    answer = await ask(portal, "POST", f"{OWN}/query", json=request_)
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert place in [each["parameter"] for each in said.error.details["errors"]]


@pytest.mark.parametrize("given", ["yesterday", "01.03.2026"])
async def test_a_time_that_cannot_be_read_is_told_how_to_be_written(
    portal: TestPortal, given: str
) -> None:
    answer = await ask(portal, "GET", f"{OWN}/entries?since={given}")
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert "since: write a day, such as 2026-03-01, or a moment" in said.error.message


async def test_a_time_that_ends_before_it_begins_is_refused(portal: TestPortal) -> None:
    answer = await ask(portal, "GET", f"{OWN}/entries?since=2026-03-05&until=2026-03-01")
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert said.error.message.startswith("Invalid parameters. until lies before since")
    filters = {"created_after": "2026-03-05", "created_before": "2026-03-01"}
    answer = await ask(portal, "POST", f"{OWN}/query", json={"query": "x", "filters": filters})
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert "filters: created_before lies before created_after" in said.error.message


@each_prefix
@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[1]", 400),
        (b"\xff\xfe", 400),
        (b'{"query": "\\ud800"}', 400),
        (b'{"query": "x", "filters": {"custom_filters": {"a": NaN}}}', 400),
        (b'{"query": "x", "options": {"distance_threshold": 1e999}}', 400),
        (b'{"query": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (b'{"query": "' + b"x" * (50 * 1024 * 1024) + b'"}', 413),
    ],
    ids=["cut", "list", "bytes", "surrogate", "nan", "infinite", "deep", "50MB"],
)
async def test_a_body_that_is_no_good_is_a_clear_error(
    portal: TestPortal, prefix: str, body: bytes, status: int
) -> None:
    answer = await ask(portal, "POST", f"{prefix}/query", content=body, headers=JSON)
    refused(answer, status, ErrorCode.INVALID_REQUEST)


@pytest.mark.parametrize(
    ("method", "path", "body", "place"),
    [
        ("POST", "/create", {"entry": {"content": "a\0b"}}, "entry.content"),
        ("POST", "/query", {"query": "a", "filters": {"tags": ["\0"]}}, "filters.tags.0"),
        ("POST", "/query", {"query": "a", "filters": {"custom_filters": {"\0": 1}}}, "a name in"),
        ("DELETE", "/%00", None, "id"),
    ],
)
async def test_a_text_that_no_database_keeps_is_refused(
    portal: TestPortal, method: str, path: str, body: Any, place: str
) -> None:
    said = refused(await ask(portal, method, OWN + path, json=body), 400, ErrorCode.INVALID_REQUEST)
    assert f"{place} " in said.error.message


async def test_an_entry_that_is_too_large_is_refused_with_the_limit(portal: TestPortal) -> None:
    entry = {"entry": {"content": "x" * (MAX_ENTRY_BYTES + 1)}}
    answer = await ask(portal, "POST", f"{OWN}/create", json=entry)
    said = refused(answer, 400, ErrorCode.INVALID_REQUEST)
    assert said.error.details["limit"] == MAX_ENTRY_BYTES


async def test_two_changes_of_the_same_are_a_conflict(portal: TestPortal) -> None:
    id = (await create(portal)).entry.id
    for content, status in (("At seven.", 200), ("At eight.", 409)):
        body = {"entry": {"content": content, "version": 1}}
        answer = await ask(portal, "PUT", f"{OWN}/{id}", json=body)
        assert answer.status_code == status
    assert refused(answer, 409, ErrorCode.CONFLICT).error.details["version"] == 2


@each_prefix
async def test_a_path_or_method_that_is_not_there_is_told_alike(
    portal: TestPortal, prefix: str
) -> None:
    refused(await ask(portal, "GET", f"{prefix}/a/b/c"), 404, ErrorCode.NOT_FOUND)
    answer = await ask(portal, "PATCH", f"{prefix}/query")
    refused(answer, 405, ErrorCode.INVALID_REQUEST)


async def test_an_operation_is_limited_on_both_prefixes_together() -> None:
    config = {"limits": {"operations": {"knowledge.queries": "2 in 60s"}}}
    async with open_test_portal(plugin, config=config) as portal:
        answers = [
            await ask(portal, "POST", f"{prefix}/query", json={"query": "x"})
            for prefix in (*PREFIXES, OWN)
        ]
    assert [each.headers["x-rate-limit-remaining"] for each in answers] == ["1", "0", "0"]
    assert all(int(each.headers["x-rate-limit-reset"]) > 0 for each in answers)
    refused(answers[2], 429, ErrorCode.RATE_LIMITED)
    assert int(answers[2].headers["retry-after"]) >= 1


@each_prefix
async def test_pages_of_other_sites_read_and_do_not_write(portal: TestPortal, prefix: str) -> None:
    elsewhere = {"origin": "https://elsewhere.example"}
    read = await ask(portal, "GET", prefix, headers=elsewhere)
    assert read.headers["access-control-allow-origin"] == "*"
    assert "X-Rate-Limit-Remaining" in read.headers["access-control-expose-headers"]
    answer = await ask(portal, "POST", f"{prefix}/create", json={"entry": ENTRY}, headers=elsewhere)
    refused(answer, 403, ErrorCode.FORBIDDEN)


@each_prefix
async def test_the_document_says_errors_limits_security_and_examples(
    portal: TestPortal, prefix: str
) -> None:
    document = (await portal.get(f"{prefix}/openapi.json")).json()
    openapi_spec_validator.validate(document)
    assert document["openapi"] == "3.0.3"
    assert set(document["components"]["securitySchemes"]) == {"bearer", "oauth2"}
    assert set(document["components"]["headers"]) >= {
        *("X-Request-Id", "X-Provider-Version", "X-Rate-Limit-Remaining", "X-Rate-Limit-Reset"),
        *("Retry-After", "WWW-Authenticate"),
    }
    post = document["paths"][f"{prefix}/query"]["post"]
    assert {} not in post["security"]
    assert post["x-rate-limit"]["operation"] == "knowledge.queries"
    assert post["requestBody"]["content"]["application/json"]["schema"]["example"]
    told = {
        post["responses"][each]["content"]["application/json"]["schema"]["$ref"]
        for each in ("400", "401", "403", "404", "413", "415", "429", "default")
    }
    assert told == {"#/components/schemas/ErrorResponse"}
    assert set(document["paths"]) >= {
        prefix + each for each in ("", "/query", "/create", "/{id}", "/{id}/metadata")
    }
    named = [each["operationId"] for path in document["paths"].values() for each in path.values()]
    assert len(set(named)) == len(named)
    assert set(named) >= {"discover", "query_knowledge", "list_entries", "get_entry", "approve"}
    assert all(len(each) < 20 for each in named), "generated clients call them so"


async def test_the_headers_of_the_document_are_those_of_the_answers(portal: TestPortal) -> None:
    document = (await portal.get(f"{OWN}/openapi.json")).json()
    answer = await ask(portal, "POST", f"{OWN}/query", json={"query": "x"})
    promised = document["paths"][f"{OWN}/query"]["post"]["responses"]["200"]["headers"]
    assert {name.lower() for name in promised} <= set(answer.headers)


async def test_the_examples_of_the_document_work(portal: TestPortal) -> None:
    document = (await portal.get(f"{OWN}/openapi.json")).json()
    for path in ("/create", "/query"):
        body = document["paths"][OWN + path]["post"]["requestBody"]["content"]
        example = body["application/json"]["schema"]["example"]
        answer = await ask(portal, "POST", OWN + path, json=example)
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("model", EXAMPLES)
def test_what_the_document_shows_as_an_answer_is_one(model: type[BaseModel]) -> None:
    shown = EXAMPLES[model]
    assert model.model_validate(shown).model_dump(mode="json", exclude_unset=True) == shown


async def test_no_entry_has_the_id_of_a_path_of_the_api(portal: TestPortal) -> None:
    document = (await portal.get(f"{OWN}/openapi.json")).json()
    below = (path.removeprefix(OWN).removeprefix("/") for path in document["paths"])
    first = {path.partition("/")[0] for path in below if path and not path.startswith("{")}
    assert "batch" in first
    # No entry has a note's id, which is refused where it is chosen.
    assert {each for each in first if not each.startswith(NOTE_PREFIX)} <= RESERVED_IDS


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
async def test_a_moment_that_leaves_the_calendar_in_utc_is_told_by_its_field(
    portal: TestPortal, moment: str
) -> None:
    http = portal.http("members")
    validity = {"entry": {"content": "x", "validity": {"valid_from": moment}}}
    for path, body in (
        ("create", validity),
        ("query", {"query": "x", "filters": {"as_of": moment}}),
        ("query", {"query": "x", "filters": {"created_after": moment}}),
    ):
        answer = await http.post(f"{OWN}/{path}", json=body)
        assert answer.status_code == 400, answer.text
        assert "outside of the years 1 to 9999" in answer.text
    listed = await http.get(f"{OWN}/entries", params={"since": moment})
    assert listed.status_code == 400


async def test_until_a_day_counts_what_was_written_on_it(portal: TestPortal) -> None:
    http = portal.http("members")
    made = await http.post(f"{OWN}/create", json={"entry": {"content": "The well is dry."}})
    day = made.json()["entry"]["created_at"][:10]
    for name in ("as_of", "created_before"):
        body = {"query": "well", "filters": {name: day, "created_after": day}}
        found = (await http.post(f"{OWN}/query", json=body)).json()
        assert [each["entry"]["content"] for each in found["results"]] == ["The well is dry."]
