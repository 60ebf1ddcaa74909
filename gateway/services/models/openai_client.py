"""OpenAI's client, which sends tools and messages as they are.

The library walks what it sends along the types of its API, to rename fields and to format dates;
in messages and tools there is nothing to rename, and an agent offers dozens of tools at each step,
each of which is walked for every kind of tool that there is. What goes by ``extra_body`` is sent
without that, and is otherwise the same request (``benchmarks/model_calls.py``,
``benchmarks/assistant.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, cast

from openai import AsyncOpenAI
from openai.resources.chat import AsyncChat, AsyncCompletions

__all__ = ["PlainOpenAI"]

_PLAIN = ("messages", "tools")
"""Arguments that are JSON as they are given."""


class PlainOpenAI(AsyncOpenAI):
    """The client; everything but the completions of chats is the library's."""

    @cached_property
    def chat(self) -> AsyncChat:
        """The chats."""
        return _Chat(self)


class _Chat(AsyncChat):
    @cached_property
    def completions(self) -> AsyncCompletions:
        """The completions."""
        return _Completions(self._client)


class _Completions(AsyncCompletions):
    async def create(self, *, extra_body: object | None = None, **asked: Any) -> Any:
        """Ask, with what is plain beside what the library fits to the API."""
        plain = {name: asked[name] for name in _PLAIN if isinstance(asked.get(name), list)}
        body = {**plain, **cast("Mapping[str, Any]", extra_body or {})}
        fitted = {**asked, **{name: [] for name in plain}}
        return await super().create(**fitted, extra_body=body)
