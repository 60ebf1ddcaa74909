"""Workers that die are started again, also where the machine cannot do so at once."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gateway.server import supervisor as module
from gateway.server.supervisor import Hooks, Supervisor

WORKER = """
import socket, sys
channel = socket.socket(fileno=int(sys.argv[1])).makefile("rwb", buffering=0)
channel.readline()
channel.write(b'{"serving": 1}\\n')
for line in channel:
    if b'"do"' in line:
        break
"""


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_worker_for_which_there_is_no_room_now_is_started_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_PAUSE_SECONDS", 0.01)
    start, asked = asyncio.create_subprocess_exec, list[int]()

    async def full_once(*command: Any, **more: Any) -> Any:
        asked.append(len(asked))
        if asked[-1] == 2:
            raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")
        return await start(*command, **more)

    monkeypatch.setattr(asyncio, "create_subprocess_exec", full_once)
    hooks = Hooks(lambda: None, lambda port: None, lambda: None)
    with socket.create_server(("127.0.0.1", 0)) as tcp:
        command = [sys.executable, "-c", WORKER]
        portal = Supervisor(command, tcp, tmp_path, 2, 1.0, hooks)
        running = asyncio.create_task(portal.run())
        first, second = portal._workers

        def all_serve() -> bool:
            return first.state["state"] == second.state["state"] == "serving"

        await until(all_serve)
        assert first.process is not None
        os.kill(first.process.pid, signal.SIGKILL)
        await until(lambda: first.state["restarts"] == 2 and all_serve())
        assert "it could not be started" in first.state["ended"]
        assert not running.done()
        portal._stop("now")
        async with asyncio.timeout(60):
            await running
