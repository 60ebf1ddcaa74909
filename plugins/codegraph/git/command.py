"""The one place that runs Git, on untrusted directories and hosts.

A repository is other people's data, its ``.git/config`` included. Nothing that it configures is
run: no hook, file system monitor, filter, text converter, credential helper, pager, editor, SSH or
proxy command, and no transport but https, to the one requested host. A command that could run such
a thing (``status``, ``diff``, ``log``) is refused before Git starts. The configuration of the
machine's user (``~/.gitconfig``, ``~/.netrc``) is not read either.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shutil
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.toolkit.background import cancel
from gateway.toolkit.child_process import DEVNULL, PIPE, Child, spawn
from plugins.codegraph.repositories.liveness_lock import inherited

TIMEOUT_S = 120.0
"""The default limit on a command, in seconds."""
MAX_OUTPUT_BYTES = 256 * 1024 * 1024
"""The most output of a command; a listing of two million files is smaller."""

_READING = frozenset(
    {"cat-file", "for-each-ref", "ls-files", "ls-tree", "merge-base", "rev-list", "rev-parse"}
    | {"symbolic-ref", "version"}
)
"""Commands that read objects and the index, and never the text of a file through a filter."""
_WRITING = frozenset({"clean", "init", "prune", "repack", "reset", "update-ref"})
"""Commands allowed only in the portal's own working copies, whose configuration is ours."""
_NETWORK = frozenset({"fetch", "ls-remote"})
_NO_REPOSITORY = frozenset({"init", "ls-remote", "version"})
_REFUSED = frozenset({"--filters", "--textconv", "--upload-pack", "--exec"})
"""Options that would still run a filter or a program."""
_LISTING = frozenset({"-z", "--stage", "--cached", "--others", "--exclude-standard", "--deleted"})
"""The options of ``ls-files`` that do not compare contents, which would run filters."""

_SAFE: Mapping[str, str] = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.askPass": "",
    "core.alternateRefsCommand": "true",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.symlinks": "false",
    "core.untrackedCache": "false",
    "core.logAllRefUpdates": "false",
    "credential.helper": "",
    "diff.external": "",
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    # The directory's owner does not matter, since nothing that it configures is run.
    "safe.directory": "*",
}
_PASSED_ON = ("PATH", "TMPDIR", "SYSTEMROOT", "SSL_CERT_FILE", "SSL_CERT_DIR")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_PROGRESS = re.compile(rb"(?:Receiving|Resolving)[^:\r\n]*:\s+\d+% \((\d+)/(\d+)\)")

Watch = Callable[[int, int], None]
"""``watch(done, total)``: receives the number of objects that a fetch has received."""


class GitFailed(Exception):
    """A Git command failed; the message says why, and what to do."""


class GitMissing(GitFailed):
    """Git is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "git is not installed, or not on PATH. Install it (for example `apt install git`) "
            "and try again; a plain directory can be added without it."
        )


@dataclass(frozen=True, slots=True)
class Remote:
    """How to reach a host.

    Attributes:
        url: the repository's https address, without a credential.
        header: an ``Authorization`` header for it, or "". It is passed in the environment of the
            process, never among its arguments, and sent to this address alone.
        ca_file: a file of trusted CA certificates, or None for the system's.
    """

    url: str
    header: str = field(default="", repr=False)
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one command.

    Attributes:
        seconds: how long it may take.
        answer: the most bytes of output.
        exceeded: called twice a second while it runs; returns a sentence if another limit is
            exceeded, which ends the command, else None.
    """

    seconds: float = TIMEOUT_S
    answer: int = MAX_OUTPUT_BYTES
    exceeded: Callable[[], str | None] | None = None


async def git(
    directory: Path,
    *arguments: str,
    remote: Remote | None = None,
    limits: Limits | None = None,
    watch: Watch | None = None,
    given: bytes = b"",
) -> bytes:
    """Run one Git command; returns its output.

    Args:
        directory: where it runs.
        arguments: the command and its arguments; paths and addresses after ``--``.
        remote: the one host that it may reach; none if None.
        limits: its limits.
        watch: receives the progress of a fetch.
        given: its input, such as the objects that ``cat-file --batch`` is to print.

    Raises:
        GitFailed: Git is missing, fails, is too slow or writes too much.
    """
    limits = limits or Limits()
    command = _command(directory, arguments, remote)
    try:
        process = await spawn(
            *command,
            stdin=PIPE if given else DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            env=_environment(remote),
            start_new_session=True,
            pass_fds=inherited(),
        )
    except OSError as error:
        raise GitFailed(f"git cannot be started: {error.strerror}.") from None
    giving = asyncio.create_task(process.give(given))
    try:
        async with asyncio.timeout(limits.seconds):
            return await _answered(process, arguments[0], limits, watch, remote)
    except TimeoutError:
        raise GitFailed(
            f"git {arguments[0]} did not end within {limits.seconds:g} s. Try again; if it stays "
            "so, look whether the disk or the host answers."
        ) from None
    finally:
        await cancel(giving)
        await _ended(process)


async def _answered(
    process: Child,
    command: str,
    limits: Limits,
    watch: Watch | None,
    remote: Remote | None,
) -> bytes:
    assert process.stdout is not None  # noqa: S101  (both are pipes)
    assert process.stderr is not None  # noqa: S101
    saying = asyncio.create_task(_errors(process.stderr, watch))
    bound = asyncio.create_task(_bounded(limits))
    reading = asyncio.create_task(_read(process.stdout, limits.answer, command))
    try:
        await asyncio.wait({bound, reading}, return_when=asyncio.FIRST_COMPLETED)
        if bound.done():
            raise GitFailed(bound.result())
        answer = reading.result()
        said = await saying
    finally:
        for task in (saying, bound, reading):
            task.cancel()
        await asyncio.gather(saying, bound, reading, return_exceptions=True)
    if await process.wait() != 0:
        raise GitFailed(_error_text(said, remote) or f"git {command} failed.")
    return answer


async def _read(stream: asyncio.StreamReader, most: int, command: str) -> bytes:
    answer = bytearray()
    while chunk := await stream.read(65536):
        answer += chunk
        if len(answer) > most:
            raise GitFailed(f"git {command} answered more than {most:,} bytes, so it was ended.")
    return bytes(answer)


async def _errors(stream: asyncio.StreamReader, watch: Watch | None) -> bytes:
    """The end of its error output, where the reason is."""
    said = b""
    while chunk := await stream.read(4096):
        said = (said + chunk)[-8192:]
        if watch is not None and (found := _PROGRESS.findall(chunk)):
            watch(int(found[-1][0]), int(found[-1][1]))
    return said


async def _bounded(limits: Limits) -> str:
    while True:
        await asyncio.sleep(0.5)
        if limits.exceeded is not None:
            broken = await asyncio.to_thread(limits.exceeded)
            if broken:
                return broken


async def _ended(process: Child) -> None:
    """Kill the process and its children."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()


def _command(directory: Path, arguments: Sequence[str], remote: Remote | None) -> list[str]:
    program = shutil.which("git")
    if program is None:
        raise GitMissing
    _check(arguments, _READING | _WRITING | (_NETWORK if remote else frozenset()))
    settings = [part for item in _SAFE.items() for part in ("-c", "=".join(item))]
    if remote:
        settings += ["-c", "protocol.https.allow=always"]
    flags = ["--no-pager", "--literal-pathspecs", "--no-replace-objects"]
    if arguments[0] not in _NO_REPOSITORY:
        # Set both, so that the repository's configuration (core.worktree) cannot lead elsewhere.
        flags += [f"--git-dir={directory / '.git'}", f"--work-tree={directory}"]
    return [program, *flags, *settings, "-C", str(directory), *arguments]


def _check(arguments: Sequence[str], allowed: frozenset[str]) -> None:
    options = arguments[1 : arguments.index("--")] if "--" in arguments else arguments[1:]
    given = {each.partition("=")[0] for each in options if each.startswith("-")}
    bad = given - _LISTING if arguments[0] == "ls-files" else given & _REFUSED
    if arguments[0] not in allowed or bad:
        raise ValueError(f"git {' '.join(arguments[:3])} is not among the commands that are safe")


def _environment(remote: Remote | None) -> dict[str, str]:
    kept = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    for name in _PROXIES if remote else ():
        for spelled in (name, name.upper()):
            if spelled in os.environ:
                kept[spelled] = os.environ[spelled]
    kept |= {
        "GIT_ALLOW_PROTOCOL": "https" if remote else "none",
        "GIT_ASKPASS": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        # Not the user's home: Git would send credentials from its ~/.netrc to hosts.
        "HOME": os.devnull,
        "LC_ALL": "C",
    }
    if remote and remote.ca_file:
        kept["GIT_SSL_CAINFO"] = str(remote.ca_file)
    if remote and remote.header:
        kept |= {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{remote.url}.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: {remote.header}",
        }
    return kept


_MEANINGS = (
    ("could not read Username", "The host asks for a credential, or there is no such repository. "),
    ("Authentication failed", "The host refuses the credential. "),
    ("Could not resolve host", "The host's name is not known here. "),
    ("couldn't find remote ref", "There is no such branch. "),
    ("No space left on device", "The disk is full. "),
    ("not a git repository", "It is no Git repository, or a damaged one. "),
    ("unable to update url base from redirection", "The host leads elsewhere; use the address "
     "that it leads to. "),
    ("error: 301", "The host leads elsewhere; use the address that it leads to. "),
    ("error: 302", "The host leads elsewhere; use the address that it leads to. "),
)  # fmt: skip


def _error_text(said: bytes, remote: Remote | None) -> str:
    text = said.decode(errors="replace")
    lines = [line.strip() for line in re.split(r"[\r\n]", text)]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:"))]
    reason = (reasons or [line for line in lines if line] or [""])[0]
    if remote and remote.header:
        reason = reason.replace(remote.header, "***")
    meaning = next((told for sign, told in _MEANINGS if sign in text), "")
    reason = reason.removeprefix("fatal: ").removeprefix("error: ")
    return f"{meaning}git says: {reason[:500]}" if reason else meaning.strip()
