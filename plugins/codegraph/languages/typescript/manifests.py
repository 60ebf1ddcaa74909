"""Manifests as data: JSON with comments and trailing commas, parsed once per repository."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Mapping
from posixpath import dirname, join, normpath
from typing import Any

from plugins.codegraph.languages.source_view import SourceView

_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', re.S)
_COMMA = re.compile(r'("(?:\\.|[^"\\\n])*")|,(?=\s*[}\]])')
_EMPTY: Mapping[str, Any] = {}


def relaxed(data: bytes) -> Mapping[str, Any]:
    """A JSON object that may have comments and trailing commas; empty if it is invalid."""
    text = data.decode("utf-8-sig", "replace")
    try:
        read = json.loads(text)
    except ValueError:
        text = _COMMENT.sub(lambda found: found.group(1) or "", text)
        text = _COMMA.sub(lambda found: found.group(1) or "", text)
        try:
            read = json.loads(text)
        except (ValueError, RecursionError):
            return _EMPTY
    except RecursionError:
        return _EMPTY
    return read if isinstance(read, dict) else _EMPTY


def once(view: SourceView, key: Hashable, work: Callable[..., Any], *args: Any) -> Any:
    """The result of ``work``, cached if the view supports it (the linker's does)."""
    keep = getattr(view, "once", None)
    return work(*args) if keep is None else keep(key, work, *args)


def manifest(view: SourceView, path: str) -> Mapping[str, Any] | None:
    """A manifest's content, or None where there is no such file."""
    found: Mapping[str, Any] | None = once(view, ("json", path), _manifest, view, path)
    return found


def _manifest(view: SourceView, path: str) -> Mapping[str, Any] | None:
    data = view.read(path)
    return None if data is None else relaxed(data)


def beside(path: str, written: str) -> str:
    """A path written in the manifest ``path``, relative to the repository's root; "" is the
    root."""
    return within(dirname(path), written)


def within(root: str, written: str) -> str:
    """A path relative to a directory, made relative to the repository's root.

    Backslashes are accepted as separators, as the compiler does in imports and settings.
    """
    joined = normpath(join(root, written.replace("\\", "/")))
    return "" if joined == "." else joined


def ancestors(directory: str) -> list[str]:
    """A directory and its ancestors, nearest first, "" last."""
    found = []
    while directory:
        found.append(directory)
        directory = dirname(directory)
    return [*found, ""]
