"""Runs Git on checkouts on this machine, to read them: without a network, and starting nothing.

A checkout is other people's data: Git starts nothing that it names (hooks, a file system monitor,
a signature's checker, a transport such as ``ext::``), and fetches nothing, not even the missing
parts of a partial clone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

COMMAND_TIMEOUT_SECONDS = 30.0
"""Seconds that a command may take by default."""

_SAFE: Mapping[str, str] = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "log.showSignature": "false",
    "protocol.allow": "never",
}


class GitFailed(Exception):
    """Git does not do what it was asked; the message is for people."""


def run(directory: Path, *arguments: str, seconds: float = COMMAND_TIMEOUT_SECONDS) -> bytes:
    """Run one command that reads, and give what it answers. It blocks.

    Args:
        directory: where it runs.
        arguments: the command and what follows it.
        seconds: how long it may take.

    Raises:
        GitFailed: Git is missing, fails, or is too slow.
    """
    try:
        done = subprocess.run(  # noqa: S603  (a fixed program, no shell)
            command(directory, *arguments),
            capture_output=True,
            check=True,
            env=environment(),
            timeout=seconds,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.CalledProcessError as error:
        message = error.stderr.decode(errors="replace").strip().split("\n")[0]
        message = message.removeprefix("fatal: ").replace(str(directory), "the directory")
        raise GitFailed(message or "git refuses") from None
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git did not answer within {seconds:g} seconds") from None
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}") from None
    return done.stdout


def command(directory: Path, *arguments: str, settings: Mapping[str, str] = _SAFE) -> list[str]:
    """The command line, with the settings that keep Git from starting anything.

    Raises:
        GitFailed: Git is missing.
    """
    program = shutil.which("git")
    if program is None:
        raise GitFailed("git is not installed; without it, leave out branch")
    set_to = [part for item in settings.items() for part in ("-c", "=".join(item))]
    return [program, "--literal-pathspecs", *set_to, "-C", str(directory), *arguments]


def environment() -> dict[str, str]:
    """The environment without what leads Git elsewhere, such as ``GIT_DIR`` in a hook."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }
