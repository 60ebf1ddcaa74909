"""What is written in pieces is what would be written in one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, RootModel, computed_field
from pydantic import field_serializer as serializer
from pydantic.alias_generators import to_camel
from pydantic_core import to_json

from gateway.pipeline import json_chunks
from gateway.pipeline.json_chunks import Pieces, around, as_base64, as_text, json_pieces
from gateway.pipeline.json_text import sendable
from tests.examples import examples


@pytest.fixture(autouse=True)
def small_pieces() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_chunks, "PIECE_BYTES", 60)
        yield


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=90),
    lambda each: (
        st.lists(each, max_size=12) | st.dictionaries(st.text(max_size=9), each, max_size=12)
    ),
    max_leaves=60,
)


class Row(BaseModel):
    """An element."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    first_name: str
    seen: datetime | None = None
    weight: float | None = None


class Named(Row):
    """An element that knows more than a list of rows shows."""

    hidden: str = "not shown"


class Page(BaseModel):
    """An answer with a field of each kind."""

    model_config = ConfigDict(extra="allow")

    number: int
    text: str | None = None
    rows: list[Row] = []
    names: list[str] = []
    anything: Any = None
    table: dict[str, Any] = {}
    typed: dict[str, Row] = {}
    times: list[timedelta] = []
    own: Annotated[list[str], PlainSerializer(lambda value: len(value))] = []
    called: str = Field("", serialization_alias="calledSo")
    kept: str = Field("", exclude=True)


TEXTS = st.text(max_size=120)
ROWS = st.builds(Row, first_name=TEXTS, seen=st.none() | st.just(datetime.now(UTC)))
PAGES = st.builds(
    Page,
    number=st.integers(0, 9),
    text=st.none() | TEXTS,
    rows=st.lists(ROWS | st.builds(Named, first_name=TEXTS), max_size=9),
    names=st.lists(TEXTS, max_size=9),
    anything=VALUES | st.lists(ROWS, max_size=3),
    table=st.dictionaries(TEXTS, VALUES | ROWS, max_size=4),
    typed=st.dictionaries(TEXTS, ROWS, max_size=4),
    times=st.lists(st.timedeltas(timedelta(0), timedelta(9)), max_size=9),
    own=st.lists(TEXTS, max_size=9),
    called=TEXTS,
    kept=TEXTS,
    more=VALUES,
)


def whole(model: BaseModel) -> bytes:
    return model.__pydantic_serializer__.to_json(model, by_alias=True, exclude_none=True)


@settings(max_examples=examples(400))
@given(VALUES)
def test_json_values(value: Any) -> None:
    assert b"".join(json_pieces(value)) == to_json(value, inf_nan_mode="null")


@settings(max_examples=examples(400))
@given(PAGES)
def test_models(page: Page) -> None:
    assert b"".join(json_pieces(page)) == whole(page)


@settings(max_examples=examples(100))
@given(st.lists(ROWS, max_size=9))
def test_models_among_json_values(rows: list[Row]) -> None:
    value = {"rows": rows, "first": rows[0] if rows else None}
    assert b"".join(json_pieces(value)) == to_json(value, inf_nan_mode="null")


def test_models_that_say_themselves_how_they_are_written() -> None:
    class Loud(BaseModel):
        text: str

        @serializer("text")
        def louder(self, text: str) -> str:
            return text.upper()

    class Counted(BaseModel):
        text: str

        @computed_field
        def length(self) -> int:
            return len(self.text)

    class Rough(BaseModel):
        model_config = ConfigDict(ser_json_timedelta="float")
        times: list[timedelta]

    long = "word " * 100
    for model in (
        Loud(text=long),
        Counted(text=long),
        Rough(times=[timedelta(seconds=1)] * 99),
        RootModel[list[str]]([long]),
        RootModel[dict[str, Any]]({"a": None, "b": [{"c": None}] * 9, "d": long}),
    ):
        assert b"".join(json_pieces(model)) == whole(model)


@given(st.text(max_size=400))
def test_texts_and_bytes(text: str) -> None:
    written = b"".join(as_text(json_pieces({"a": text})))
    assert written == to_json(to_json({"a": text}).decode())
    raw = text.encode()
    assert b"".join(as_base64(raw)) == to_json(b64encode(raw).decode())


def test_a_text_that_no_client_could_be_sent_is_made_such_that_it_can() -> None:
    row = Row(first_name="a\ud800" * 90)
    page = Page(number=1, text="\ud800" * 90, rows=[row] * 9, table={"a": "\ud800" * 90})
    assert b"".join(json_pieces(page)) == whole(sendable(page))


def test_every_piece_is_small_and_a_text_in_itself() -> None:
    page = Page(number=1, text="é" * 900, rows=[Row(first_name="ü" * 20)] * 99)
    for piece in json_pieces(page):
        piece.decode()
        assert len(piece) <= 400


def test_pieces_stand_between_other_texts_as_one_text_does() -> None:
    body = around(b"<", Pieces((b"ab", b"c")), b">")
    assert b"".join(body.parts) == around(b"<", b"abc", b">") == b"<abc>"
    assert len(body) == 5
