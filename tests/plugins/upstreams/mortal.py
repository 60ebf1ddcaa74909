"""A server that is killed and started again at one port, each time as a process of its own.

As a program, with an era and a port, it takes a line for each thing to do: ``start`` or ``kill``
(SIGKILL), and writes a line once that is done. Servers are forks of it, so that each has its
modules from the beginning.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from benchmarks.processes import free_port
from tests.plugins.upstreams.far import far_server


class Mortal:
    """The program, as a test uses it.

    Args:
        era: of the server: ``modern`` or ``legacy``.
    """

    def __init__(self, era: str) -> None:
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/mcp"
        self._program = subprocess.Popen(
            [sys.executable, "-m", __name__, era, str(port)],
            cwd=Path(__file__).parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self) -> None:
        """Start the server; blocks until it listens."""
        self._do("start")

    def kill(self) -> None:
        """End it with SIGKILL; blocks until it is gone."""
        self._do("kill")

    def _do(self, what: str) -> None:
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(f"{what}\n")
        self._program.stdin.flush()
        assert self._program.stdout.readline() == "done\n", "the program has ended"

    def close(self) -> None:
        """End the program; its server is to be killed before."""
        self._program.communicate()


def _forked(era: str, port: int) -> int:
    """Serve in another process; gives its id once it listens."""
    reading, writing = os.pipe()
    if not (process := os.fork()):
        with far_server(era, port):
            os.write(writing, b"1")
            signal.pause()
        os._exit(0)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return process


def main(era: str, port: int) -> None:
    """Do what the lines of the standard input say."""
    process = 0
    for line in sys.stdin:
        if line == "start\n":
            process = _forked(era, port)
        else:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
