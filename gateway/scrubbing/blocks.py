"""Keys that go on over lines: where they end, and how they are taken out line by line."""

from __future__ import annotations

import re

_MAX_BLOCK_BYTES = 64 * 1024
_END = re.compile(rb"----- ?END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|---- END SSH2[A-Z0-9 ]*----")
_BEGIN = re.compile(rb"----[- ]BEGIN ")
_HELD = re.compile(rb"[A-Za-z0-9+/]{16}")
_KEY_LINE = re.compile(rb"[+\- ]?[\s#*>|/\"']*[A-Za-z0-9+/=]{16,}[\"'\\nr,;+\s]*")
_LAST_LINE = re.compile(rb"[+\- ]?\s*[A-Za-z0-9+/=]{1,64}\s*")
_HEADER = re.compile(rb"[+\- ]?\s*(?:[A-Z][A-Za-z0-9-]*: .*)?")
_ESCAPED = re.compile(rb"(?:[A-Za-z0-9+/=]|\\+[rn])+")
_INDENT = re.compile(rb"[+\- ]?[ \t]*(?:[#*>|/]+[ \t]+)?")


def end_of_block(data: bytes, after: int) -> int | None:
    """Where a key ends: after its last line, or where a cut one breaks off.

    Args:
        data: the text.
        after: where its first line was matched to.

    Returns:
        The end, or None where no key follows: code that names such a line.
    """
    limit = min(len(data), after + _MAX_BLOCK_BYTES)
    if another := _BEGIN.search(data, after, limit):
        limit = another.start()
    if found := _END.search(data, after, limit):
        return found.end() if _HELD.search(data, after, found.start()) else None
    return _broken_off(data, after, limit)


def _broken_off(data: bytes, after: int, limit: int) -> int | None:
    escaped = _ESCAPED.match(data, after, limit)
    end = escaped.end() if escaped else after
    place = data.find(b"\n", end, limit) + 1
    while place:
        stop = data.find(b"\n", place, limit)
        line = data[place : stop if stop >= 0 else limit]
        if _KEY_LINE.fullmatch(line):
            end = place + len(line.rstrip())
        elif not _HEADER.fullmatch(line):
            if end > after and _LAST_LINE.fullmatch(line):
                end = place + len(line.rstrip())
            break
        elif end > after and not line.strip(b"+- \t\r"):
            break
        place = stop + 1
    return end if _HELD.search(data, after, end) else None


def blotted(block: bytes, mark: bytes) -> bytes:
    """A block with every line's text replaced; its lines, and what marks them, stay.

    A line of a diff keeps its ``+`` or ``-`` and its indentation, so that a hunk still fits.
    """
    first, *others = block.split(b"\n")
    lines = [mark + (b"\r" if first.endswith(b"\r") else b"")]
    for line in others:
        begin = _INDENT.match(line)
        kept = line[: begin.end()] if begin else b""
        body = line[len(kept) :]
        end = b"\r" if line.endswith(b"\r") else b""
        lines.append(kept + mark + end if body.strip() else line)
    return b"\n".join(lines)
