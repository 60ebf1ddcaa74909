"""A stdio MCP server of 2025-11-25 that misbehaves: ``python hostile_child.py WHAT``."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

WHAT = sys.argv[1]
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
IGNORING = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)",
]


def say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def repeat(act: Callable[[], object]) -> None:
    while True:
        act()


def answer(request: dict[str, Any], text: str) -> None:
    result = {"content": [{"type": "text", "text": text}]}
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def called(request: dict[str, Any], tool: str, given: dict[str, Any]) -> None:
    if tool == "hang":
        return
    if tool == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if tool == "stray":
        say({"jsonrpc": "2.0", "id": 4711, "result": {}})
    answer(request, text_of(tool, given))
    if tool == "twice":
        answer(request, "again")
    if tool == "last_words":
        os._exit(0)


def text_of(tool: str, given: dict[str, Any]) -> str:
    if tool == "family":
        return " ".join(map(str, FAMILY))
    if tool == "big":
        return "x" * int(given["size"])
    if tool == "environment":
        return " ".join(os.environ)
    if tool == "gossip":
        news = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        threading.Thread(target=repeat, args=(lambda: say(news),)).start()
    return {"last_words": "farewell"}.get(tool, tool)


def serve() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message:
            continue
        if message["method"] == "initialize":
            info = {"name": "hostile", "version": "1"}
            capabilities: dict[str, Any] = {"tools": {}}
            result = {
                "protocolVersion": "2025-11-25",
                "serverInfo": info,
                "capabilities": capabilities,
            }
            say({"jsonrpc": "2.0", "id": message["id"], "result": result})
        elif message["method"] == "tools/call":
            called(message, message["params"]["name"], message["params"]["arguments"])
        else:
            error = {"code": -32601, "message": "Unknown method"}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
    if WHAT == "stubborn":
        time.sleep(600)


FAMILY = [os.getpid()]
if WHAT == "exit":
    sys.stderr.write("no configuration\n")
    sys.exit(3)
if WHAT == "junk":
    sys.stdout.write('Listening on stdio!\n\n["a", "batch"]\n{}\n')
if WHAT == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if WHAT in {"stubborn", "family"}:
    command = IGNORING if WHAT == "stubborn" else SLEEP
    quiet = {"stdin": subprocess.DEVNULL}
    FAMILY.append(subprocess.Popen(command, **quiet).pid)  # type: ignore[call-overload]
    aside = subprocess.Popen(command, start_new_session=True, **quiet)  # type: ignore[call-overload]
    FAMILY.append(aside.pid)
if WHAT == "flood":
    while True:
        sys.stdout.write("no MCP\n" * 1000)
if WHAT == "scream":
    threading.Thread(target=repeat, args=(lambda: sys.stderr.write("why\n" * 1000),)).start()
if WHAT == "nonsense":
    for line in sys.stdin:
        say({"jsonrpc": "2.0", "id": json.loads(line).get("id"), "result": "yes"})
serve()
