"""200 facts that change, and 200 pairs that are near in meaning and both hold.

Made from ``data/updates.yaml`` by a fixed seed, and as many again, said in more ways, from
``data/changes.yaml``. A third of the families, chosen by hash, is kept apart: nothing is tuned on
it.
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
PLAIN, FREE = "updates", "changes"
"""Plain sentences, and freer ones: corrections, passives, what says nothing of a change."""


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
    """Two things of which neither replaces the other.

    Attributes:
        before: what was said first.
        after: what was said later.
        question: asks for the first one, in the family that the pair is made of.
        family: that family; two pairs of one may be about the same.
        held_out: whether nothing may be tuned on it.
    """

    before: str
    after: str
    question: str
    family: str
    held_out: bool


@cache
def _data(name: str) -> Mapping[str, Any]:
    import yaml

    path = Path(__file__).parent / "data" / f"{name}.yaml"
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def updates(name: str = PLAIN, seed: int = 17) -> list[Update]:
    """Round by round, each subject of each family once in a round."""
    chance = random.Random(seed)
    made: list[Update] = []
    for turn in count():
        for family in _data(name)["updates"]:
            made += [_update(family, subject, turn, chance) for subject in family["subjects"]]
        if len(made) >= UPDATES:
            return made[:UPDATES]
    return made


def _update(family: Mapping[str, Any], subject: str, turn: int, chance: random.Random) -> Update:
    old, new = chance.sample(family["values"], 2)
    about = {"s": subject}
    return Update(
        _sentence(chance.choice(family["before"]), about | {"v": old}),
        _sentence(chance.choice(family["after"]), about | {"v": new, "o": old}),
        _sentence(chance.choice(family["asks"]), about),
        turn,
        held_out(family["name"]),
    )


def pairs(name: str = PLAIN, seed: int = 17) -> list[Pair]:
    """Each kind of pair in its turn."""
    return list(_pairs(name, random.Random(seed)))


def _pairs(name: str, chance: random.Random) -> Iterator[Pair]:
    families = {each["name"]: each for each in _data(name)["updates"]}
    for number, kind in zip(range(APART), cycle(_data(name)["apart"]), strict=False):
        family = families[kind["of"]]
        one, other = chance.sample(family["subjects"], 2)
        value, second = chance.sample(family["values"], 2)
        about = {"s": one, "t": other, "v": value, "w": second}
        first, later = _sentence(kind["a"], about), _sentence(kind["b"], about)
        asked = one
        if number % 2 and kind["name"].startswith("two"):
            first, later, asked = later, first, other
        question = _sentence(family["asks"][0], {"s": asked})
        yield Pair(first, later, question, kind["of"], held_out(kind["name"]))


def _sentence(template: str, values: Mapping[str, str]) -> str:
    said = template.format(**values)
    return said[0].upper() + said[1:]
