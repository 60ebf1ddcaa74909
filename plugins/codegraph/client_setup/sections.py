"""A marked section in a text file that otherwise belongs to a person.

The first marker has the section's version and the digest of its original text. That tells an old
section, which may be replaced, from one that a person has edited, which may not.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum

_SECTION = re.compile(
    r"<!-- porch:begin version=(?P<version>\S+) digest=(?P<digest>[0-9a-f]{12}) -->\r?\n"
    r"(?P<body>.*?)\r?\n<!-- porch:end -->",
    re.DOTALL,
)
_MARK = re.compile(r"<!-- porch:(?:begin|end)\b")


class State(StrEnum):
    """The state of a section in a file."""

    MISSING = "missing"
    CURRENT = "current"
    OUTDATED = "outdated"
    EDITED = "edited"
    BROKEN = "broken"
    """One marker without the other, or several sections."""


@dataclass(frozen=True, slots=True)
class Section:
    """One version of a section.

    Attributes:
        version: such as ``1.0.0``.
        body: its text, without a newline at the end.
    """

    version: str
    body: str

    def __str__(self) -> str:
        begin = f"<!-- porch:begin version={self.version} digest={_digest(self.body)} -->"
        return f"{begin}\n{self.body}\n<!-- porch:end -->"

    def state_in(self, text: str) -> State:
        """The state of this section in a file's text."""
        marks = len(_MARK.findall(text))
        found = _SECTION.search(text)
        if not marks:
            return State.MISSING
        if found is None or marks != 2:
            return State.BROKEN
        body = found["body"].replace("\r\n", "\n")
        if found["digest"] != _digest(body):
            return State.EDITED
        same = (found["version"], body) == (self.version, self.body)
        return State.CURRENT if same else State.OUTDATED

    def put_into(self, text: str) -> str:
        """The text with the section in it: replacing an older one, else at the end.

        Everything else stays as it is; the section uses the text's own line ends.
        """
        newline = "\r\n" if "\r\n" in text else "\n"
        own = str(self).replace("\n", newline)
        if _SECTION.search(text):
            return _SECTION.sub(lambda _: own, text, count=1)
        return f"{text}{_gap(text, newline)}{own}{newline}"


def _gap(text: str, newline: str) -> str:
    """The separator between the text and a section after it: an empty line."""
    if not text.strip() or text.endswith(newline * 2):
        return ""
    return newline if text.endswith(newline) else newline * 2


def _digest(body: str) -> str:
    return hashlib.sha256(body.encode()).hexdigest()[:12]
