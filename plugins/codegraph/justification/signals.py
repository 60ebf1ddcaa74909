"""What a file's text tells of its entities: imported names that they use, effects, comments.

One pass with compiled patterns over the text of each file; the result depends on the text and the
places of its entities alone, so it is kept by the text's digest.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import msgspec

from plugins.codegraph.justification.imports import Binding, bindings_of
from plugins.codegraph.justification.technologies import ATTRIBUTES
from plugins.codegraph.model import Entity, EntityKind

VERSION = 3
"""The version of what is read here; another one reads every file anew."""
MAX_USES = 12
"""The most imported names that are kept of one entity."""
MAX_COMMENT = 300
_EFFECTS = re.compile(
    r"\b(?:open|print|input|exec|eval|fetch|exit|write|writelines|commit|execute|send|sendall|"
    r"unlink|remove|rmdir|mkdir|makedirs|rename|urlopen|Popen|spawn|kill|sleep|chmod|"
    r"setattr|putenv|save|flush|writeFile|writeFileSync|appendFile|readFileSync|"
    r"insert|update|delete|create|emit|publish|Println|Printf|Fprintf|println)\s*\(|"
    r"\bos\.environ\b|\bglobal\s+\w|\bconsole\.\w+\(|\bprocess\.(?:exit|env)\b|\bawait\b"
)
_WRITES = re.compile(r"\b(?:self|this)\.\w+\s*(?:[-+|&]?=)(?!=)")
_INSTANCE = re.compile(
    r"^(?:export\s+)?(?:const\s+|let\s+|var\s+)?(\w+)(?:\s*:[^=\n]+)?\s*=\s*(?:new\s+)?(\w+)\s*[.(]",
    re.MULTILINE,
)
_GUARD = re.compile(r"^if\s+__name__\s*==.*:[^\n]*\n((?:[ \t]+[^\n]*\n?|\s*\n)*)", re.MULTILINE)
_ATTRIBUTES = re.compile(rf"\w\.({'|'.join(ATTRIBUTES)})\b")
_CALLED = re.compile(r"\b(\w+)\(")
_BASES = re.compile(
    r"\bclass\s+\w+\s*(?:\[[^\]]*\])?\(([^)]*)\)|\b(?:extends|implements)\s+([^{]+)"
)
_NAME = re.compile(r"[A-Za-z_$][\w$.]*")


class EntitySignals(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the text tells of one entity.

    Attributes:
        uses: imported names in it, as (number of the binding, first line).
        effects: the line of the first call that reaches outside, or 0.
        writes: whether it changes its object.
        decorators: the lines above it that begin with ``@`` or ``#[``, without that mark.
        bases: the names that a class is declared with.
        comment: the comment directly above it, where there is no documentation.
        said_at: the line where its documentation or that comment begins, or 0.
        attributes: modules whose names it reads as attributes, with the line of each.
        code: a number that changes with its own lines, decorators included.
    """

    uses: Sequence[tuple[int, int]] = ()
    effects: int = 0
    writes: bool = False
    decorators: Sequence[str] = ()
    bases: Sequence[str] = ()
    comment: str = ""
    said_at: int = 0
    attributes: Sequence[tuple[str, int]] = ()
    code: int = 0


class FileSignals(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a text tells.

    Attributes:
        version: of these rules (:data:`VERSION`).
        bindings: what it imports.
        instances: names that the module gives to what an imported thing makes:
            (name, number of the binding).
        started: names that are called where the file is run as a program.
        entities: by their place: ``line:qualified``.
    """

    version: int
    bindings: Sequence[Binding]
    instances: Sequence[tuple[str, int]]
    started: Sequence[str]
    entities: dict[str, EntitySignals]


NOTHING = EntitySignals()


def place_of(entity: Entity) -> str:
    """The key of an entity in :class:`FileSignals`."""
    return f"{entity.line}:{entity.qualified}"


def read_signals(text: str, language: str, entities: Sequence[Entity]) -> FileSignals:
    """What a file's text tells of its entities.

    Args:
        text: the text of the file.
        language: its language.
        entities: what is in it.
    """
    lines = text.split("\n")
    starts = _starts(lines)
    bindings = bindings_of(text, language)
    numbers = {each.local: at for at, each in enumerate(bindings)}
    hits = _hits(text, numbers, starts)
    effects = [bisect_right(starts, hit.start()) for hit in _EFFECTS.finditer(text)]
    writes = [bisect_right(starts, hit.start()) for hit in _WRITES.finditer(text)]
    named = [(bisect_right(starts, hit.start()), hit[1]) for hit in _ATTRIBUTES.finditer(text)]
    marks = _Marks(hits, effects, writes, named)
    found = {
        place_of(each): _entity(each, lines, marks)
        for each in entities
        if each.kind not in (EntityKind.FILE, EntityKind.VARIABLE)
    }
    made = [(hit[1], numbers[hit[2]]) for hit in _INSTANCE.finditer(text) if hit[2] in numbers]
    run = [name for guard in _GUARD.finditer(text) for name in _CALLED.findall(guard[1])]
    return FileSignals(VERSION, bindings, made, run, found)


class _Marks(msgspec.Struct, frozen=True, gc=False):
    """Lines of a text, in order: of imported names with their numbers, of what has an effect, of
    what changes an object, and of attributes that are named as modules are."""

    hits: tuple[list[int], list[int]]
    effects: Sequence[int]
    writes: Sequence[int]
    named: Sequence[tuple[int, str]]


def _starts(lines: Sequence[str]) -> list[int]:
    at, starts = 0, []
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts


def _hits(text: str, numbers: dict[str, int], starts: Sequence[int]) -> tuple[list[int], list[int]]:
    """The places of imported names: their lines, in order, and their numbers."""
    if not numbers:
        return [], []
    names = "|".join(sorted(map(re.escape, numbers), key=len, reverse=True))
    lines, which = [], []
    for hit in re.finditer(rf"(?<![\w.])(?:{names})(?!\w)", text):
        lines.append(bisect_right(starts, hit.start()))
        which.append(numbers[hit[0]])
    return lines, which


def _entity(entity: Entity, lines: Sequence[str], marks: _Marks) -> EntitySignals:
    top, hits = _top(lines, entity.line), marks.hits
    uses: dict[int, int] = {}
    first, last = bisect_left(hits[0], top), bisect_right(hits[0], entity.end_line)
    for line, number in zip(hits[0][first:last], hits[1][first:last], strict=True):
        if number not in uses and len(uses) < MAX_USES:
            uses[number] = line
    comment, at = ("", _said(entity, lines)) if entity.doc else _comment(lines, top)
    return EntitySignals(
        tuple(uses.items()),
        _within(marks.effects, entity.line, entity.end_line),
        bool(_within(marks.writes, entity.line, entity.end_line)),
        tuple(
            each.strip() for each in lines[top - 1 : entity.line - 1] if each.strip()[:1] in "@#"
        ),
        _bases(entity, lines),
        comment,
        at,
        _attributes(marks.named, entity),
        _code(lines[top - 1 : entity.end_line]),
    )


def _code(lines: Sequence[str]) -> int:
    """A signed number of 64 bits, as databases keep them."""
    found = hashlib.blake2b("\n".join(lines).encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(found, "big", signed=True)


def _attributes(named: Sequence[tuple[int, str]], entity: Entity) -> tuple[tuple[str, int], ...]:
    first = bisect_left(named, (entity.line, ""))
    last = bisect_right(named, (entity.end_line + 1, ""))
    return tuple({name: line for line, name in reversed(named[first:last])}.items())


def _said(entity: Entity, lines: Sequence[str]) -> int:
    """The line where an entity's documentation begins, or 0."""
    first = next((each.strip() for each in entity.doc.splitlines() if each.strip()), "")
    below = range(entity.line, min(entity.line + 30, len(lines) + 1))
    above = range(entity.line - 1, max(0, entity.line - 60), -1)
    return next((at for at in (*below, *above) if first and first in lines[at - 1]), 0)


def _within(places: Sequence[int], first: int, last: int) -> int:
    """The first of some sorted lines that is in a range, or 0."""
    at = bisect_left(places, first)
    return places[at] if at < len(places) and places[at] <= last else 0


def _top(lines: Sequence[str], line: int) -> int:
    """The number of the first decorator's line above a definition, or of the definition."""
    at = line
    while at > 1:
        above = lines[at - 2].lstrip() if at - 2 < len(lines) else ""
        if not above.startswith(("@", "#[")):
            # A decorator of several lines ends in a bracket at the depth of its beginning.
            if not (above.startswith((")", "])")) and _opened(lines, at - 2)):
                break
            at = _opened(lines, at - 2)
            continue
        at -= 1
    return at


def _opened(lines: Sequence[str], last: int) -> int:
    """The number of the line of a decorator that ends at an index, or 0."""
    for at in range(last - 1, max(-1, last - 12), -1):
        if lines[at].lstrip().startswith("@"):
            return at + 1
    return 0


def _comment(lines: Sequence[str], top: int) -> tuple[str, int]:
    """The comment that ends directly above a line, and its first line; empty where there is
    none."""
    at, found = top - 2, []
    while 0 <= at < len(lines) and lines[at].lstrip()[:2] in ("//", "# ", "* ", "/*", "*/", "--"):
        found.append(lines[at].strip().lstrip("/#*-").rstrip("*/").strip())
        at -= 1
    text = " ".join(each for each in reversed(found) if each)
    if sum(each.isalpha() for each in text) < 12:
        return "", 0
    return text[:MAX_COMMENT], at + 2


def _bases(entity: Entity, lines: Sequence[str]) -> tuple[str, ...]:
    if entity.kind not in (EntityKind.CLASS, EntityKind.INTERFACE):
        return ()
    head = " ".join(lines[entity.line - 1 : entity.line + 5])
    hit = _BASES.search(head)
    if hit is None:
        return ()
    return tuple(_NAME.findall(hit[1] or hit[2] or ""))[:8]
