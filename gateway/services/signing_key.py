"""The key with which the portal signs what clients bring back to it, such as session ids."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from gateway.observability.redaction import register_secret
from gateway.services.secrets import resolve

__all__ = ["KEY_FILE", "VARIABLE", "signing_key"]

VARIABLE = "PORCH_SIGNING_KEY"
"""Replicas that serve one portal are given the same key in this environment variable, or in the
file that ``PORCH_SIGNING_KEY_FILE`` names."""
KEY_FILE = "signing-key"
"""Where a portal that is given none keeps its own, below its data directory."""
MIN_KEY_CHARACTERS = 32
"""Characters: what can be guessed signs nothing."""


def signing_key(data_dir: Path) -> bytes:
    """The portal's key: 32 bytes, the same at every start.

    Args:
        data_dir: keeps the key of a portal that is not given one, readable by its user alone.

    Raises:
        ValueError: the given key is missing or too short, or the kept key is damaged.
    """
    file = os.environ.get(f"{VARIABLE}_FILE")
    if file or os.environ.get(VARIABLE):
        reference = f"file:{file}" if file else f"env:{VARIABLE}"
        given = resolve(reference).get_secret_value()
        if len(given) < MIN_KEY_CHARACTERS:
            raise ValueError(f"{VARIABLE} has fewer than {MIN_KEY_CHARACTERS} characters.")
        return hashlib.sha256(given.encode()).digest()
    path = data_dir / KEY_FILE
    if not path.exists():
        _write(path, secrets.token_hex(32))
    try:
        kept = path.read_text("ascii").strip()
        key = bytes.fromhex(kept)
    except ValueError:
        raise ValueError(f"{path.name} is damaged; remove it, and a new key is made.") from None
    register_secret(kept)
    return key


def _write(path: Path, key: str) -> None:
    """Write a new file whole; of two processes that do so at once, the first one's stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    draft.touch(mode=0o600)
    draft.write_text(key, "ascii")
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
