"""Frontmatter of notes, in YAML, TOML or JSON, read with line numbers and without trust.

Dates and decimals stay text, as written, so that a title ``1.10`` remains one.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from gateway.toolkit import frontmatter
from gateway.toolkit.visible_text import visible
from gateway.toolkit.yaml_lines import MAX_DEPTH, Broken, Mapping, plain

_TOML = re.compile(r"\A\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE | re.DOTALL)
_TOML_KEY = re.compile(r"\[*[\"']?([\w-]+)[\"']?[\].]?")
_TOML_LINE = re.compile(r" ?\(at line (\d+), column \d+\)")
_TOML_PART = re.compile(r"(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')")
_TOML_PARTS = re.compile(rf"{_TOML_PART.pattern}(?:[ \t]*+\.[ \t]*+{_TOML_PART.pattern})*+")
"""A key with dots, or a text in quotes."""
_MAX_TOML_CHARACTERS = 64_000
_JSON = re.compile(r"\A\s*(?=\{\s*\"(?:[^\"\\\n]|\\.){0,200}\"\s*:)")
"""Where JSON begins, and no template's or attribute's braces."""
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_MAX_INTEGER = 10**15 - 1
"""The longest whole number that stays one: a reader of JSON may refuse longer ones, or round."""

_BREAKS = {ord(each): f"[U+{ord(each):04X}]" for each in "\n\t"}

Severity: TypeAlias = Literal["error", "warning", "secret"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """Something a member should mend in a note.

    Attributes:
        path: the note.
        line: where, from 1.
        reason: what is wrong and what to do.
        severity: ``error``: the note, as it stands, is not served though it asks to be;
            ``warning``: it is, or does not ask; ``secret``: a secret that stands there is left out.
        once: whether it is told once for all the notes that have it.
    """

    path: str
    line: int
    reason: str
    severity: Severity = "error"
    once: bool = False

    @property
    def place(self) -> str:
        """Its path and line on one line, with what cannot be seen of the file's name by name."""
        return f"{visible(self.path).translate(_BREAKS)}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def summed(problems: Iterable[Problem]) -> list[Problem]:
    """The problems, and those that are told once at the first note that has them."""
    told = list(problems)
    repeated = Counter(one.reason for one in told if one.once)
    found: list[Problem] = []
    for one in told:
        others = repeated.pop(one.reason, 0) - 1 if one.once else 0
        if others > 0:
            found.append(replace(one, reason=f"{one.reason} (and in {others} more)"))
        elif others == 0:
            found.append(one)
    return found


class BrokenNote(Broken):
    """A note that cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What a note says about itself.

    Attributes:
        fields: keys and JSON values, without those that are null or empty.
        lines: the line of each key, from 1; of those without a value too.
        body: the markdown below.
        present: whether the note has frontmatter at all.
    """

    fields: dict[str, Any]
    lines: dict[str, int]
    body: str
    present: bool


def read(data: bytes) -> Frontmatter:
    """Split a note into its frontmatter and its body.

    A byte order mark and Windows line ends are dropped.

    Args:
        data: the file's bytes.

    Raises:
        BrokenNote: it is not UTF-8, or its frontmatter is not a mapping in plain YAML, TOML or
            JSON.
    """
    try:
        text = frontmatter.decode(data)
        if (toml := _TOML.match(text)) is not None:
            return _read_toml(toml[1], text[toml.end() :])
        if (found := _JSON.match(text)) is not None:
            return _read_json(text, found.end())
        parts = frontmatter.split(text)
        if parts.front is None:
            return Frontmatter({}, {}, parts.body.strip("\n"), present=False)
        mapping = frontmatter.read(parts.front.removesuffix("\n"), numbers=_whole_number)
    except Broken as broken:
        # What looks like a mapping as a key is, in a note, nearly always a template's {{title}}.
        reason = broken.reason.replace("{...}", "{{...}}")
        raise BrokenNote(broken.line, reason) from broken
    return _of_mapping(mapping, parts.body)


def _of_mapping(mapping: Mapping, body: str) -> Frontmatter:
    fields = {key: value for key, value in plain(mapping).items() if value not in (None, "")}
    return Frontmatter(fields, mapping.lines, body.strip("\n"), present=True)


def _read_json(text: str, begins: int) -> Frontmatter:
    """A frontmatter that is a JSON object, as Hugo has it; it is read as the YAML that it is too.

    Raises:
        Broken: it is no JSON, or none that is read.
    """
    first_line = text.count("\n", 0, begins) + 1
    try:
        _, ends = json.JSONDecoder().raw_decode(text, begins)
    except json.JSONDecodeError as error:
        reason = f"the frontmatter is no JSON: {error.msg}"
        raise BrokenNote(error.lineno, reason) from error
    except (ValueError, RecursionError) as error:
        raise BrokenNote(first_line, f"the frontmatter is no JSON: {error}") from error
    written = text[begins:ends]
    mapping = frontmatter.read(written, numbers=_whole_number, first_line=first_line)
    return _of_mapping(mapping, text[ends:])


def _read_toml(written: str, body: str) -> Frontmatter:
    """A frontmatter between two lines of ``+++``, as Hugo has it; dates become text."""
    table = _toml_table(written)
    lines: dict[str, int] = {}
    for number, text in enumerate(written.split("\n"), frontmatter.FIRST_LINE):
        if (key := _TOML_KEY.match(text)) is not None:
            lines.setdefault(key[1], number)
    fields = {
        key: _jsonable(value, lines.get(key, 1))
        for key, value in table.items()
        if value not in (None, "")
    }
    return Frontmatter(
        fields, {key: lines.get(key, 1) for key in table}, body.strip("\n"), present=True
    )


def _toml_table(written: str) -> dict[str, Any]:
    """What a text in TOML says.

    Raises:
        BrokenNote: it is no TOML, or too much of it.
    """
    if len(written) > _MAX_TOML_CHARACTERS:
        reason = f"the frontmatter has more than {_MAX_TOML_CHARACTERS:,} characters"
        raise BrokenNote(1, reason)
    for key in _TOML_PARTS.finditer(written):  # the parser compares each part with each
        if key[0].count(".") >= MAX_DEPTH and len(_TOML_PART.findall(key[0])) > MAX_DEPTH:
            raise _too_deep(written.count("\n", 0, key.start()) + frontmatter.FIRST_LINE)
    try:
        return tomllib.loads(written)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = _TOML_LINE.search(str(error))
        line = int(found[1]) + 1 if found else 1
        reason = _TOML_LINE.sub("", str(error)).strip()
        raise BrokenNote(line, f"the frontmatter is no TOML: {reason}") from error


def _too_deep(line: int) -> BrokenNote:
    return BrokenNote(line, f"nested more than {MAX_DEPTH} levels deep")


def _jsonable(value: Any, line: int, depth: int = 1) -> Any:
    """A value of TOML as one of JSON; ``line``: where its key stands."""
    if isinstance(value, dict | list) and depth >= MAX_DEPTH:
        raise _too_deep(line)
    if isinstance(value, dict):
        return {key: _jsonable(each, line, depth + 1) for key, each in value.items()}
    if isinstance(value, list):
        return [_jsonable(each, line, depth + 1) for each in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return _readable(value)
    return value if isinstance(value, str | bool) else str(value)


def _readable(number: int) -> int | str:
    """A whole number that every reader of JSON can take; a longer one as text."""
    if abs(number) <= _MAX_INTEGER:
        return number
    try:
        return str(number)
    except ValueError:  # more digits than Python writes in tens
        return hex(number)


def _whole_number(written: str) -> int | None:
    return int(written) if _INTEGER.fullmatch(written) else None
