"""Takes out of an answer what differs honestly from run to run, and keeps how it is related.

Times, ids, tokens, durations, the directory and the version become words in angle brackets. An id
that occurs twice in one answer is the same word twice, so that it still shows what refers to what.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

_TIME = re.compile(r"\b(20\d\d-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(\.\d+)?(Z| UTC|[+-]\d\d:\d\d)?")
_DAY = re.compile(r"\b20\d\d-\d\d-\d\d\b(?![T ]\d)")
_EPOCH = re.compile(r"\b(1[789]\d{8}|2(?!14748364[78])\d{9})(?:\.\d+)?\b")
_HTTP_DATE = re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} 20\d\d [\d:]{8} GMT")
_LONG_DATE = re.compile(r"\b\d{1,2} [A-Z][a-z]+ 20\d\d(?:, \d\d:\d\d UTC)?")
_KEY = re.compile(r"[\w-]+-[a-z2-7]{8}")
MAX_DAYS = 400
"""Days ahead of today; what is further is no date of the portal's own."""
_STEP_S = 300
"""Distances in time are told in steps of so many seconds; the answers come within one."""
_VERSION = (
    r"(porch\"?,(?: ?\"title\": ?\"[^\"]*\",)? ?\"version\": ?\"|[Pp]orch(?:,)? (?:version )?)"
)
_PATTERNS = [
    (re.compile(r'(request_id": ?"|[Rr]equest(?: id)?:? (?:<code>)?)[0-9a-f]{16}'), r"\1<request>"),
    (re.compile(r"(/assets/[\w.-]+\?v=)[0-9a-f]{12}"), r"\1<version>"),
    (re.compile(r'(name="form-id" value=")[\w-]{12}'), r"\1<form>"),
    (re.compile(_VERSION + r"\d+\.\d+\.\d+[\w.+]*"), r"\1<version>"),
    (re.compile(r'("id": ")[\w-]{16}(")'), r"\1<token>\2"),
    (re.compile(r'("key": ?")[\w-]+-[a-z2-7]{8}"'), r'\1<key>"'),
    (re.compile(r'("seconds": )[\d.]+'), r"\1<n>"),
    (re.compile(r"(;r=)\d+"), r"\1<n>"),
    (re.compile(r"(_ms\"?: ?)\d+(?:\.\d+)?"), r"\1<n>"),
    (re.compile(r"([Aa]gain in )\d+( s)"), r"\1<n>\2"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|µs)\b"), "<n> ms"),
]
_NAMES = {"name", "title"}
"""What stands beside the portal's own version: in serverInfo, and in OpenAPI's info."""
_IDS = re.compile(
    r"\b(?:[0-9a-f]{16}|mem_[0-9a-f]{24}|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?!modelcontextprotocol)[a-z2-7]{20}"
    r"|(?:appr|batch|op|evt|query)_[0-9A-Za-z]{12,})\b"
)
_SEALED = re.compile(r"(?<![\w./-])[A-Za-z0-9_-]{40,}(?:\.[A-Za-z0-9_-]{10,})*")
_DIGEST = re.compile(r"0x[0-9A-Fa-f]{40}|[0-9a-f]{40}|[0-9a-f]{64}|[a-z-]+|[A-Z_]+|=+|-+|x+")


class Normal:
    """Normalises the texts of one recording.

    Args:
        root: the directory of the portal.
        address: where it listens.
    """

    def __init__(self, root: Path, address: str) -> None:
        self._fixed = {
            address: "<listens>",
            address.removeprefix("http://"): "<listens>",
            str(root.resolve()): "<root>",
            str(root): "<root>",
        }

    def value(self, value: Any, seen: dict[str, str] | None = None) -> Any:
        """A decoded JSON value without what varies; ``seen`` numbers the ids met so far."""
        seen = {} if seen is None else seen
        if isinstance(value, dict):
            told = {key: self.value(each, seen) for key, each in value.items()}
            told |= {key: "<n>" for key, each in told.items() if _measured(key, each)}
            if value.get("request_id"):
                told["request_id"] = "<request>"
            if _KEY.fullmatch(str(value.get("key"))):
                told["key"] = "<key>"
            if re.fullmatch(r"\d+\.\d+\.\d+", str(told.get("version"))) and _NAMES & told.keys():
                told["version"] = "<version>"
            return told
        if isinstance(value, list):
            return [self.value(each, seen) for each in value]
        if isinstance(value, str):
            return self.text(value, seen)
        if isinstance(value, int | float) and not isinstance(value, bool):
            text = self.text(str(value)) if value > 1e9 else ""
            return text if text.startswith("<") else value
        return value

    def text(self, text: str, seen: dict[str, str] | None = None) -> str:
        """A text without what varies."""
        for variable, word in self._fixed.items():
            text = text.replace(variable, word)
        for pattern, replacement in _PATTERNS:
            text = pattern.sub(replacement, text)
        text = _SEALED.sub(_sealed, text)
        text = _numbered(_IDS, text, {} if seen is None else seen)
        text = _HTTP_DATE.sub("<date>", text)
        text = _LONG_DATE.sub("<date>", text)
        text = _TIME.sub(_time, text)
        text = _DAY.sub(_day, text)
        return _EPOCH.sub(_epoch, text)


def _measured(key: str, value: Any) -> bool:
    return isinstance(value, int | float) and key.endswith(("_ms", "etryAfterSeconds"))


def _sealed(match: re.Match[str]) -> str:
    return match[0] if _DIGEST.fullmatch(match[0]) else "<sealed>"


def _numbered(pattern: re.Pattern[str], text: str, seen: dict[str, str]) -> str:
    return pattern.sub(lambda match: seen.setdefault(match[0], f"<id {len(seen) + 1}>"), text)


def _time(match: re.Match[str]) -> str:
    shape = ("." if match[3] else "") + (match[4] or "")
    clock = match[2] if match[2].count(":") == 2 else f"{match[2]}:00"
    moment = datetime.fromisoformat(f"{match[1]}T{clock}").replace(tzinfo=UTC)
    told = _distance((moment - datetime.now(UTC)).total_seconds())
    return f"<{told}{shape}>" if told else match[0]


def _day(match: re.Match[str]) -> str:
    days = (date.fromisoformat(match[0]) - datetime.now(UTC).date()).days
    return match[0] if not -2 < days < MAX_DAYS else f"<day {max(days, 0):+}>"


def _epoch(match: re.Match[str]) -> str:
    told = _distance(int(match[1]) - datetime.now(UTC).timestamp())
    return f"<epoch {told}>" if told else match[0]


def _distance(seconds: float) -> str | None:
    """A moment as its distance from now; None for what was long ago, and stands in the world."""
    steps = round(seconds / _STEP_S)
    if steps < -1:
        return None
    return f"now{steps * _STEP_S // 60:+}m" if steps > 0 else "now"
