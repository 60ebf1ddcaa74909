"""The data directory: which one it is, who holds it, and where its portal is asked.

Every command needs this, and most need no more of the portal: it imports nothing that is large.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from gateway.errors import ConfigError

_MAX_SOCKET_PATH_BYTES = 100


def local_socket(data_dir: Path) -> Path:
    """Where a portal that holds a data directory listens for its own user.

    In the data directory, or, where that path is too long for a socket, in a directory of the
    user's own under the system's temporary one.
    """
    path = data_dir.absolute() / "portal.sock"
    if len(os.fsencode(path)) <= _MAX_SOCKET_PATH_BYTES:
        return path
    short = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"porch-{os.getuid()}" / f"{short}.sock"


def made(data_dir: Path) -> None:
    """Make a data directory where there is none, which Git leaves out: it may lie in a checkout.

    It is its user's alone: it holds who called what, and documents of all tiers.

    Raises:
        ConfigError: nothing can be written there.
    """
    if data_dir.is_dir():
        return
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        (data_dir / ".gitignore").write_text("*\n")
    except OSError as error:
        raise _unusable(data_dir, error) from None


def _unusable(data_dir: Path, error: OSError) -> ConfigError:
    from gateway.errors import ConfigError, Problem

    reason = f"cannot be the data directory: {error.strerror}; name another with --data"
    return ConfigError([Problem(str(data_dir), 0, "", reason)])


@contextmanager
def held(data_dir: Path) -> Generator[None]:
    """Hold a data directory, so that no second portal opens it.

    Raises:
        ConfigError: another process holds it, or nothing can be written there.
    """
    made(data_dir)
    try:
        lock = (data_dir / "portal.lock").open("a+")
    except OSError as error:
        raise _unusable(data_dir, error) from None
    with lock as file:
        _lock(file, data_dir)
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _lock(file: IO[str], data_dir: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.seek(0)
        from gateway.errors import ConfigError, Problem

        holder = file.read().strip() or "unknown"
        reason = (
            f"another portal (process {holder}) holds this data directory; stop it, or give "
            "this one another with --data"
        )
        raise ConfigError([Problem(str(data_dir), 0, "", reason)]) from None
