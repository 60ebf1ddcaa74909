"""Runs commands of ``porch`` in processes that have imported it already: some are to be killed.

As a program, with MOST files that are indexed in place as its argument, it takes a command's
arguments as a line of JSON; it answers with the number of the process that carries it out, and
with that one's exit code once it has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.conftest import Place


class Forking:
    """Starts commands, one at a time.

    Args:
        program: this module as a program.
    """

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def begin(self, *words: str) -> int:
        """Start a command; its process."""
        assert self._program.stdin is not None
        self._program.stdin.write(json.dumps(words) + "\n")
        self._program.stdin.flush()
        return self._answer()

    def kill(self, process: int) -> int:
        """End a command as ``kill -9`` does; its exit code."""
        with contextlib.suppress(ProcessLookupError):  # it was faster
            os.kill(process, signal.SIGKILL)
        return self.ended()

    def ended(self) -> int:
        """Wait for the command; its exit code."""
        return self._answer()

    def _answer(self) -> int:
        assert self._program.stdout is not None
        return int(self._program.stdout.readline())


@contextmanager
def forking(place: Place, most: int) -> Generator[Forking]:
    """Commands in a place, for as long as the block lasts.

    Args:
        place: where.
        most: files whose change is taken in in place; where more have changed, a new layer is made.
    """
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.faults.forking", str(most)],
        cwd=place.root,
        env={**os.environ, "PYTHONPATH": str(Path.cwd())},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with program:
        yield Forking(program)


def main() -> None:
    """Run commands until the input ends."""
    import numpy as np  # noqa: F401  (an index needs it late)

    from gateway.cli.program import main as porch
    from plugins.codegraph.indexer import incremental, worker_pool

    incremental.MAX_READ = int(sys.argv[1])
    worker_pool.MAX_WORKERS = 1  # to start one takes longer than all it does here

    answers = os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    # This imports all that another command will use, and leaves no thread.
    porch(["codegraph", "list"], prog_name="porch", standalone_mode=False)
    while line := sys.stdin.readline():
        child = os.fork()
        if child == 0:
            os.dup2(nothing, 0)
            porch(json.loads(line), prog_name="porch")
        answers.write(f"{child}\n")
        answers.flush()
        _, status = os.waitpid(child, 0)
        answers.write(f"{os.waitstatus_to_exitcode(status)}\n")
        answers.flush()


if __name__ == "__main__":
    main()
