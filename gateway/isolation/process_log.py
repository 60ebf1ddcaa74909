"""What a plugin's process writes to its standard error, as lines of the portal's log."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Any

MAX_LINE_BYTES = 64 * 1024
"""Bytes of a line; the rest of a longer one is dropped."""
_READ_BYTES = 64 * 1024
_OWN = ("timestamp", "level", "logger", "event", "plugin")


async def follow_output(stream: asyncio.StreamReader, log: Any) -> None:
    """Log each line until there are no more.

    Args:
        stream: the standard error of a process.
        log: the plugin's logger.
    """
    rest = b""
    while data := await stream.read(_READ_BYTES):
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            _log(line, log)
        rest = rest[:MAX_LINE_BYTES]
    _log(rest, log)


def _log(line: bytes, log: Any) -> None:
    if not line.strip():
        return
    told = _structured(line)
    if told is None:
        text = line[:MAX_LINE_BYTES].decode("utf-8", "backslashreplace")
        log.warning("plugin_output", text=text)
        return
    level = logging.getLevelNamesMapping().get(str(told.get("level", "")).upper(), logging.INFO)
    fields = {name: value for name, value in told.items() if name not in _OWN}
    log.log(level, str(told["event"]), **fields)


def _structured(line: bytes) -> Mapping[str, Any] | None:
    """A line that the process has logged, or None where something was only printed."""
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) and "event" in told else None
