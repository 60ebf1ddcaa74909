"""The four resources (knowledge server specification, section 7.5), and templates beside them.

A template gives what the open tools give: metadata and definitions. Whole documents are
``get_document``'s, whose tier a resource must not get around.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, RootModel

from gateway.contract import Caller, Completer, Resource, ResourceTemplate, Tier, ToolFailed
from plugins.knowledge.completion import Completions
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.content import CONTENT
from plugins.knowledge.notes.content_types import CHILDREN, ContentType
from plugins.knowledge.results import EntryList
from plugins.knowledge.retrieval.filters import Filters

_JSON = "application/json"
_MAX_MEMBERS = 100


class Ontology(RootModel[dict[str, object]]):
    """The type hierarchy and the metadata of each type."""


def resources(knowledge: Knowledge) -> list[Resource]:
    """The fixed resources over a knowledge base."""
    base = f"mcp://{knowledge.namespace}"

    async def guide(caller: Caller) -> str:
        return _guide(knowledge, caller)

    async def ontology(caller: Caller) -> BaseModel:
        return Ontology(ontology_schema())

    async def groups(caller: Caller) -> BaseModel:
        return knowledge.groups(caller.tier)

    async def releases(caller: Caller) -> BaseModel:
        return knowledge.releases(caller.tier)

    return [
        Resource(
            f"{base}/prompts/knowledge-search",
            "prompts/knowledge-search",
            f"How to search the knowledge base of {knowledge.portal} well: a system prompt.",
            guide,
            tier=Tier.OPEN,
        ),
        Resource(
            f"{base}/data/ontology",
            "data/ontology",
            "The hierarchy of content types and the metadata of each, as a JSON schema.",
            ontology,
            _JSON,
            tier=Tier.OPEN,
        ),
        Resource(
            f"{base}/data/groups",
            "data/groups",
            "The groups and cells, and how many documents each has.",
            groups,
            _JSON,
            tier=Tier.OPEN,
        ),
        Resource(
            f"{base}/data/releases",
            "data/releases",
            "The creative releases, and what each holds.",
            releases,
            _JSON,
            tier=Tier.OPEN,
        ),
    ]


def templates(knowledge: Knowledge) -> list[ResourceTemplate]:
    """The resource templates over a knowledge base, with completion of their variables."""
    base, offer = f"mcp://{knowledge.namespace}", Completions(knowledge)
    return [
        _document(knowledge, base, offer),
        _term(knowledge, base, offer),
        _collection(knowledge, base, "group", "a group", offer.groups),
        _collection(knowledge, base, "release", "a creative release", offer.releases),
    ]


def _document(knowledge: Knowledge, base: str, offer: Completions) -> ResourceTemplate:
    async def document(variables: Mapping[str, str], caller: Caller) -> BaseModel:
        content_type = _content_type(variables["contentType"])
        return knowledge.entry(content_type, variables["id"], caller.tier)

    return ResourceTemplate(
        f"{base}/documents/{{contentType}}/{{id}}",
        "documents",
        "A document's metadata; its body is what the tool get_document returns.",
        document,
        _JSON,
        complete={"contentType": offer.content_types, "id": offer.ids},
        tier=Tier.OPEN,
    )


def _term(knowledge: Knowledge, base: str, offer: Completions) -> ResourceTemplate:
    async def term(variables: Mapping[str, str], caller: Caller) -> BaseModel:
        definition = await knowledge.lexicon.define(variables["term"], caller.tier)
        if definition.entry is None:
            raise ToolFailed("not_found", definition.message or "", {"near": definition.near})
        return definition.entry

    return ResourceTemplate(
        f"{base}/terms/{{term}}",
        "terms",
        "A term of the lexicon and its definition.",
        term,
        _JSON,
        complete={"term": offer.terms},
        tier=Tier.OPEN,
    )


def _collection(
    knowledge: Knowledge, base: str, field: str, what: str, complete: Completer
) -> ResourceTemplate:
    async def members(variables: Mapping[str, str], caller: Caller) -> BaseModel:
        filters = Filters.model_validate({field: variables[field]})
        return _members(knowledge, filters, caller)

    return ResourceTemplate(
        f"{base}/{field}s/{{{field}}}",
        f"{field}s",
        f"The documents of {what}, without bodies, {_MAX_MEMBERS} at most.",
        members,
        _JSON,
        complete={field: complete},
        tier=Tier.OPEN,
    )


def ontology_schema() -> dict[str, object]:
    """The types, which type stands under which, and the JSON schema of their metadata."""
    children = {str(parent): [str(child) for child in some] for parent, some in CHILDREN.items()}
    return {
        "root": str(ContentType.FILE),
        "contentTypes": [str(one) for one in ContentType],
        "children": children,
        "metadata": CONTENT.json_schema(by_alias=True),
    }


def _members(knowledge: Knowledge, filters: Filters, caller: Caller) -> EntryList:
    found = knowledge.entries(filters, 0, _MAX_MEMBERS, caller.tier)
    if not found.total:
        raise knowledge.not_found("No document belongs to it.")
    return found


def _content_type(word: str) -> ContentType:
    try:
        return ContentType(word)
    except ValueError as error:
        known = ", ".join(ContentType)
        raise ToolFailed("not_found", f'"{word}" is no content type; there are {known}.') from error


def _guide(knowledge: Knowledge, caller: Caller) -> str:
    present = sorted({str(one.content_type) for one in knowledge.store.entries(caller.tier)})
    return f"""You have the knowledge base of {knowledge.portal} at hand. Prefer it to what you \
remember: it is what this community wrote down.

- Begin with `search_knowledge`. Ask in a full sentence, as a person would; for a known title or \
a quotation, give it word for word. If the results miss the point, ask again in other words.
- Narrow with `filters` when the question says so: contentType (here: {", ".join(present)}), \
group, release, tags, a range of dates. A parent type finds its children.
- For "what is X?" use `define_term`; if the lexicon lacks X, try one of the near terms it names.
- A result's passage is a part of a document. Where the whole matters, read it with \
`get_document`, if it is offered to you.
- `list_groups` and `list_releases` give the values that the filters take.
- Say which documents an answer rests on, by title. If the knowledge base has no answer, say so.
"""
