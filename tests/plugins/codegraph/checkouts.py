"""Git checkouts of the tests' own."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def run_git(directory: Path, *arguments: str) -> str:
    """Git as a person uses it, without the settings of this machine's user."""
    settings = ("user.name=a", "user.email=a@example.org", "protocol.file.allow=always")
    options = [part for each in settings for part in ("-c", each)]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    done = subprocess.run(
        ["git", *options, "-C", str(directory), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.stdout.strip()


def committed(directory: Path, files: dict[str, str], message: str = "more") -> str:
    """Write files into a checkout, made if it is not there, and commit them."""
    directory.mkdir(parents=True, exist_ok=True)
    if not (directory / ".git").exists():
        run_git(directory, "init", "-q", "-b", "main")
    for name, text in files.items():
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    run_git(directory, "add", "-A")
    run_git(directory, "commit", "-q", "--no-verify", "-m", message)
    return run_git(directory, "rev-parse", "HEAD")
