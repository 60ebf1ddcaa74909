"""The rules of ``rules/*.yaml``: one kind of secret each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from typing import Any

MARK = "[REDACTED]"
"""What stands where a secret stood."""

FAMILIES = (
    "code_hosting",
    "cloud",
    "data",
    "ai",
    "messaging",
    "payments",
    "work",
    "general",
)
"""The files, in the order in which their rules are tried."""

_ASSIGNED = r"""[A-Za-z0-9_.-]*(?:\\{0,3}["'\]]){0,2}\s*(?::=|=>|={1,3}|[:,])\s*\\{0,3}["'`]?"""
_COUNT = re.compile(r"\{(\d+)(,\d*)?\}")
_MAX_REPEATS = 6
_END = r"(?:[^A-Za-z0-9_-]|$)"


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of secret.

    Attributes:
        name: the rule's own name, such as ``github-classic-token``.
        kind: what it finds, in words for people.
        pattern: RE2 syntax; a group ``secret`` is what is taken out, else the whole match.
        source: the address of the vendor's documentation of the format.
        rank: which rule names a text that several match: the lowest.
        entropy: the least bits per character of a secret.
        check: the name of a further check (:mod:`gateway.scrubbing.checks`), or an empty string.
        block: whether it begins a block that goes on over lines.
        mark: what stands where the secret stood.
        checked: the day on which prefix, alphabet and length were last compared with what the
            vendor says of them; None where the vendor says too little, or nobody has yet.
    """

    name: str
    kind: str
    pattern: str
    source: str
    rank: int
    entropy: float = 0.0
    check: str = ""
    block: bool = False
    mark: str = MARK
    checked: date | None = None

    @property
    def rough(self) -> str:
        """A pattern that matches wherever the rule's own does, and that counts less.

        An automaton that counts to 40 for two hundred rules at once has more states than memory;
        one that counts to six has few. What looks random has no other mark than its length.
        """
        return self.pattern if self.check == "entropy" else _COUNT.sub(_fewer, self.pattern)


def shipped(but: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules that are applied, the first to try first.

    Args:
        but: names of rules to leave out.
    """
    out = frozenset(but)
    return tuple(rule for rule in all_rules() if rule.name not in out)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, the first to try first.

    A whole block comes before what may stand in it by chance, a vendor's own format before a value
    that stands near a vendor's name, and that before what any vendor may use.
    """
    return tuple(sorted(_read(), key=lambda rule: rule.rank))


def _read() -> Iterator[Rule]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for family in FAMILIES:
        text = files(__package__).joinpath(f"rules/{family}.yaml").read_text("utf-8")
        for each in yaml.load(text, loader):  # noqa: S506 - both are safe loaders
            yield _rule(each, general=family == "general")


def _rule(data: dict[str, Any], *, general: bool) -> Rule:
    rest = dict(data)
    near, value = rest.pop("near", None), rest.pop("value", None)
    if near is not None:
        rest["pattern"] = _near(near, value)
    rank = 0 if rest.get("block") else 3 if general else 1 if near is None else 2
    return Rule(rank=rank, **rest)


def _near(words: list[str], value: str) -> str:
    """A value without a form of its own, assigned to a name that holds one of the words.

    ``^`` before a word: the name, or a part of it after ``_``, begins with it.
    """
    named = "|".join(rf"(?:\b|_){w[1:]}" if w.startswith("^") else w for w in words)
    return rf"(?i:{named}){_ASSIGNED}(?P<secret>{value}){_END}"


def _fewer(count: re.Match[str]) -> str:
    least, most = int(count[1]), count[2]
    if least <= _MAX_REPEATS and most is None:
        return count[0]
    return f"{{{min(least, _MAX_REPEATS)},}}"
