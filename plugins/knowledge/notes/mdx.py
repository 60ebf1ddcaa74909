"""MDX: markdown with JSX and imports in it, of which a reader wants the markdown (mdxjs.com)."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
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
    fence, in_module = "", False
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if fence:
            fence = "" if mark and mark[1].startswith(fence) else fence
        elif mark:
            fence = mark[1]
        elif in_module or _MODULE.match(line):
            in_module = bool(line.strip())
            continue
        else:
            line = _COMMENT.sub("", line)
        kept.append(line)
    return "\n".join(kept).strip("\n")
