"""What another server's search has found, in whichever shape it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from pydantic_core import from_json

MAX_HITS = 50
"""Results of one source that are read."""
MAX_TEXT_CHARACTERS = 1_500
"""Characters of a result's text that are handed on."""
_MAX_NAME_CHARACTERS = 500
_LISTS = ("results", "result", "items", "documents", "matches", "hits", "entries", "data")
_TITLE = ("title", "name", "heading")
_URI = ("uri", "url", "href", "link", "source_url")
_ID = ("id", "path", "slug")
_TEXT = ("passage", "snippet", "excerpt", "description", "summary", "text", "content", "body")
_LICENCE = ("licence", "license")


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that a source has found; each field may be empty.

    Attributes:
        title: what it is called.
        uri: where it is.
        id: what the source itself calls it.
        text: what it says, or the part that answers.
        licence: what it says that it may be used under.
    """

    title: str = ""
    uri: str = ""
    id: str = ""
    text: str = ""
    licence: str = ""


def hits_of(result: Mapping[str, Any]) -> list[Hit]:
    """The hits in a result of ``tools/call``, best first as the source has them.

    Structured content counts before links to resources, and these before text; a text may be JSON.
    """
    found = _structured(result.get("structuredContent"))
    blocks = [each for each in result.get("content") or () if isinstance(each, Mapping)]
    if found is None:
        linked = [_of_block(each) for each in blocks if each.get("type") != "text"]
        found = [each for each in linked if each is not None] or list(_texts(blocks))
    return list(islice((each for each in found if each != Hit()), MAX_HITS))


def _structured(value: Any) -> list[Hit] | None:
    """The hits in a JSON value; None where it has no list of them."""
    if isinstance(value, Mapping):
        named = (value.get(key) for key in _LISTS)
        lists = (each for each in (*named, *value.values()) if isinstance(each, list))
        value = next(lists, None)
    if not isinstance(value, list):
        return None
    return [_of_value(each) for each in value]


def _of_value(value: Any) -> Hit:
    if isinstance(value, str):
        return Hit(text=value[:MAX_TEXT_CHARACTERS])
    if not isinstance(value, Mapping):
        return Hit()
    kind, name = _first(value, ("contentType", "type")), _first(value, _ID)
    return Hit(
        _first(value, _TITLE)[:_MAX_NAME_CHARACTERS],
        _address(_first(value, _URI)),
        f"{kind}/{name}" if kind and name else name,
        _first(value, _TEXT)[:MAX_TEXT_CHARACTERS],
        _first(value, _LICENCE)[:_MAX_NAME_CHARACTERS],
    )


def _first(value: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The first of these fields that has a text."""
    texts = (each for key in keys if isinstance(each := value.get(key), str) and each.strip())
    return next(texts, "")


def _address(uri: str) -> str:
    return uri if len(uri) <= _MAX_NAME_CHARACTERS and ":" in uri else ""


def _of_block(block: Mapping[str, Any]) -> Hit | None:
    """A link to a resource, or one that came along; pictures and sounds say nothing here."""
    if block.get("type") == "resource_link":
        return _of_value({key: each for key, each in block.items() if key != "type"})
    held = block.get("resource")
    if block.get("type") == "resource" and isinstance(held, Mapping):
        return _of_value({key: held.get(key) for key in ("uri", "text", "title")})
    return None


def _texts(blocks: Sequence[Mapping[str, Any]]) -> Iterator[Hit]:
    for block in blocks:
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            continue
        read = _structured(_json(text))
        yield from [Hit(text=text[:MAX_TEXT_CHARACTERS])] if read is None else read


def _json(text: str) -> Any:
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return from_json(text)
    except ValueError:
        return None
