"""Says what was redacted: a sentence for agents and people, JSON for programs, an HTTP header."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.scrubbing.scrubber import Redaction

META_KEY = "porch/redacted"
"""The key in MCP's ``_meta`` (and in an error's data) that lists what was redacted."""
HEADER = "Porch-Redacted"
"""The REST header that lists it, a list of structured fields (RFC 9651)."""
PREFIX = "Redacted before use: "
"""How the sentence for agents begins."""

_MAX_SHOWN = 5
_MAX_LISTED = 50


def sentence(redactions: Sequence[Redaction]) -> str:
    """What was redacted and where, for an agent to read."""
    shown = [_one(each) for each in dict.fromkeys(redactions)]
    more = f"; and {len(shown) - _MAX_SHOWN} more" if len(shown) > _MAX_SHOWN else ""
    return (
        f"{PREFIX}{'; '.join(shown[:_MAX_SHOWN])}{more}. "
        "The portal passed on [REDACTED] in its place and kept nothing of it. "
        "If it is a real secret, keep it out of tool calls and have it replaced."
    )


def listed(redactions: Sequence[Redaction]) -> list[dict[str, Any]]:
    """The same as JSON values."""
    return [
        {"kind": each.kind, "rule": each.rule, "argument": each.argument}
        | ({} if each.line is None else {"line": each.line})
        for each in redactions[:_MAX_LISTED]
    ]


def header(redactions: Sequence[Redaction]) -> bytes:
    """The same as the value of :data:`HEADER`: ``github-classic-token;in="query";line=2``."""
    items = (
        f'{each.rule};in="{_plain(each.argument)}"'
        + ("" if each.line is None else f";line={each.line}")
        for each in redactions[:_MAX_LISTED]
    )
    return ", ".join(items).encode("ascii")


def _one(redaction: Redaction) -> str:
    where = f"`{_quotable(redaction.argument)}`"
    line = "" if redaction.line is None else f", line {redaction.line}"
    return f"{redaction.kind} in {where}{line}"


def _quotable(argument: str) -> str:
    # A caller wrote it: it must not end the quotation, nor begin a line of its own.
    return "".join(c if c.isprintable() and c != "`" else " " for c in argument[:100])


def _plain(argument: str) -> str:
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in argument[:100])
