"""Finds what the rules describe: one automaton says which rules to ask, those say where.

RE2 takes time in proportion to the text, whatever the text is. Its set of all patterns says in
one pass which of them match, but not where: to know where a match begins it would have to read
backwards for two hundred patterns at once, which takes more states than memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from gateway.scrubbing.blocks import blotted, end_of_block
from gateway.scrubbing.checks import CHECKS, entropy
from gateway.scrubbing.rule_files import Rule

_MAX_SCANNER_BYTES, _MAX_RULE_BYTES = 16 << 20, 2 << 20
"""Bytes that the automaton of all rules may take, and that of one; they grow with what they see."""
_PART_BYTES = 8 << 10
"""Bytes that are looked at together; a part ends with a line."""
MAX_FOUND = 5_000
"""Secrets that are told apart in a text, of each rule; what follows them is taken out whole."""
_GROUPS = ("secret", "single", "tick")

_REST = Rule("very-many-secrets", "the rest of a text with very many secrets", "", "", 0)
"""What takes out all that follows the last secret that is told apart."""


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text.

    Attributes:
        rule: what found it.
        start: where it begins, in bytes.
        end: where it ends.
        mark: what is to stand in its place.
    """

    rule: Rule
    start: int
    end: int
    mark: bytes


class Scanner:
    """Looks for secrets in UTF-8.

    Args:
        rules: what to look for; the first of those that match names a secret.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        import re2

        self._rules = tuple(rules)
        self._options = options = re2.Options()
        options.log_errors = False
        options.max_mem = _MAX_SCANNER_BYTES
        self._which = re2.Set.SearchSet(options)
        for rule in self._rules:
            self._which.Add(rule.rough)
        self._which.Compile()
        options.max_mem = _MAX_RULE_BYTES
        self._each: dict[int, _Single] = {}

    def may_hold(self, data: bytes) -> bool:
        """Whether a text has anything that looks like a secret, for a second look."""
        return self._which.Match(data) is not None

    def find(self, data: bytes) -> list[Found]:
        """Every secret, from the first to the last; they do not overlap.

        Where there are very many, the last one is all the rest of the text.
        """
        named: list[Found] = []
        stop = len(data)
        for start, end in _parts(data):
            some, reached = self._in_part(data, start, end)
            named += some
            if reached < end or len(named) >= MAX_FOUND:
                stop = reached
                break
        found = _apart(named)
        stop = max(stop, found[-1].end) if found else stop
        return found if stop >= len(data) else [*found, _rest(data, stop)]

    def _in_part(self, data: bytes, start: int, end: int) -> tuple[list[Found], int]:
        """The secrets that begin in a part, and up to where there are no others."""
        numbers = self._which.Match(data[start:end] if end - start < len(data) else data)
        named: list[Found] = []
        stop = end
        for number in sorted(numbers or ()):
            found = [*islice(self._single(number).find(data, start, end), MAX_FOUND)]
            if len(found) == MAX_FOUND:
                stop = min(stop, found[-1].end)
            named += found
        return [each for each in named if each.start < stop], stop

    def _single(self, number: int) -> _Single:
        single = self._each.get(number)
        if single is None:
            single = self._each[number] = _Single(self._rules[number], self._options)
        return single


def _rest(data: bytes, start: int) -> Found:
    return Found(_REST, start, len(data), blotted(data[start:], _REST.mark.encode()))


def _parts(data: bytes) -> Iterator[tuple[int, int]]:
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PART_BYTES) + 1 or len(data)
        yield start, end
        start = end


def _apart(named: list[Found]) -> list[Found]:
    """Those that overlap none of an earlier rule, in the order of the text."""
    if len(named) < 2:
        return named
    order = {id(each): number for number, each in enumerate(named)}
    kept: list[Found] = []
    for each in sorted(named, key=lambda found: (found.start, -found.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
        elif (each.rule.rank, order[id(each)]) < (kept[-1].rule.rank, order[id(kept[-1])]):
            kept[-1] = each
    return kept


class _Single:
    """One rule, ready to look for what it describes."""

    __slots__ = ("_check", "_groups", "_pattern", "_rule")

    def __init__(self, rule: Rule, options: Any) -> None:
        import re2

        self._rule = rule
        self._pattern = pattern = re2.compile(rule.pattern, options)
        self._check = CHECKS[rule.check] if rule.check else None
        index: dict[str, int] = pattern.groupindex
        self._groups = [index[name] for name in _GROUPS if name in index]

    def find(self, data: bytes, start: int, end: int) -> Iterator[Found]:
        """Every secret of this rule that begins in a part of a text."""
        while start < end and (match := self._pattern.search(data, start, end)) is not None:
            found = self._found(data, match)
            if found is not None:
                yield found
                start = max(found.end, match.start() + 1)
            else:
                start = match.start() + 1

    def _found(self, data: bytes, match: Any) -> Found | None:
        rule, (begin, stop) = self._rule, self._secret(match)
        if rule.block:
            return self._whole_block(data, match.start(), match.end())
        if self._check is not None and not self._check(data, match.start(), begin, stop):
            return None
        if rule.entropy and entropy(data[begin:stop]) < rule.entropy:
            return None
        return Found(rule, begin, stop, rule.mark.encode())

    def _secret(self, match: Any) -> tuple[int, int]:
        spans = (match.span(group) for group in self._groups)
        found: tuple[int, int] = next((s for s in spans if s[0] >= 0), match.span())
        return found

    def _whole_block(self, data: bytes, start: int, after: int) -> Found | None:
        end = end_of_block(data, after)
        if end is None:
            return None
        return Found(self._rule, start, end, blotted(data[start:end], self._rule.mark.encode()))
