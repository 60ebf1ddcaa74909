"""The challenges in a ``WWW-Authenticate`` header (RFC 9110, 11.6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"  # noqa: S105  (a token of the grammar)
_PARAMETER = re.compile(rf'\s*({_TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_TOKEN}))\s*(?:,|$)')
_SCHEME = re.compile(rf"[\s,]*({_TOKEN})(?:\s+|\s*(?:,|$))")
_TOKEN68 = re.compile(r"[A-Za-z0-9\-._~+/]+=*\s*(?:,|$)")
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a server asks for.

    Attributes:
        scheme: in lower case, such as ``bearer``.
        parameters: by name in lower case, such as ``scope`` and ``resource_metadata``.
    """

    scheme: str
    parameters: dict[str, str] = field(default_factory=dict)


def parse_challenges(headers: Iterable[str]) -> tuple[Challenge, ...]:
    """Every challenge of an answer's headers; what cannot be read ends its header.

    Args:
        headers: the values of ``WWW-Authenticate``, each of one or more challenges.
    """
    return tuple(each for header in headers for each in _challenges(header))


def _challenges(header: str) -> list[Challenge]:
    found: list[Challenge] = []
    at = 0
    while match := _SCHEME.match(header, at):
        found.append(Challenge(match[1].lower()))
        at = match.end()
        if not _PARAMETER.match(header, at) and (token := _TOKEN68.match(header, at)):
            at = token.end()
        while parameter := _PARAMETER.match(header, at):
            quoted = parameter[2]
            value = parameter[3] if quoted is None else _ESCAPED.sub(r"\1", quoted)
            found[-1].parameters.setdefault(parameter[1].lower(), value)
            at = parameter.end()
    return found
