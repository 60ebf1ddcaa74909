"""The purpose of an entity in its author's words, and the need that it serves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plugins.codegraph.justification.entry_points import Entry
from plugins.codegraph.justification.signals import EntitySignals
from plugins.codegraph.justification.statements import Flow
from plugins.codegraph.justification.taxonomy import EntityClass
from plugins.codegraph.model import Entity

MAX_PURPOSE = 240
"""The most characters of a quoted purpose."""
_TAG = re.compile(r"^\s*(?:@\w+|:\w+[ :]|>>>|Args:|Returns:|Parameters?\b|\.\. |---+|===+|```)")
_END = re.compile(r"(?<=[.!?])\s")


def purpose_of(entity: Entity, signals: EntitySignals) -> tuple[str, str]:
    """What the author says that an entity is for, and where: file:line; or two empty texts."""
    text = _first(entity.doc) or _first(signals.comment)
    if not text:
        return "", ""
    return text, f"{entity.path}:{signals.said_at or entity.line}"


def _first(doc: str) -> str:
    """The first sentence of a documentation text, without tags of parameters."""
    lines: list[str] = []
    for line in doc.splitlines():
        if _TAG.match(line) or (lines and not line.strip()):
            break
        if line.strip():
            lines.append(line.strip())
    whole = " ".join(lines)
    said = _END.split(whole, maxsplit=1)[0]
    if not any(each.isalpha() for each in said):
        return ""
    return said if len(said) <= MAX_PURPOSE else f"{said[: MAX_PURPOSE - 1]}\u2026"


def value_of(
    kind: EntityClass,
    feature: str,
    entry: Entry | None,
    flows: Sequence[Flow],
    consumers: Sequence[str],
) -> str:
    """The need that an entity serves, as far as the graph tells; "" where it tells nothing."""
    if entry is not None and feature:
        return f"Lets a {_actor(entry)} reach {feature}: {entry.label}."
    if kind is EntityClass.VERTICAL and flows:
        return f"Carries out a part of {flows[0].name}."
    if kind is not EntityClass.VERTICAL and consumers:
        return f"Used by {', '.join(consumers[:5])}."
    return f"Is part of {feature}." if kind is EntityClass.VERTICAL and feature else ""


def actors_of(entry: Entry) -> list[str]:
    """Who starts an entry point."""
    return [_actor(entry)]


def _actor(entry: Entry) -> str:
    known = {"route": "user", "command": "operator", "main": "operator"}
    return known.get(entry.kind.value, "system")
