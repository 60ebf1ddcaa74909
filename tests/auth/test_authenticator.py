import pytest

from auth import ANONYMOUS, Authenticator, BadCredential, StaticTokens, Tier


@pytest.fixture
def authenticator() -> Authenticator:
    return Authenticator([StaticTokens.parse("members:alpha, public:beta")])


def _bearer(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", value.encode())]


def test_no_credential_is_the_anonymous_caller_at_the_open_tier(authenticator):
    assert authenticator.caller([]) is ANONYMOUS
    assert ANONYMOUS.anonymous
    assert ANONYMOUS.tier is Tier.OPEN


@pytest.mark.parametrize(("token", "tier"), [("alpha", Tier.MEMBERS), ("beta", Tier.PUBLIC)])
def test_a_static_token_grants_its_tier_and_says_why(authenticator, token, tier):
    caller = authenticator.caller(_bearer(f"Bearer {token}"))
    assert caller.tier is tier
    assert not caller.anonymous
    assert token not in repr(caller)
    assert caller.reasons


def test_the_scheme_is_not_case_sensitive(authenticator):
    assert authenticator.caller(_bearer("bearer alpha")).tier is Tier.MEMBERS


@pytest.mark.parametrize(
    "value", ["Bearer wrong", "Bearer ", "Bearer", "Basic YWxwaGE6", "alpha", ""]
)
def test_a_bad_credential_is_refused_and_never_served_as_anonymous(authenticator, value):
    with pytest.raises(BadCredential) as refusal:
        authenticator.caller(_bearer(value))
    assert "wrong" not in refusal.value.reason


def test_two_credentials_in_one_request_are_refused(authenticator):
    with pytest.raises(BadCredential, match="two Authorization headers"):
        authenticator.caller([*_bearer("Bearer alpha"), *_bearer("Bearer beta")])


@pytest.mark.parametrize("text", ["members", "owners:secret", "members:", "open:a,oops"])
def test_a_bad_pair_is_named_by_its_place_and_never_by_its_token(text):
    with pytest.raises(ValueError, match=r"pair \d is not TIER:TOKEN") as error:
        StaticTokens.parse(text)
    assert "secret" not in str(error.value)


def test_no_tokens_are_falsy():
    assert not StaticTokens.parse("")
