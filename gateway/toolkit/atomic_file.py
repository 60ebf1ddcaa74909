"""Writes a file so that whoever reads it sees the old one or the new one, whole (rename(2))."""

from __future__ import annotations

import secrets
from pathlib import Path


def write_atomically(path: Path, data: bytes, *, executable: bool = False) -> None:
    """Put bytes in a file's place; its folder is made where there is none. It blocks.

    A new file has the permissions that the umask allows, one that is replaced keeps its own. A
    link is replaced, not followed: resolve the path before where it should be.

    Args:
        path: the file.
        data: what it holds from now on.
        executable: whether whoever may read it may also run it.

    Raises:
        OSError: it cannot be written; what was there before stays, and nothing beside it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(data)
        kept = path if path.is_file() and not path.is_symlink() else draft
        mode = kept.stat().st_mode & 0o777
        draft.chmod(mode | (mode & 0o444) >> 2 if executable else mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
