"""JSON that is written in pieces, each so small that writing it holds up nobody.

One call that writes 50 MB keeps the event loop, and every thread, waiting for a second. What is
written here is what ``to_json`` and a model's own serializer write, for any value.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import GenericAlias, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, TypeAdapter
from pydantic_core import to_json

from gateway.pipeline.json_text import UNSENDABLE, sendable
from gateway.scrubbing.contents import size_of

PIECE_BYTES = 64 * 1024
"""Bytes of a piece, roughly: a millisecond of writing at most."""
_ENTRY_BYTES = 16
"""What an entry takes beside its texts."""

T = TypeVar("T")


class Pieces:
    """A text that is written already, in pieces of UTF-8.

    Args:
        parts: the pieces, in order.
    """

    __slots__ = ("_size", "parts")

    def __init__(self, parts: Iterable[bytes]) -> None:
        self.parts = tuple(parts)
        self._size = sum(map(len, self.parts))

    def __len__(self) -> int:
        return self._size


Body = bytes | Pieces
"""The text of an answer: in one, or in pieces where it is long."""


B = TypeVar("B", bytes, Pieces, bytes | Pieces)


def around(before: bytes, body: B, after: bytes) -> B:
    """A text between two others."""
    if isinstance(body, Pieces):
        return Pieces((before, *body.parts, after))
    return before + body + after


def json_pieces(value: Any) -> Iterator[bytes]:
    """Write a value as JSON, in pieces that end between two characters.

    Args:
        value: a model, which is written as tools' results are: without what has no value; or
            what ``to_json`` writes, as it does.
    """
    return _pieces(value, lean=isinstance(value, BaseModel))


def as_text(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """A text that comes in pieces of UTF-8, written as a JSON string."""
    yield b'"'
    for each in pieces:
        yield to_json(each.decode())[1:-1]
    yield b'"'


def as_base64(data: bytes) -> Iterator[bytes]:
    """Bytes, written as a JSON string of their Base64 (RFC 4648)."""
    yield b'"'
    step = PIECE_BYTES // 3 * 3
    for start in range(0, len(data), step):
        yield base64.b64encode(data[start : start + step])
    yield b'"'


def _pieces(value: Any, *, lean: bool) -> Iterator[bytes]:
    """The pieces of a value; without what has no value in models, where it is to be lean."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, BaseModel):
        return _model(value, lean=lean)
    if isinstance(value, Mapping):
        return _joined(_entries(value, lean=lean), b"{", b"}")
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        write, one = partial(_written, lean=lean), partial(_pieces, lean=lean)
        return _joined(_elements(value, write, one), b"[", b"]")
    return iter((_written(value, lean=lean),))


def _written(value: Any, *, lean: bool) -> bytes:
    try:
        return to_json(value, exclude_none=lean, inf_nan_mode="null")
    except UNSENDABLE:
        return to_json(sendable(value), exclude_none=lean, inf_nan_mode="null")


def _text(text: str) -> Iterator[bytes]:
    yield b'"'
    for start in range(0, len(text), PIECE_BYTES):
        yield _written(text[start : start + PIECE_BYTES], lean=False)[1:-1]
    yield b'"'


def grouped(
    values: Iterable[T], of: Callable[[T], Any], most: int
) -> Iterator[tuple[list[T], bool]]:
    """Values that are small enough together, and each that is long by itself, which is said.

    Args:
        values: the values, in their order.
        of: what of a value takes room.
        most: the size (:func:`size_of`) that some may have together.
    """
    some: list[T] = []
    total = 0
    for value in values:
        size = size_of(of(value), most)
        total += size + _ENTRY_BYTES
        if some and total > most:
            yield some, False
            some, total = [], size
        if size > most:
            yield [value], True
            total = 0
        else:
            some.append(value)
    if some:
        yield some, False


def _joined(parts: Iterable[Iterator[bytes]], opening: bytes, closing: bytes) -> Iterator[bytes]:
    """What is within brackets, with commas between; a part may turn out to be nothing."""
    before = opening
    for part in parts:
        for first in part:
            if first:
                yield before
                yield first
                before = b","
            break
        yield from part
    yield closing if before == b"," else opening + closing


def _elements(
    values: Iterable[Any],
    write: Callable[[list[Any]], bytes],
    one: Callable[[Any], Iterator[bytes]],
) -> Iterator[Iterator[bytes]]:
    for some, large in grouped(values, lambda each: each, PIECE_BYTES):
        yield one(some[0]) if large else iter((write(some)[1:-1],))


def _entries(values: Mapping[Any, Any], *, lean: bool) -> Iterator[Iterator[bytes]]:
    for some, large in grouped(values.items(), lambda entry: entry[1], PIECE_BYTES):
        if large:
            (key, value), *_ = some
            yield _named(_written({key: 0}, lean=False)[1:-2], _pieces(value, lean=lean))
        else:
            yield iter((_written(dict(some), lean=lean)[1:-1],))


def _named(name: bytes, value: Iterator[bytes]) -> Iterator[bytes]:
    yield name
    yield from value


def _model(model: BaseModel, *, lean: bool) -> Iterator[bytes]:
    """A model as its own serializer writes it: field by field, where nothing else is said."""
    if _holds_mapping(type(model)):
        return _pieces(model.root, lean=lean)  # type: ignore[attr-defined]
    if not _is_plain(type(model)):
        return iter((_some(model, None, lean=lean),))
    return _joined(_of_model(model, lean=lean), b"{", b"}")


def _of_model(model: BaseModel, *, lean: bool) -> Iterator[Iterator[bytes]]:
    writers = _writers(type(model))
    for names, large in grouped(writers, lambda name: getattr(model, name), PIECE_BYTES):
        if large:
            field = writers[names[0]]
            yield _named(field.name, field.pieces(model, names[0], lean=lean))
        else:
            yield iter((_some(model, set(names), lean=lean)[1:-1],))
    more = model.__pydantic_extra__ or {}
    shown = {name: each for name, each in more.items() if each is not None or not lean}
    yield from _entries(shown, lean=lean)


def _some(model: BaseModel, names: set[str] | None, *, lean: bool) -> bytes:
    """A model, or some fields of it, as its own serializer writes them."""
    write = model.__pydantic_serializer__.to_json
    try:
        return write(model, include=names, by_alias=True, exclude_none=lean)
    except UNSENDABLE:
        return write(sendable(model), include=names, by_alias=True, exclude_none=lean)


@dataclass(frozen=True, slots=True)
class _Field:
    """How a field that is large is written.

    Attributes:
        name: its name and a colon, as JSON.
        kind: its type; None where more than its type says how it is written.
        element: the type of its elements, where it is a list.
    """

    name: bytes
    kind: Any
    element: Any

    def pieces(self, model: BaseModel, name: str, *, lean: bool) -> Iterator[bytes]:
        """The JSON of its value."""
        value = getattr(model, name)
        if _writes_itself(value, self.kind):
            return _pieces(value, lean=lean)
        if self.element is None or not isinstance(value, list):
            return iter((_some(model, {name}, lean=lean)[1 + len(self.name) : -1],))
        write = partial(_listed, GenericAlias(list, (self.element,)), lean=lean)
        return _joined(_elements(value, write, partial(self._one, lean=lean)), b"[", b"]")

    def _one(self, value: Any, *, lean: bool) -> Iterator[bytes]:
        if _writes_itself(value, self.element):
            return _pieces(value, lean=lean)
        return iter((_listed(GenericAlias(list, (self.element,)), [value], lean=lean)[1:-1],))


def _writes_itself(value: Any, kind: Any) -> bool:
    """Whether a value that was declared as a type is written as it would be without that."""
    if isinstance(value, BaseModel) or type(value) is str:
        return type(value) is kind
    return kind in (Any, dict, dict[str, Any], list, list[Any], list[str])


def _listed(kind: Any, values: list[Any], *, lean: bool) -> bytes:
    write = _adapter(kind).serializer.to_json
    try:
        return write(values, by_alias=True, exclude_none=lean)
    except UNSENDABLE:
        return write(sendable(values), by_alias=True, exclude_none=lean)


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@cache
def _writers(model: type[BaseModel]) -> Mapping[str, _Field]:
    """How the fields of a model are written that are shown."""
    found = {}
    for name, field in model.model_fields.items():
        if not field.exclude:
            shown = to_json(field.serialization_alias or field.alias or name) + b":"
            kind = None if field.metadata else _only(field.annotation)
            element = get_args(kind)[0] if get_origin(kind) is list else None
            found[name] = _Field(shown, kind, element)
    return found


def _only(annotation: Any) -> Any:
    """The type that a field has where it has a value, or None where it may have several."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    kinds = [each for each in get_args(annotation) if each is not type(None)]
    return kinds[0] if len(kinds) == 1 else None


@cache
def _holds_mapping(model: type[BaseModel]) -> bool:
    """Whether a model is a mapping of JSON values, and nothing else."""
    told = model.__pydantic_decorators__
    custom = told.field_serializers or told.model_serializers or told.computed_fields
    root = model.model_fields.get("root") if model.__pydantic_root_model__ else None
    return root is not None and root.annotation == dict[str, Any] and not custom


@cache
def _is_plain(model: type[BaseModel]) -> bool:
    """Whether a model's fields and their types alone say how it is written."""
    told = model.__pydantic_decorators__
    if told.field_serializers or told.model_serializers or told.computed_fields:
        return False
    if model.__pydantic_root_model__ or any(key.startswith("ser_") for key in model.model_config):
        return False
    return not any(getattr(field, "exclude_if", None) for field in model.model_fields.values())
