"""What kinds of files skills have, by their names."""

from __future__ import annotations

import mimetypes

_TYPES = {".md": "text/markdown", ".mdx": "text/markdown"}


def media_type(path: str) -> str:
    """The media type of a file, by the ending of its name."""
    ending = path[path.rfind(".") :].lower() if "." in path else ""
    guessed = _TYPES.get(ending) or mimetypes.guess_type(path, strict=False)[0]
    return guessed or "application/octet-stream"
