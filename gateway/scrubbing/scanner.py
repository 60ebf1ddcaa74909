"""Finds what the rules describe: one alternation finds candidates, one rule names each.

RE2 takes time in proportion to the text, whatever the text is, and looks for all rules at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gateway.scrubbing.blocks import blotted, end_of_block
from gateway.scrubbing.checks import CHECKS, entropy
from gateway.scrubbing.rules import Rule

_MEMORY = 64 << 20
"""Bytes that the alternation's automaton may take; it grows with the texts it has seen."""
_SHORT = 4096
_GROUPS = ("secret", "single", "tick")
_SHA = b"sha"


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
        options.max_mem = _MEMORY
        self._names = re2.Set.SearchSet(options)
        for rule in self._rules:
            self._names.Add(rule.pattern)
        self._names.Compile()
        self._each: dict[int, _Single] = {}

    def may_hold(self, data: bytes) -> bool:
        """Whether a text has anything that looks like a secret; at once, where it is short."""
        if len(data) < _SHORT:
            return self._names.Match(data) is not None
        return self._any.search(data) is not None

    def find(self, data: bytes) -> Iterator[Found]:
        """Every secret, from the first to the last; they do not overlap."""
        place = 0
        while (candidate := self._any.search(data, place)) is not None:
            start, end = candidate.span()
            found = self._named(data, start, end)
            if found is None:
                place = start + 1
            else:
                yield found
                place = max(found.end, start + 1)

    def _named(self, data: bytes, start: int, end: int) -> Found | None:
        if data.startswith(_SHA, start + 1):  # a lockfile's hashes come by the hundred
            return None
        numbers = self._names.Match(data[start:end])
        for number in sorted(numbers) if numbers else range(len(self._rules)):
            found = self._single(number).find(data, start, end)
            if found is not None:
                return found
        return None

    def _single(self, number: int) -> _Single:
        single = self._each.get(number)
        if single is None:
            single = self._each[number] = _Single(self._rules[number], self._options)
        return single

    @cached_property
    def _any(self) -> Any:
        import re2

        self._options.never_capture = True
        whole = "|".join(f"(?:{rule.pattern})" for rule in self._rules)
        try:
            return re2.compile(whole, self._options)
        finally:
            self._options.never_capture = False


class _Single:
    """One rule, ready to look at a candidate."""

    __slots__ = ("_check", "_groups", "_pattern", "_rule")

    def __init__(self, rule: Rule, options: Any) -> None:
        import re2

        self._rule = rule
        self._pattern = pattern = re2.compile(rule.pattern, options)
        self._check = CHECKS[rule.check] if rule.check else None
        index: dict[str, int] = pattern.groupindex
        self._groups = [index[name] for name in _GROUPS if name in index]

    def find(self, data: bytes, start: int, end: int) -> Found | None:
        match = self._pattern.search(data, start, end)
        if match is None:
            return None
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
