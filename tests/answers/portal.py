"""A portal as its admin runs it: a directory, ``porch serve``, and commands beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.processes import free_port
from tests.answers import world

START_TIMEOUT_S = 180.0
_SHELL = Path(__file__).with_name("shell.py")
_HOST = {"host": world.ADDRESS.removeprefix("http://")}


@dataclass(frozen=True)
class Portal:
    """A portal that may run.

    Attributes:
        porch: the command.
        root: its directory.
        url: where it listens; clients that name another host are turned away.
    """

    porch: Path
    root: Path
    url: str

    def run(self, commands: Sequence[tuple[str, Sequence[str]]]) -> list[dict[str, Any]]:
        """Run commands of the admin's, one after the other; gives what each did.

        Args:
            commands: of each the directory, below the root, and its arguments.
        """
        asked = [(str(self.root / directory), list(each)) for directory, each in commands]
        done = subprocess.run(
            [self.porch.with_name("python"), _SHELL],
            env=_environment(),
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
            timeout=START_TIMEOUT_S * 2,
        )
        told: list[dict[str, Any]] = json.loads(done.stdout)
        return told


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PORCH_")}
    return {
        **kept,
        "PORCH_STATIC_TOKENS": world.TOKENS,
        "ANSWERS_HOOK": world.HOOK_SECRET,
        "COLUMNS": "100",
        "NO_COLOR": "1",
    }


@contextmanager
def serving(root: Path, porch: Path | None = None) -> Iterator[Portal]:
    """Build the world in an empty directory and serve it until the block is left.

    Args:
        root: the directory.
        porch: the command; the one beside this Python, if not given.

    Raises:
        AssertionError: it does not start, or does not stop well; with its log.
    """
    world.build(root)
    port = free_port()
    porch = porch or Path(sys.executable).with_name("porch")
    portal = Portal(porch, root, f"http://127.0.0.1:{port}")
    log = root / "portal.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [porch, "serve", "--port", str(port)],
            cwd=root,
            env=_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            _await_ready(portal, process, log)
            yield portal
        finally:
            process.terminate()
            code = process.wait(60)
    assert code == 0, f"ended with {code}: {log.read_text()[-4000:]}"


def _await_ready(portal: Portal, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until everything is indexed, and the graph of the code too."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            answer = httpx2.get(f"{portal.url}/readyz", headers=_HOST, timeout=60)
            plugins = answer.json().get("plugins", {})
            if answer.is_success and {each["state"] for each in plugins.values()} == {"ok"}:
                code = plugins["codegraph"]["facts"]
                if not (code["waiting"] or code["indexing"]) and code["entities"]:
                    return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"The portal did not start: {log.read_text()[-4000:]}")
