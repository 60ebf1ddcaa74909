"""The base of models of which a portal holds a hundred thousand."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class LeanModel(BaseModel):
    """A model that does not remember which of its fields were given.

    pydantic keeps a set of their names for each instance, 700 bytes here; nothing asks for it.
    All instances share one set, so ``model_fields_set`` and ``exclude_unset`` mean nothing.
    """

    def model_post_init(self, _context: Any, /) -> None:
        """Let the instance's own set go."""
        object.__setattr__(self, "__pydantic_fields_set__", _SHARED)


_SHARED: set[str] = set()
