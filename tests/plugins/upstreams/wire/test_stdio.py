"""Children: spoken with over their stdio, and ended with all that they started."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.toolkit.background import background
from plugins.upstreams.wire import (
    ChildEnded,
    Limits,
    NotMcp,
    RpcError,
    TooLarge,
    Unreachable,
    WireError,
    stdio,
)
from plugins.upstreams.wire.stdio import MAX_STRAY_LINES
from tests.plugins.upstreams.wire.peers import call, text_of
from tests.plugins.upstreams.wire.spawned import HOSTILE, QUICK, ROOT, SDK, hostile, spawned


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def zombies() -> list[str]:
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [pid for pid in children if not is_alive(int(pid))]


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(60):
        while any(map(is_alive, pids)):  # noqa: ASYNC110  (another process's end has no event)
            await asyncio.sleep(0.01)


async def test_giving_up_cancels_the_call_in_the_child():
    async with spawned(*SDK, env={"PYTHONPATH": str(ROOT)}) as connection:
        calling = asyncio.create_task(connection.request(*call("hang")))
        await connection.request(*call("echo", text="by now it hangs"))
        calling.cancel()
        await asyncio.wait({calling})
        await connection.request(*call("when_cancelled"))  # answers once the other one has ended


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        (["/no/such/program"], "no such file or directory"),
        ([str(ROOT / "README.md")], "permission denied"),
    ],
)
async def test_a_command_that_cannot_be_started_is_named_as_such(command: list[str], reason: str):
    with pytest.raises(Unreachable, match=reason):
        async with spawned(*command):
            pass


async def test_a_directory_that_is_not_there_is_named_as_such(tmp_path: Path):
    with pytest.raises(Unreachable, match="no such file or directory"):
        async with spawned(sys.executable, cwd=tmp_path / "none"):
            pass


async def test_a_child_that_exits_at_once_tells_its_status():
    lines: list[str] = []
    with pytest.raises(ChildEnded, match="status 3") as raised:
        async with hostile("exit", said=lines.append):
            pass
    assert (raised.value.code, raised.value.signal) == (3, None)
    assert lines == ["no configuration"]


async def test_a_child_that_dies_in_a_call_fails_every_call_and_says_by_what():
    async with hostile("serve") as connection:
        calling = asyncio.create_task(connection.request(*call("hang")))
        with pytest.raises(ChildEnded, match="SIGKILL") as raised:
            await connection.request(*call("die"))
        assert raised.value.signal == signal.SIGKILL
        assert raised.value.may_have_run
        with pytest.raises(ChildEnded):
            await calling
        with pytest.raises(Unreachable) as later:
            await connection.request(*call("echo"))
        assert not later.value.may_have_run
        assert isinstance(await connection.ended(), ChildEnded)


async def test_a_child_that_is_ended_by_a_signal_without_a_name_says_its_number():
    dies = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 6)"]
    with pytest.raises(ChildEnded, match=r"by the signal \d+"):
        async with spawned(*dies):
            pass


async def test_what_it_answers_just_before_it_ends_is_still_heard():
    async with hostile("serve") as connection:
        assert text_of(await connection.request(*call("last_words"))) == "farewell"


async def test_lines_that_are_no_messages_are_counted_and_passed_on():
    lines: list[str] = []
    async with hostile("junk", said=lines.append) as connection:
        assert text_of(await connection.request(*call("echo"))) == "echo"
        assert connection.oddities["line that is no message"] == 3
    assert lines == ["Listening on stdio!", '["a", "batch"]', "{}"]


async def test_answers_to_nobody_and_repeated_ones_are_counted():
    async with hostile("serve") as connection:
        assert text_of(await connection.request(*call("twice"))) == "twice"
        assert text_of(await connection.request(*call("stray"))) == "stray"
        assert connection.oddities["response to no request"] >= 2


async def test_a_line_that_is_too_long_fails_its_call_alone():
    async with spawned(
        *HOSTILE, "serve", era="legacy", limits=Limits(closing_s=0.3, message_bytes=20_000)
    ) as connection:
        calling = asyncio.create_task(connection.request(*call("hang")))
        with pytest.raises(TooLarge, match="20000 bytes"):
            await connection.request(*call("big", size=10_000_000))
        assert text_of(await connection.request(*call("echo"))) == "echo"
        assert not calling.done()
        calling.cancel()
        await asyncio.wait({calling})


async def test_what_speaks_no_mcp_is_said_to():
    with pytest.raises((NotMcp, RpcError)):
        async with hostile("nonsense"):
            pass


async def test_a_child_that_writes_other_lines_without_end_speaks_no_mcp():
    lines: list[str] = []
    with pytest.raises((NotMcp, Unreachable), match="writes what is no MCP"):
        async with hostile("flood", said=lines.append):
            pass
    assert len(lines) < 50 * MAX_STRAY_LINES  # it is not read to an end that does not come


async def test_what_a_child_says_without_end_leaves_others_their_turns():
    lines: list[str] = []
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    async with hostile("scream", said=lines.append) as connection:
        await connection.request(*call("gossip"))
        async with background(other()):
            for _ in range(20):
                assert text_of(await connection.request(*call("echo"))) == "echo"
    assert turns > 20


async def test_a_command_that_is_no_server_is_told_from_one_that_fails():
    with pytest.raises(ChildEnded, match="What it wrote to its standard output is no MCP"):
        async with spawned("echo", "hello"):
            pass


async def test_the_portals_own_variables_stay_with_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PORCH_SECRET", "hidden")
    async with hostile("serve", env={"OWN": "given"}) as connection:
        names = text_of(await connection.request(*call("environment"))).split()
    assert "OWN" in names
    assert "PATH" in names
    assert "PORCH_SECRET" not in names


async def test_a_child_that_ignores_sigterm_ends_with_its_grandchildren():
    async with hostile("stubborn") as connection:
        pids = [int(each) for each in text_of(await connection.request(*call("family"))).split()]
        assert len(pids) == 3  # itself, a grandchild of its group, and one of a session of its own
        assert all(map(is_alive, pids))
    await until_gone(*pids)


async def test_grandchildren_end_when_the_child_ends_by_itself():
    async with hostile("family") as connection:
        pids = [int(each) for each in text_of(await connection.request(*call("family"))).split()]
        with pytest.raises(ChildEnded):
            await connection.request(*call("die"))
        await until_gone(*pids)


async def test_a_child_that_says_something_else_and_then_nothing_is_told_so(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(stdio, "MAX_STRAY_S", 0.1)
    talk = "import time; print('Listening!', flush=True); time.sleep(600)"
    with pytest.raises(WireError, match="what is no MCP"):
        async with spawned(sys.executable, "-c", talk, limits=QUICK):
            pass


@pytest.mark.parametrize("what", ["serve", "scream"])
async def test_no_zombie_and_no_descriptor_stays_behind(what: str):
    async with hostile(what):
        pass
    before = descriptors()
    for _ in range(5):
        async with hostile(what):
            await asyncio.sleep(0.1)  # for as long its pipes fill
    assert descriptors() <= before
    assert not zombies()


async def test_a_child_that_dies_while_it_is_listened_to_leaves_nothing_behind():
    async def heard(method: str, params: Mapping[str, Any]) -> None: ...

    async def dies() -> None:
        command = sys.executable, ROOT / "tests/plugins/upstreams/children.py"
        async with spawned(*command, told=heard) as connection:
            with pytest.raises(ChildEnded):
                await connection.request(*call("die"))

    await dies()
    before = descriptors()
    for _ in range(3):
        await dies()
    assert descriptors() <= before
    assert not zombies()


PORTAL = """
import asyncio, sys
from plugins.upstreams.wire import Child, Client, spawn

async def main():
    child = await spawn(Child(sys.argv[1:]), Client({"name": "p", "version": "1"}), era="legacy")
    told = await child.request("tools/call", {"name": "family", "arguments": {}})
    print(told["content"][0]["text"], flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("kind", ["family", "stubborn"])
async def test_a_child_does_not_outlive_a_portal_that_is_killed(kind: str):
    portal = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", PORTAL, *HOSTILE, kind],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        text=True,
    )
    with portal:
        assert portal.stdout is not None
        pids = [int(each) for each in (await asyncio.to_thread(portal.stdout.readline)).split()]
        assert len(pids) == 3
        assert all(map(is_alive, pids))
        portal.kill()
    await until_gone(*pids)
