"""What is wrong with the models of ``portal.yaml`` before anybody asks one: no key, no library, no
files."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import util

from gateway.config.language_models import Langfuse
from gateway.config.portal import Portal
from gateway.errors import Problem
from gateway.services.embedding.model_files import ModelUnavailable
from gateway.services.embedding.packaged_models import PACKAGED
from gateway.services.embedding.reranker import open_reranker
from gateway.services.embedding.service import open_embedder
from gateway.services.secrets import SecretMissing, resolve

_LIBRARIES = {"openai": "openai", "compatible": "openai", "anthropic": "anthropic"}
_SECTION = ("services", "models")
_NOT_INSTALLED = (
    "what asks this model is not installed: run `make models`, or install porch[models]"
)


def model_problems(portal: Portal) -> Iterator[Problem]:
    """Keys that are not where they should be, and libraries that are not installed.

    No provider is asked, and none is imported.

    Args:
        portal: the configuration; a section without roles asks no model, and has no problem.
    """
    models = portal.config.services.models
    if not models.roles:
        return
    used = {named.partition("/")[0]: role for role, named in models.roles.items()}
    for name, role in used.items():
        provider = models.providers[name]
        needed = ("pydantic_ai", _LIBRARIES[provider.kind])
        if any(util.find_spec(each) is None for each in needed):
            yield portal.source.problem((*_SECTION, role), _NOT_INSTALLED)
        if provider.key is not None:
            yield from _missing(portal, ("providers", name, "key"), provider.key)
    if models.langfuse is not None:
        yield from _langfuse_problems(portal, models.langfuse)


async def search_model_problems(portal: Portal) -> list[Problem]:
    """Models of the search that a portal would go on without: they are not there, or broken.

    They are opened, as a portal does that starts. Those of packages are not: it makes them first,
    and whether the package is there is known without.

    Args:
        portal: the configuration.
    """
    found = []
    opened = {"embedding": open_embedder, "reranker": open_reranker}
    for name, open_model in opened.items():
        setting: str = getattr(portal.config.services, name)
        try:
            model = open_model(setting)
            if model is None or setting in PACKAGED:
                continue
            try:
                await model.warm()
            finally:
                await model.close()
        except (ModelUnavailable, OSError) as error:
            found.append(portal.source.problem(("services", name), str(error)))
    return found


def _langfuse_problems(portal: Portal, langfuse: Langfuse) -> Iterator[Problem]:
    yield from _missing(portal, ("langfuse", "public_key"), langfuse.public_key)
    yield from _missing(portal, ("langfuse", "secret_key"), langfuse.secret_key)
    if util.find_spec("opentelemetry.exporter") is None:
        yield portal.source.problem(
            (*_SECTION, "langfuse"),
            "what tells it is not installed: run `make services`, or install porch[otlp]",
        )


def _missing(portal: Portal, keys: tuple[str, ...], reference: str) -> Iterator[Problem]:
    try:
        resolve(reference, portal.root)
    except SecretMissing as error:
        yield portal.source.problem((*_SECTION, *keys), str(error))
