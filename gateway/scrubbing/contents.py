"""Secrets in what plugins read in and answer with: files, passages, entries of others.

What a caller sends is scrubbed because people paste without looking. What a plugin reads in was
written to be read, so that less counts here: a text that only looks random is left, and a
password in an address has to look like one (``scott:tiger`` of a manual does not).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from pathlib import PurePath
from typing import Any

from gateway.scrubbing.rule_files import Rule, shipped
from gateway.scrubbing.scrubber import MIN_TEXT_CHARACTERS, Redaction, Scrubber

_OF_CALLS_ALONE = ("high-entropy",)
"""Rules for what callers send: in a file these find test vectors, hashes and pictures."""
_ENCODED = frozenset({"ImageContent", "AudioContent", "BlobResourceContents"})
"""Models whose ``data`` or ``blob`` is Base64: nothing is looked for in it."""


_FRONT = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*\r?$", re.M | re.S)
_ALL = re.compile(rb"\A.*\Z", re.S)
_PLAIN_PARTS = {".md": _FRONT, ".yaml": _ALL, ".yml": _ALL}
"""Which part of a file is YAML, by the ending of its name."""


@dataclass(frozen=True, slots=True)
class ContentScrub:
    """Takes secrets out of the contents of one plugin. It can be sent to another process.

    Attributes:
        plugin: whose contents.
        enabled: whether anything is taken out at all.
        allow: names of rules that are not applied.
        as_is: plugins, and sources of plugins as ``plugin/name``, that are left as they are.
    """

    plugin: str = ""
    enabled: bool = True
    allow: tuple[str, ...] = ()
    as_is: tuple[str, ...] = ()

    def applies(self, source: str = "") -> bool:
        """Whether anything is taken out of what a source, or the plugin, holds."""
        left = self.plugin in self.as_is or f"{self.plugin}/{source}" in self.as_is
        return self.enabled and not left

    def fingerprint(self) -> str:
        """Names the rules and settings: what was cleaned by the same is as it would be now."""
        mine = sorted(each for each in self.as_is if each.partition("/")[0] == self.plugin)
        rules = shipped((*self.allow, *_OF_CALLS_ALONE)) if self.enabled else ()
        definitions = [
            (each.name, each.kind, each.pattern, each.entropy, each.check) for each in rules
        ]
        return hashlib.blake2b(repr((mine, definitions)).encode(), digest_size=8).hexdigest()

    def at_answers(self) -> bool:
        """Whether answers are looked through: not where a source is served as it is on purpose."""
        some = any(each.partition("/")[0] == self.plugin for each in self.as_is)
        return self.enabled and not some

    def text(self, text: str, source: str = "", path: str = "") -> tuple[str, list[Redaction]]:
        """A text without its secrets, and what was taken out; lines stay as many.

        Args:
            text: the text.
            source: what of the plugin it comes from, as its settings name it.
            path: where it stands there, for the redactions.
        """
        if not self.applies(source):
            return text, []
        return _scrubber(self.allow).text(text, path)

    def data(self, data: bytes, source: str = "", path: str = "") -> tuple[bytes, list[Redaction]]:
        """The same of bytes; what is no UTF-8 is looked through as Latin-1."""
        if not self.applies(source) or len(data) < MIN_TEXT_CHARACTERS:
            return data, []
        encoding = "utf-8"
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            if b"\0" in data:
                return data, []  # a picture, an archive
            encoding = "latin-1"
            text = data.decode(encoding)
        cleaned, found = _scrubber(self.allow).text(text, path)
        return (cleaned.encode(encoding), found) if found else (data, [])

    def file(self, data: bytes, source: str = "", path: str = "") -> tuple[bytes, list[Redaction]]:
        """The same of a file, by the ending of its path: what was YAML before is YAML still.

        In YAML, and in the frontmatter of Markdown, ``REDACTED`` stands in a secret's place: a
        bracket would begin a list there, and a colon a mapping.
        """
        cleaned, found = self.data(data, source, path)
        if not found:
            return data, []
        part = _PLAIN_PARTS.get(PurePath(path).suffix.lower())
        return (part.sub(lambda some: _plain(some[0], found), cleaned) if part else cleaned), found

    def value(self, value: Any, texts: list[str] | None = None) -> tuple[Any, list[Redaction]]:
        """An answer of any shape without its secrets.

        Args:
            value: a text, bytes, JSON values, or models of such; it is not changed.
            texts: its texts (:func:`texts_of`), where they are known already.

        Returns:
            The same where there are none, else a changed copy of the same type.
        """
        if texts is None:
            texts = texts_of(value)
        if not texts:
            return value, []
        if not self.may_hold(texts):
            return value, []
        found: list[Redaction] = []
        cleaned = _cleaned(value, _scrubber(self.allow), "", found)
        return (cleaned if found else value), found

    def may_hold(self, texts: Iterable[str]) -> bool:
        """Whether texts have anything that looks like a secret, for a second look."""
        data = "\n".join(texts).encode("utf-8", "surrogatepass")
        return _scrubber(self.allow).scanner.may_hold(data)


@lru_cache(maxsize=4)
def _scrubber(allow: tuple[str, ...]) -> Scrubber:
    return Scrubber(tuple(_for_contents(rule) for rule in shipped((*allow, *_OF_CALLS_ALONE))))


def _for_contents(rule: Rule) -> Rule:
    in_address = rule.check == "given" and ("url" in rule.name or rule.name in _LOOSE)
    check = "password" if in_address else rule.check or ("" if rule.block else "given")
    return replace(rule, check=check, mark=f"[REDACTED: {rule.kind}]")


_SLICE_BYTES = 256 * 1024
"""Bytes that are looked at together."""
_LAP_BYTES = 64 * 1024
"""Bytes than which no secret is longer."""
_WITHOUT_TEXT = frozenset({int, float, bool, type(None)})
_MAY_BE_BYTES = frozenset({"data", "blob", "content"})
"""Fields of which :func:`_is_bytes` says whether they are."""
_LOOSE = frozenset({"curl-user", "sqlserver-password"})


def texts_of(value: Any) -> list[str]:
    """Every text of an answer that is long enough to hold a secret."""
    found: list[str] = []
    _collect([value], found, inf)
    return found


def few_texts_of(value: Any, most: int) -> list[str] | None:
    """The same; None where the answer's size is more than ``most``, as :func:`size_of` has it."""
    found: list[str] = []
    return found if _collect([value], found, most) <= most else None


def size_of(value: Any, most: float = inf) -> int:
    """The characters of an answer's texts, and one for each entry of what holds others.

    Args:
        value: the answer.
        most: where the size is above that, any number above it is returned.
    """
    return _collect([value], [], most)


def each_text_of(value: Any, most: int) -> Iterator[tuple[list[str], int]]:
    """The texts of an answer as :func:`texts_of`, some at a time, and the size of each time.

    Args:
        value: the answer.
        most: the size after which others have a turn.
    """
    todo = [value]
    while todo:
        texts: list[str] = []
        size = _collect(todo, texts, most)
        yield texts, size


def _collect(todo: list[Any], texts: list[str], most: float) -> int:
    """Take texts out of what is to be looked at, until the size is above ``most``; the size."""
    size = 0
    while todo and size <= most:
        each = todo.pop()
        kind = type(each)
        if kind in _WITHOUT_TEXT:
            continue
        if kind is bytes and len(each) > _SLICE_BYTES:
            todo += _slices(each)
            continue
        text = each if kind is str else _text(each)
        if text is None:
            parts, held = _parts(each)
            todo += parts
            size += held
        elif len(text) >= MIN_TEXT_CHARACTERS:
            texts.append(text)
            size += len(text)
        elif kind is bytes or kind is memoryview:
            size += len(each)
    return size


def _slices(data: bytes) -> list[memoryview]:
    """Parts of long bytes, which are not copied before they are looked at, and lap."""
    view, step = memoryview(data), _SLICE_BYTES - _LAP_BYTES
    return [view[start : start + _SLICE_BYTES] for start in range(0, len(data), step)]


def _plain(text: bytes, found: Iterable[Redaction]) -> bytes:
    for mark in {f"[REDACTED: {each.kind}]".encode() for each in found}:
        text = text.replace(mark, b"REDACTED")
    return text


def _text(value: Any) -> str | None:
    """A text, or bytes as one that a secret is found in; None for what is neither."""
    if isinstance(value, memoryview):
        value = bytes(value)
    if isinstance(value, bytes):
        return "" if b"\0" in value else value.decode("latin-1")
    return value if isinstance(value, str) else None


def _parts(value: Any) -> tuple[Sequence[Any], int]:
    """What is looked at of a list, a mapping or a model, and the size of the rest of it."""
    if isinstance(value, list | tuple):
        return value, len(value)
    fields = value if isinstance(value, Mapping) else _fields(value) or {}
    if _MAY_BE_BYTES.isdisjoint(fields) and type(value).__name__ not in _ENCODED:
        return list(fields.values()), len(fields)
    parts = [each for name, each in fields.items() if not _is_bytes(fields, name)]
    size = len(fields)
    if size != len(parts):
        size += sum(_length(each) for name, each in fields.items() if _is_bytes(fields, name))
    elif type(value).__name__ in _ENCODED:
        size += _length(getattr(value, "data", None) or getattr(value, "blob", None))
    return parts, size


def _length(value: Any) -> int:
    return len(value) if isinstance(value, str | bytes) else 0


def _fields(value: Any) -> dict[str, Any] | None:
    """The fields of a model that may hold texts, or None where it is no model."""
    # As every model has; a process that scrubs files alone does not load pydantic.
    if not hasattr(value, "__pydantic_fields_set__"):
        return None
    fields = {**value.__dict__, **(value.__pydantic_extra__ or {})}
    if type(value).__name__ in _ENCODED:
        fields = {name: each for name, each in fields.items() if name not in ("data", "blob")}
    return fields


def _is_bytes(fields: Mapping[str, Any], name: str) -> bool:
    """Whether a field holds bytes in Base64, in which a secret's letters are chance."""
    if name == "data":
        return fields.get("type") in ("image", "audio")
    if name == "blob":
        return "uri" in fields
    return name == "content" and fields.get("encoding") == "base64"


def _cleaned(value: Any, scrubber: Scrubber, path: str, out: list[Redaction]) -> Any:
    if isinstance(value, str):
        cleaned, found = scrubber.text(value, path)
        out += found
        return cleaned
    if isinstance(value, bytes):
        return _bytes(value, scrubber, path, out)
    if isinstance(value, Mapping):
        return {
            name: v if _is_bytes(value, name) else _cleaned(v, scrubber, _at(path, name), out)
            for name, v in value.items()
        }
    if isinstance(value, list | tuple):
        made = [_cleaned(v, scrubber, _at(path, i), out) for i, v in enumerate(value)]
        return made if isinstance(value, list) else type(value)(made)
    if (fields := _fields(value)) is not None:
        before = len(out)
        made_of = {
            name: _cleaned(v, scrubber, _at(path, name), out)
            for name, v in fields.items()
            if not _is_bytes(fields, name)
        }
        return value.model_copy(update=made_of) if len(out) > before else value
    return value


def _bytes(value: bytes, scrubber: Scrubber, path: str, out: list[Redaction]) -> bytes:
    if b"\0" in value:
        return value
    cleaned, found = scrubber.text(value.decode("latin-1"), path)
    out += found
    return cleaned.encode("latin-1") if found else value


def _at(path: str, part: object) -> str:
    return f"{path}.{part}" if path else str(part)
