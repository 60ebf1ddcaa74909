"""Starts what is measured in processes of their own, on cores of their own."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

ROOT = Path(__file__).parent.parent
SERVER_CORE, CLIENT_CORE = 0, 1
_PORTS = range(10_240, 32_768)
"""Below those that Linux gives to connections, and to servers that ask for any."""
_ABOVE = "10000000 in 60s"
ABOVE_LOAD = {"calls": _ABOVE, "rest": _ABOVE, "repeats": _ABOVE}
"""``limits`` of a portal that is measured: calls are counted, and no load reaches the limit."""


def pin(core: int, process: int = 0) -> None:
    """Keep a process, or this one, on a core, where the system allows it and has that core."""
    if hasattr(os, "sched_setaffinity") and core in os.sched_getaffinity(0):
        os.sched_setaffinity(process, {core})


def free_port() -> int:
    """A TCP port that nobody listens on, and that the system gives nobody else meanwhile."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@contextmanager
def launched(
    command: Sequence[str], environment: Mapping[str, str] | None = None
) -> Generator[subprocess.Popen[bytes]]:
    """Run a command of this Python while the block lasts; what it prints is shown if it fails.

    Args:
        command: what follows the name of this Python.
        environment: variables beside those of this process.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env={**os.environ, **(environment or {})},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        except Exception as error:
            output.seek(0)
            error.add_note(output.read()[-4000:].decode(errors="replace"))
            raise
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def running(
    command: Sequence[str], port: int, *, core: int | None = None
) -> Generator[subprocess.Popen[bytes]]:
    """Run a server while the block lasts; the block begins once its port answers.

    Args:
        command: what follows the name of this Python.
        port: the port that it listens on.
        core: the core to keep it on, or None for any.

    Raises:
        RuntimeError: it ended, or did not listen within a minute.
    """
    with launched(command) as process:
        if core is not None:
            pin(core, process.pid)
        await_port(process, port)
        yield process


class Process(Protocol):
    """What is asked of a process that is waited for; :class:`subprocess.Popen` is one."""

    @property
    def args(self) -> Any:
        """The command."""

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended."""

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""


def await_port(process: Process, port: int, seconds: float = 60) -> None:
    """Wait until a process listens; raises ``RuntimeError`` where it does not."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended with {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.01)
    raise RuntimeError(f"{process.args!r} does not listen on port {port}")


def memory(pid: int) -> tuple[float, float]:
    """What a process holds in memory now and at its most (VmRSS, VmHWM), in MiB."""
    status = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    now, most = (int(status[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    return now, most


def cpu_seconds(pid: int) -> float:
    """How long the threads of a process have had a processor, in seconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


def starved_seconds(pid: int) -> float:
    """How long a process's first thread could have run and had no processor, in seconds.

    On a machine that does other work this says how much of a wait was not the process's own.
    """
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) / 1e9
