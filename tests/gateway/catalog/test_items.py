from typing import Annotated

import pytest
from pydantic import BaseModel, Field

from gateway.catalog.items import resource_item, template_item, tool_item
from gateway.catalog.schemas import BadDeclaration, check_lengths
from gateway.contract import Resource, ResourceTemplate, Tool, ToolFailed


async def greet(who: str, times: int = 1) -> str:
    """Greet somebody.

    Args:
        who: whom to greet.
        times: how often.
    """
    return f"Hello {who}" * times


async def _run(args, caller):
    return args


def _raw(schema) -> Tool:
    return Tool(name="raw", summary="A tool.", run=_run, input_schema=schema)


def test_a_tool_is_listed_with_the_schema_of_its_signature():
    entry = tool_item("demo", Tool.of(greet), "greet").entry
    assert entry["name"] == "greet"
    assert entry["description"] == "Greet somebody."
    assert entry["inputSchema"]["required"] == ["who"]
    assert entry["inputSchema"]["properties"]["times"]["description"] == "how often."


def test_a_schema_says_nothing_twice_and_keeps_the_titles_that_were_given():
    class Bed(BaseModel):
        title: str = Field(description="What it is called.")
        soil: str = Field("loam", title="Kind of soil")

    class Garden(BaseModel):
        beds: list[Bed]

    async def run(args: Garden, caller: object) -> str:
        return ""

    schema = tool_item("garden", Tool("plan", "Plan it.", run, args=Garden), "plan").entry[
        "inputSchema"
    ]
    assert schema["properties"] == {"beds": {"type": "array", "items": {"$ref": "#/$defs/Bed"}}}
    assert schema["$defs"]["Bed"]["properties"] == {
        "title": {"type": "string", "description": "What it is called."},
        "soil": {"type": "string", "title": "Kind of soil", "default": "loam"},
    }
    assert "title" not in schema
    assert "title" not in schema["$defs"]["Bed"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [({}, "who"), ({"who": "x", "times": "many"}, "times"), ({"who": "x", "more": 1}, "more")],
)
def test_bad_arguments_are_named_for_the_model(arguments, named):
    item = tool_item("demo", Tool.of(greet), "greet")
    with pytest.raises(ToolFailed, match=named) as failed:
        item.parse(arguments)
    assert failed.value.code == "invalid_arguments"
    assert failed.value.details["errors"][0]["argument"] == named


def test_an_argument_that_is_too_long_is_refused_by_what_was_sent_and_not_shown():
    async def ask(
        question: Annotated[str, Field(max_length=10)],
        about: str = "",
        again: Annotated[str, Field(max_length=10)] | None = None,
    ) -> str:
        """Ask.

        Args:
            question: what is asked.
            about: what it is about.
            again: what else.
        """
        return question

    item = tool_item("demo", Tool.of(ask), "ask")
    check_lengths({"question": "a" * 10, "about": "b" * 99, "again": None}, item.longest)
    with pytest.raises(ToolFailed, match="again: has 11 characters"):
        check_lengths({"again": "a" * 11}, item.longest)
    check_lengths({"question": ["a" * 99]}, item.longest)
    with pytest.raises(ToolFailed, match="question: has 11 characters; 10 is the limit") as failed:
        check_lengths({"question": "a" * 11, "about": "b" * 99}, item.longest)
    assert failed.value.code == "invalid_arguments"
    assert "aa" not in str(failed.value.details)


def test_a_raw_schema_is_applied_as_well_as_shown():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    item = tool_item("demo", _raw(schema), "raw")
    assert item.parse({"n": 1}) == {"n": 1}
    with pytest.raises(ToolFailed, match="integer"):
        item.parse({"n": "one"})


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "string"}, '"type": "object"'),
        ({"properties": {}}, '"type": "object"'),
        ({"type": "object", "properties": {"a": {"type": "integr"}}}, "not a JSON schema"),
        ({"type": "object", "properties": 3}, "not a JSON schema"),
        ({"type": "object", "$ref": "https://schemas.example/x"}, "not a JSON schema"),
    ],
)
def test_an_invalid_input_schema_is_refused_with_the_reason(schema, reason):
    with pytest.raises(BadDeclaration, match="input schema") as error:
        tool_item("demo", _raw(schema), "raw")
    assert reason in str(error.value)


@pytest.mark.parametrize("name", ["", "two words", "dotted.name", "x" * 46, "naïve"])
def test_a_name_that_clients_would_not_take_is_refused(name):
    with pytest.raises(BadDeclaration, match="must match"):
        tool_item("demo", Tool.of(greet), name)


async def _read(*_):
    return "text"


def test_a_template_finds_its_variables_one_segment_each():
    item = template_item("demo", ResourceTemplate("kb://{type}/{id}", "doc", "A page.", _read))
    assert item.variables("kb://tag/a%20term") == {"type": "tag", "id": "a term"}
    assert item.variables("kb://tag/a/b") is None
    assert item.variables("kb://tag/") is None
    assert item.key == "demo/resource:kb://{type}/{id}"


def test_a_uri_without_a_scheme_is_refused():
    with pytest.raises(BadDeclaration, match="scheme"):
        resource_item("demo", Resource("readme", "readme", "A page.", _read))
