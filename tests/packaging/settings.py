"""What a packaged portal's variables and secrets make of its settings."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.config.portal import Portal, load_portal, read_environment
from gateway.config.portal_keys import Limits

SECRETS = {
    "database-url": "postgresql://porch:hunter2@database/porch",
    "redis-url": "redis://:hunter2@cache:6379/0",
    "signing-key": "k" * 64,
}


def configured(
    variables: dict[str, str], directory: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> Portal:
    """The portal's settings under some variables, its secrets in files."""
    for name, text in SECRETS.items():
        (secrets / name).write_text(text + "\n")
    for name, value in variables.items():
        plain = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        place = re.sub(r"^/run/secrets/(porch/)?", f"{secrets}/", plain)
        monkeypatch.setenv(name, place)
    read_environment()
    return load_portal(directory)


def drain_of(variables: dict[str, str]) -> timedelta:
    """How long a portal takes requests after it was told to stop."""
    return seconds(variables.get("PORCH_LIMITS__DRAIN", "0s"))


def longest_stop(variables: dict[str, str]) -> timedelta:
    """How long a portal takes to stop at most, under some variables."""
    return drain_of(variables) + Limits().linger + Limits().shutdown


def seconds(written: str) -> timedelta:
    return timedelta(seconds=int(written.removesuffix("s")))
