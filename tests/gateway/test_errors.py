import pytest

from auth import Tier
from gateway.errors import ConfigError, NotAllowed, NotFound, PortalError, Problem, wire


def test_a_problem_reads_as_file_line_key_reason():
    assert str(Problem("tiers.yaml", 7, "items.x", "is wrong")) == "tiers.yaml:7: items.x: is wrong"
    assert str(Problem("tiers.yaml", 7, "", "is wrong")) == "tiers.yaml:7: is wrong"
    assert str(Problem("environment", 0, "PORCH_LOG", "no")) == "environment: PORCH_LOG: no"


def test_a_configuration_error_tells_every_problem_in_the_order_of_the_file():
    error = ConfigError([Problem("b", 2, "y", "second"), Problem("b", 1, "x", "first")])
    assert str(error) == "b:1: x: first\nb:2: y: second"


def test_a_refusal_says_what_it_takes_and_how_to_get_it():
    bare = NotAllowed("knowledge/get_document", Tier.MEMBERS, Tier.OPEN)
    assert bare.message == "Requires members access. Current: open."
    error = NotAllowed("knowledge/get_document", Tier.MEMBERS, Tier.OPEN, "Ask an admin.")
    assert error.message == "Requires members access. Current: open. Ask an admin."
    assert error.details == {
        "item": "knowledge/get_document",
        "required": "members",
        "current": "open",
    }


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (NotFound("Unknown tool: x"), "not_found", 404),
        (NotAllowed("a/b", Tier.PUBLIC, Tier.OPEN), "not_allowed", 403),
    ],
)
def test_a_portal_error_knows_its_code_and_status(error, code, status):
    assert isinstance(error, PortalError)
    assert (error.code, error.status) == (code, status)


def test_the_wire_shape_is_the_documented_one():
    assert wire("not_found", "Unknown tool: x", {"name": "x"}, "req-1") == {
        "error": {"code": "not_found", "message": "Unknown tool: x", "details": {"name": "x"}},
        "request_id": "req-1",
    }
