"""What stands between a sign that begins something and the one that ends it.

A pattern for both that looks ahead at each beginning for its end takes as many steps as the text is
long, for each of them. Here an end is looked for once for all beginnings before it, so that a page
of beginnings alone costs time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf

_FLAGS = re.MULTILINE | re.IGNORECASE


class Between:
    """Two signs with all that stands between them.

    Args:
        begins: a pattern of the first.
        ends: a pattern of the second.
        longest: the most characters between them; what is longer is left as it is.
    """

    def __init__(self, begins: str, ends: str, longest: float = inf) -> None:
        self._begins = re.compile(begins, _FLAGS)
        self._ends = re.compile(ends, _FLAGS)
        self._longest = longest

    def sub(self, replacement: str, text: str) -> str:
        """A text in which all such stand replaced.

        Args:
            replacement: what stands in the place of each.
            text: the text.
        """
        kept: list[str] = []
        at = 0
        for start, end in self._spans(text):
            kept += (text[at:start], replacement)
            at = end
        return "".join([*kept, text[at:]]) if kept else text

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        begun, ended = self._begins.search(text), None
        while begun is not None:
            if ended is None or ended.start() < begun.end():
                ended = self._ends.search(text, begun.end())
            if ended is None:  # nothing ends the later ones either
                return
            at = begun.start() + 1
            if ended.start() - begun.end() <= self._longest:
                yield begun.start(), ended.end()
                at = ended.end()
            begun = self._begins.search(text, at)
