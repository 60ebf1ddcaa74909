"""What a caller reads who is refused, and what a program gets with it."""

from auth import Tier
from gateway.catalog.refusals import BeyondToken, ForAdmins, NotAllowed, unknown


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


def test_each_refusal_has_a_code_and_a_status():
    for error in (
        NotAllowed("a/b", Tier.PUBLIC, Tier.OPEN),
        BeyondToken("a/b", Tier.OPEN, Tier.OPEN, ["c", "a"]),
        ForAdmins("a/POST /b"),
    ):
        assert (error.code, error.status) == ("not_allowed", 403)


def test_what_is_not_there_is_named_as_it_was_asked_for():
    assert unknown("tool", "x").message == "Unknown tool: x"
    assert unknown("tool", "x").details == {"name": "x"}
    assert unknown("skill", "skill://x").message == "No skill is served at skill://x"
    assert unknown("resource", "a://x").details == {"uri": "a://x"}
