"""Texts that no client could be sent, made such that it can.

Python reads what is no UTF-8, such as an old file or its name, as lone surrogates. JSON has no
place for them, and one among a thousand results must not take the answer with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

UNSENDABLE = (UnicodeEncodeError, PydanticSerializationError)
"""What writing such a text as JSON raises."""


def sendable(value: Any) -> Any:
    """The same value, with ``?`` in its texts for each lone surrogate.

    Args:
        value: what an item returns: models, dataclasses and JSON values, nested in any way.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if isinstance(value, BaseModel):
        held = {**value.__dict__, **(value.__pydantic_extra__ or {})}
        return value.model_copy(update={name: sendable(each) for name, each in held.items()})
    if isinstance(value, Mapping):
        return {sendable(key): sendable(each) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):
        return type(value)(sendable(each) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if field.init]
        return replace(value, **{name: sendable(getattr(value, name)) for name in names})
    return value
