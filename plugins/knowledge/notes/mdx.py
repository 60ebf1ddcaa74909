"""MDX: markdown with JSX and imports in it, of which a reader wants the markdown (mdxjs.com)."""

from __future__ import annotations

import re

from plugins.knowledge.notes.between import Between
from plugins.knowledge.notes.fences import Fences, Line

_MODULE = re.compile(
    r"^(?:import\s+(?:type\s+)?(?:[\"'{*]|\w+(?:\s*,|\s+from\s))"
    r"|export\s+(?:const|let|default|function|async)\b)"
)
_COMMENT = Between(r"\{/\*", r"\*/\}")

_NAME = r"[A-Z]\w{0,99}"
_COMPONENT = re.compile(
    rf"^import\s+(?:({_NAME})|\{{\s*({_NAME})[\w\s,]{{0,300}}\}})\s+from\s+[\"'][^\"'\n]{{1,300}}[\"']"
)
_TAG = re.compile(rf"<({_NAME})[\s/>]")


def is_mdx(path: str, text: str) -> bool:
    """Whether a note is MDX: by its ending, or as it imports a component that it has as a tag.

    Docusaurus reads each ``.md`` as MDX.

    Args:
        path: the note's.
        text: its body.
    """
    if path.lower().endswith(".mdx"):
        return True
    fences, imported = Fences(), set[str]()
    for line in text.split("\n"):
        if fences.read(line) is Line.TEXT and (match := _COMPONENT.match(line)):
            imported.add(match[1] or match[2])
    return bool(imported) and not imported.isdisjoint(_TAG.findall(text))


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
