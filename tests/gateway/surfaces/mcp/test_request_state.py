import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth import ANONYMOUS, Caller, Tier
from gateway.contract import ToolFailed
from gateway.surfaces.mcp import request_state as module
from gateway.surfaces.mcp.request_state import StateSigner

SIGNER = StateSigner(b"k" * 32)
MEMBER = Caller(person="token:ci", tier=Tier.MEMBERS)


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_a_state_comes_back_to_the_caller_it_was_made_for(text: str):
    assert SIGNER.open(SIGNER.seal(text, MEMBER, "tools/call:a"), MEMBER, "tools/call:a") == text


@given(st.text(max_size=200))
def test_no_other_text_is_taken_for_a_state(text: str):
    with pytest.raises(ToolFailed):
        SIGNER.open(text, MEMBER, "tools/call:a")


@pytest.mark.parametrize(
    ("caller", "purpose"), [(ANONYMOUS, "tools/call:a"), (MEMBER, "tools/call:b")]
)
def test_a_state_serves_one_caller_and_one_purpose(caller, purpose):
    sealed = SIGNER.seal("x", MEMBER, "tools/call:a")
    with pytest.raises(ToolFailed, match="not valid"):
        SIGNER.open(sealed, caller, purpose)


def test_an_old_state_is_refused(monkeypatch):
    monkeypatch.setattr(module, "STATE_LIFETIME_SECONDS", -1)
    with pytest.raises(ToolFailed, match="expired"):
        SIGNER.open(SIGNER.seal("x", MEMBER, "p"), MEMBER, "p")
