"""The base of what tools answer. Plugins reach it through :mod:`gateway.contract`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class BriefResult(BaseModel):
    """An answer that has words of its own for clients that read text.

    Structured content is sent as JSON text too, for clients that know no other (MCP, "Structured
    Content"). A large answer is sent once: the text is then :meth:`brief`.
    """

    def brief(self) -> str:
        """What the answer says, in short, and how to get what the text leaves out."""
        raise NotImplementedError


class ToolResult(BaseModel):
    """An answer in camelCase, in which a field without a value is there as null.

    A tool returns ``result.wire()`` and names the model as its ``result``, for the output schema.
    One that returns the model itself leaves fields without a value out.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
    )

    def wire(self) -> dict[str, Any]:
        """The answer as it is sent: what is unknown is there as null."""
        return self.model_dump(mode="json")
