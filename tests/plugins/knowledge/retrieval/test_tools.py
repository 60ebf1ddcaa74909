"""The tools, resources, prompts and routes as a client meets them."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from gateway.contract import ANONYMOUS, Caller, Health, Tier, ToolFailed
from plugins.knowledge.offer import offer
from plugins.knowledge.retrieval.filters import Filters
from plugins.knowledge.tools import tools

MEMBER = Caller("ann", Tier.MEMBERS)


@pytest.fixture
async def filled(base, make):
    await base.put(
        make(
            "tag/daos",
            "A *community* with rules.",
            title="DAOs",
            aliases=["#dao-term"],
            relatedTerms=["cell"],
        ),
        make("tag/consent", "Nobody objects.", title="Consent", description="A way to decide."),
        make("pattern/cells", "Cells.", title="Cells", group="dao-primitives", release="first"),
        make(
            "practice/rounds", "Rounds.", title="Rounds", group="dao-primitives", date="2025-01-01"
        ),
        make("group/dao-primitives", "We.", title="DAO Primitives", description="A cell."),
        make("group/quiet", "We too.", title="Quiet"),
    )
    return base.knowledge


async def unasked() -> Health:
    raise AssertionError("nobody asks how it is")


async def call(knowledge, name, caller=ANONYMOUS, **arguments):
    tool = next(one for one in tools(knowledge) if one.name == name)
    assert tool.args is not None
    return await tool.run(tool.args.model_validate(arguments), caller)


async def test_the_tools_are_those_of_the_specification_and_five_more(base) -> None:
    offered = {tool.name: tool for tool in tools(base.knowledge)}
    assert set(offered) == {
        "search_knowledge", "define_term", "search_lexicon", "list_groups", "list_releases",
        "get_document", "search_with_documents",
        "get_section", "list_documents", "related_documents", "get_document_history",
        "map_documents",
    }  # fmt: skip
    for tool in offered.values():
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.result is not None
    for name in ("get_document", "get_section", "related_documents", "get_document_history"):
        assert offered[name].tier == Tier.MEMBERS


PART = "The knowledge base is being indexed: 1 of 2 documents so far. Ask again for the rest."
CELLS = {"contentType": "pattern", "id": "cells"}
MISSING = {"contentType": "pattern", "id": "missing"}


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("search_knowledge", {"query": "cells"}),
        ("search_knowledge", {"query": "zeppelins", "facets": True}),
        ("search_with_documents", {"query": "cells"}),
        ("search_lexicon", {"keyword": "zeppelins"}),
        ("search_lexicon", {"keyword": "consent"}),
        ("list_groups", {}),
        ("list_releases", {}),
        ("list_documents", {}),
        ("map_documents", {}),
        ("related_documents", CELLS),
    ],
)
async def test_what_is_found_in_a_part_of_the_base_is_said_to_be_of_a_part(
    filled, name, asked
) -> None:
    assert PART not in ((await call(filled, name, MEMBER, **asked)).note or "")
    filled.set_unfinished(lambda: PART)
    assert PART in (await call(filled, name, MEMBER, **asked)).note


async def test_what_is_not_found_in_a_part_of_the_base_may_come_yet(filled) -> None:
    filled.set_unfinished(lambda: PART)
    assert PART in (await call(filled, "define_term", term="zeppelin")).message
    asked = {
        "get_document": MISSING,
        "get_section": {**MISSING, "section": "Why"},
        "related_documents": MISSING,
        "get_document_history": MISSING,
    }
    for name, arguments in asked.items():
        with pytest.raises(ToolFailed) as refused:
            await call(filled, name, MEMBER, **arguments)
        assert refused.value.message == f"Document not found. {PART}"
    with pytest.raises(ToolFailed, match="1 of 2"):
        filled.entry("pattern", "missing", Tier.OPEN)
    assert filled.entries(Filters(), 0, 1, Tier.OPEN).note == PART


async def test_the_schemas_are_those_of_the_specification(base) -> None:
    schemas = {
        tool.name: tool.args.model_json_schema() for tool in tools(base.knowledge) if tool.args
    }
    assert schemas["search_knowledge"]["required"] == ["query"]
    assert set(schemas["get_document"]["required"]) == {"contentType", "id"}
    filters = schemas["search_knowledge"]["$defs"]["SearchFilters"]["properties"]
    assert {"contentType", "group", "release", "limit"} <= set(filters)
    limit = filters["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 20, 5)
    assert schemas["list_groups"].get("properties", {}) == {}


@pytest.mark.parametrize("term", ["DAOs", "dao", "DAO", "#dao-term", "daos", "dao term"])
async def test_a_term_is_found_by_every_name_it_has(filled, term) -> None:
    definition = await call(filled, "define_term", term=term)
    assert definition.found
    assert definition.entry.definition == "A community with rules."
    assert definition.entry.related_terms == ["cell"]


async def test_an_unknown_term_is_said_to_be_unknown_with_the_near_ones(filled) -> None:
    definition = await call(filled, "define_term", term="Konsent")
    assert not definition.found
    assert definition.message == 'Term "Konsent" not found in lexicon.'
    assert definition.near == ["Consent"]


async def test_the_lexicon_holds_terms_only(filled) -> None:
    assert not (await call(filled, "define_term", term="cells")).found


async def test_a_keyword_finds_terms_by_name_before_description(filled, base, make) -> None:
    await base.put(make("tag/vote", "Count.", title="Vote", description="Not consent."))
    found = await call(filled, "search_lexicon", keyword="consent")
    assert [term.term for term in found.results] == ["Consent", "Vote"]


@pytest.mark.parametrize(
    "question",
    [
        "What is a DAO?",
        "what's the dao",
        "define DAO",
        "What does DAO mean?",
        "meaning of DAOs",
        "the DAO",
        "A DAO",
        "the meaning of the DAO",
    ],
)
async def test_a_question_for_a_term_finds_it(filled, question) -> None:
    assert (await call(filled, "define_term", term=question)).entry.term == "DAOs"


async def test_a_question_for_an_unknown_term_names_the_term(filled) -> None:
    definition = await call(filled, "define_term", term="What is Konsent?")
    assert definition.message == 'Term "Konsent" not found in lexicon.'
    assert definition.near == ["Consent"]


async def test_a_keyword_finds_terms_by_their_definitions_as_the_caller_may_read_them(
    filled, base, make
) -> None:
    await base.put(
        make("tag/quorum", "How many **voices** it takes.", title="Quorum"),
        make("tag/secret", "Voices of members.", title="Secret", tier=Tier.MEMBERS),
    )
    found = await call(filled, "search_lexicon", keyword="voices")
    assert [term.term for term in found.results] == ["Quorum"]
    await base.put(make("tag/quorum", "How many hands it takes.", title="Quorum"))
    assert (await call(filled, "search_lexicon", keyword="voices")).results == []


async def test_groups_are_listed_with_their_documents_counted(filled) -> None:
    found = await call(filled, "list_groups")
    assert [(one.group, one.title, one.documents) for one in found.groups] == [
        ("dao-primitives", "DAO Primitives", 2),
        ("quiet", "Quiet", 0),
    ]


async def test_releases_are_listed_with_what_they_hold(filled) -> None:
    (release,) = (await call(filled, "list_releases")).releases
    assert (release.release, release.documents) == ("first", 1)
    assert release.content_types == {"pattern": 1}


async def test_a_document_is_had_by_type_and_id_or_by_its_parent_type(filled) -> None:
    for content_type in ("pattern", "resource"):
        document = await call(filled, "get_document", contentType=content_type, id="cells")
        assert document.content == "Cells."


@pytest.mark.parametrize("id", ["nothing", "../../etc/passwd", "", "x" * 300])
async def test_a_document_that_is_not_there_is_not_found(filled, id) -> None:
    with pytest.raises(ToolFailed, match="Document not found") as failed:
        await call(filled, "get_document", contentType="pattern", id=id)
    assert failed.value.code == "not_found"


async def test_a_document_of_another_type_is_hinted_at(filled) -> None:
    with pytest.raises(ToolFailed, match="one of type pattern"):
        await call(filled, "get_document", contentType="tag", id="cells")


async def test_an_unknown_content_type_is_a_wrong_argument(filled) -> None:
    with pytest.raises(ValidationError):
        await call(filled, "get_document", contentType="recipe", id="cells")


async def test_search_with_documents_returns_whole_documents(filled) -> None:
    found = await call(filled, "search_with_documents", query="cells", filters={"limit": 1})
    assert found.results[0].document.content == "Cells."


async def test_results_on_the_wire_are_in_camel_case_without_empty_fields(filled) -> None:
    found = await call(filled, "search_knowledge", query="cells", filters={"limit": 1})
    (result,) = found.model_dump(mode="json")["results"]
    assert {"contentType", "id", "title", "score", "passage"} <= set(result)
    assert "rerankScore" not in result
    assert "document" not in result


async def test_the_resources_are_those_of_the_specification(filled) -> None:
    offered = {one.uri: one for one in offer(filled, unasked).resources}
    assert set(offered) == {
        "mcp://test/prompts/knowledge-search",
        "mcp://test/data/ontology",
        "mcp://test/data/groups",
        "mcp://test/data/releases",
    }
    guide = await offered["mcp://test/prompts/knowledge-search"].read(ANONYMOUS)
    assert isinstance(guide, str)
    assert "Test portal" in guide
    read = await offered["mcp://test/data/ontology"].read(ANONYMOUS)
    assert isinstance(read, BaseModel)
    ontology = read.model_dump()
    assert ontology["children"]["story"] == ["study", "article"]
    assert ontology["metadata"]["discriminator"]["propertyName"] == "type"
    groups = await offered["mcp://test/data/groups"].read(ANONYMOUS)
    assert groups == filled.groups(Tier.OPEN)


@pytest.mark.parametrize(
    ("name", "variables", "words"),
    [
        ("documents", {"contentType": "pattern", "id": "cells"}, "Cells"),
        ("groups", {"group": "dao-primitives"}, "rounds"),
        ("releases", {"release": "first"}, "cells"),
        ("terms", {"term": "consent"}, "Nobody objects."),
    ],
)
async def test_templates_give_metadata_and_definitions(filled, name, variables, words) -> None:
    template = next(one for one in offer(filled, unasked).templates if one.name == name)
    read = await template.read(variables, ANONYMOUS)
    assert isinstance(read, BaseModel)
    shown = read.model_dump_json()
    assert words in shown
    assert '"content":' not in shown
    with pytest.raises(ToolFailed):
        await template.read(dict.fromkeys(variables, "nothing"), ANONYMOUS)


async def test_completion_leaves_it_to_the_portal_to_say_that_there_is_more(base, make) -> None:
    await base.put(*(make(f"tag/t{number}", "A term.") for number in range(101)))
    templates = {one.name: one.complete for one in offer(base.knowledge, unasked).templates}
    ids = await templates["documents"]["id"]("t", {"contentType": "tag"}, ANONYMOUS)
    assert isinstance(ids, list)
    assert len(ids) == 101


async def test_completion_offers_what_begins_as_typed_before_what_holds_it(filled) -> None:
    prompts = {prompt.name: prompt for prompt in offer(filled, unasked).prompts}
    assert set(prompts) == {"research-topic", "explain-pattern", "compare-practices"}
    complete = prompts["explain-pattern"].complete["pattern"]
    assert await complete("ce", {}, ANONYMOUS) == ["Cells"]
    topics = await prompts["research-topic"].complete["topic"]("con", {}, ANONYMOUS)
    assert topics == ["Consent"]
    templates = {one.name: one.complete for one in offer(filled, unasked).templates}
    assert await templates["groups"]["group"]("prim", {}, ANONYMOUS) == ["dao-primitives"]
    assert await templates["documents"]["contentType"]("p", {}, ANONYMOUS) == [
        "pattern",
        "practice",
        "group",
    ]
    assert await templates["documents"]["id"]("", {"contentType": "tag"}, ANONYMOUS) == [
        "consent",
        "daos",
    ]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("research-topic", {"topic": "hats", "depth": "deep"}),
        ("explain-pattern", {"pattern": "hats"}),
        ("compare-practices", {"practice1": "hats", "practice2": "caps"}),
    ],
)
async def test_prompts_name_the_portal_and_what_was_asked(filled, name, arguments) -> None:
    prompt = next(one for one in offer(filled, unasked).prompts if one.name == name)
    assert prompt.args is not None
    text = await prompt.render(prompt.args.model_validate(arguments), ANONYMOUS)
    assert "Test portal" in text
    assert '"hats"' in text
    with pytest.raises(ValidationError):
        prompt.args.model_validate({})


async def get(knowledge, path, caller=ANONYMOUS, **query):
    route = next(one for one in offer(knowledge, unasked).routes if one.path == path)
    return await route.run(route.params.model_validate(query), caller)


async def test_entries_are_listed_page_by_page_without_bodies(filled) -> None:
    page = await get(filled, "/entries", limit="2", offset="1")
    assert (page.total, page.offset, page.limit, len(page.data)) == (6, 1, 2, 2)
    assert "content" not in page.model_dump()["data"][0]
    assert (await get(filled, "/entries", contentType="data")).total == 2
    assert (await get(filled, "/entries", group="dao-primitives")).total == 2
    assert (await get(filled, "/entries")).limit == 20
    assert (await get(filled, "/entries", offset="99")).data == []


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"offset": "-1"}, {"x": "1"}])
async def test_entries_refuse_parameters_out_of_bounds(filled, query) -> None:
    with pytest.raises(ValidationError):
        await get(filled, "/entries", **query)


async def test_rest_gives_what_the_tools_give(filled) -> None:
    by_rest = await get(filled, "/search", q="cells", contentType="pattern")
    by_tool = await call(
        filled, "search_knowledge", query="cells", filters={"contentType": "pattern"}
    )
    assert by_rest == by_tool
    entry = await get(filled, "/entries/{contentType}/{id}", contentType="tag", id="daos")
    assert entry == await call(filled, "get_document", contentType="tag", id="daos")
