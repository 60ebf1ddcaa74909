"""What a plugin's functions return, as values that cross to the portal, and back.

The process says of what kind an answer is; the portal makes of it what the pipeline knows, as if
the plugin ran there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mcp_types as mcp
from pydantic import BaseModel, PrivateAttr, RootModel, TypeAdapter
from pydantic_core import to_jsonable_python

from gateway.contract import (
    Absent,
    BriefResult,
    Health,
    ListedResource,
    Listing,
    PersonalFile,
    Relayed,
    RelayedError,
    Tier,
    ToolFailed,
)

_RESULTS: Mapping[str, type[mcp.Result]] = {
    each.__name__: each
    for each in (
        mcp.CallToolResult,
        mcp.GetPromptResult,
        mcp.InputRequiredResult,
        mcp.ReadResourceResult,
    )
}
_MODELS: Mapping[str, Any] = {
    "blocks": TypeAdapter(list[mcp.ContentBlock]),
    "messages": TypeAdapter(list[mcp.PromptMessage]),
}
_DATA: Mapping[str, type[Any]] = {
    "listed": ListedResource,
    "files": PersonalFile,
    "absent": Absent,
}


class Model(RootModel[dict[str, Any]]):
    """Structured content, and what a resource that is a model reads."""


class Brief(RootModel[dict[str, Any]], BriefResult):
    """Structured content with the words that its plugin has for it."""

    _words: str = PrivateAttr("")

    @classmethod
    def of(cls, content: Mapping[str, Any], words: str) -> Brief:
        """The content, and the words."""
        made = cls(dict(content))
        made._words = words
        return made

    def brief(self) -> str:
        """As ``BriefResult.brief``."""
        return self._words


@dataclass(frozen=True, slots=True)
class Row(Mapping[str, Any]):
    """A result of a page, whole, and what it is in brief."""

    whole: Mapping[str, Any]
    brief: Any

    def __getitem__(self, key: str) -> Any:
        return self.whole[key]

    def __iter__(self) -> Any:
        return iter(self.whole)

    def __len__(self) -> int:
        return len(self.whole)


def packed(value: Any) -> tuple[str, Any]:
    """The kind of an answer, and it as values that cross; a ``Listing`` does not."""
    if isinstance(value, Relayed):
        return "relayed", dict(value.result)
    if isinstance(value, mcp.Result):
        return type(value).__name__, _plain(value)
    if isinstance(value, BriefResult):
        return "brief", [_plain(value), value.brief()]
    if isinstance(value, BaseModel):
        return "model", _plain(value)
    if isinstance(value, Health):
        return "health", to_jsonable_python(asdict(value))
    if isinstance(value, bytes):
        return "value", value
    if isinstance(value, list | tuple) and value:
        return _several(value)
    return "value", to_jsonable_python(value)


def _several(values: Sequence[Any]) -> tuple[str, Any]:
    first = values[0]
    for kind, data in _DATA.items():
        if isinstance(first, data):
            return kind, [asdict(each) for each in values]
    if isinstance(first, mcp.PromptMessage):
        return "messages", [_plain(each) for each in values]
    if isinstance(first, BaseModel):
        return "blocks", [_plain(each) for each in values]
    return "value", to_jsonable_python(values)


def unpacked(kind: str, value: Any) -> Any:
    """An answer of the kind that :func:`packed` has named.

    Raises:
        ValueError: it is not of that kind.
    """
    if kind == "value":
        return value
    if kind == "brief":
        return Brief.of(*value)
    if kind == "model":
        return Model(value) if isinstance(value, dict) else value
    if kind == "relayed":
        return Relayed(value)
    if kind == "health":
        return Health(**value)
    if kind in _DATA:
        return [_DATA[kind](**_with_tier(each)) for each in value]
    if kind in _MODELS:
        return _MODELS[kind].validate_python(value)
    return _RESULTS[kind].model_validate(value)


def _with_tier(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values of which the tier, if there is one, has crossed as its name."""
    return {**value, "tier": Tier(value["tier"])} if value.get("tier") else value


def failure(failed: ToolFailed) -> list[Any]:
    """A failure as values that cross."""
    number = failed.number if isinstance(failed, RelayedError) else None
    return [failed.code, failed.message, to_jsonable_python(failed.details), number]


def failed(code: str, message: str, details: Mapping[str, Any], number: int | None) -> ToolFailed:
    """The failure that has crossed."""
    if number is not None:
        return RelayedError(number, message, details)
    return ToolFailed(code, message, details)


def shown(listing: Listing[Any]) -> dict[str, Any]:
    """A listing without its results: their keys, and what else the pager asks for."""
    note = listing.note
    return {
        "keys": [to_jsonable_python(listing.key(item)) for item in listing.items],
        "note": _plain(note) if isinstance(note, BaseModel) else note,
        "total": listing.total,
        "ordered": listing.ordered,
    }


def listed(
    shown: Mapping[str, Any], rows: Callable[[Sequence[int]], Awaitable[Sequence[Row]]]
) -> Listing[Any]:
    """A listing of which the results are asked for once it is known which are shown.

    Args:
        shown: what :func:`shown` gave.
        rows: gives the results at some places.
    """
    keys = shown["keys"]

    async def ready(places: Sequence[tuple[int, Any]]) -> Sequence[Row]:
        return await rows([place for place, _ in places])

    return Listing(
        list(enumerate(keys)),
        lambda item: item[1],
        note=shown["note"],
        total=shown["total"],
        ordered=shown["ordered"],
        ready=ready,
    )


def _plain(model: BaseModel) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)
