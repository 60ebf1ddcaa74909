"""Processes that run ``porch``, or a module, forked from one that has opened a portal before.

To start Python and to import the portal takes longer than most of what a test does with it. What a
program does from its first line on is tested where it is started as people start it: in
``tests/gateway/cli``, by newcomers in ``tests/journeys``, and by replicas.
"""

from __future__ import annotations

import atexit
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

_IMPORTED = (
    "pytest",  # each process looks at the program of the one that started it
    "gateway.app",
    "gateway.cli.program",
    "gateway.server.server",
    "gateway.cli.serve",
    "gateway.cli.welcome",
    "gateway.services.cache.redis",
    "gateway.services.embedding.minilm",
    "gateway.services.database.sqlite_driver",
    "gateway.services.vectors.qdrant_edge",
    "plugins.codegraph.offer",
    "plugins.codegraph.plugin",
    "plugins.knowledge.offer",
    "plugins.knowledge.plugin",
    "plugins.skills_repo.plugin",
    "plugins.upstreams.offer",
    "plugins.upstreams.plugin",
    "plugins.workflows.offer",
    "plugins.workflows.plugin",
    "alembic.command",
    "dbos",
    "httptools",
    "obstore.store",
    "qdrant_edge",
    "sqlalchemy.dialects.postgresql",
    "uvicorn.protocols.http.httptools_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "uvloop",
    "tests.servers.forked_parent",  # the last: it uses the others
)


class Forked:
    """A process that runs a command, used as :class:`subprocess.Popen` is.

    Args:
        words: the command's.
        cwd: where it runs.
        env: all of its environment.
        stdout: the file that it writes to.
        stderr: the file of its errors; without one, ``stdout``.
        module: what runs with these words as its arguments, as by ``python -m``; without one, the
            command ``porch``.
    """

    def __init__(
        self,
        words: tuple[str, ...],
        cwd: Path,
        env: Mapping[str, str],
        stdout: Path,
        stderr: Path | None = None,
        module: str | None = None,
    ) -> None:
        arguments = (module, words, str(cwd), dict(env), str(stdout), str(stderr or stdout))
        self.args = words
        self._process: ForkServerProcess = _context().Process(
            target=_run, args=arguments, daemon=True
        )
        self._process.start()

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, once it has ended."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended: its exit code."""
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, if it still runs."""
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self.send_signal(signal.SIGKILL)


def run(
    words: tuple[str, ...], cwd: Path, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as :func:`subprocess.run` does, and keep what it writes."""
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = Forked(words, cwd, env, out, err)
        try:
            code = process.wait(timeout)
        except BaseException:
            process.kill()
            raise
        return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_IMPORTED))
    return context


def _run(
    module: str | None,
    words: tuple[str, ...],
    cwd: str,
    env: dict[str, str],
    stdout: str,
    stderr: str,
) -> None:
    """Be the command's process."""
    # A module that could not be imported before is passed over without a word.
    assert "tests.servers.forked_parent" in sys.modules
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    sys.path[:0] = [path for path in env.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.argv = [module or "porch", *words]
    for number, path in ((2, stderr), (1, stdout)):
        kept = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(kept, number)
        os.close(kept)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    try:
        if module:
            runpy.run_module(module, run_name="__main__")
        else:
            from gateway.cli import main

            main(prog_name="porch")
    finally:
        atexit._run_exitfuncs()
