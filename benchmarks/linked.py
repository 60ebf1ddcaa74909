"""Questions that take two entries, of which the first names what leads to the second.

"When is the supplier of our flour closed?" is answered by who supplies it, and by what another
entry says of them. Made from ``data/linked.yaml`` by a fixed seed. Of the families those are kept
apart that a hash chooses, 6 of 11: nothing is tuned on them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.dialogues import held_out

OTHERS = 2
"""Entries beside these that name the same, and answer nothing."""


@dataclass(frozen=True, slots=True)
class Chain:
    """Two entries, and a question that takes both.

    Attributes:
        first: what the question's words lead to.
        second: what is asked for; it says nothing of what the question names.
        others: what else is said of what both of these name.
        question: asks for the second by what the first says.
        held_out: whether nothing may be tuned on it.
    """

    first: str
    second: str
    others: tuple[str, ...]
    question: str
    held_out: bool


@cache
def _data() -> Mapping[str, Any]:
    import yaml

    path = Path(__file__).parent / "data" / "linked.yaml"
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def chains(seed: int = 17) -> list[Chain]:
    """Each subject of each family once: the same for the same seed."""
    return list(_chains(random.Random(seed)))


def _chains(chance: random.Random) -> Iterator[Chain]:
    for family in _data()["chains"]:
        values = chance.sample(family["values"], len(family["values"]))
        for subject, name, value in zip(family["subjects"], family["names"], values, strict=True):
            about = {"s": subject, "n": name, "v": value}
            others = chance.sample(_data()["others"], OTHERS)
            yield Chain(
                _sentence(chance.choice(family["first"]), about),
                _sentence(chance.choice(family["second"]), about),
                tuple(_sentence(each, about) for each in others),
                _sentence(chance.choice(family["asks"]), about),
                held_out(family["name"]),
            )


def _sentence(template: str, values: Mapping[str, str]) -> str:
    said = template.format(**values)
    return said[0].upper() + said[1:]
