"""Takes secrets out of texts and of arguments of any shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gateway.scrubbing.opaque import NOTHING, Opaque
from gateway.scrubbing.rule_files import Rule, shipped
from gateway.scrubbing.scanner import Found, Scanner

MIN_TEXT_CHARACTERS = 12
"""A text of fewer characters holds nothing that a rule describes."""
_MIN_NAMED_CHARACTERS = 6
_LONG_VALUE_CHARACTERS = 4096
_MAX_ROUNDS = 4
_NAMES = (
    *("password", "passwd", "passphrase", "pwd", "secret", "token", "key", "credential"),
    *("credentials", "mnemonic", "phrase", "words"),
)
_PLAIN = frozenset({int, float, bool, type(None)})


@dataclass(frozen=True, slots=True)
class Redaction:
    """What was taken out, and where; never the secret itself.

    Attributes:
        rule: the rule's name.
        kind: what it was, in words.
        argument: the way to the text: ``diff``, ``files.2.text``.
        line: the line in that text, from 1, or None where the text has but one.
    """

    rule: str
    kind: str
    argument: str
    line: int | None = None


class Scrubber:
    """Takes secrets out.

    The rules are read and compiled at first use, which takes a few hundredths of a second.

    Args:
        rules: what to look for; every rule that ships where it is None.
    """

    def __init__(self, rules: Iterable[Rule] | None = None) -> None:
        self._rules = rules

    @cached_property
    def scanner(self) -> Scanner:
        """What looks for the rules."""
        return Scanner(shipped() if self._rules is None else self._rules)

    def text(self, text: str, argument: str = "") -> tuple[str, list[Redaction]]:
        """A text without its secrets.

        Lines stay as many as they were. A text without secrets is returned as it is.

        Args:
            text: any text.
            argument: what the redactions call it.

        Returns:
            The text, and what was taken out of it.
        """
        if len(text) < MIN_TEXT_CHARACTERS:
            return text, []
        data = text.encode("utf-8", "surrogatepass")
        redactions: list[Redaction] = []
        for _ in range(_MAX_ROUNDS):  # what was taken out may bare something else, if rarely
            found = self.scanner.find(data)
            if not found:
                break
            redactions += _redactions(data, found, argument)
            data = _without(data, found)
        return (data.decode("utf-8", "surrogatepass"), redactions) if redactions else (text, [])

    def arguments(
        self,
        raw: Mapping[str, Any],
        opaque: Opaque = NOTHING,
        texts: Sequence[str] | None = None,
    ) -> tuple[Mapping[str, Any], list[Redaction]]:
        """Arguments without their secrets, and what was taken out; a few microseconds.

        Args:
            raw: JSON values; they are not changed.
            opaque: what to leave alone (:func:`gateway.scrubbing.opaque.opaque`).
            texts: what is to be looked at (:func:`texts_of`), where that is known already.

        Returns:
            The same mapping where there are none, else a changed copy.
        """
        looked_at = texts_of(raw, opaque) if texts is None else texts
        data = "\n".join(looked_at).encode("utf-8", "surrogatepass")
        if not data or not self.scanner.may_hold(data):
            return raw, []
        redactions: list[Redaction] = []
        cleaned = self._value(raw, opaque, "", redactions)
        return (cleaned if redactions else raw), redactions

    def _value(self, value: Any, opaque: Opaque, path: str, out: list[Redaction]) -> Any:
        if opaque is None or value is None:
            return value
        if isinstance(value, str):
            cleaned, found = self.text(value, path)
            out += found
            return cleaned
        if isinstance(value, Mapping):
            return self._mapping(value, opaque, path, out)
        if isinstance(value, list | tuple):
            return [self._value(v, opaque, f"{path}.{i}", out) for i, v in enumerate(value)]
        return value

    def _mapping(
        self, mapping: Mapping[str, Any], opaque: Opaque, path: str, out: list[Redaction]
    ) -> dict[str, Any]:
        cleaned: dict[str, Any] = {}
        for key, value in mapping.items():
            inner = NOTHING if not opaque else opaque.get(key, NOTHING)
            name = key
            if len(key) >= MIN_TEXT_CHARACTERS:
                name, found = self.text(key, path or "a name")
                out += found
                name = _unused(name, cleaned) if found else name
            place = f"{path}.{name}" if path else name
            if isinstance(value, str) and inner is not None:
                cleaned[name] = self._entry(key, value, place, out)
            else:
                cleaned[name] = self._value(value, inner, place, out)
        return cleaned

    def _entry(self, key: str, value: str, path: str, out: list[Redaction]) -> str:
        """A text under a name: a secret of its own, or one because of the name."""
        cleaned, found = self.text(value, path)
        if not found and _may_name_a_secret(key, value):
            before, after = f'{key}="', '"'
            named, found = self.text(f"{before}{value}{after}", path)
            if found and named.startswith(before) and named.endswith(after):
                cleaned = named[len(before) : -1]
            else:
                found = []
        out += found
        return cleaned


def texts_of(raw: Mapping[str, Any], opaque: Opaque) -> list[str]:
    """Every text of arguments in which a secret is looked for, names among them."""
    texts: list[str] = []
    _collect(raw, opaque, texts)
    return texts


def _collect(value: Any, opaque: Opaque, texts: list[str]) -> None:
    """Every text that is to be looked at, names among them, without its place."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if len(key) >= MIN_TEXT_CHARACTERS:
                texts.append(key)
            below = opaque.get(key, NOTHING) if opaque else NOTHING
            if below is not None and inner.__class__ not in _PLAIN:
                _collect_one(key, inner, below, texts)
    elif isinstance(value, list | tuple):
        for each in value:
            _collect_one("", each, opaque, texts)


def _collect_one(name: str, value: Any, opaque: Opaque, texts: list[str]) -> None:
    if not isinstance(value, str):
        _collect(value, opaque, texts)
    elif _may_name_a_secret(name, value):
        texts.append(f'{name}="{value}"')
    elif len(value) >= MIN_TEXT_CHARACTERS:
        texts.append(value)


def _may_name_a_secret(name: str, value: str) -> bool:
    return (
        _MIN_NAMED_CHARACTERS <= len(value) < _LONG_VALUE_CHARACTERS
        and name.lower().endswith(_NAMES)
        and '"' not in value
        and "\n" not in value
    )


def _redactions(data: bytes, found: Sequence[Found], argument: str) -> Iterable[Redaction]:
    several = b"\n" in data
    line, place = 1, 0
    for each in found:
        line += data.count(b"\n", place, each.start)
        place = each.start
        yield Redaction(each.rule.name, each.rule.kind, argument, line if several else None)


def _without(data: bytes, found: Sequence[Found]) -> bytes:
    parts, place = [], 0
    for each in found:
        parts += [data[place : each.start], each.mark]
        place = each.end
    return b"".join([*parts, data[place:]])


def _unused(name: str, taken: Mapping[str, Any]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free
