"""The fields of a file, taken one by one; what is wrong with each is said with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, TypeVar

from gateway.contract import ToolFailed
from gateway.toolkit.yaml_lines import Listing, Node, Scalar, plain
from gateway.toolkit.yaml_lines import Mapping as Keys
from plugins.workflows import checks, limits
from plugins.workflows.files.nodes import Problem, describe

SLUG = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{limits.MAX_KEY_CHARS - 1}}}")
"""What a key, and so a file name without its ending, is made of."""
UNRESOLVED = "unresolved"
"""The key, in a stage's ``extra``, of the steps whose prompt or card is not there."""

_YES = frozenset({"true", "yes", "on"})
_NO = frozenset({"false", "no", "off"})
_GUESSES = {
    "title": "name",
    "id": "name",
    "key": "name",
    "summary": "description",
    "colour": "color",
    "with_review": "review",
    "withreview": "review",
    "memory_board": "review",
    "include_multi_agent_chat": "multi_agent_chat",
    "includemultiagentchat": "multi_agent_chat",
    "chat": "multi_agent_chat",
    "agents_chat": "multi_agent_chat",
    "item_order": "order",
    "itemorder": "order",
    "prompts": "items",
    "steps": "items",
    "skills": "items",
    "labels": "tags",
    "size": "complexity",
    "public": "visibility",
    "private": "visibility",
    "attachments": "files",
    "card": "skill",
    "body": "content",
    "text": "content",
}

Choice = TypeVar("Choice", bound=StrEnum)


class Fields:
    """The fields of one mapping; every ``take`` names what it knows, ``finish`` the rest.

    Args:
        node: the mapping.
        path: the file, for problems.
        problems: where to add them.
    """

    def __init__(self, node: Keys, path: str, problems: list[Problem]) -> None:
        self.line = node.line
        self._node = node
        self._path = path
        self._problems = problems
        self._taken: set[str] = set()

    def complain(self, line: int, reason: str) -> None:
        """Add a problem."""
        self._problems.append(Problem(self._path, line, reason))

    def has(self, key: str) -> bool:
        """Whether a key is written."""
        return key in self._node.items

    def line_of(self, key: str) -> int:
        """The line of a key, or of the mapping where it is not written."""
        return self._node.lines.get(key, self.line)

    def node(self, key: str) -> Node | None:
        """The value of a key as it is; None where there is none."""
        self._taken.add(key)
        node = self._node.items.get(key)
        return None if isinstance(node, Scalar) and node.value is None else node

    def text(self, key: str, most: int, *, lines: bool = False) -> str | None:
        """A text as it is written, even where it looks like a number, a truth or a date.

        Args:
            key: the field.
            most: how many characters it may have.
            lines: whether it may have several lines.
        """
        node = self.node(key)
        if node is None:
            return None
        return self.checked(node, key, most, lines=lines)

    def needed(self, key: str, most: int, *, lines: bool = False) -> str:
        """A text that must be there and say something."""
        before = len(self._problems)
        found = self.text(key, most, lines=lines)
        if len(self._problems) == before and not (found or "").strip():
            self.complain(self.line_of(key), f"{key} is missing or empty; write `{key}: ...`")
        return found or ""

    def checked(self, node: Node, what: str, most: int, *, lines: bool = False) -> str | None:
        """The text of a node, or None with a problem."""
        if not isinstance(node, Scalar):
            self.complain(node.line, f"{what}: must be a text, not {describe(node)}")
            return None
        text = node.text.replace("\r\n", "\n").replace("\r", "\n")
        try:
            if lines:
                return checks.text(text, what, most)
            return checks.line(text, what, most) if text.strip() else ""
        except ToolFailed as error:
            self.complain(node.line, error.message)
            return None

    def flag(self, key: str) -> bool | None:
        """A truth: ``true`` or ``false``, also ``yes`` and ``no``; None where it is not said."""
        node = self.node(key)
        word = node.text.lower() if isinstance(node, Scalar) else ""
        if node is None or word in _YES | _NO:
            return None if node is None else word in _YES
        self.complain(node.line, f"{key} must be true or false, not {describe(node)}")
        return None

    def choice(self, key: str, words: type[Choice]) -> Choice | None:
        """One of a few words, in any case."""
        node = self.node(key)
        if node is None:
            return None
        written = node.text if isinstance(node, Scalar) else ""
        for word in words:
            if word.value.lower() == written.lower():
                return word
        known = ", ".join(word.value for word in words)
        self.complain(node.line, f"{key} must be one of {known}, not {describe(node)}")
        return None

    def listed(self, key: str) -> list[Node]:
        """The items of a list; empty where there is none."""
        node = self.node(key)
        if isinstance(node, Listing):
            return node.items
        if node is not None:
            self.complain(
                node.line, f"{key} must be a list, not {describe(node)}; begin lines with -"
            )
        return []

    def tags(self) -> tuple[str, ...]:
        """Tags: a list, or one text with commas."""
        node = self.node("tags")
        if isinstance(node, Scalar):
            given = [Scalar(node.line, each, each) for each in node.text.split(",")]
            items: list[Node] = [*given]
        else:
            items = self.listed("tags")
        found = [self.checked(each, "a tag", limits.MAX_TAG_CHARS) for each in items]
        tags = {tag.casefold() for tag in found if tag}
        if len(tags) > limits.MAX_TAGS:
            self.complain(
                self.line_of("tags"),
                f"{len(tags):,} tags are more than the most, {limits.MAX_TAGS}",
            )
        return tuple(sorted(tags))

    def extra(self) -> dict[str, Any]:
        """What else its author says: any JSON values under ``extra``."""
        node = self.node("extra")
        if node is None:
            return {}
        if not isinstance(node, Keys):
            self.complain(
                node.line, f"extra must be made of `key: value` lines, not {describe(node)}"
            )
            return {}
        return self.kept(plain(node), node.line)

    def kept(self, values: Mapping[str, Any], line: int) -> dict[str, Any]:
        """Values for an ``extra``, if they may be kept."""
        if UNRESOLVED in values:
            reason = f"the key {UNRESOLVED!r} is used for steps that are not there; rename it"
            self.complain(line, f"extra: {reason}")
            return {}
        try:
            return checks.json_values(values, "extra")
        except ToolFailed as error:
            self.complain(line, error.message)
            return {}

    def others(self) -> dict[str, Node]:
        """The fields that nothing has taken yet; now they are."""
        left = {key: node for key, node in self._node.items.items() if key not in self._taken}
        self._taken.update(left)
        return left

    def finish(self, known: Iterable[str] = ()) -> None:
        """Complain of every field that is not known, with the one that may have been meant.

        Args:
            known: the fields, where those that were asked for are not all.
        """
        names = sorted(known or self._taken)
        for key in self._node.items:
            if key not in names:
                hint = _meant(key, names) or f"known here: {', '.join(names)}"
                self.complain(self._node.lines[key], f"there is no field {key[:60]!r}; {hint}")


def _meant(key: str, known: list[str]) -> str:
    guess = _GUESSES.get(key.lower().replace("-", "_"))
    close = get_close_matches(key.lower().replace("-", "_"), known, 1)
    word = guess if guess in known else close[0] if close else None
    return f"did you mean {word}?" if word else ""
