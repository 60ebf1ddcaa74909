"""Writes SCIP indexes for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def message(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def occurrence(symbol: str, place: Sequence[int], roles: int = 0) -> bytes:
    packed = message(1, b"".join(map(varint, place)))
    said = packed + message(2, symbol.encode())
    return said + (varint(3 << 3) + varint(roles) if roles else b"")


def document(
    path: str, *occurrences: bytes, parents: Mapping[str, Sequence[str]] | None = None
) -> bytes:
    content = message(1, path.encode()) + b"".join(message(2, each) for each in occurrences)
    for symbol, above in (parents or {}).items():
        related = (message(4, message(1, each.encode()) + b"\x18\x01") for each in above)
        content += message(3, message(1, symbol.encode()) + b"".join(related))
    return content


def index(*documents: bytes) -> bytes:
    return message(1, b"") + b"".join(message(2, each) for each in documents)
