"""Home pages whose text stands in their frontmatter, as VitePress and Starlight have them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def text(fields: Mapping[str, Any], body: str) -> str:
    """A note's text with what its home page says in front of it; the body where there is none.

    Args:
        fields: the frontmatter.
        body: what stands below it.
    """
    hero, features = fields.get("hero"), fields.get("features")
    if not isinstance(hero, Mapping):
        return body
    listed = features if isinstance(features, list) else []
    parts = [*_hero(hero), *(one for each in listed for one in _feature(each))]
    return "\n\n".join([*parts, body]).strip("\n") if parts else body


def _hero(hero: Mapping[str, Any]) -> Iterator[str]:
    said = [one for key in ("name", "title", "text", "tagline") if (one := _line(hero.get(key)))]
    if said:
        yield f"# {said[0]}"
        yield from said[1:]


def _feature(feature: Any) -> Iterator[str]:
    if isinstance(feature, Mapping):
        if title := _line(feature.get("title")):
            yield f"## {title}"
        if details := _line(feature.get("details")):
            yield details


def _line(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
