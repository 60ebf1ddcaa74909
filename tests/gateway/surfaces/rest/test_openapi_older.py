from enum import StrEnum
from typing import Annotated, Any, Literal

import openapi_spec_validator
import pytest
from jsonschema_rs import Draft202012Validator
from openapi_schema_validator import OAS30StrictValidator, OAS30Validator
from pydantic import BaseModel, Field

from gateway.surfaces.rest.openapi_older import older, older_schema


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    colour: Colour | None = None


class Everything(BaseModel):
    word: str
    maybe: Annotated[str, Field(max_length=3)] | None = None
    either: int | str | None = None
    inner: Inner | None = Field(None, description="Beside a reference.")
    told: Inner = Field(Inner(), description="Beside a reference, too.")
    always: Literal["yes"] = "yes"
    one_of: Literal["a", "b"] | None = None
    nothing: None = None
    more: Annotated[float, Field(gt=0, lt=9)] = 1
    pair: tuple[int, str] | None = None
    free: dict[str, Any] = Field(default_factory=dict)
    whatever: Any = None


def alike(schema: dict[str, Any], value: Any) -> tuple[bool, bool, bool]:
    """Whether a value fits the schema, and what is made of it as loose and strict tools read it."""
    made = older_schema(schema)
    return (
        Draft202012Validator(schema).is_valid(value),
        OAS30Validator(made).is_valid(value),
        OAS30StrictValidator(made).is_valid(value),
    )


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, ["a", None], [1]),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}, [1, None], [[]]),
        ({"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "null"}]}, ["a", None], ["b"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["a", None], ["b"]),
        ({"type": "null"}, [None], [0, "", False]),
        ({"const": "a"}, ["a"], ["b", None]),
        ({"type": "number", "exclusiveMinimum": 1}, [1.1], [1, 0]),
        ({"type": "number", "exclusiveMaximum": 1}, [0], [1, 2]),
        ({"type": "array", "maxItems": 2, "prefixItems": [{"type": "string"}]}, [["a"]], ["a"]),
        ({"type": "array", "items": {"const": 1}}, [[1], []], [[2]]),
        ({"type": "object", "additionalProperties": False}, [{}], [{"a": 1}]),
        ({"type": "object", "additionalProperties": {"const": 1}}, [{"a": 1}], [{"a": 2}]),
        ({"type": "object", "properties": {"type": {"const": 1}}}, [{"type": 1}], [{"type": 2}]),
        ({"not": {"const": 1}}, [2, None], [1]),
        ({"type": "object", "properties": {"a": False}}, [{}], [{"a": 1}]),
        ({"items": True}, [[1, None]], []),
    ],
)
def test_a_schema_takes_and_refuses_the_same(
    schema: dict[str, Any], good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        assert alike(schema, value) == (True, True, True)
    for value in bad:
        assert alike(schema, value) == (False, False, False)


def test_what_has_no_word_is_left_out() -> None:
    names = {"type": "object", "propertyNames": {"maxLength": 1}, "unevaluatedProperties": False}
    assert older_schema(names) == {"type": "object"}


def test_an_example_is_the_first_and_is_not_read_as_a_schema() -> None:
    examples = [{"type": "null", "schema": {"const": 1}}, 2]
    assert older_schema({"examples": examples}) == {"example": examples[0]}


def test_what_stands_beside_a_reference_is_kept() -> None:
    made = older_schema({"$ref": "#/x", "description": "Which.", "default": None})
    assert made == {"allOf": [{"$ref": "#/x"}], "description": "Which.", "default": None}
    assert older_schema({"$ref": "#/x"}) == {"$ref": "#/x"}


def test_a_document_is_valid_and_keeps_what_is_no_schema() -> None:
    schema = Everything.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas = {**schema.pop("$defs"), "Everything": schema}
    content = {
        "schema": {"$ref": "#/components/schemas/Everything"},
        "example": {"word": "a", "free": {"schema": {"const": 1}}},
    }
    answer = {"description": "It.", "content": {"application/json": content}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "A title", "version": "1"},
        "paths": {"/": {"get": {"responses": {"200": answer}}}},
        "components": {"schemas": schemas, "headers": {"X": {"schema": {"const": "1"}}}},
    }
    made = older(document)
    openapi_spec_validator.validate(made)
    assert made["openapi"] == "3.0.3"
    kept = made["paths"]["/"]["get"]["responses"]["200"]["content"]["application/json"]
    assert kept == content
    assert made["components"]["headers"]["X"]["schema"] == {"enum": ["1"]}
    assert document["openapi"] == "3.1.0"
    assert "const" in str(document["components"])
