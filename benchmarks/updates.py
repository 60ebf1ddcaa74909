"""200 facts that change, and 200 pairs that are near in meaning and both hold.

Made from ``data/updates.yaml`` by a fixed seed. A third of the families, chosen by hash, is kept
apart: nothing is tuned on it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count, cycle
from pathlib import Path
from typing import Any

from benchmarks.dialogues import held_out

UPDATES, APART = 200, 200


@dataclass(frozen=True, slots=True)
class Update:
    """What was said, what was said later, and a question that asks for it.

    Attributes:
        before: what held first.
        after: what holds since.
        question: asks for it.
        turn: the round it is in: no other one of that round is about the same.
        held_out: whether nothing may be tuned on it.
    """

    before: str
    after: str
    question: str
    turn: int
    held_out: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Two things of which neither replaces the other."""

    before: str
    after: str
    held_out: bool


@cache
def _data() -> Mapping[str, Any]:
    import yaml

    path = Path(__file__).parent / "data" / "updates.yaml"
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def updates(seed: int = 17) -> list[Update]:
    """Round by round, each subject of each family once in a round."""
    chance = random.Random(seed)
    made: list[Update] = []
    for turn in count():
        for family in _data()["updates"]:
            made += [_update(family, subject, turn, chance) for subject in family["subjects"]]
        if len(made) >= UPDATES:
            return made[:UPDATES]
    return made


def _update(family: Mapping[str, Any], subject: str, turn: int, chance: random.Random) -> Update:
    old, new = chance.sample(family["values"], 2)
    about = {"s": subject}
    return Update(
        _sentence(chance.choice(family["before"]), about | {"v": old}),
        _sentence(chance.choice(family["after"]), about | {"v": new}),
        _sentence(chance.choice(family["asks"]), about),
        turn,
        held_out(family["name"]),
    )


def pairs(seed: int = 17) -> list[Pair]:
    """Each kind of pair in its turn."""
    return list(_pairs(random.Random(seed)))


def _pairs(chance: random.Random) -> Iterator[Pair]:
    families = {each["name"]: each for each in _data()["updates"]}
    for number, kind in zip(range(APART), cycle(_data()["apart"]), strict=False):
        family = families[kind["of"]]
        one, other = chance.sample(family["subjects"], 2)
        value, second = chance.sample(family["values"], 2)
        about = {"s": one, "t": other, "v": value, "w": second}
        first, later = _sentence(kind["a"], about), _sentence(kind["b"], about)
        if number % 2 and kind["name"].startswith("two"):
            first, later = later, first
        yield Pair(first, later, held_out(kind["name"]))


def _sentence(template: str, values: Mapping[str, str]) -> str:
    said = template.format(**values)
    return said[0].upper() + said[1:]
