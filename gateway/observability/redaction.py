"""Keep secrets out of everything that is written down: logs, health details, reports.

Three nets, one behind the other: the value under a key that names a secret, text that looks
like a credential, and the exact values of the secrets that this process has read.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "***"
"""The text in place of a secret."""

MIN_SECRET_CHARACTERS = 8
"""Registered values below this length (characters) would blot out ordinary words."""

_MAX_DEPTH = 16
_passing: ContextVar[re.Pattern[str] | None] = ContextVar("passing", default=None)
_NAMES = (
    r"(?:authorization|token|cookie|secret|password|passwd|passphrase|credential|mnemonic"
    r"|signature|(?:api|access|secret|private|signing|encryption)[_-]?key)s?(?:[_-]\d+)?"
)
_SECRET_KEY = re.compile(rf"{_NAMES}$", re.I)
_IN_TEXT = (
    # `Bearer abc`, and Basic credentials, whose base64 holds more than one word of letters.
    (re.compile(r"\b(Bearer|Basic)(\s+)[A-Za-z0-9._~+/=-]{8,}", re.I), rf"\1\2{MARK}"),
    (re.compile(r"\bporch_[A-Za-z0-9_-]{16,}"), MARK),
    # GitHub's tokens, and the Base64 of one as the knowledge agents' requirements send it.
    (re.compile(r"(?<![A-Za-z0-9])(?:gh[oprsu]_|github_pat_)[A-Za-z0-9_]{16,}"), MARK),
    (re.compile(r"Z2(?:h[vwyz1]X[z0-3]|l0aHViX3BhdF9)[A-Za-z0-9+/_-]{16,}={0,2}"), MARK),
    # JSON Web Tokens (RFC 7519) wherever they stand.
    (re.compile(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*"), MARK),
    # The password of a URL such as postgresql://user:password@host.
    (re.compile(r"(://[^\s:/@]*:)[^\s@]+@"), rf"\1{MARK}@"),
    # token=abc in a URL or a repr, 'token': 'abc' in a printed dict.
    (
        re.compile(rf"({_NAMES})(=|['\"]\s*:\s*)(['\"]?)(?!\*\*\*)[^\s&;,'\"(){{}}\]]+", re.I),
        rf"\1\2\3{MARK}",
    ),
)


class Redactor:
    """Takes secrets out of texts and of nested values; it learns values as they are read.

    A value is found by its first characters, so that one more costs the same however many there
    are: a pattern of all would have to be compiled anew, and tried at each place of a text.
    """

    def __init__(self) -> None:
        self._values: set[str] = set()
        self._by_start: dict[str, tuple[str, ...]] = {}
        self._learning = Lock()

    def register(self, value: str) -> None:
        """Never let this value through again, also where it is quoted or escaped.

        Once this returns, no text shows it, whichever thread asks.

        Args:
            value: a secret; shorter than :data:`MIN_SECRET_CHARACTERS` it is left alone.
        """
        if len(value) < MIN_SECRET_CHARACTERS:
            return
        spellings = _spellings(value)
        if spellings <= self._values:
            return
        with self._learning:
            for each in spellings - self._values:
                start = each[:MIN_SECRET_CHARACTERS]
                alike = (*self._by_start.get(start, ()), each)
                self._by_start[start] = tuple(sorted(alike, key=len, reverse=True))
            self._values |= spellings  # last: who finds it here relies on the rest

    @contextmanager
    def hiding(self, value: str) -> Generator[None]:
        """Hide a value for as long as the block lasts, in this task and what it begins.

        For what is a secret of one request, which nothing may keep after it.

        Args:
            value: the secret; its Base64 is hidden as well.
        """
        encoded = base64.urlsafe_b64encode(value.encode("utf-8", "replace")).decode().rstrip("=")
        spellings = sorted({*_spellings(value), encoded}, key=len, reverse=True)
        pattern = re.compile("|".join(map(re.escape, spellings)))
        before = _passing.set(pattern if len(value) >= MIN_SECRET_CHARACTERS else None)
        try:
            yield
        finally:
            _passing.reset(before)

    def text(self, text: str) -> str:
        """The text with every secret in it replaced by :data:`MARK`."""
        text = self._without_values(text)
        if (secrets := _passing.get()) is not None:
            text = secrets.sub(MARK, text)
        for pattern, replacement in _IN_TEXT:
            text = pattern.sub(replacement, text)
        return text

    def value(self, value: Any, depth: int = 0) -> Any:
        """The value as plain JSON types with every secret replaced, keys included."""
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int | float):
            shown = str(value)
            return value if self.text(shown) == shown else MARK
        if depth < _MAX_DEPTH and isinstance(value, Mapping):
            return {self.text(_plain(k)): self._entry(k, v, depth) for k, v in value.items()}
        if depth < _MAX_DEPTH and isinstance(value, list | tuple | set | frozenset):
            return [self.value(item, depth + 1) for item in value]
        return self.text(_plain(value))

    def _without_values(self, text: str) -> str:
        """The text without the values: of several that begin at one place, the longest."""
        known, width, kept, done = self._by_start, MIN_SECRET_CHARACTERS, list[str](), 0
        starts = [at for at in range(len(text) - width + 1) if text[at : at + width] in known]
        for at in starts:
            if at < done:
                continue
            for value in known[text[at : at + width]]:
                if text.startswith(value, at):
                    kept += (text[done:at], MARK)
                    done = at + len(value)
                    break
        return "".join([*kept, text[done:]]) if kept else text

    def _entry(self, key: Any, value: Any, depth: int) -> Any:
        if value is not None and _SECRET_KEY.search(_plain(key)):
            return MARK
        return self.value(value, depth + 1)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "backslashreplace")
    try:
        return str(value) if isinstance(value, BaseException) else repr(value)
    except Exception as error:
        return f"<{type(value).__name__} without a representation: {type(error).__name__}>"


def _spellings(value: str) -> set[str]:
    """The spellings of a value: plain, in JSON, in a repr and in a URL."""
    return {
        value,
        repr(value)[1:-1],
        ascii(value)[1:-1],
        json.dumps(value)[1:-1],
        json.dumps(value, ensure_ascii=False)[1:-1],
        quote(value, safe="", errors="replace"),
        quote(value, errors="replace"),
        quote_plus(value, errors="replace"),
    }


redactor = Redactor()
"""The process's own redactor."""


def register_secret(value: str) -> None:
    """Make sure that a secret this process has read never reaches a log or a report."""
    redactor.register(value)
