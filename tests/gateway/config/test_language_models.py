"""What ``portal.yaml`` may say of language models, and what is refused with its reason."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.config.language_models import LanguageModels

LOCAL = {"kind": "compatible", "url": "http://127.0.0.1:11434/v1/"}


def test_nothing_is_configured_and_that_is_well() -> None:
    assert not LanguageModels().roles


def test_a_role_names_a_provider_and_a_model_as_the_provider_calls_it() -> None:
    said = {"providers": {"local": LOCAL}, "simple": "local/meta/llama-3:8b"}
    found = LanguageModels.model_validate(said)
    assert found.roles == {"simple": "local/meta/llama-3:8b"}
    assert found.providers["local"].url == "http://127.0.0.1:11434/v1"


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"simple": "local/m"}, "names the provider local, and providers has none"),
        ({"providers": {"local": LOCAL}, "chat": "m"}, "String should match pattern"),
        ({"providers": {"local": {"kind": "compatible"}}}, "needs its url"),
        ({"providers": {"main": {"kind": "openai"}}}, "needs its key"),
        ({"providers": {"main": {"kind": "openai", "key": "sk-1234"}}}, "never written here"),
        (
            {"providers": {"far": {**LOCAL, "url": "http://far.example/v1", "key": "env:K"}}},
            "must begin with https://",
        ),
        ({"providers": {"local": {**LOCAL, "url": "http://a:b@host/v1"}}}, "goes under key"),
        ({"providers": {"local": {**LOCAL, "url": "host/v1"}}}, "must be a whole address"),
        (
            {"providers": {"local": {**LOCAL, "prices": {"m": {"input": -1, "output": 0}}}}},
            "greater than or equal to 0",
        ),
        (
            {
                "langfuse": {
                    "url": "http://far.example",
                    "public_key": "env:A",
                    "secret_key": "env:B",
                }
            },
            "must begin with https://",
        ),
    ],
)
def test_what_is_wrong_is_refused_with_its_reason(said: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        LanguageModels.model_validate(said)
