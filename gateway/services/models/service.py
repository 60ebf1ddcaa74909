"""The service of language models, as the portal opens it: cheap until somebody asks a model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from auth import Caller
from gateway.config.language_models import ConfiguredRole, LanguageModels
from gateway.contract.models import (
    NO_MODELS,
    ExpectedCost,
    Generated,
    ModelFailed,
    Models,
    Role,
    no_model,
)
from gateway.contract.services import Database
from gateway.observability.logs import get_logger
from gateway.services.models.budget import UNLIMITED, Budget
from gateway.services.models.expected import expected
from gateway.services.models.ledger import Ledger
from gateway.services.models.library import load_library
from gateway.services.models.records import Purpose, Tokens
from gateway.services.secrets import SecretMissing
from gateway.toolkit.background import background, every

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from gateway.services.models.engine import Engine
    from gateway.services.models.langfuse import LangfuseSink
    from gateway.services.models.metered_call import Sink
    from gateway.services.models.provider import OpenProvider

__all__ = ["ModelService", "OwnedModels"]

EXAMINE_INTERVAL_SECONDS = 300.0
"""Seconds between two looks whether providers are well."""

log = get_logger(__name__)

M = TypeVar("M", bound=BaseModel)


class ModelService:
    """The language models of one portal, for all who ask.

    Args:
        config: ``services.models``.
        database: the gateway's share, where calls are metered.
        root: where the relative path of a ``file:`` reference starts.
        allow: rules for secrets that are not applied to prompts (``scrubbing.allow``).

    Attributes:
        config, database: as given.
        budget: decides whether a call may be made; replaced where the portal has budgets.
        ledger: writes what calls cost.
        sinks: are told of each call that has ended.
        missing: what an admin has to install before any model is asked, or "".
    """

    def __init__(
        self,
        config: LanguageModels,
        database: Database,
        root: Path = Path(),
        allow: tuple[str, ...] = (),
    ) -> None:
        self.config = config
        self.budget: Budget = UNLIMITED
        self.database, self.ledger = database, Ledger(database)
        self.sinks: list[Sink] = []
        self.missing = ""
        if config.roles and find_spec("pydantic_ai") is None:
            self.missing = (
                "services.models names models, and what asks them is not installed: run "
                "`make models`, or install porch[models]."
            )
        self._root, self._allow = root, allow
        self._langfuse: LangfuseSink | None = None
        self._problem = ""
        if config.langfuse and config.roles:
            self._tell_langfuse()

    def available(self, role: ConfiguredRole) -> bool:
        """Whether there is a model for a role."""
        return role in self.config.roles and not self.missing

    def for_owner(self, name: str) -> Models:
        """The models as one plugin, or ``gateway``, sees them."""
        return OwnedModels(self, name) if self.config.roles else NO_MODELS

    def _tell_langfuse(self) -> None:
        from gateway.services.models.langfuse import LangfuseSink, is_installed

        if self.config.langfuse is None:
            return
        if not is_installed():
            self._problem = (
                "services.models.langfuse: what tells it is not installed: run `make services`, or "
                "install porch[otlp]."
            )
            return
        kinds = {name: each.kind for name, each in self.config.providers.items()}
        try:
            self._langfuse = LangfuseSink(self.config.langfuse, self._root, kinds)
        except SecretMissing as error:
            self._problem = f"services.models.langfuse: {error}"
        else:
            self.sinks.append(self._langfuse)

    @cached_property
    def providers(self) -> Mapping[str, OpenProvider]:
        """The providers by name; none is asked yet."""
        from gateway.services.models.provider import OpenProvider

        config = self.config.providers.items()
        return {name: OpenProvider(name, each, self._root) for name, each in config}

    @cached_property
    def engine(self) -> Engine:
        """What asks providers. The first use imports their clients, which takes a second or two."""
        load_library()
        from gateway.services.models.engine import Engine
        from gateway.services.models.metered_call import Accounts

        accounts = Accounts(lambda: self.budget, self.ledger, self.sinks)
        return Engine(self.config, self.providers, accounts, self._allow)

    async def examine(self) -> None:
        """Ask each provider that has a role whether it is well, without paying; see ``notices``."""
        from gateway.services.models.health import examined

        wanted = dict[str, list[str]]()
        for named in self.config.roles.values():
            provider, _, model = named.partition("/")
            wanted.setdefault(provider, []).append(model)
        for name, models in wanted.items():
            self.providers[name].failing = await examined(self.providers[name], models)

    async def warm(self) -> Engine:
        """The engine, imported beside the event loop."""
        if "engine" not in self.__dict__:
            await asyncio.to_thread(lambda: self.engine)
        return self.engine

    async def chat_model(self, purpose: Purpose) -> Model:
        """A model for an agent of pydantic-ai, metered like every other call.

        For the gateway's own parts: a plugin asks :class:`OwnedModels`, which gives no free text.

        Args:
            purpose: what it is asked for.

        Raises:
            ModelFailed: there is none.
        """
        self._check(purpose.role)
        engine = await self.warm()
        return engine.model(purpose)

    def _check(self, role: ConfiguredRole) -> None:
        if self.missing:
            raise ModelFailed("misconfigured", f"An admin has to finish a setting: {self.missing}")
        if role not in self.config.roles:
            raise no_model(role)

    async def generate(
        self, schema: type[M], prompt: str, instructions: str, purpose: Purpose
    ) -> Generated[M]:
        """A value by a schema (:meth:`gateway.contract.models.Models.generate`).

        Args:
            schema: what the answer is.
            prompt: what is asked.
            instructions: how to answer, or "".
            purpose: what it is for.

        Raises:
            ModelFailed: there is no answer.
        """
        self._check(purpose.role)
        engine = await self.warm()
        return await engine.generate(schema, prompt, instructions, purpose)

    @asynccontextmanager
    async def running(self, *, watched: bool = True) -> AsyncGenerator[None]:
        """Look after calls of processes that died, for as long as the block lasts.

        Args:
            watched: whether providers are asked at the beginning whether they are well.
        """
        if not self.config.roles:
            yield
            return

        def failed(error: Exception) -> None:
            log.warning("models_not_examined", exc_info=error)

        looking = (
            [every(EXAMINE_INTERVAL_SECONDS, self.examine, failed, first_s=0)] if watched else []
        )
        async with self.ledger.running(), background(*looking):
            yield

    def notices(self) -> Iterator[str]:
        """What an admin should look at."""
        if self.missing:
            yield self.missing
        if self._problem:
            yield self._problem
        yield from self.ledger.notices()
        if not self.config.roles:
            return
        for provider in self.providers.values():
            yield from provider.notices()

    async def close(self) -> None:
        """Close the connections, if any was opened."""
        if "providers" in self.__dict__:
            for provider in self.providers.values():
                await provider.close()
        if self._langfuse is not None:
            await self._langfuse.close()


class OwnedModels:
    """The port ``Models`` of one owner."""

    def __init__(self, service: ModelService, owner: str) -> None:
        self._service, self._owner = service, owner

    def available(self, role: Role) -> bool:
        """Whether there is a model for a role."""
        return self._service.available(role)

    async def expected_cost(
        self, role: Role, input_tokens: int, output_tokens: int
    ) -> ExpectedCost | None:
        """As in the port."""
        if not self._service.available(role):
            return None
        tokens = Tokens(input_tokens, output_tokens)
        return await asyncio.to_thread(expected, self._service.config, role, tokens)

    async def generate(
        self,
        schema: type[M],
        prompt: str,
        role: Role,
        *,
        caller: Caller | None,
        operation: str,
        source: str | None = None,
        instructions: str = "",
    ) -> Generated[M]:
        """As in the port."""
        purpose = Purpose(self._owner, role, caller, operation, source)
        return await self._service.generate(schema, prompt, instructions, purpose)
