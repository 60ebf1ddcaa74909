"""Small talk of two people over some days, and what they say once among it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SPEAKERS = ("Noor", "kim_w")
"""Who talks, in turns: one by a name, one as people are called in chats."""


@dataclass(frozen=True, slots=True)
class Told:
    """Something that is said once.

    Attributes:
        said: the line, with who says it.
        asked: the question that it answers.
    """

    said: str
    asked: str


@cache
def small_talk() -> tuple[Sequence[str], Sequence[Told]]:
    """The lines of the talk in their order, each with who says it, and what is told among them.

    What is told stands at equal distances, said by either in turn.
    """
    import yaml

    path = Path(__file__).parent / "data" / "small_talk.yaml"
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    talk = [f"{SPEAKERS[at % 2]}: {line}" for at, line in enumerate(found["talk"])]
    told = [
        Told(f"{SPEAKERS[at % 2]}: {one['said']}", one["asked"].format(name=SPEAKERS[at % 2]))
        for at, one in enumerate(found["told"])
    ]
    apart = len(talk) // len(told)
    lines = list(talk)
    for at, one in reversed(list(enumerate(told))):
        lines.insert(at * apart + apart // 2, one.said)
    return lines, told
