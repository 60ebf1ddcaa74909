"""Sets up a project: examines every file, decides, and writes where allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from gateway.toolkit.atomic_file import write_atomically
from plugins.codegraph.client_setup.clients import CLIENTS, Client, RuleFile, SettingsFile
from plugins.codegraph.client_setup.rule import SERVER, VERSION, rule_text
from plugins.codegraph.client_setup.sections import Section, State
from plugins.codegraph.client_setup.settings import Unmergeable, merged, snippet


class Outcome(StrEnum):
    """The outcome for one file, or the expected one when only checking."""

    CURRENT = "current"
    WRITTEN = "written"
    MISSING = "missing"
    OUTDATED = "outdated"
    KEPT = "kept"
    """The place has a person's own text: nothing was written."""
    BY_HAND = "by hand"
    """The file is not the project's: a person has to paste what is shown."""


@dataclass(frozen=True, slots=True)
class Step:
    """The outcome for one file of one client.

    Attributes:
        client: the client's name.
        path: relative to the project's root.
        outcome: the outcome.
        reason: why it was not written, and what to do.
        paste: what a person may paste instead, or "".
    """

    client: str
    path: str
    outcome: Outcome
    reason: str = ""
    paste: str = ""


class Mode(StrEnum):
    """What may be done: only check, write what is missing, or also update what is outdated."""

    CHECK = "check"
    WRITE = "write"
    UPDATE = "update"


def onboard(project: Path, address: str, mode: Mode) -> list[Step]:
    """Write the rule and the settings of every client into a project, or only check them.

    Args:
        project: the project's root, which exists.
        address: the portal's MCP endpoint.
        mode: what may be done.

    Returns:
        The outcome for each file. Repeating it changes nothing.
    """
    return [step for client in CLIENTS for step in _client(project, client, address, mode)]


def _client(project: Path, client: Client, address: str, mode: Mode) -> Iterator[Step]:
    yield _tried(project, client.name, client.rule.path, lambda: _rule(project, client, mode))
    if client.settings.path.startswith("~"):
        paste = snippet(client.settings, address)
        reason = "Each person has it for themselves. Paste this into it:"
        yield Step(client.name, client.settings.path, Outcome.BY_HAND, reason, paste)
    else:
        yield _tried(
            project,
            client.name,
            client.settings.path,
            lambda: _settings(project, client.name, client.settings, address, mode),
        )


def _tried(project: Path, client: str, path: str, look: Callable[[], Step]) -> Step:
    """The outcome for a file that may be inaccessible, for example locked by another program."""
    try:
        # A cloned repository must not redirect writes by a link to a file of its choice.
        if not (project / path).resolve().is_relative_to(project.resolve()):
            return Step(client, path, Outcome.KEPT, "It is a link that leads out of the project.")
        return look()
    except (OSError, RuntimeError) as error:  # RuntimeError: a cycle of links
        why = getattr(error, "strerror", None) or str(error)
        return Step(client, path, Outcome.KEPT, f"It cannot be read or written: {why}.")


def _rule(project: Path, client: Client, mode: Mode) -> Step:
    file, section = client.rule, Section(VERSION, rule_text())
    path = project / file.path
    read = _text(path)
    if read is None:
        return Step(client.name, file.path, Outcome.KEPT, "It is not a text file.", str(section))
    state = section.state_in(read)
    if state is State.CURRENT:
        return Step(client.name, file.path, Outcome.CURRENT)
    if state in (State.EDITED, State.BROKEN):
        reason = (
            "Someone has edited the section between its markers. Delete the section with its "
            "markers to have it written anew."
        )
        return Step(client.name, file.path, Outcome.KEPT, reason)
    if state is State.OUTDATED and mode is not Mode.UPDATE:
        return Step(client.name, file.path, Outcome.OUTDATED, "Renew it with --update.")
    if mode is Mode.CHECK:
        return Step(client.name, file.path, Outcome.MISSING, "It does not have the rule.")
    return _written(
        Step(client.name, file.path, Outcome.WRITTEN), path, section.put_into(_start(read, file))
    )


def _settings(project: Path, client: str, file: SettingsFile, address: str, mode: Mode) -> Step:
    path = project / file.path
    text = _text(path)
    try:
        if text is None:
            raise Unmergeable("it is not a text file")
        new = merged(text, file, address)
    except Unmergeable as error:
        reason = f"It was left as it is: {error}. What belongs into it:"
        return Step(client, file.path, Outcome.KEPT, reason, snippet(file, address))
    if new is None:
        return Step(client, file.path, Outcome.CURRENT)
    if mode is Mode.CHECK:
        reason = f'It does not have the server "{SERVER}".'
        return Step(client, file.path, Outcome.MISSING, reason)
    return _written(Step(client, file.path, Outcome.WRITTEN), path, new)


def _start(read: str, file: RuleFile) -> str:
    """The text that the rule is appended to: the existing file, or the head of a new one."""
    return read if read.strip() else file.head


def _written(step: Step, path: Path, text: str) -> Step:
    if path.exists() and not path.stat().st_mode & 0o222:
        return replace(step, outcome=Outcome.KEPT, reason="It is read-only.")
    write_atomically(path.resolve(), text.encode())
    return step


def _text(path: Path) -> str | None:
    """The file's text; "" if it does not exist, None if it is not UTF-8."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        return None
