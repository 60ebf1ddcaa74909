"""MDX: markdown with JSX and imports in it, of which a reader wants the markdown (mdxjs.com)."""

from __future__ import annotations

import re

from plugins.knowledge.notes.fences import Fences, Line

_MODULE = re.compile(r"^(?:import\s.+|export\s+(?:const|let|default|function|async)\b.*)")
_COMMENT = re.compile(r"\{/\*.*?\*/\}")


def plain(text: str) -> str:
    """The text without imports, exports and comments; what stands in fences stays as it is.

    An export ends with the first empty line, as MDX has it. Components stay: what stands between
    their tags is often what is looked for.

    Args:
        text: a note's body.
    """
    kept: list[str] = []
    fences, in_module = Fences(), False
    for line in text.split("\n"):
        is_text = in_module or fences.read(line) is Line.TEXT
        if in_module or (is_text and _MODULE.match(line)):
            in_module = bool(line.strip())
        else:
            kept.append(_COMMENT.sub("", line) if is_text else line)
    return "\n".join(kept).strip("\n")
