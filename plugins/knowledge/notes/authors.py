"""Who wrote a note, in the ways in which the tools of sites write that.

Material for MkDocs, Docusaurus, Starlight and Hugo call the field ``authors``; its items are names,
keys of a list of people, or mappings with a name.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from pydantic import BeforeValidator

from plugins.knowledge.notes.fields import parse_texts
from plugins.knowledge.notes.frontmatter import Frontmatter

OURS, THEIRS = "author", "authors"
_CALLED = ("name", "key", "id", "login")
"""What names a person in a mapping, the first of them that it has."""


def parse_authors(value: Any) -> list[str]:
    """The names of a note's authors, none twice.

    Raises:
        ValueError: one is a mapping without a name.
    """
    people = value if isinstance(value, list | tuple) else [value]
    names = [text for person in people for text in parse_texts(_name(person))]
    return list(dict.fromkeys(names))


Authors = Annotated[list[str], BeforeValidator(parse_authors)]
"""People, each by what the note calls them."""


def with_authors(front: Frontmatter) -> Frontmatter:
    """The frontmatter with what stands under ``authors``, where there is no ``author``.

    One of another shape is a field of the note's own, and no mistake.
    """
    if OURS in front.fields or THEIRS not in front.fields:
        return front
    names: list[str] = []
    with suppress(ValueError):
        names = parse_authors(front.fields[THEIRS])
    if not names:
        return front
    fields = {name: value for name, value in front.fields.items() if name != THEIRS}
    lines = {**front.lines, OURS: front.lines[THEIRS]}
    return replace(front, fields=fields | {OURS: names}, lines=lines)


def _name(person: Any) -> Any:
    if not isinstance(person, dict):
        return person
    return next((person[each] for each in _CALLED if person.get(each)), person)
