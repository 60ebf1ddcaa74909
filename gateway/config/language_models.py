"""What ``portal.yaml`` says of language models: providers, and which model takes which role."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from auth.portal_addresses import is_safe
from gateway.contract.config_types import Duration, SecretRef

ConfiguredRole = Literal["simple", "complex", "chat", "fallback"]
"""The roles of ``portal.yaml``."""

_Usd = Annotated[Decimal, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
_Named = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}/\S{1,200}$")]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _base_url(value: str) -> str:
    url = urlsplit(value)
    if url.scheme not in {"http", "https"} or not url.hostname:
        raise ValueError("must be a whole address, such as http://127.0.0.1:11434/v1")
    if url.query or url.fragment or url.username or url.password:
        raise ValueError("must be scheme, host, port and path only; a key goes under key")
    return value.rstrip("/")


def _safe_url(value: str) -> str:
    url = _base_url(value)
    if not is_safe(url):
        raise ValueError(
            "is told keys or prompts: it must begin with https:// unless it is on this machine"
        )
    return url


class Price(_Section):
    """What a model costs, in USD for a million tokens."""

    input: _Usd = Field(description="Tokens of prompts.")
    output: _Usd = Field(description="Tokens of answers.")
    cache_read: _Usd | None = Field(
        None, description="Tokens of prompts that the provider had kept; as input by default."
    )


class Provider(_Section):
    """A server that has language models."""

    kind: Literal["openai", "anthropic", "compatible"] = Field(
        description="openai and anthropic are those services; compatible is any server with "
        "OpenAI's chat completions, such as Ollama, vLLM, llama.cpp or LiteLLM."
    )
    url: Annotated[str, AfterValidator(_safe_url)] | None = Field(
        None,
        description="The address that the API's paths are added to, such as "
        "http://127.0.0.1:11434/v1; needed for compatible.",
    )
    key: SecretRef | None = Field(
        None, description="The API key, as env:NAME or file:PATH; compatible may need none."
    )
    timeout: Duration = Field(
        timedelta(seconds=60), gt=timedelta(0), description="How long one answer may take."
    )
    concurrency: int = Field(
        8, ge=1, le=1000, description="Calls at a time in one process; further ones wait."
    )
    structure: Literal["auto", "tool", "schema"] = Field(
        "auto",
        description="How an answer by schema is asked for: tool is a tool call, schema is "
        "response_format; auto takes what the model is known for.",
    )
    prices: dict[str, Price] = Field(
        default_factory=dict,
        description="Prices by the model's name, before the public list of prices; a local model "
        "costs {input: 0, output: 0}.",
    )

    @model_validator(mode="after")
    def _whole(self) -> Provider:
        if self.kind == "compatible" and self.url is None:
            raise ValueError("needs its url, such as http://127.0.0.1:11434/v1")
        if self.kind != "compatible" and self.key is None:
            raise ValueError("needs its key, as env:NAME or file:PATH")
        return self


class Langfuse(_Section):
    """A project of Langfuse that is told of each call: never of a prompt or an answer."""

    url: Annotated[str, AfterValidator(_safe_url)] = Field(
        "https://cloud.langfuse.com", description="The address of Langfuse."
    )
    public_key: SecretRef = Field(description="The project's public key, env:NAME or file:PATH.")
    secret_key: SecretRef = Field(description="The project's secret key, likewise.")


class LanguageModels(_Section):
    """Language models: none unless roles are given."""

    providers: dict[
        Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,31}$")], Provider
    ] = Field(default_factory=dict, description="Servers that have models, by names of your own.")
    simple: _Named | None = Field(
        None, description="The model for short and cheap work, as provider/model."
    )
    complex: _Named | None = Field(None, description="The model for work that takes thought.")
    chat: _Named | None = Field(None, description="The model of the assistant.")
    fallback: _Named | None = Field(
        None, description="The model that is asked where another one's provider is away."
    )
    langfuse: Langfuse | None = None
    retries: int = Field(
        2, ge=0, le=10, description="How often a call is tried again, before the fallback is asked."
    )

    clients: bool = Field(
        False,
        description="Whether the model of a caller's own client is asked (MCP sampling) where none "
        "is named for a role; the client shows its person what is asked.",
    )

    @model_validator(mode="after")
    def _known(self) -> LanguageModels:
        for role, model in self.roles.items():
            name = model.partition("/")[0]
            if name not in self.providers:
                known = ", ".join(sorted(self.providers)) or "none"
                raise ValueError(f"{role} names the provider {name}, and providers has {known}")
        return self

    @property
    def roles(self) -> Mapping[ConfiguredRole, str]:
        """The roles that have a model, each with ``provider/model``."""
        named: dict[ConfiguredRole, str | None] = {
            "simple": self.simple,
            "complex": self.complex,
            "chat": self.chat,
            "fallback": self.fallback,
        }
        return {role: model for role, model in named.items() if model is not None}
