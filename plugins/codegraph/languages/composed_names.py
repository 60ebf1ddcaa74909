"""Names that a program puts together and then looks up: ``getattr(self, f"visit_{kind}")``.

The part that is written is noted with a star for the part that is not (``visit_*``), as a name
that occurs in the file. Whoever asks for a name asks for its :func:`spellings` too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

_LOOKS_UP: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "python": re.compile(
            r"\b(?:getattr|setattr|hasattr|globals|locals|vars|methodcaller|attrgetter)\("
            r"|__dict__"
        ),
        "script": re.compile(
            r"\bthis\[|\]\s*\(|\bReflect\.\w+\(|\[\s*(?:`[\w$]*\$\{|[\"'][\w$]*[\"']\s*\+)"
        ),
        "java": re.compile(r"\.get(?:Declared)?(?:Method|Field)\("),
        "go": re.compile(r"\.(?:MethodByName|FieldByName)\("),
    }
)
"""What says, in a file of a language, that members are looked up by names made at run time."""
_HEAD = re.compile(r"(?<=[\"'`])([^\W\d][\w$]*?)(?:\$?\{|%[sdv]|[\"'`]\s*\+)")
_TAIL = re.compile(r"(?:[\"'`](?:\$?\{[^{}\n]*\}|%[sdv])|[\w$)\]]\s*\+\s*[\"'`])(\w+)(?=[\"'`])")


def composed(language: str, text: str) -> Iterator[tuple[str, int]]:
    """The names that a file puts together, each with its line.

    Args:
        language: the family of its language (``script`` for JavaScript and TypeScript).
        text: the file.
    """
    looks_up = _LOOKS_UP.get(language)
    if looks_up is None or not looks_up.search(text):
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if "{" in line or "%" in line or "+" in line:
            yield from ((f"{each}*", number) for each in _HEAD.findall(line) if len(each) > 1)
            yield from ((f"*{each}", number) for each in _TAIL.findall(line) if len(each) > 1)


def spellings(name: str) -> set[str]:
    """A name as a file may have it: whole, or a part of it that ends at a word, and a star."""
    found = {name}
    for at in range(1, len(name)):
        hump = name[at].isupper() and not name[at - 1].isupper()
        if at > 1 and (hump or name[at - 1] == "_"):
            found.add(f"{name[:at]}*")
        if hump or name[at] == "_":
            found.add(f"*{name[at:]}")
    return found
