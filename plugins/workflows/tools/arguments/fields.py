"""The texts that tools take, as types; ``checks.py`` has the last word on what is written."""

from __future__ import annotations

from typing import Annotated, Any
from unicodedata import category

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from plugins.workflows import limits
from plugins.workflows.model import Complexity, Visibility


def plain_line(value: str) -> str:
    """Text of one line, such as every database takes.

    Raises:
        ValueError: it has a control character, a line break, or half a surrogate pair.
    """
    if value.isprintable():
        return value
    for place, character in enumerate(value):
        if category(character) in {"Cc", "Cs", "Zl", "Zp"}:
            code = f"U+{ord(character):04X}"
            raise ValueError(f"has the control character {code} at position {place}")
    return value


def _upper(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else value


def _folded(values: list[str]) -> list[str]:
    return sorted({each.casefold() for each in values})


ANY_CASE = BeforeValidator(_upper)
"""Takes ``public`` for ``PUBLIC``."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=limits.MAX_NAME_CHARS),
    AfterValidator(plain_line),
]
"""A name of something, or what refers to it: an id, a key, a name."""
FolderName = Annotated[Name, StringConstraints(max_length=limits.MAX_FOLDER_NAME_CHARS)]
Tag = Annotated[Name, StringConstraints(max_length=limits.MAX_TAG_CHARS)]
Tags = Annotated[list[Tag], Field(max_length=limits.MAX_TAGS), AfterValidator(_folded)]
"""In lower case, each once."""
Description = Annotated[str, StringConstraints(max_length=limits.MAX_DESCRIPTION_CHARS)]
Content = Annotated[str, StringConstraints(min_length=1, max_length=limits.MAX_CONTENT_CHARS)]
AnyCaseVisibility = Annotated[Visibility, ANY_CASE]
AnyCaseComplexity = Annotated[Complexity, ANY_CASE]
