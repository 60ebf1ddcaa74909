"""Nothing that any surface shows comes from a document above the caller's tier."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from gateway.contract import Caller, Health, Offer, Tier, ToolFailed
from plugins.knowledge.offer import offer
from tests.examples import examples

TYPES = ("tag", "pattern", "practice", "group", "file")
DOCUMENTS = st.lists(
    st.tuples(st.sampled_from(TYPES), st.integers(0, 5), st.sampled_from(list(Tier))),
    min_size=1,
    max_size=8,
    unique_by=lambda one: one[:2],
)
QUESTIONS = st.sampled_from(["bread", "secret0", "secret3 bread", "title1", "titel2", "who bakes"])


def mark(content_type: str, number: int) -> str:
    """A word that stands in every field of one document and nowhere else."""
    return f"zz{content_type}{number}zz"


async def unasked() -> Health:
    raise AssertionError("nobody asks how it is")


async def everything_shown(offered: Offer, question: str, caller: Caller) -> str:
    """All that tools, resources, templates, prompts' completion and routes show a caller."""
    shown: list[Any] = []

    async def show(awaitable: Any) -> None:
        try:
            answer = await awaitable
        except ToolFailed as failed:
            answer = [failed.message, failed.details]
        shown.append(answer.model_dump(mode="json") if isinstance(answer, BaseModel) else answer)

    arguments: dict[str, list[dict[str, Any]]] = {
        "search_knowledge": [{"query": question, "filters": {"limit": 20}}],
        "search_with_documents": [{"query": question, "filters": {"limit": 20, "sort": "date"}}],
        "define_term": [{"term": f"title{number}"} for number in range(6)],
        "search_lexicon": [{"keyword": "title"}],
        "list_groups": [{}],
        "list_releases": [{}],
        "list_documents": [{"filters": {"limit": 20}}, {"order": "changed", "offset": 1}],
        "get_section": [{"contentType": one, "id": "d0", "section": "Bread"} for one in TYPES],
        "map_documents": [{}, {"tag": "none"}, {"limit": 1}],
        "get_document_history": [{"contentType": one, "id": "d0"} for one in TYPES],
        "related_documents": [{"contentType": one, "id": "d0"} for one in TYPES],
        "get_document": [
            {"contentType": one, "id": f"d{number}"} for one in TYPES for number in range(6)
        ],
    }
    for tool in offered.tools:
        assert tool.args is not None
        for values in arguments[tool.name]:
            await show(tool.run(tool.args.model_validate(values), caller))
    for resource in offered.resources:
        await show(resource.read(caller))
    for template in offered.templates:
        for one in TYPES:
            variables = {"contentType": one, "id": "d0", "term": "title0"}
            await show(template.read({"group": "crew", "release": "first"} | variables, caller))
        for complete in template.complete.values():
            await show(complete("", {}, caller))
    for prompt in offered.prompts:
        for complete in prompt.complete.values():
            await show(complete("", {}, caller))
    queries = {
        "/entries": {"limit": "100"},
        "/search": {"q": question, "limit": "20"},
        "/entries/{contentType}/{id}": {"contentType": "pattern", "id": "d0"},
    }
    for route in offered.routes:
        await show(route.run(route.params.model_validate(queries[route.path]), caller))
    return json.dumps(shown)


@pytest.mark.heavy
@settings(
    max_examples=examples(12),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(documents=DOCUMENTS, question=QUESTIONS, moved=st.sampled_from(list(Tier)))
async def test_no_surface_shows_a_document_above_the_callers_tier(
    base, make, documents, question, moved
) -> None:
    store, offered = base.knowledge.store, offer(base.knowledge, unasked)
    await base.remove(*[entry.key for entry in store.entries(Tier.MEMBERS)])
    (first_type, first_number, _), *others = documents
    for tiers in (documents, [(first_type, first_number, moved), *others]):
        await base.put(
            *[
                make(
                    f"{content_type}/d{number}",
                    f"# Bread\n\nSecret{number} and {mark(content_type, number)}. [[Title0]]",
                    title=f"Title{number} {mark(content_type, number)}",
                    aliases=[f"title{number}", mark(content_type, number)],
                    description=mark(content_type, number),
                    group=mark(content_type, number),
                    release=mark(content_type, number),
                    tier=tier,
                )
                for content_type, number, tier in tiers
            ]
        )
        for caller_tier in Tier:
            shown = await everything_shown(offered, question, Caller("x", caller_tier))
            for content_type, number, tier in tiers:
                assert (mark(content_type, number) in shown) == caller_tier.allows(tier)
