"""Runs a child, and ends it with everything that it started, also where the portal was killed.

A program of its own, which imports nothing of ours: ``python -I -S supervisor.py FD SECONDS
COMMAND...``. The descriptor is one end of a socket whose other end the portal holds. When that end
closes, by intention or by ``kill -9``, the child is ended: SIGTERM to its process group, and after
so many seconds SIGKILL to all that is left. On the socket the supervisor says how it went: ``exit
N``, ``signal N`` or ``error TEXT``, each a line.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

_POLL_S = 0.02
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    """Run the child until it has ended, or shall end."""
    portal, grace_s, command = socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3:]
    woken = _wake_on_signals()
    _control(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        child = subprocess.Popen(  # noqa: S603  (the admin's command)
            command, start_new_session=True, preexec_fn=_prepare
        )
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        portal.sendall(f"error {getattr(error, 'strerror', None) or error}\n".encode())
        return
    for standard in (0, 1, 2):
        os.close(standard)  # the child's alone, so that its end is seen
    while child.poll() is None:
        readable, _, _ = select.select([portal, woken], [], [])
        if woken in readable:
            woken.recv(4096)
        if portal in readable:
            break
    _end(child, float(grace_s))
    code = child.returncode
    told = f"exit {code}\n" if code >= 0 else f"signal {-code}\n"
    with suppress(OSError):  # nobody may be left to hear it
        portal.sendall(told.encode())


def _wake_on_signals() -> socket.socket:
    """A socket to read from when a child has ended; what would end the supervisor is ignored."""
    woken, waker = socket.socketpair()
    waker.setblocking(False)
    signal.set_wakeup_fd(waker.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for each in _ENDING:
        signal.signal(each, signal.SIG_IGN)
    return woken


def _prepare() -> None:
    """In the child: SIGTERM's usual meaning back, and its end with the supervisor's."""
    for each in _ENDING:
        signal.signal(each, signal.SIG_DFL)
    _control(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _control(option: int, value: int) -> None:
    """Linux's ``prctl``; elsewhere the process group must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _end(child: subprocess.Popen[bytes], grace_s: float) -> None:
    """End the child if it runs, and what it has left behind in any case."""
    _signal(child.pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while (child.poll() is None or _orphans(child.pid)) and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    _signal(child.pid, signal.SIGKILL)
    child.wait()
    # Whoever has left the group became the supervisor's own child when its parent ended.
    while orphans := _orphans(child.pid):
        for each in orphans:
            os.kill(each, signal.SIGKILL)
            os.waitpid(each, 0)


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _orphans(child: int) -> list[int]:
    """What the child has started and left to the supervisor, and still runs."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    ours = [int(each) for each in listed.read_text().split()] if listed.exists() else []
    return [each for each in ours if each != child and os.waitpid(each, os.WNOHANG)[0] == 0]


if __name__ == "__main__":
    main()
