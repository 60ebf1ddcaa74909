"""Every address in the configuration that the portal sends something to, or believes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from auth.portal_addresses import is_safe
from auth.stores import Stores
from gateway.config.portal import load_portal
from gateway.config.portal_keys import PortalConfig
from gateway.errors import ConfigError
from gateway.identity.sign_in import SignInMethods
from gateway.plugin_discovery import discover
from gateway.services.vectors.address import open_vectors

OWN = {"PortalConfig.public_url"}
"""Where the portal itself is reached; a proxy may have taken the TLS off."""
NAMES = {"Accepted.issuer", "TokenExchange.issuer"}
"""Names and no addresses: the first is compared, where the address of the keys is given (see the
last test), the second is said to whom the portal's word is."""
NAMED_LIKE_ADDRESSES = ("url", "issuer", "endpoint", "rpc", "team", "address")


def models(model: type[BaseModel], seen: set[type]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for each in within(field.annotation):
            if isinstance(each, type) and issubclass(each, BaseModel):
                yield from models(each, seen)


def within(annotation: Any) -> Iterator[Any]:
    yield annotation
    for each in get_args(annotation):
        yield from within(each)


def takes(field: FieldInfo, text: str) -> bool:
    """Whether a field takes a text, alone or as all of a list or mapping."""
    annotated: Any = Annotated[field.annotation, field, *field.metadata]
    adapter: TypeAdapter[Any] = TypeAdapter(annotated)
    for shape in (text, [text], {"key": text}):
        try:
            adapter.validate_python(shape)
        except ValidationError:
            continue
        return True
    return False


def every_field() -> Iterator[tuple[str, str, FieldInfo]]:
    roots: list[type[BaseModel]] = [
        PortalConfig,
        *(plugin.config for plugin in discover().plugins.values()),
    ]
    seen: set[type] = set()
    for root in roots:
        for model in models(root, seen):
            for name, field in model.model_fields.items():
                yield f"{model.__name__}.{name}", name, field


def test_no_setting_takes_an_address_without_https_but_of_this_machine() -> None:
    found = set()
    for place, name, field in every_field():
        is_address = takes(field, "https://example.org/a") and not takes(field, "no address")
        if not is_address and not any(part in name.split("_") for part in NAMED_LIKE_ADDRESSES):
            continue
        if place in OWN | NAMES or not takes(field, "https://example.org/a"):
            continue
        found.add(place)
        for address in ("http://example.org/a", "http://10.0.0.7/a", "http://localhost.example/a"):
            assert not takes(field, address), f"{place} takes {address}"
    assert found >= {
        "Github.url",
        "Github.api_url",
        "Passport.url",
        "Chain.rpc",
        "Oidc.issuer",
        "Accepted.jwks_url",
        "CloudflareAccess.team",
    }


@given(
    host=st.sampled_from(["example.org", "127.0.0.1.nip.io", "10.0.0.1", "[::2]", ""]),
    port=st.sampled_from(["", ":80", ":8080"]),
)
def test_http_is_safe_on_this_machine_alone(host: str, port: str) -> None:
    assert not is_safe(f"http://{host}{port}/path")
    assert is_safe(f"http://127.0.0.1{port}/path")


_GITHUB = "sign_in:\n  github:\n    client_id: x\n    client_secret: env:S\n"
LINES: Mapping[str, int] = {
    f"{_GITHUB}    url: http://g.example": 5,
    f"{_GITHUB}    api_url: http://g.example": 5,
    "roles:\n  passport:\n    url: http://p.example\n    scorer: '1'\n    key: env:K": 3,
    "chains:\n  - id: 10\n    rpc:\n      - http://rpc.example": 4,
    "services:\n  vectors: http://qdrant.example\n  vectors_key: env:K": 3,
    "sign_in:\n  accept:\n    - issuer: http://i.example\n      audience: x": 3,
}
"""Settings, and the line with the address."""


@pytest.mark.parametrize("text", LINES, ids=range(len(LINES)))
def test_the_line_with_an_address_that_is_not_safe_is_named(tmp_path: Any, text: str) -> None:
    (tmp_path / "portal.yaml").write_text(text)
    with pytest.raises(ConfigError, match=rf"portal\.yaml:{LINES[text]}\b.*https://"):
        load_portal(tmp_path)


def test_an_endpoint_that_a_secret_holds_is_judged_when_it_is_read(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "portal.yaml").write_text("chains:\n  - id: 10\n    rpc: [env:RPC]")
    portal = load_portal(tmp_path)
    stores: Stores = Stores(*[None] * 7)  # type: ignore[arg-type] # none is asked
    monkeypatch.setenv("RPC", "http://rpc.example/the-key")
    with pytest.raises(ConfigError, match=r"portal\.yaml:3\b.*https://") as refused:
        SignInMethods(portal, portal.config.site, b"k" * 32, stores)
    assert "the-key" not in str(refused.value)
    monkeypatch.setenv("RPC", "http://127.0.0.1:8545/the-key")
    SignInMethods(portal, portal.config.site, b"k" * 32, stores)


def test_the_key_of_a_vector_store_is_sent_by_https_or_to_this_machine(tmp_path: Any) -> None:
    with pytest.raises(ValueError, match="https://"):
        open_vectors("http://qdrant.example:6333", tmp_path, api_key="the-key")


def test_a_vector_store_without_a_key_may_be_in_a_network_of_its_own(tmp_path: Any) -> None:
    (tmp_path / "portal.yaml").write_text("services: {vectors: 'http://qdrant:6333'}")
    assert load_portal(tmp_path).config.services.vectors == "http://qdrant:6333"


def test_tokens_of_an_issuer_without_https_need_its_keys_address(tmp_path: Any) -> None:
    accepted = {"issuer": "http://i.example", "audience": "x", "jwks_url": "https://i.example/keys"}
    (tmp_path / "portal.yaml").write_text(json.dumps({"sign_in": {"accept": [accepted]}}))
    assert load_portal(tmp_path).config.sign_in.accept[0].issuer == "http://i.example"
