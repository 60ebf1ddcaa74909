import hashlib
import time

import pytest

from auth import (
    ANONYMOUS,
    Account,
    Authenticator,
    BadCredential,
    Identity,
    StaticTokens,
    Tier,
)
from auth import (
    authenticator as authenticator_module,
)
from auth.credentials import UnknownCredential
from auth.facts import Facts
from auth.resolver import Resolver
from auth.revocations import MAX_SILENCE_S, Revocations
from auth.rules import AccessRules

ASSERTION = b"cf-access-jwt-assertion"
PATH = "/mcp"


class Notes:
    """Revocations' notes in memory."""

    def __init__(self):
        self.entries = []

    async def append(self, subjects):
        start = len(self.entries) + 1
        self.entries += enumerate(subjects, start)

    async def since(self, number):
        return self.entries[number:]

    async def latest(self):
        return len(self.entries)


class Clock:
    now = 100.0

    def __call__(self):
        self.now += 0.001
        return self.now


class Known:
    """A verifier of tokens that it was given, which counts how often it looks."""

    def __init__(self, **identities):
        self.identities = identities
        self.looked = 0

    async def identify(self, token, path):
        self.looked += 1
        if token == "elsewhere":
            raise BadCredential(f"The token is not for {path}.")
        return self.identities.get(token)


def person(name, **more):
    account = Account(f"github:{name}", "github")
    return Identity(
        f"person:{name}",
        "access-token",
        accounts=(account,),
        tags=frozenset({f"grant:{name}"}),
        **more,
    )


@pytest.fixture
def revocations():
    return Revocations(Notes(), Clock())


@pytest.fixture
def known():
    return Known(ana=person("ana"), bob=person("bob"))


@pytest.fixture
def authenticator(revocations, known):
    return Authenticator(
        Resolver(AccessRules(), Facts({})),
        revocations,
        [StaticTokens.parse("members:alpha, public:beta"), known],
        {ASSERTION: Known(cloud=person("cloud"))},
    )


def _bearer(value: str) -> list[tuple[bytes, bytes]]:
    return [(b"authorization", value.encode())]


async def test_no_credential_is_the_anonymous_caller_at_the_open_tier(authenticator):
    assert await authenticator.caller([(b"cookie", b"porch=ana")], PATH) is ANONYMOUS
    assert ANONYMOUS.anonymous
    assert ANONYMOUS.tier is Tier.OPEN


@pytest.mark.parametrize(("token", "tier"), [("alpha", Tier.MEMBERS), ("beta", Tier.PUBLIC)])
async def test_a_static_token_grants_its_tier_and_says_why(authenticator, token, tier):
    caller = await authenticator.caller(_bearer(f"Bearer {token}"), PATH)
    assert caller.tier is tier
    assert not caller.anonymous
    assert token not in repr(caller)
    assert caller.reasons


async def test_the_first_verifier_that_knows_a_token_decides(authenticator):
    assert (await authenticator.caller(_bearer("Bearer ana"), PATH)).person == "person:ana"
    assert (await authenticator.caller(_bearer("Bearer bob"), PATH)).person == "person:bob"


async def test_the_scheme_is_not_case_sensitive(authenticator):
    assert (await authenticator.caller(_bearer("bearer alpha"), PATH)).tier is Tier.MEMBERS


@pytest.mark.parametrize(
    "value",
    ["Bearer wrong", "Bearer elsewhere", "Bearer ", "Bearer", "Basic YWxwaGE6", "alpha", ""],
)
async def test_a_bad_credential_is_refused_and_never_served_as_anonymous(authenticator, value):
    for _ in range(2):
        with pytest.raises(BadCredential) as refusal:
            await authenticator.caller(_bearer(value), PATH)
        assert "wrong" not in refusal.value.reason


async def test_two_credentials_in_one_request_are_refused(authenticator):
    for second in (_bearer("Bearer beta"), _bearer("Bearer alpha"), [(ASSERTION, b"cloud")]):
        with pytest.raises(BadCredential, match="two credentials"):
            await authenticator.caller([*_bearer("Bearer alpha"), *second], PATH)


async def test_a_header_of_its_own_is_read_by_its_own_verifier_alone(authenticator):
    caller = await authenticator.caller([(ASSERTION, b"cloud")], PATH)
    assert caller.person == "person:cloud"
    for headers in ([(ASSERTION, b"alpha")], _bearer("Bearer cloud")):
        with pytest.raises(BadCredential):
            await authenticator.caller(headers, PATH)


async def test_the_same_token_in_both_headers_is_one_credential(authenticator, known):
    headers = [*_bearer("Bearer ana"), (ASSERTION, b"ana")]
    with pytest.raises(BadCredential, match="not known"):
        await authenticator.caller(headers, PATH)
    assert known.looked == 0


async def test_a_token_is_looked_up_once_for_each_path(authenticator, known):
    for path in (PATH, PATH, "/members/mcp", PATH):
        await authenticator.caller(_bearer("Bearer ana"), path)
    assert known.looked == 2


async def test_a_revoked_token_is_looked_up_again_and_the_others_are_not(
    authenticator, known, revocations
):
    for name in ("ana", "bob"):
        await authenticator.caller(_bearer(f"Bearer {name}"), PATH)
    del known.identities["ana"]
    await revocations.revoke("grant:ana")
    with pytest.raises(BadCredential):
        await authenticator.caller(_bearer("Bearer ana"), PATH)
    looked = known.looked
    await authenticator.caller(_bearer("Bearer bob"), PATH)
    assert known.looked == looked


async def test_what_is_revoked_while_it_is_looked_up_is_not_remembered(
    authenticator, known, revocations
):
    identify = known.identify

    async def slowly(token, path):
        identity = await identify(token, path)
        await revocations.revoke("grant:ana")
        return identity

    known.identify = slowly
    await authenticator.caller(_bearer("Bearer ana"), PATH)
    del known.identities["ana"]
    with pytest.raises(BadCredential):
        await authenticator.caller(_bearer("Bearer ana"), PATH)


async def test_nothing_remembered_counts_where_revocations_cannot_be_read(
    authenticator, known, revocations
):
    await authenticator.caller(_bearer("Bearer ana"), PATH)
    revocations._clock.now += MAX_SILENCE_S + 1
    await authenticator.caller(_bearer("Bearer ana"), PATH)
    assert known.looked == 2


async def test_a_token_is_not_remembered_past_its_own_end(authenticator, known):
    known.identities["ana"] = person("ana", expires=time.time() - 1)
    for _ in range(2):
        await authenticator.caller(_bearer("Bearer ana"), PATH)
    assert known.looked == 2


async def test_only_so_many_credentials_are_remembered(authenticator, known, monkeypatch):
    monkeypatch.setattr(authenticator_module, "CREDENTIAL_CACHE_SIZE", 2)
    for token in ("ana", "bob", "alpha", "bob", "ana"):
        await authenticator.caller(_bearer(f"Bearer {token}"), PATH)
    assert known.looked == 3


async def test_no_token_is_kept_as_it_was_sent(authenticator):
    await authenticator.caller(_bearer("Bearer ana"), PATH)
    ((_, digest, _),) = authenticator._known
    assert digest == hashlib.sha256(b"ana").digest()


async def test_the_rules_are_asked_at_each_call(known, revocations):
    resolver = Resolver(AccessRules(), Facts({}))
    authenticator = Authenticator(resolver, revocations, [known])
    assert (await authenticator.caller(_bearer("Bearer ana"), PATH)).tier is Tier.PUBLIC
    resolver.apply(AccessRules.model_validate({"members": {"github": "7"}}))
    known.identities["ana"] = Identity("person:ana", "access-token")
    resolver.apply(AccessRules.model_validate({"members": "signed_in"}))
    assert (await authenticator.caller(_bearer("Bearer ana"), PATH)).tier is Tier.MEMBERS


@pytest.mark.parametrize("text", ["members", "owners:secret", "members:", "open:a,oops"])
def test_a_bad_pair_is_named_by_its_place_and_never_by_its_token(text):
    with pytest.raises(ValueError, match=r"pair \d is not TIER:TOKEN") as error:
        StaticTokens.parse(text)
    assert "secret" not in str(error.value)


def test_no_tokens_are_falsy():
    assert not StaticTokens.parse("")


async def test_only_a_bearer_of_no_known_kind_may_be_meant_for_another():
    class Refuses:
        async def identify(self, token, path):
            raise BadCredential("It is of this kind and has expired.")

    resolver, revocations = Resolver(AccessRules(), Facts({})), Revocations(Notes())
    await revocations.begin()
    unknown = Authenticator(resolver, revocations, [Known()], {ASSERTION: Known()})
    with pytest.raises(UnknownCredential):
        await unknown.caller([(b"authorization", b"Bearer x")], PATH)
    bad = Authenticator(resolver, revocations, [Known(), Refuses()])
    for headers, asked in (
        ([(ASSERTION, b"x")], unknown),
        ([(b"authorization", b"Basic x")], unknown),
        ([(b"authorization", b"Bearer x"), (b"authorization", b"Bearer y")], unknown),
        ([(b"authorization", b"Bearer x")], bad),
    ):
        with pytest.raises(BadCredential) as refused:
            await asked.caller(headers, PATH)
        assert not isinstance(refused.value, UnknownCredential)
