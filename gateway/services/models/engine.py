"""What asks providers; importing it imports their clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from gateway.config.language_models import LanguageModels
from gateway.contract.models import Generated
from gateway.services.models.generation import Reading, generated
from gateway.services.models.metered_call import Accounts, Target
from gateway.services.models.metered_model import MeteredModel
from gateway.services.models.prompt_scrub import PromptScrub
from gateway.services.models.provider import OpenProvider
from gateway.services.models.records import Purpose

__all__ = ["Engine"]

M = TypeVar("M", bound=BaseModel)


class Engine:
    """Asks the models of ``portal.yaml``.

    Args:
        config: ``services.models``.
        providers: the providers by name.
        accounts: what every request passes.
        allow: rules for secrets that are not applied to prompts.
    """

    def __init__(
        self,
        config: LanguageModels,
        providers: Mapping[str, OpenProvider],
        accounts: Accounts,
        allow: tuple[str, ...],
    ) -> None:
        self._config, self.providers, self._accounts = config, providers, accounts
        self._scrub = PromptScrub(allow)

    def model(self, purpose: Purpose, reading: Reading[M] | None = None) -> MeteredModel:
        """The model of a purpose's role, with the fallback behind it.

        Args:
            purpose: what it is asked for.
            reading: judges the answers, or None.
        """
        named = [self._config.roles[purpose.role]]
        fallback = self._config.fallback
        if fallback is not None and fallback not in named:
            named.append(fallback)
        targets = [self._target(each) for each in named]
        judge = {"judge": reading.judge} if reading else {}
        return MeteredModel(
            targets, purpose, self._accounts, self._scrub, self._config.retries, **judge
        )

    def _target(self, named: str) -> Target:
        provider, _, model = named.partition("/")
        return Target(self.providers[provider], model)

    async def generate(
        self, schema: type[M], prompt: str, instructions: str, purpose: Purpose
    ) -> Generated[M]:
        """A value by a schema.

        Raises:
            ModelFailed: there is none.
        """
        reading = Reading(schema)
        model = self.model(purpose, reading)
        provider = self.providers[self._config.roles[purpose.role].partition("/")[0]]
        structure = provider.config.structure
        return await generated(model, reading, schema, prompt, instructions, structure)
