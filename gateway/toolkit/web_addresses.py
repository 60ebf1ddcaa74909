"""Addresses that others wrote: what is none has no parts, and stops nobody who reads it."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

_NONE = SplitResult("", "", "", "", "")


def address_parts(text: str) -> SplitResult:
    """The parts of an address (RFC 3986), all empty where it cannot be read (``http://[x``)."""
    try:
        return urlsplit(text)
    except ValueError:
        return _NONE
