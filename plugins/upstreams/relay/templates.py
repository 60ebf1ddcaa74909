"""Which URIs are of a server's template, whatever its level (RFC 6570).

The portal only has to know which server a URI is for; what the variables are, the server finds out.
"""

from __future__ import annotations

import re

_EXPRESSION = re.compile(r"\{([+#./;?&]?)[^{}]*\}")
_TAKES = {"": "[^/?#]*", "+": ".*", "#": "(?:#.*)?", ".": r"(?:\..*)?", "/": "(?:/.*)?"}
_TAKES |= {";": "(?:;.*)?", "?": r"(?:\?.*)?", "&": "(?:&.*)?"}


def pattern_of(template: str) -> re.Pattern[str]:
    """What the URIs of a template look like; every URI of it matches."""
    parts: list[str] = []
    place = 0
    for found in _EXPRESSION.finditer(template):
        parts += [re.escape(template[place : found.start()]), _TAKES[found[1]]]
        place = found.end()
    return re.compile("".join([*parts, re.escape(template[place:])]), re.DOTALL)
