"""How a plugin says that something did not work; reached through :mod:`gateway.contract`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ToolFailed(Exception):
    """An error that the model can read and mend: it becomes a result with ``isError``.

    Args:
        code: a short snake_case word that programs may compare.
        message: what is wrong and what to do, for the model.
        details: JSON values that help to mend it.
        on_page: the same for a person who has sent a form of a page; the message where it is empty.
    """

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        on_page: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.details = dict(details or {})
        self.on_page = on_page or message
