"""Dialogues of weeks between several people who change their minds, and questions about them.

Made from families of facts (``data/dialogues.yaml``), each said and asked in several ways, by a
fixed seed. A third of the families, chosen by hash, is kept apart: nothing is tuned on it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count, product
from pathlib import Path
from typing import Any, Literal

Kind = Literal["single", "changed", "follow-up", "two turns", "month"]
BEGIN = datetime(2026, 1, 5, 18, tzinfo=UTC)
WEEKS = 14
CHATTER = 3
"""Lines of small talk for each line that tells something."""
QUESTIONS = 300


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said.

    Attributes:
        number: its place.
        speaker: who.
        text: what.
        at: when.
        session: which conversation it is part of.
    """

    number: int
    speaker: str
    text: str
    at: datetime
    session: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the turns that answer it.

    Attributes:
        text: the question.
        evidence: the numbers of the turns that answer it.
        stale: those that held before.
        kind: what makes it hard.
        held_out: whether nothing may be tuned on it.
    """

    text: str
    evidence: frozenset[int]
    kind: Kind
    held_out: bool
    stale: frozenset[int] = frozenset()


@dataclass(slots=True)
class Dialogues:
    """What was said, and what is asked."""

    turns: list[Turn] = field(default_factory=list)
    questions: list[Asked] = field(default_factory=list)


@cache
def families() -> Mapping[str, Any]:
    """The facts, and how they are said and asked."""
    import yaml

    path = Path(__file__).parent / "data" / "dialogues.yaml"
    found: Mapping[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return found


def held_out(name: str) -> bool:
    """Whether a family is one of the third on which nothing is tuned."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") % 3 == 0


@dataclass(frozen=True, slots=True)
class _Said:
    week: int
    speaker: str
    lines: Sequence[str]
    key: tuple[str, str]


def dialogues(seed: int = 17) -> Dialogues:
    """All of it: the same for the same seed."""
    chance = random.Random(seed)
    made = Dialogues()
    said = sorted(_facts(chance), key=lambda each: (each.week, chance.random()))
    spoken: dict[tuple[str, str], list[Turn]] = {}
    chatter = _chatter(chance)
    sessions = count()
    for week in range(WEEKS):
        of_week = [each for each in said if each.week == week]
        for start in range(0, len(of_week), 8):
            some = of_week[start : start + 8]
            _converse(made, some, week, next(sessions), spoken, chance, chatter)
    questions = list(_questions(spoken, chance))
    chance.shuffle(questions)
    made.questions = questions[:QUESTIONS]
    return made


def _chatter(chance: random.Random) -> list[tuple[str, str]]:
    """Small talk with who says it, each line once, in no order."""
    data = families()
    parts = (data["people"], data["chatter"]["openers"], data["chatter"]["bodies"])
    lines = [(person, f"{opener} {body}") for person, opener, body in product(*parts)]
    chance.shuffle(lines)
    return lines


def _facts(chance: random.Random) -> Iterator[_Said]:
    data = families()
    for person in data["people"]:
        for family in data["families"]:
            if chance.random() < 0.2:
                continue
            values = chance.sample(family["values"], 2)
            first = chance.randrange(WEEKS - 4)
            line = chance.choice(family["says"]).format(p=person, v=values[0])
            yield _Said(first, person, [line], (family["name"], person))
            if "changes" in family and chance.random() < 0.7:
                later = chance.randrange(first + 1, WEEKS)
                line = chance.choice(family["changes"]).format(p=person, v=values[1], o=values[0])
                yield _Said(later, person, [line], (family["name"], person))
    for follow in data["follow_ups"]:
        for person in data["people"]:
            for name, detail in chance.sample(follow["about"], 6):
                other = chance.choice([each for each in data["people"] if each != person])
                ask = follow["ask"].format(n=name, q=person)
                answer = chance.choice(follow["answer"]).format(d=detail)
                lines = [f"{other}|{ask}", f"{person}|{answer}"]
                yield _Said(chance.randrange(WEEKS), person, lines, (name, person))


def _converse(
    made: Dialogues,
    some: Sequence[_Said],
    week: int,
    session: int,
    spoken: dict[tuple[str, str], list[Turn]],
    chance: random.Random,
    chatter: list[tuple[str, str]],
) -> None:
    at = BEGIN + timedelta(weeks=week, days=session % 5)
    for each in some:
        for _ in range(chance.randrange(2 * CHATTER)):
            at += timedelta(seconds=40)
            speaker, line = chatter.pop()
            made.turns.append(Turn(len(made.turns), speaker, line, at, session))
        for line in each.lines:
            at += timedelta(seconds=50)
            speaker, _, text = line.rpartition("|")
            turn = Turn(len(made.turns), speaker or each.speaker, text, at, session)
            made.turns.append(turn)
        spoken.setdefault(each.key, []).append(made.turns[-1])


def _questions(
    spoken: Mapping[tuple[str, str], Sequence[Turn]], chance: random.Random
) -> Iterator[Asked]:
    data = families()
    by_name = {family["name"]: family for family in data["families"]}
    (follow,) = data["follow_ups"]
    for (name, person), turns in spoken.items():
        apart = held_out(name)
        if name not in by_name:
            text = chance.choice(follow["question"]).format(p=person, n=name)
            yield Asked(text, frozenset({turns[-1].number}), "follow-up", apart)
            continue
        text = chance.choice(by_name[name]["asks"]).format(p=person)
        last = frozenset({turns[-1].number})
        stale = frozenset(each.number for each in turns[:-1])
        yield Asked(text, last, "changed" if stale else "single", apart, stale)
    for (name, person), turns in spoken.items():
        others = [key for key in spoken if key[1] == person and key[0] in by_name and key[0] > name]
        if name in by_name and others and chance.random() < 0.5:
            other = chance.choice(others)
            one, two = (chance.choice(by_name[each]["asks"]) for each in (name, other[0]))
            text = f"{one.format(p=person)} And {two.format(p='they')}"
            evidence = frozenset({turns[-1].number, spoken[other][-1].number})
            yield Asked(text, evidence, "two turns", held_out(name) or held_out(other[0]))
