"""Code that is indented by four spaces and not fenced (CommonMark 0.31, section 4.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_INDENTED = ("    ", "\t")
_HOLDS_INDENTED_TEXT = re.compile(
    r"(?:[-*+]|\d{1,9}[.)])(?:\s|$)"  # an item of a list
    r"|!!!|\?\?\?|===|///|:|\[\^?[^\]]+\]:"  # of MkDocs and MyST; a definition, a footnote
    r"|<|\{[%{<]"  # an element, a template
)
"""How a line begins below which indented text is a part of it, and no code."""


class IndentedCode:
    """Tells indented code from text, through a section from its first line on.

    Attributes:
        stands_free: whether what is indented after a blank line is code, and not a part of a list
            or the like above it.
    """

    def __init__(self) -> None:
        self.stands_free = True

    def split(self, text: str) -> Iterator[tuple[str, bool]]:
        """Cut text into runs of text and of indented code, each with whether it is code.

        Args:
            text: what stands between two fences.
        """
        held: list[str] = []
        after_blank, was_code = True, False
        for line in text.split("\n"):
            if line.strip():
                is_indented = line.startswith(_INDENTED)
                is_code = is_indented and self.stands_free and (after_blank or was_code)
                if is_code is not was_code and held:
                    yield "\n".join(held), was_code
                    held = []
                was_code = is_code
                if not is_indented:
                    self._note(line, begins=after_blank)
            held.append(line)
            after_blank = not line.strip()
        yield "\n".join(held), was_code

    def _note(self, line: str, *, begins: bool) -> None:
        """Take in a line that is not indented; one that begins a paragraph ends a list above it."""
        if line[0] == " " or _HOLDS_INDENTED_TEXT.match(line):
            self.stands_free = False
        elif begins:
            self.stands_free = True
