"""A portal's models over a stand-in of a provider, on each database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from sqlalchemy import select

from gateway.config.language_models import LanguageModels
from gateway.observability import audit
from gateway.services.database.service import OwnedDatabase, open_database
from gateway.services.models.service import ModelService
from gateway.services.models.table import model_calls
from tests.migrated import Migrated
from tests.servers.anthropic_compatible import AnthropicCompatible
from tests.servers.openai_compatible import OpenAICompatible

Opened = Callable[..., ModelService]


class Verdict(BaseModel):
    """What the model makes of a text."""

    mood: str
    score: int


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Migrated]:
    folder = tmp_path_factory.mktemp("migrated")
    with Migrated("gateway", audit.MIGRATIONS, folder) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, migrated: Migrated, tmp_path: Path) -> str:
    """The address of a database with the gateway's tables; SQLite's file lies in ``tmp_path``."""
    if request.param == "sqlite":
        (tmp_path / "porch.db").write_bytes(migrated.file.read_bytes())
        return "sqlite"
    return migrated.on(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def database(address: str, tmp_path: Path) -> AsyncIterator[OwnedDatabase]:
    service = open_database(address, tmp_path)
    yield service.for_owner("gateway")
    await service.close()


APIS = {"openai": OpenAICompatible, "anthropic": AnthropicCompatible}
KEY_OF_ALL = "PORCH_TEST_MODEL_KEY"
"""The variable with the key of stand-ins that take any."""


@pytest.fixture(autouse=True)
def any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_OF_ALL, "sk-any-0123456789")


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[OpenAICompatible]:
    """A provider: OpenAI's API, or the one that a test's ``indirect`` parameter names."""
    with APIS[getattr(request, "param", "openai")]() as server:
        yield server


every_api = pytest.mark.parametrize("server", sorted(APIS), indirect=True)
"""Runs a test over each API that the portal speaks."""


def kind_of(url: str) -> dict[str, str]:
    """The keys of a provider at a stand-in's address."""
    if url.endswith(OpenAICompatible.base):
        return {"kind": "compatible", "url": url}
    return {"kind": "anthropic", "url": url, "key": f"env:{KEY_OF_ALL}"}


def config(url: str, **changed: Any) -> LanguageModels:
    """One provider with the model ``m`` for every role; keys of the section may be given."""
    provider = {**kind_of(url), **changed.pop("provider", {})}
    roles = dict.fromkeys(("simple", "complex", "chat"), "local/m")
    section = {"providers": {"local": provider}, **roles, "retries": 0, **changed}
    return LanguageModels.model_validate(section)


@pytest.fixture
async def opened(database: OwnedDatabase, server: OpenAICompatible) -> AsyncIterator[Opened]:
    """Opens the models of a portal; keys of ``services.models`` may be given."""
    services = list[ModelService]()

    def made(section: LanguageModels | None = None, **changed: Any) -> ModelService:
        service = ModelService(section or config(server.url, **changed), database)
        services.append(service)
        return service

    yield made
    for service in services:
        await service.close()


async def rows(database: OwnedDatabase) -> list[dict[str, Any]]:
    """The table of usage, in the order in which calls began."""
    async with database.read() as connection:
        found = await connection.execute(select(model_calls).order_by(model_calls.c.at))
        return [dict(each) for each in found.mappings()]
