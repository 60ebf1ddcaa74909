"""``.gitignore`` for directories that are not Git checkouts: the common part of its syntax."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate
from pathlib import Path

MAX_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class _Rule:
    expression: re.Pattern[str]
    directory: bool
    negated: bool
    anchored: bool


class IgnoreRules:
    """The rules of one directory's ``.gitignore``, after those of its ancestors.

    Args:
        above: the rules of the parent directory, or None at the root.
        directory: its path relative to the root; "" for the root itself.
        text: the text of its file, "" where there is none.
    """

    def __init__(self, above: IgnoreRules | None, directory: str, text: str) -> None:
        self._above = above
        self._prefix = f"{directory}/" if directory else ""
        self._rules = [rule for line in text.splitlines() if (rule := _rule(line))]

    def ignores(self, path: str, directory: bool) -> bool:
        """Whether a path, relative to the root, is ignored; the last matching rule decides."""
        return bool(self._verdict(path, directory))

    def _verdict(self, path: str, directory: bool) -> bool | None:
        local = path[len(self._prefix) :]
        name = local.rpartition("/")[2]
        for rule in reversed(self._rules):
            if rule.directory and not directory:
                continue
            if rule.expression.match(local if rule.anchored else name):
                return not rule.negated
        return None if self._above is None else self._above._verdict(path, directory)


def rules_in(above: IgnoreRules | None, root: Path, directory: str) -> IgnoreRules:
    """The rules that apply in a directory."""
    file = root / directory / ".gitignore"
    text = ""
    if file.is_file() and not file.is_symlink():
        with file.open("rb") as opened:
            text = opened.read(MAX_BYTES).decode("utf-8", "replace")
    return above if above is not None and not text else IgnoreRules(above, directory, text)


def _rule(line: str) -> _Rule | None:
    line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    pattern = line.removeprefix("!").removeprefix("\\")
    directory = pattern.endswith("/")
    pattern = pattern.rstrip("/")
    anchored = "/" in pattern
    pattern = pattern.lstrip("/")
    if not pattern:
        return None
    return _Rule(re.compile(_expression(pattern)), directory, negated, anchored)


def _expression(pattern: str) -> str:
    """A pattern as a regular expression in which ``*`` does not match ``/``, but ``**`` does."""
    parts = []
    for piece in re.split(r"(\*\*/|/\*\*|\*\*)", pattern):
        if piece == "**/":
            parts.append("(?:.*/)?")
        elif piece == "/**":
            parts.append("/.*")
        elif piece == "**":
            parts.append(".*")
        elif piece:
            # Remove the anchors that fnmatch adds around the expression.
            whole = translate(piece)
            parts.append(whole[4:].rpartition(")")[0].replace(".*", "[^/]*"))
    return "".join(parts) + r"\Z"
