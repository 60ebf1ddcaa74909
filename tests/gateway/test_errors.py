from gateway.errors import ConfigError, NotFound, PortalError, Problem, wire


def test_a_problem_reads_as_file_line_key_reason():
    assert str(Problem("tiers.yaml", 7, "items.x", "is wrong")) == "tiers.yaml:7: items.x: is wrong"
    assert str(Problem("tiers.yaml", 7, "", "is wrong")) == "tiers.yaml:7: is wrong"
    assert str(Problem("environment", 0, "PORCH_LOG", "no")) == "environment: PORCH_LOG: no"


def test_a_configuration_error_tells_every_problem_in_the_order_of_the_file():
    error = ConfigError([Problem("b", 2, "y", "second"), Problem("b", 1, "x", "first")])
    assert str(error) == "b:1: x: first\nb:2: y: second"


def test_a_portal_error_knows_its_code_and_status():
    error = NotFound("Unknown tool: x")
    assert isinstance(error, PortalError)
    assert (error.code, error.status) == ("not_found", 404)


def test_the_wire_shape_is_the_documented_one():
    assert wire("not_found", "Unknown tool: x", {"name": "x"}, "req-1") == {
        "error": {"code": "not_found", "message": "Unknown tool: x", "details": {"name": "x"}},
        "request_id": "req-1",
    }
