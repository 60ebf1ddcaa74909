"""How the outside world starts an entity: routes, commands, programs, tasks and handlers."""

from __future__ import annotations

import re
from dataclasses import dataclass

from plugins.codegraph.justification.columns import Columns
from plugins.codegraph.justification.taxonomy import EntryKind
from plugins.codegraph.model import EntityKind

_COMMAND = re.compile(r"[@#\[]*(?:\w+\.)*(?:command|group|callback|subcommand|default)\b")
_COMMANDS = frozenset({"click", "typer", "cli", "app", "cmd", "command", "cyclopts"})
_TASK = re.compile(
    r"@(?:\w+\.)*(?:task|shared_task|job|actor|periodic_task|scheduled|scheduled_job|workflow|"
    r"cron|on_schedule|Scheduled)\b"
)
_HANDLER = re.compile(
    r"@(?:\w+\.)*(?:errorhandler|app_errorhandler|exception_handler|before_request|after_request|"
    r"before_app_request|teardown_\w+|receiver|on_event|event|listens_for|on|subscribe|listener|"
    r"EventListener|KafkaListener|RabbitListener|hookimpl|user_loader|verify_password|"
    r"verify_token|error_handler|shell_context_processor|context_processor|middleware|websocket)\b"
)
_HANDLERS = frozenset({"lambda_handler"})


@dataclass(frozen=True, slots=True)
class Entry:
    """How an entity is started.

    Attributes:
        kind: how.
        label: the route, the command or the event, as people know it.
        at: where the code says so: file:line.
    """

    kind: EntryKind
    label: str
    at: str


class EntryPoints:
    """Finds entry points.

    Args:
        columns: the graph.
        scripts: the functions that manifests name as programs: (end of the file's path without
            its ending, function) by the program's name.
    """

    def __init__(self, columns: Columns, scripts: dict[tuple[str, str], str]) -> None:
        self._columns, self._scripts = columns, scripts

    def of(self, at: int) -> Entry | None:
        """How the outside starts an entity, or None where only code uses it."""
        entity = self._columns.entities[at]
        if entity.test or entity.kind in (EntityKind.CLASS, EntityKind.INTERFACE):
            return self._route(at) if not entity.test else None
        return self._route(at) or self._decorated(at) or self._program(at)

    def _route(self, at: int) -> Entry | None:
        served = self._columns.routes.get(self._columns.entities[at].key)
        if not served:
            return None
        label = ", ".join(
            dict.fromkeys(f"{each.method} {each.template}".strip() for each in served)
        )
        return Entry(EntryKind.ROUTE, label, f"{served[0].path}:{served[0].line}")

    def _decorated(self, at: int) -> Entry | None:
        entity, signals = self._columns.entities[at], self._columns.signals[at]
        place = f"{entity.path}:{entity.line}"
        for text in signals.decorators:
            if _TASK.match(text):
                return Entry(EntryKind.TASK, entity.name, place)
            if _HANDLER.match(text):
                return Entry(EntryKind.HANDLER, text.lstrip("@")[:60], place)
            if _COMMAND.match(text) and ("." in text or text[1:].split("(")[0] in _COMMANDS):
                return Entry(EntryKind.COMMAND, entity.name.replace("_", "-"), place)
        return None

    def _program(self, at: int) -> Entry | None:
        entity = self._columns.entities[at]
        place = f"{entity.path}:{entity.line}"
        stem = entity.path.rpartition(".")[0]
        short = stem.removesuffix("/__init__")
        for (module, name), program in self._scripts.items():
            if name == entity.qualified and (short == module or short.endswith(f"/{module}")):
                return Entry(EntryKind.COMMAND, program, place)
        file = self._columns.files.get(entity.path)
        if file is not None and entity.qualified in file.started:
            return Entry(EntryKind.MAIN, f"python {entity.path}", place)
        if entity.name in _HANDLERS:
            return Entry(EntryKind.HANDLER, entity.name, place)
        if _is_main(entity.language, entity.qualified, entity.path, entity.signature):
            return Entry(EntryKind.MAIN, entity.path, place)
        return None


def _is_main(language: str, name: str, path: str, signature: str) -> bool:
    """Whether a language's own rule starts a program here."""
    if language == "java":
        return name.endswith(".main") and "String" in signature
    if name != "main":
        return False
    if language == "python":
        return True
    if language == "go":
        return path.endswith(".go") and "test" not in path
    return language == "rust" and (path.endswith(("main.rs", "build.rs")) or "/bin/" in path)
