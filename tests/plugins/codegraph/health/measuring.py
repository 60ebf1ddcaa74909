"""Precision and recall of analyses over a program whose health is known."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from plugins.codegraph.health.analysis import Analysed
from tests.plugins.codegraph.health.seeded import Seeded

Found = Mapping[str, Set[Any]]
ANALYSES = ("dead", "exports", "duplicates", "cycles")


def found_in(analysed: Analysed) -> Found:
    """What each analysis found, in the words of :class:`Seeded`."""
    entities = analysed.code.entities
    return {
        "dead": {each.entity.qualified for each in analysed.dead},
        "exports": {entities[at].name for at in analysed.exports[0]},
        "duplicates": {
            frozenset(entities[at].qualified for at in each.members) for each in analysed.copies[0]
        },
        "cycles": {frozenset(each.files) for each in analysed.loops if each.at == "import time"},
    }


def rates(planted: Seeded, found: Found) -> dict[str, tuple[float, float, list[Any]]]:
    """Precision and recall by analysis, each with what was wrong or missed."""
    measured = {}
    for name in ANALYSES:
        true, got = getattr(planted, name), found[name]
        right = len(true & got)
        measured[name] = (
            right / len(got) if got else 1.0,
            right / len(true) if true else 1.0,
            sorted(map(str, true ^ got)),
        )
    return measured
