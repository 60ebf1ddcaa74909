"""A provider that is open: its connections, its turns, its models, and how it is of late."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2

from gateway.config.language_models import Provider
from gateway.contract.models import ModelFailed
from gateway.services.breaker import Breaker, Server
from gateway.services.models.http import open_client
from gateway.services.secrets import SecretMissing, resolve

if TYPE_CHECKING:
    from pydantic_ai.models import Model

__all__ = ["OpenProvider"]

PROBE_TIMEOUT_SECONDS = 5.0
"""Seconds that a provider has to say that it is there."""
_LONGEST_STREAM = 10
"""How many times as long as an answer a stream may take."""
_PUBLIC = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}
_MODELS_PATH = {"openai": "/models", "compatible": "/models", "anthropic": "/v1/models"}
_ANTHROPIC_VERSION = "2023-06-01"


class OpenProvider:
    """One provider of ``portal.yaml``.

    Args:
        name: its name there.
        config: its section.
        root: where the relative path of a ``file:`` reference starts.

    Attributes:
        slots: taken by each call; further ones wait.
        timeout_s: seconds until an answer, or the beginning of a stream.
        longest_s: seconds that a stream may take in all.
        breaker: open while nobody reaches it.
        failing: what an admin has to mend, as it was found last, or "".
    """

    def __init__(self, name: str, config: Provider, root: Path) -> None:
        self.name, self.config, self._root = name, config, root
        self.url = config.url or _PUBLIC[config.kind]
        self.slots = asyncio.Semaphore(config.concurrency)
        self.timeout_s = config.timeout.total_seconds()
        self.longest_s = self.timeout_s * _LONGEST_STREAM
        self.breaker = Breaker(
            Server(
                f"model provider {name}",
                self.probe,
                (httpx2.TransportError,),
                self._away,
                PROBE_TIMEOUT_SECONDS,
                "calls of models go to the fallback, or fail.",
            )
        )
        self.failing = ""
        self._throttled_until = 0.0
        self._models: dict[str, Model] = {}

    @cached_property
    def client(self) -> httpx2.AsyncClient:
        """The connections."""
        client = open_client(self.timeout_s, self.config.concurrency + 1)
        client.event_hooks["request"].append(self._sign)
        return client

    async def _sign(self, request: httpx2.Request) -> None:
        """Put the key in, as it is now: one that was changed counts at once."""
        if self.config.key is None:
            request.headers.pop("authorization", None)
            return
        key = resolve(self.config.key, self._root).get_secret_value()
        if self.config.kind == "anthropic":
            request.headers["x-api-key"] = key
            request.headers.setdefault("anthropic-version", _ANTHROPIC_VERSION)
        else:
            request.headers["authorization"] = f"Bearer {key}"

    def model(self, name: str) -> Model:
        """One of its models, as pydantic-ai asks it."""
        if name not in self._models:
            self._models[name] = self._opened(name)
        return self._models[name]

    def _opened(self, name: str) -> Model:
        unused = "sent by the client"  # the real key is put in at each request
        if self.config.kind == "anthropic":
            from anthropic import AsyncAnthropic
            from pydantic_ai.models.anthropic import AnthropicModel
            from pydantic_ai.providers.anthropic import AnthropicProvider

            claude = AsyncAnthropic(
                api_key=unused, base_url=self.url, http_client=self.client, max_retries=0
            )
            return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=claude))
        from pydantic_ai.providers.openai import OpenAIProvider
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        from gateway.services.models.known_tools import OpenAIChat
        from gateway.services.models.openai_client import PlainOpenAI

        client = PlainOpenAI(
            api_key=unused, base_url=self.url, http_client=self.client, max_retries=0
        )
        provider = (
            OpenAIProvider(openai_client=client)
            if self.config.kind == "openai"
            else OpenAICompatibleProvider(self.name, openai_client=client)
        )
        return OpenAIChat(name, provider=provider)

    def check(self) -> None:
        """Go on where it may be asked now.

        Raises:
            ModelFailed: ``provider_down`` or ``throttled``; no request is made.
        """
        self.breaker.check()
        left = self._throttled_until - time.monotonic()
        if left > 0:
            raise ModelFailed(
                "throttled",
                f"The model provider {self.name} takes no more calls for now. Try again in "
                f"{left:.0f} s.",
                round(left, 1),
            )

    def throttled(self, seconds: float) -> None:
        """Ask it no more for so long."""
        self._throttled_until = max(self._throttled_until, time.monotonic() + seconds)

    async def probe(self) -> httpx2.Response:
        """Ask which models it has, which costs nothing."""
        return await self.client.get(self.url + _MODELS_PATH[self.config.kind])

    def notices(self) -> Iterator[str]:
        """What an admin should look at."""
        if self.failing:
            yield f"services.models: {self.failing}"
        elif self.config.key is not None and (absent := self._absent_key()):
            yield f"services.models: The key of model provider {self.name} is not there. {absent}"
        yield from self.breaker.notices()
        left = self._throttled_until - time.monotonic()
        if left > 0:
            yield f"model provider {self.name} takes no more calls for {left:.0f} s."

    def _absent_key(self) -> str:
        try:
            resolve(self.config.key or "", self._root)
        except SecretMissing as error:
            return str(error)
        return ""

    def _away(self, why: str) -> ModelFailed:
        return ModelFailed(
            "provider_down",
            f"The model provider {self.name} cannot be reached. Try again later.",
        )

    async def close(self) -> None:
        """Close the connections."""
        await self.breaker.close()
        if "client" in self.__dict__:
            await self.client.aclose()
