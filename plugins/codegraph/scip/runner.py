"""Runs the installed SCIP indexers on a copy: they never write to the repository."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import dirname

from gateway.toolkit.child_process import DEVNULL, PIPE, STDOUT, Child, spawn
from plugins.codegraph.scip.index import Document, decoded
from plugins.codegraph.scip.protobuf import BrokenIndex

TIMEOUT_S = 900.0
"""The default limit on an indexer's run, in seconds."""
_TAIL = 400
_SCRIPTS = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs")
_CONFIGURED = '{"compilerOptions": {"allowJs": true, "jsx": "preserve", "noEmit": true}}'


@dataclass(frozen=True, slots=True)
class Indexer:
    """A SCIP indexer.

    Attributes:
        name: the program's name: ``scip-typescript``.
        package: the npm package that contains it.
        suffixes: endings of the files that it reads.
    """

    name: str
    package: str
    suffixes: tuple[str, ...]


INDEXERS = (
    Indexer("scip-typescript", "@sourcegraph/scip-typescript", _SCRIPTS),
    Indexer("scip-python", "@sourcegraph/scip-python", (".py", ".pyi")),
)


@dataclass(slots=True)
class Outcome:
    """The outcome of one indexer.

    Attributes:
        indexer: its name.
        documents: its results.
        problem: why it failed, and what to do about it; or "".
    """

    indexer: str
    documents: list[Document] = field(default_factory=list)
    problem: str = ""


def wanted(files: Mapping[str, bytes]) -> list[Indexer]:
    """The indexers that read any of these files."""
    return [each for each in INDEXERS if any(path.endswith(each.suffixes) for path in files)]


def command(indexer: Indexer, configured: Sequence[str] = ()) -> list[str]:
    """The command that starts an indexer: the configured one, else its name on the path; empty if
    it is not installed."""
    if configured:
        return list(configured)
    found = shutil.which(indexer.name)
    return [found] if found else []


async def run(
    indexer: Indexer,
    files: Mapping[str, bytes],
    *,
    start: Sequence[str] = (),
    limit: float = TIMEOUT_S,
) -> Outcome:
    """Run one indexer over a copy of the files.

    Args:
        indexer: the indexer.
        files: the bytes of the repository's files, manifests included, by path.
        start: the command that starts it, if it is not on the path.
        limit: seconds after which it is stopped.

    Returns:
        Its documents, or the problem; failures do not raise.
    """
    started = command(indexer, start)
    if not started:
        return Outcome(
            indexer.name,
            problem=f"{indexer.name} is not installed: an admin may add it with "
            f"`npm install --global {indexer.package}`; the graph does without",
        )
    async with _scratch() as scratch:
        root, output = Path(scratch, "tree"), Path(scratch, "index.scip")
        await _copied_whole(root, files)
        arguments = _arguments(indexer, files, root, output)
        problem = await _executed([*started, *arguments], root, scratch, limit)
        if problem:
            return Outcome(indexer.name, problem=f"{indexer.name} {problem}")
        return await asyncio.to_thread(_read, indexer, output)


@asynccontextmanager
async def _scratch() -> AsyncGenerator[str]:
    """A directory of its own; it is removed at the end, however that comes."""
    made = tempfile.mkdtemp(prefix="scip-")
    try:
        yield made
    finally:
        await asyncio.to_thread(shutil.rmtree, made, ignore_errors=True)


async def _copied_whole(root: Path, files: Mapping[str, bytes]) -> None:
    """Copy in a thread; who is cut off waits for it, as nothing may be written any more then."""
    copying = asyncio.create_task(asyncio.to_thread(_copied, root, files))
    try:
        await asyncio.shield(copying)
    finally:
        await asyncio.wait({copying})


def _copied(root: Path, files: Mapping[str, bytes]) -> None:
    root.mkdir()
    for path, data in files.items():
        target = root / path
        if root in target.parents and ".." not in target.parts:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def _arguments(indexer: Indexer, files: Mapping[str, bytes], root: Path, output: Path) -> list[str]:
    if indexer.name == "scip-python":
        environment = output.with_name("environment.json")
        environment.write_text(json.dumps([]))
        given = ["--environment", str(environment), "--project-name", "r", "--quiet"]
        return ["index", *given, "--project-version", "0", "--output", str(output)]
    projects = sorted({dirname(p) or "." for p in files if p.endswith("tsconfig.json")})
    projects = [each for each in projects if "node_modules" not in each.split("/")]
    if not projects:
        (root / "tsconfig.json").write_text(_CONFIGURED)
    return ["index", "--no-progress-bar", "--output", str(output), *projects]


async def _executed(arguments: list[str], root: Path, scratch: str, limit: float) -> str:
    """Run the command; returns what went wrong, or ""."""
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": scratch,
        "NODE_OPTIONS": "--max-old-space-size=4096",
    }
    try:
        process = await spawn(
            *arguments,
            cwd=root,
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return f"does not start: {error.strerror or error}"
    try:
        async with asyncio.timeout(limit):
            said, _ = await process.communicate()
    except TimeoutError:
        return f"took longer than {limit:g} s and was stopped"
    finally:
        if process.returncode is None:
            _stopped(process)
            await process.wait()
        process.close()
    if process.returncode:
        last = said.decode("utf-8", "replace").strip()[-_TAIL:].replace(str(root), "")
        return f"ended with status {process.returncode}: {last}"
    return ""


def _stopped(process: Child) -> None:
    """Kill the indexer and its child processes."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _read(indexer: Indexer, output: Path) -> Outcome:
    try:
        documents = decoded(output.read_bytes())
    except OSError:
        return Outcome(indexer.name, problem=f"{indexer.name} ended well but wrote no index")
    except BrokenIndex as error:
        return Outcome(indexer.name, problem=f"{indexer.name} wrote a broken index: {error}")
    return Outcome(indexer.name, documents)
