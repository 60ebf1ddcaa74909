"""Media types of files, by their names."""

from __future__ import annotations

import re


def media_type(name: str) -> str:
    """A file's media type by its name, the same on every machine."""
    ending = re.sub(r"^.*\.", "", name).lower() if "." in name else ""
    return _TYPES.get(ending, "application/octet-stream")


_TYPES = {
    "css": "text/css",
    "csv": "text/csv",
    "gif": "image/gif",
    "htm": "text/html",
    "html": "text/html",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "js": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "mdx": "text/markdown",
    "pdf": "application/pdf",
    "png": "image/png",
    "py": "text/x-python",
    "sh": "text/x-shellscript",
    "svg": "image/svg+xml",
    "toml": "application/toml",
    "ts": "text/x-typescript",
    "txt": "text/plain",
    "webp": "image/webp",
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
    "zip": "application/zip",
}
