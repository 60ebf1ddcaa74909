"""A worker process: reads tasks from standard input, writes results to standard output.

Run as ``python -m plugins.codegraph.indexer.worker``; it exits when its input ends. A frame is four
bytes of length, then MessagePack. In: a task. Out: some of its results (``["r", [...]]``), then the
end of the task with the process's peak memory in KiB (``["e", kib]``), or what went wrong.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from plugins.codegraph.indexer.tasks import ParseTask, Task, Worker

_decoder = msgspec.msgpack.Decoder(Task)
_encoder = msgspec.msgpack.Encoder()


def main() -> None:
    """Run tasks until the input ends."""
    # Output printed by a library must not mix with the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    worker = Worker()
    while (task := _read(sys.stdin.buffer)) is not None:
        for frame in _frames(worker, task):
            data = _encoder.encode(frame)
            output.write(len(data).to_bytes(4, "big") + data)
        output.flush()


def _frames(worker: Worker, task: Task) -> Iterator[Any]:
    done: Any
    try:
        done = worker.parse(task) if isinstance(task, ParseTask) else worker.link(task)
        for result in done:
            yield "r", result
    except Exception as error:
        yield "x", f"{type(error).__name__}: {error}"
        return
    yield "e", _peak()


def _peak() -> int:
    """The peak memory of this process, in KiB; 0 if the system does not report it.

    ``getrusage`` would include the parent's memory from before this program was executed.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    lines = status.read_text("utf-8").splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _read(stream: BinaryIO) -> Task | None:
    head = stream.read(4)
    if len(head) < 4:
        return None
    task: Task = _decoder.decode(stream.read(int.from_bytes(head, "big")))
    return task


if __name__ == "__main__":
    main()
