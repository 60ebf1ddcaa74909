"""A process that is started without a fork is read, written to, waited for and ended."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from gateway.toolkit.child_process import DEVNULL, PIPE, Child, spawn

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine on one of the loops that a portal may have."""
    if request.param == "uvloop":
        return lambda work: uvloop.run(work)
    return lambda work: asyncio.run(work)


async def python(program: str, **more: Any) -> Child:
    return await spawn(sys.executable, "-c", program, **more)


def pipes() -> set[str]:
    """The pipes that this process has open, as the kernel names them."""
    named = set()
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # it is the one that lists them
            named.add(str(each.readlink()))
    return {each for each in named if each.startswith("pipe:")}


def test_what_it_writes_is_read_and_its_status_is_told(run: Run) -> None:
    async def work() -> tuple[bytes, bytes, int]:
        program = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"
        child = await python(program, stdout=PIPE, stderr=PIPE)
        output, errors = await child.communicate()
        assert child.returncode == 3
        return output, errors, await child.wait()

    assert run(work()) == (b"out\n", b"err\n", 3)


def test_it_is_given_more_than_a_pipe_holds_and_gives_it_back(run: Run) -> None:
    data = b"a line of the garden\n" * 100_000

    async def work() -> bytes:
        program = "import sys; sys.stdout.buffer.write(sys.stdin.buffer.read())"
        child = await python(program, stdin=PIPE, stdout=PIPE)
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(data)
        await child.stdin.drain()
        child.stdin.close()
        return await child.stdout.read()

    assert run(work()) == data


def test_its_end_is_noticed_without_a_pipe_and_without_reading(run: Run) -> None:
    async def work() -> tuple[int, int]:
        silent = await python("", stdin=DEVNULL)
        unread = await python("print('x')", stdout=PIPE)
        return await silent.wait(), await unread.wait()

    assert run(work()) == (0, 0)


def test_it_is_killed(run: Run) -> None:
    async def work() -> int:
        child = await python("import time; time.sleep(600)", stdout=PIPE)
        assert child.returncode is None
        child.kill()
        await child.communicate()
        child.kill()  # which is nothing once it has ended
        return await child.wait()

    assert run(work()) == -9


def test_what_cannot_be_started_says_so(run: Run) -> None:
    with pytest.raises(FileNotFoundError):
        run(spawn("/no/such/program"))


def test_who_gives_up_starting_it_leaves_no_process(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Child] = []
    connecting = asyncio.Event()

    async def connect(child: Child) -> None:
        made.append(child)
        connecting.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Child, "connect", connect)

    async def work() -> None:
        starting = asyncio.create_task(python("import time; time.sleep(600)"))
        await connecting.wait()
        starting.cancel()
        await asyncio.wait({starting})
        while made[0].returncode is None:  # noqa: ASYNC110  (the system takes a moment)
            await asyncio.sleep(0.01)

    run(work())
    assert made[0].returncode == -9


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("turns", range(6))
def test_who_gives_up_starting_it_leaves_no_pipe_open(run: Run, turns: int) -> None:
    program = "import time; time.sleep(600)"

    async def work() -> None:
        before = pipes()
        starting = asyncio.create_task(python(program, stdin=PIPE, stdout=PIPE, stderr=PIPE))
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait({starting})
        if not starting.cancelled():  # it was started before
            child = starting.result()
            child.kill()
            child.close()
        async with asyncio.timeout(10):
            while pipes() - before:  # noqa: ASYNC110  (the system takes a moment)
                await asyncio.sleep(0.01)

    run(work())
    gc.collect()


def test_it_runs_in_a_directory_and_reads_its_input_to_the_end(run: Run, tmp_path: Path) -> None:
    data = b"a line of the garden\n" * 100_000

    async def work() -> bytes:
        program = "import os, sys; print(os.getcwd(), len(sys.stdin.buffer.read()))"
        child = await python(program, stdin=PIPE, stdout=PIPE, cwd=tmp_path)
        await child.give(data)
        output, _ = await child.communicate()
        return output

    assert run(work()).split() == [str(tmp_path).encode(), str(len(data)).encode()]


def test_who_ends_without_reading_its_input_is_no_error(run: Run) -> None:
    async def work() -> int:
        child = await python("import sys; sys.exit(2)", stdin=PIPE)
        await child.give(b"x" * 10_000_000)
        return await child.wait()

    assert run(work()) == 2


def test_it_is_asked_to_end_and_may_say_how_it_does(run: Run) -> None:
    program = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print("begun", flush=True)
signal.pause()
"""

    async def work() -> int:
        child = await python(program, stdout=PIPE)
        assert child.stdout is not None
        assert await child.stdout.readline() == b"begun\n"
        child.terminate()
        return await child.wait()

    assert run(work()) == 7
