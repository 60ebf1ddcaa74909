import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.toolkit import mirrored_headers as headers

REGION = {"type": "string", "x-mcp-header": "Region"}
COUNT = {"type": "integer", "x-mcp-header": "Count"}


def _schema(**properties):
    return {"type": "object", "properties": properties}


def _encoded(text: str) -> str:
    return f"=?base64?{base64.b64encode(text.encode()).decode()}?="


@given(st.text())
def test_a_text_comes_back_whole_through_a_header_that_can_carry_it(text: str):
    sent = headers.encode(text)
    assert sent.isascii()
    assert sent.isprintable()
    assert sent == sent.strip()
    assert headers.decode(sent) == text


@pytest.mark.parametrize("text", ["=?base64?YQ==?=", " led by a space", "é", "two\nlines"])
def test_what_a_header_cannot_carry_is_wrapped(text: str):
    assert headers.encode(text) == _encoded(text)


def test_a_request_names_its_method_and_what_it_is_about():
    assert headers.standard_headers("resources/read", {"uri": "file:///a b"}) == {
        "mcp-method": "resources/read",
        "mcp-name": "file:///a b",
    }
    assert headers.standard_headers("tools/list", {"name": "x"}) == {"mcp-method": "tools/list"}


def test_annotated_arguments_are_mirrored_and_absent_ones_are_not():
    declared = headers.parameter_headers(
        _schema(region=REGION, count=COUNT, all={"type": "boolean", "x-mcp-header": "All"})
    )
    sent = headers.mirrored(declared, {"region": "é", "count": None, "all": True})
    assert sent == {"mcp-param-region": _encoded("é"), "mcp-param-all": "true"}
    assert headers.mismatch(declared, {"region": "é", "all": True}, sent) is None


@pytest.mark.parametrize("value", ["=?base64?!!?=", "=?base64?YQ?=", "=?base64?/w==?="])
def test_a_broken_encoding_is_no_value(value: str):
    assert headers.decode(value) is None


def test_a_plain_value_stands_for_itself():
    assert headers.decode("=?plain") == "=?plain"


def test_nested_parameters_are_found_by_their_path():
    schema = _schema(place={"type": "object", "properties": {"region": REGION}})
    assert headers.parameter_headers(schema) == (
        (("place", "region"), "mcp-param-region", "string"),
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (_schema(a={"type": "number", "x-mcp-header": "A"}), "string, integer and boolean"),
        (_schema(a={"type": "string", "x-mcp-header": "two words"}), "HTTP token"),
        (_schema(a={"type": "string", "x-mcp-header": 3}), "HTTP token"),
        (_schema(a=REGION, b={"type": "string", "x-mcp-header": "REGION"}), "used twice"),
        (_schema(a={"type": "array", "items": REGION}), "no chain of properties"),
    ],
)
def test_a_bad_annotation_is_named(schema, reason):
    assert reason in (headers.find_invalid_parameter_header(schema) or "")


def test_good_annotations_pass():
    assert headers.find_invalid_parameter_header(_schema(region=REGION, count=COUNT)) is None


@pytest.mark.parametrize(
    ("arguments", "sent", "agrees"),
    [
        ({"region": "eu"}, {"mcp-param-region": "eu"}, True),
        ({"region": "é"}, {"mcp-param-region": _encoded("é")}, True),
        ({}, {}, True),
        ({"region": None}, {}, True),
        ({"region": "eu"}, {"mcp-param-region": "us"}, False),
        ({"region": "eu"}, {}, False),
        ({}, {"mcp-param-region": "eu"}, False),
        ({"count": 42}, {"mcp-param-count": "42.0"}, True),
        ({"count": 42}, {"mcp-param-count": "42.5"}, False),
        ({"count": True}, {"mcp-param-count": "true"}, True),
    ],
)
def test_headers_and_arguments_agree_or_the_call_is_refused(arguments, sent, agrees):
    declared = headers.parameter_headers(_schema(region=REGION, count=COUNT))
    assert (headers.mismatch(declared, arguments, sent) is None) == agrees
