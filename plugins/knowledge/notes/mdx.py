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
_WITH_ID = re.compile(
    r"(?P<said> {0,3}#{1,6}[ \t][^\n]*[ \t])\{/\*[ \t]*+#?(?P<id>\w[\w:.-]*+)[ \t]*+\*/\}[ \t]*"
)
"""A heading that gives itself an id, which braces alone could not do in MDX."""


def is_mdx(path: str, text: str) -> bool:
    """Whether a note is MDX: by its ending, or by what it says.

    Some sites read each ``.md`` as MDX: it imports a component that it has as a tag, or gives a
    heading an id as MDX does.

    Args:
        path: the note's.
        text: its body.
    """
    if path.lower().endswith(".mdx"):
        return True
    fences, imported = Fences(), set[str]()
    for line in text.split("\n"):
        if fences.read(line) is not Line.TEXT:
            continue
        if _WITH_ID.fullmatch(line):
            return True
        if match := _COMPONENT.match(line):
            imported.add(match[1] or match[2])
    return bool(imported) and not imported.isdisjoint(_TAG.findall(text))


def plain(text: str) -> str:
    """The text without imports, exports and comments; what stands in fences stays as it is.

    An export ends with the first empty line, as MDX has it. Components stay: what stands between
    their tags is often what is looked for. Ids of headings are written as elsewhere (``{#id}``).

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
            kept.append(_without_comments(line) if is_text else line)
    return "\n".join(kept).strip("\n")


def _without_comments(line: str) -> str:
    heading = _WITH_ID.fullmatch(line)
    return f"{heading['said']}{{#{heading['id']}}}" if heading else _COMMENT.sub("", line)
