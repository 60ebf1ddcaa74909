"""When the files of a repository elsewhere were last committed, from a clone without contents.

The clone has every commit and every tree, and no file (``--filter=blob:none``); it lies in a
temporary directory for as long as its history is read.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shutil
import signal
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from gateway.repositories.dates import last_dates
from gateway.repositories.git import GitFailed, command
from gateway.repositories.history import is_commit
from gateway.toolkit.child_process import DEVNULL, Child, spawn

CLONE_TIMEOUT_SECONDS = 300.0
"""How long the clone may take."""
MAX_CLONE_BYTES = 1024 * 1024 * 1024
"""Bytes of the clone on disk."""

_POLL_SECONDS = 0.5
_REF = "refs/porch/head"
_SETTINGS: Mapping[str, str] = {
    "core.askPass": "",
    "core.hooksPath": os.devnull,
    "credential.helper": "",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "protocol.https.allow": "always",
}
_KEPT = ("PATH", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a repository is cloned from.

    Attributes:
        url: its https address.
        token: the operator's, or None; it goes to this address alone.
        ca_file: certificates of the authorities that vouch for it, or None for the system's.
    """

    url: str
    token: str | None = field(default=None, repr=False)
    ca_file: Path | None = None


def clone_url(api_url: str, name: str) -> str | None:
    """Where a repository is cloned from, or None where that is not over https.

    Args:
        api_url: GitHub's API: https://api.github.com, or https://HOST/api/v3 of a server of one's
            own.
        name: ``owner/repo``.
    """
    parts = urlsplit(api_url)
    if parts.scheme != "https":
        return None
    host = parts.netloc if parts.path.startswith("/api/") else parts.netloc.removeprefix("api.")
    return f"https://{host}/{name}.git"


async def remote_dates(origin: Origin, commit: str) -> dict[str, datetime]:
    """When each file of a commit was last committed, by path.

    Args:
        origin: where the repository is.
        commit: the commit's full id.

    Raises:
        GitFailed: Git is missing, or the repository cannot be cloned.
    """
    if not is_commit(commit):
        raise GitFailed("there is no such commit")
    directory = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="porch-dates-"))
    try:
        await _git(origin, directory, "init", "--quiet", "--bare", "--template=")
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--filter=blob:none")
        await _git(origin, directory, "fetch", *options, "--", "origin", f"{commit}:{_REF}")
        return await asyncio.to_thread(last_dates, directory, _REF, "--")
    finally:
        await asyncio.to_thread(shutil.rmtree, directory, ignore_errors=True)


async def _git(origin: Origin, directory: Path, *arguments: str) -> None:
    settings = {**_SETTINGS, "remote.origin.url": origin.url}
    process = await spawn(
        *command(directory, *arguments, settings=settings),
        stdin=DEVNULL,
        stdout=DEVNULL,
        stderr=DEVNULL,
        env=_environment(origin),
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(CLONE_TIMEOUT_SECONDS):
            while not await _ends(process):
                if await asyncio.to_thread(_size, directory) > MAX_CLONE_BYTES:
                    raise GitFailed(f"the history has more than {MAX_CLONE_BYTES:,} bytes")
    except TimeoutError:
        raise GitFailed(f"git did not end within {CLONE_TIMEOUT_SECONDS:g} seconds") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    if process.returncode != 0:
        raise GitFailed(f"git {arguments[0]} failed")


async def _ends(process: Child) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_POLL_SECONDS):
            await process.wait()
    return process.returncode is not None


def _environment(origin: Origin) -> dict[str, str]:
    """Nothing of the machine's own Git settings, and the token where no argument shows it."""
    proxies = [spelled for name in _PROXIES for spelled in (name, name.upper())]
    kept = {name: os.environ[name] for name in (*_KEPT, *proxies) if name in os.environ}
    kept |= {
        "GIT_ALLOW_PROTOCOL": "https",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": os.devnull,  # a ~/.netrc there would be sent to hosts
        "LC_ALL": "C",
    }
    if origin.ca_file:
        kept["GIT_SSL_CAINFO"] = str(origin.ca_file)
    if origin.token:
        given = base64.b64encode(f"x-access-token:{origin.token}".encode()).decode()
        kept |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{origin.url}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {given}",
        }
    return kept


def _size(directory: Path) -> int:
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            with contextlib.suppress(OSError):  # it was moved meanwhile
                total += (Path(folder) / name).lstat().st_size
    return total
