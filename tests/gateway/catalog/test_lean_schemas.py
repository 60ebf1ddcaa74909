"""A lean schema takes all that the whole one takes, and is much smaller."""

from contextlib import asynccontextmanager
from typing import Any

import jsonschema_rs
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from pydantic_core import to_json

from gateway.catalog.lean_schemas import MAX_SCHEMA_BYTES, lean
from gateway.contract import Offer, Plugin, Tool, hookimpl
from gateway.testing import open_test_portal

NAMES = st.sampled_from(["a", "title", "description", "properties", "items", "$ref"])
SCALARS = st.one_of(
    st.integers(0, 9).map(lambda n: ({"type": "integer", "title": "N"}, n)),
    st.text(max_size=3).map(lambda text: ({"type": "string", "description": "A text."}, text)),
    st.sampled_from(["x", "y"]).map(lambda word: ({"const": word}, word)),
    st.just(({"$ref": "#/$defs/Tree"}, {"name": "t", "under": [{"name": "u"}]})),
)
TREE = {
    "type": "object",
    "title": "Tree",
    "properties": {
        "name": {"type": "string"},
        "under": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
    "required": ["name"],
    "additionalProperties": False,
}


def _object(fields):
    schema = {
        "type": "object",
        "properties": {name: each[0] for name, each in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
        "description": "An object.",
    }
    return schema, {name: each[1] for name, each in fields.items()}


def _lists(inner):
    return inner.map(lambda each: ({"type": "array", "items": each[0]}, [each[1]] * 2))


def _either(inner):
    other = {"type": "object", "properties": {"kind": {"const": "other"}}, "required": ["kind"]}
    return inner.map(lambda each: ({"oneOf": [each[0], other]}, each[1]))


def _objects(inner):
    return st.dictionaries(NAMES, inner, max_size=3).map(_object)


PAIRS = st.recursive(
    SCALARS, lambda inner: st.one_of(_objects(inner), _lists(inner), _either(inner)), max_leaves=8
)


@settings(deadline=None)
@given(st.dictionaries(NAMES, PAIRS, max_size=3).map(_object))
def test_what_fits_the_whole_schema_fits_the_lean_one(pair):
    schema, value = pair
    schema = schema | {"$defs": {"Tree": TREE, "Unused": TREE}}
    jsonschema_rs.validate(schema, value)
    made = lean(schema)
    jsonschema_rs.meta.validate(made)
    jsonschema_rs.validate(made, value)
    assert made["type"] == "object"
    assert set(made["properties"]) == set(schema["properties"])
    assert len(to_json(made)) <= len(to_json(schema))


class Leaf(BaseModel):
    said: str = Field(description="Deep words.")


class Branch(BaseModel):
    leaves: list[Leaf]


class Tree(BaseModel):
    branch: Branch = Field(description="What it holds.")
    more: list[Branch] = []


def test_the_results_own_fields_keep_their_words_and_deeper_ones_lose_theirs():
    made = lean(Tree.model_json_schema())
    assert made["properties"]["branch"]["description"] == "What it holds."
    assert "Deep words." not in str(made)
    assert "title" not in str(made)


def test_a_large_schema_is_described_less_deep():
    fields = {f"f{n}": {"type": "string", "pattern": "x" * 20} for n in range(50)}
    inner = {"type": "object", "properties": fields}
    whole = {"type": "object", "properties": {"data": {"type": "array", "items": inner}}}
    assert len(to_json(whole)) > MAX_SCHEMA_BYTES
    [data] = lean(whole)["properties"].values()
    assert data["items"]["properties"] == {name: {} for name in fields}


def test_what_cannot_be_cut_without_loss_is_left_as_it_is():
    inner: dict[str, Any] = {
        "not": {"properties": {"a": {"properties": {"b": {"properties": {"c": {}}}}}}}
    }
    for schema in (
        {"type": "object", "properties": {"a": inner}},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/b"}, "b": {"title": "B"}}},
        {"type": "object", "title": "T", "$id": "https://example.org/t"},
    ):
        assert lean(schema) == schema


async def test_tools_are_listed_with_the_lean_one():
    async def grow() -> Tree:
        """Grow one."""
        return Tree(branch=Branch(leaves=[Leaf(said="x")]))

    class Garden:
        @hookimpl
        def porch_plugin(self):
            return Plugin("garden", "Grows.", opened)

    @asynccontextmanager
    async def opened(config, host):
        yield Offer(tools=[Tool.of(grow)])

    async with open_test_portal(Garden()) as portal:
        shown = (await portal.tools())["grow"]["outputSchema"]
        assert shown == lean(Tree.model_json_schema())
        jsonschema_rs.validate(shown, (await portal.call("grow")).structured)
