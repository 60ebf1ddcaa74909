"""A repository of 1,000 skills and 2,000 pages, made of real ones, and those who serve it.

``python -m benchmarks.skill_library portal PLACE PORT`` serves it with Porch, ``constant PLACE
PORT`` is a bare server of the official SDK that sends the answers put in that place, and ``index
PLACE KIND`` prints what :func:`index` returns.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.peers import hosted, serve_peer, serve_portal
from benchmarks.processes import cpu_seconds, memory
from benchmarks.wire import SKILLS

PAGES = 2_000
_KINDS = ("skills", "docs")
_NAME = re.compile(r"^name:.*$", re.MULTILINE)
_TIERS = """\
default: open
items: {skills_repo: open}
"""


def write_shelf(sets: Path, place: Path) -> None:
    """Write a repository, and the configuration of a portal that serves it to everybody.

    Args:
        sets: the directory of data sets.
        place: where to write.
    """
    write_skills(sets / "skills-repo-a" / "skills", place / "repo" / "skills", SKILLS)
    write_pages(sets, place / "repo" / "docs", PAGES)
    sources = [
        {"name": kind, "kind": kind, "directory": str(place / "repo"), "path": kind, "tier": "open"}
        for kind in _KINDS
    ]
    config = place / "config"
    config.mkdir()
    (config / "tiers.yaml").write_text(_TIERS)
    # JSON is YAML.
    (config / "portal.yaml").write_text(
        json.dumps({"plugins": {"skills_repo": {"sources": sources}}})
    )


def write_skills(real: Path, folder: Path, count: int) -> None:
    """Copy skills until there are so many, each under a name of its own: ``pdf-1``, ``pdf-2``.

    Args:
        real: a directory of skills.
        folder: where to write.
        count: how many.
    """
    originals = sorted(file.parent for file in real.glob("*/SKILL.md"))
    for number, original in enumerate(islice(cycle(originals), count)):
        name = f"{original.name}-{number // len(originals) + 1}"
        for file in original.rglob("*"):
            if file.is_file():
                copy = folder / name / file.relative_to(original)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
        written = folder / name / "SKILL.md"
        text = written.read_text(encoding="utf-8")
        written.write_text(_NAME.sub(f"name: {name}", text, count=1), encoding="utf-8")


def write_pages(sets: Path, folder: Path, count: int) -> None:
    """Copy real pages, skills and profiles until there are so many markdown files."""
    real = [*(sets / "docs-tree-a").rglob("*.md*"), *(sets / "skills-repo-a").rglob("*.md")]
    for number, page in enumerate(islice(cycle(sorted(real)), count)):
        copy = folder / f"part-{number // 100}" / f"{page.stem}-{number}{page.suffix}"
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(page.read_bytes())


def settle(process: subprocess.Popen[bytes], seconds: float = 300) -> None:
    """Wait until a server has nothing left to do, such as to embed what is new.

    Raises:
        TimeoutError: it goes on working.
    """
    until = time.monotonic() + seconds
    quiet, before = 0, cpu_seconds(process.pid)
    while quiet < 3:
        if time.monotonic() > until:
            raise TimeoutError(f"{process.args!r} still works after {seconds:g} s")
        time.sleep(0.5)
        now = cpu_seconds(process.pid)
        quiet = quiet + 1 if now - before < 0.05 else 0
        before = now


def indexed(place: Path, kind: str) -> Mapping[str, float]:
    """Build an index in a process of its own; gives what :func:`index` returns there."""
    command = [sys.executable, "-m", "benchmarks.skill_library", "index", str(place), kind]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise RuntimeError(f"index of {kind}: {done.stderr.strip()[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


async def index(place: Path, kind: str) -> Mapping[str, float]:
    """Build the index of one of the folders.

    Returns:
        ``files`` and ``entries`` there are, the ``seconds`` it took, and the ``peak``: the MiB
        that the process held at its most beyond what it held before.
    """
    from gateway.repositories.local import LocalRepository
    from plugins.skills_repo.config import Source
    from plugins.skills_repo.index.build import build

    source = Source.model_validate(
        {"name": kind, "kind": kind, "directory": str(place / "repo"), "path": kind}
    )
    repository = LocalRepository(place / "repo", None, 1024 * 1024)
    read: list[int] = []
    held, _ = memory(os.getpid())
    started = time.perf_counter()
    entries, _ = await build(source, repository, read.append)
    seconds = time.perf_counter() - started
    peak = memory(os.getpid())[1] - held
    return {"files": len(read), "entries": len(entries), "seconds": seconds, "peak": peak}


def constant(place: Path) -> Any:
    """A bare server that answers every tool, and ``skills/list``, with what lies in a place.

    Args:
        place: holds ``get_skill.json``, ``list_skills.json`` and ``skills.json``: results.
    """
    import mcp_types as types
    from mcp.server.lowlevel import Server

    def held(name: str) -> dict[str, Any]:
        result: dict[str, Any] = json.loads((place / f"{name}.json").read_bytes())
        return result

    results = {
        name: types.CallToolResult.model_validate(held(name))
        for name in ("get_skill", "list_skills")
    }
    skills = held("skills")

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return results[params.name]

    async def list_skills(context: Any, params: Any) -> dict[str, Any]:
        return skills

    server: Any = Server("constant", on_call_tool=call_tool)
    server.add_request_handler("skills/list", types.PaginatedRequestParams, list_skills)
    return hosted(server, as_json=True)


def main() -> None:
    """Do what the command line says."""
    what, place, more = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    if what == "index":
        print(json.dumps(asyncio.run(index(place, more))))
    elif what == "constant":
        serve_peer(constant(place), int(more))
    else:
        from plugins.skills_repo import plugin

        serve_portal(place, int(more), plugin)


if __name__ == "__main__":
    main()
