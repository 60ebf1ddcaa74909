"""A minimal protocol buffers decoder, for SCIP indexes.

Source: protobuf "Encoding", and ``scip.proto`` of the SCIP protocol for the fields' numbers.
"""

from __future__ import annotations

from collections.abc import Iterator

Field = tuple[int, int | bytes]
"""A field's number and its value: an integer, or the bytes of a length-delimited one."""

_LENGTHS = {1: 8, 5: 4}


class BrokenIndex(ValueError):
    """The bytes are not a complete protocol buffer: the indexer may have died while writing."""


def fields(data: bytes) -> Iterator[Field]:
    """The fields of one message, in order.

    Raises:
        BrokenIndex: the bytes are truncated or malformed.
    """
    at, end = 0, len(data)
    while at < end:
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 0:
            number, at = _varint(data, at)
            yield tag >> 3, number
            continue
        if kind == 2:
            length, at = _varint(data, at)
        elif kind in _LENGTHS:
            length = _LENGTHS[kind]
        else:
            raise BrokenIndex(f"unknown wire type {kind} at byte {at}")
        if at + length > end:
            raise BrokenIndex(f"a field at byte {at} is longer than the file")
        yield tag >> 3, data[at : at + length]
        at += length


def numbers(packed: bytes) -> list[int]:
    """The integers packed in one field.

    Raises:
        BrokenIndex: the last one is truncated.
    """
    found, at = [], 0
    while at < len(packed):
        number, at = _varint(packed, at)
        found.append(number)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise BrokenIndex(f"a number at byte {at} does not end")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
