"""Pins: which definition of a tool was accepted, so that none changes behind people's backs.

A pin is of what a tool takes and says it does (the shape of its schema and its annotations) and not
of its name alone: a tool that comes back under another name is the one that went away.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from plugins.upstreams.catalogue.entries import Entry
from plugins.upstreams.catalogue.suspicion import suspicions

State = Literal["accepted", "waiting", "rejected"]
Trust = Literal["first-use", "review"]

_WORDS = frozenset({"title", "description", "default", "examples", "$comment", "deprecated"})
"""Keywords of a schema that say something and demand nothing."""
_NAMES_BELOW = frozenset({"properties", "$defs", "patternProperties", "dependentSchemas"})
"""Keywords whose own keys are names, and no keywords."""


@dataclass(frozen=True, slots=True)
class Pin:
    """What is known of one tool of a server.

    Attributes:
        name: the tool's name at its server.
        entry: its definition, as it was when the state was decided, or is since it waits.
        state: whether it was accepted, waits for an admin, or was turned down.
    """

    name: str
    entry: Entry
    state: State

    @property
    def digest(self) -> str:
        """Tells one definition from every other."""
        return digest(self.entry)


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A tool that is not served until an admin has looked at it.

    Attributes:
        entry: its definition now.
        reason: why, in a sentence without its full stop.
        before: the definition that was accepted, or None where there was none.
        turned_down: whether an admin has looked at it, and said no.
    """

    entry: Entry
    reason: str
    before: Entry | None = None
    turned_down: bool = False

    @property
    def name(self) -> str:
        """Its name at its server."""
        return str(self.entry["name"])

    @property
    def told(self) -> str:
        """Why, for those who miss it: without the name of another tool, which may be hidden."""
        renamed = self.before is not None and self.before.get("name") != self.entry["name"]
        return "it looks like a tool that the server offers no more" if renamed else self.reason

    def diff(self) -> str:
        """What has changed, line by line; of a new tool all it says."""
        before = _lines(self.before) if self.before is not None else []
        return "\n".join(
            difflib.unified_diff(before, _lines(self.entry), "accepted", "offered now", lineterm="")
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """Which of a server's tools are served.

    Attributes:
        served: their definitions, in the server's order.
        quarantined: those that are not.
        accepted: those that were accepted just now, for the first time.
    """

    served: tuple[Entry, ...]
    quarantined: tuple[Quarantined, ...]
    accepted: tuple[Entry, ...] = ()


def judge(offered: Iterable[Entry], pins: Iterable[Pin], trust: Trust) -> Verdict:
    """Decide which tools of a server are served.

    Args:
        offered: its tools now.
        pins: what is known of its tools.
        trust: whether a tool that is new is served at once.
    """
    entries = list(offered)
    known = {pin.name: pin for pin in pins}
    names = {str(entry["name"]) for entry in entries}
    gone = {
        shape(pin.entry): pin
        for pin in known.values()
        if pin.state == "accepted" and pin.name not in names
    }
    served, quarantined, accepted = list[Entry](), list[Quarantined](), list[Entry]()
    for entry in entries:
        pin = known.get(str(entry["name"]))
        doubt = _doubt(entry, pin, gone, trust)
        if doubt is not None:
            quarantined.append(doubt)
            continue
        served.append(entry)
        if pin is None:
            accepted.append(entry)
    return Verdict(tuple(served), tuple(quarantined), tuple(accepted))


def _doubt(
    entry: Entry, pin: Pin | None, gone: Mapping[str, Pin], trust: Trust
) -> Quarantined | None:
    """Why a tool is not served; None where it is."""
    if pin is not None and pin.digest == digest(entry):
        if pin.state == "accepted":
            return None
        if pin.state == "rejected":
            return Quarantined(entry, "it was turned down", turned_down=True)
        return Quarantined(entry, "nobody has accepted it yet")
    if pin is not None:
        before = pin.entry if pin.state == "accepted" else None
        return Quarantined(entry, "it has changed since it was looked at", before)
    if renamed := gone.get(shape(entry)):
        reason = f"it takes the place of {renamed.name}, which the server offers no more"
        return Quarantined(entry, reason, renamed.entry)
    if found := suspicions(entry):
        return Quarantined(entry, f"its definition {', and '.join(found)}")
    if trust == "review":
        return Quarantined(entry, "nobody has accepted it yet")
    return None


def digest(entry: Entry) -> str:
    """A digest of a whole definition, whatever the order of its keys: 64 hexadecimal digits."""
    return hashlib.sha256(_canonical(entry).encode()).hexdigest()


def shape(entry: Entry) -> str:
    """A digest of what a tool takes and says it does, whatever its name and its words."""
    what = [_demands(entry.get("inputSchema")), entry.get("annotations") or {}]
    return hashlib.sha256(_canonical(what).encode()).hexdigest()


def _demands(schema: Any, *, names: bool = False) -> Any:
    """A schema without the words in it."""
    if isinstance(schema, Mapping):
        return {
            key: _demands(value, names=not names and key in _NAMES_BELOW)
            for key, value in schema.items()
            if names or key not in _WORDS
        }
    if isinstance(schema, list):
        return [_demands(each) for each in schema]
    return schema


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _lines(entry: Entry) -> list[str]:
    """A definition as lines in which no character is hidden."""
    return json.dumps(entry, indent=2, sort_keys=True, ensure_ascii=True).splitlines()
