"""The backends that plugins share: embedded by default, an address each to grow.

``open_services`` opens what the ``services:`` section of ``portal.yaml`` names. Nothing heavy is
imported, and nothing is connected to, before it is used. Everyone receives a share: plugins
through :meth:`Services.for_plugin`, the gateway itself under the owner's name ``gateway``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from gateway.contract.jobs import Jobs
from gateway.contract.models import Models
from gateway.contract.services import Cache, Database, Embedder, Objects, Reranker, Vectors
from gateway.errors import ConfigError, Problem
from gateway.observability.logs import get_logger
from gateway.services import signing_key as signing
from gateway.services.cache.address import open_cache
from gateway.services.cache.service import CacheService, CacheUnavailable
from gateway.services.database.migrations import MigrationFailed
from gateway.services.database.service import DatabaseService, DatabaseUnavailable, open_database
from gateway.services.jobs.service import JobService, open_jobs
from gateway.services.models.service import ModelService
from gateway.services.objects import ObjectService, open_objects
from gateway.services.secrets import address, resolve
from gateway.toolkit.background import background
from gateway.toolkit.reasons import log_fields
from gateway.toolkit.retry import backoff

if TYPE_CHECKING:
    from gateway.config.language_models import LanguageModels
    from gateway.contract import Job
    from gateway.services.embedding.reranker import ThreadedReranker
    from gateway.services.embedding.service import ThreadedEmbedder
    from gateway.services.vectors.store import VectorStore

__all__ = ["Services", "ServicesConfig", "Shares", "open_services"]

GATEWAY = "gateway"
"""The gateway's own name as an owner; no plugin has it."""

_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS = 2.0, 60.0
"""Seconds until the jobs are launched again where they could not be: at first, and at most."""

log = get_logger(__name__)
T = TypeVar("T")
M = TypeVar("M", "ThreadedEmbedder", "ThreadedReranker")


class ServicesConfig(Protocol):
    """The ``services:`` section of ``portal.yaml``; addresses may be ``env:`` or ``file:``."""

    @property
    def database(self) -> str:
        """``sqlite``, or a ``postgresql://`` URL; jobs are kept there too."""
        ...

    @property
    def vectors(self) -> str:
        """``embedded``, or the URL of a Qdrant server."""
        ...

    @property
    def vectors_key(self) -> str | None:
        """A reference to the Qdrant server's API key."""
        ...

    @property
    def objects(self) -> str:
        """``embedded``, a directory, or an ``s3://`` or ``gs://`` URL."""
        ...

    @property
    def cache(self) -> str:
        """``memory``, or a ``redis://`` URL."""
        ...

    @property
    def embedding(self) -> str:
        """``embedded``, ``english``, ``multilingual``, ``none``, a name, or an ONNX directory."""
        ...

    @property
    def reranker(self) -> str:
        """``none``, a model's name, or the directory of an ONNX model."""
        ...

    @property
    def models(self) -> LanguageModels:
        """Which language models there are, and for what."""
        ...


@dataclass(frozen=True, slots=True)
class Shares:
    """What one plugin receives: its own share of every service, as in ``contract.Host``."""

    data_dir: Path
    database: Database
    vectors: Vectors
    objects: Objects
    cache: Cache
    jobs: Jobs
    embedder: Embedder | None
    reranker: Reranker | None
    models: Models
    other_model: Callable[[str], AbstractAsyncContextManager[Embedder | None]]


@dataclass(frozen=True, slots=True)
class Services:
    """Every service of the portal.

    Attributes:
        data_dir: where the embedded services keep their data.
        notices: what the admin should know, such as a model that cannot be used.
    """

    data_dir: Path
    database: DatabaseService
    vectors: VectorStore
    objects: ObjectService
    cache: CacheService
    jobs: JobService
    embedder: ThreadedEmbedder | None
    reranker: ThreadedReranker | None
    models: ModelService
    notices: list[str] = field(default_factory=list)

    @property
    def shared_database(self) -> Database:
        """The gateway's own share of the database."""
        return self.database.for_owner(GATEWAY)

    @property
    def shared_cache(self) -> Cache:
        """The gateway's own share of the cache, the same one for every replica."""
        return self.cache.scoped(GATEWAY)

    async def made_ready(self, migrations: Path, *, models: bool = True) -> Services:
        """The services, seen to work: the backends answer, and the models are loaded.

        A model that does not load is left out, so that plugins know whether there is one;
        ``notices`` says why.

        Args:
            migrations: the gateway's own revisions, to which its tables are brought.
            models: whether models are loaded; else each is by the first who asks it.

        Raises:
            ConfigError: a backend does not answer, or the database's file is damaged.
        """
        if not models:
            await self._answering(migrations)
            return self
        embedder, reranker, _ = await asyncio.gather(
            self._usable("embedding", self.embedder),
            self._usable("reranker", self.reranker),
            self._answering(migrations),
        )
        return replace(self, embedder=embedder, reranker=reranker)

    async def _usable(self, service: str, model: M | None) -> M | None:
        from gateway.services.embedding.model_files import ModelUnavailable

        try:
            if model is not None:
                await model.warm()
            return model
        except (ModelUnavailable, OSError) as error:
            self.notices.append(f"services.{service}: {error}")
            log.warning("model_unavailable", service=service, reason=str(error))
            return None

    async def _answering(self, migrations: Path) -> None:
        try:
            await self.shared_database.migrate(migrations)
        except (DatabaseUnavailable, MigrationFailed) as error:
            raise ConfigError([_problem("database", error)]) from None
        self.database.watch()
        try:
            await self.cache.ready()
        except CacheUnavailable as error:
            raise ConfigError([_problem("cache", error)]) from None

    def for_plugin(self, name: str) -> Shares:
        """A plugin's share of everything; its directory is made.

        Raises:
            ValueError: the name is the gateway's own.
        """
        from gateway.services.embedding.service import other_model
        from gateway.services.vectors.store import OwnedVectors

        if name == GATEWAY:
            raise ValueError(f"A plugin cannot have the gateway's own name {name!r}.")
        data_dir = self.data_dir / "plugins" / name
        data_dir.mkdir(parents=True, exist_ok=True)
        return Shares(
            data_dir=data_dir,
            database=self.database.for_owner(name),
            vectors=OwnedVectors(self.vectors, name),
            objects=self.objects.scoped(name),
            cache=self.cache.scoped(name),
            jobs=self.jobs.for_owner(name),
            embedder=self.embedder,
            reranker=self.reranker,
            models=self.models.for_owner(name),
            other_model=other_model,
        )

    def register_jobs(self, plugin: str, jobs: Sequence[Job]) -> None:
        """Take in a plugin's jobs, before :meth:`jobs_running`.

        Raises:
            ValueError: a declaration cannot work (``JobService.register``).
        """
        self.jobs.register(plugin, jobs)

    @asynccontextmanager
    async def jobs_running(
        self, *, on_demand: bool = False, after: Callable[[], Awaitable[None]] | None = None
    ) -> AsyncIterator[None]:
        """Work on the registered jobs for as long as the block lasts (``JobService.launch``).

        Args:
            on_demand: as in ``JobService.launch``.
            after: what is waited for first, behind the block; None launches before it begins.
        """
        try:
            if after is None:
                await self.jobs.launch(on_demand=on_demand)
                yield
            else:
                async with background(self._launch_jobs(after, on_demand)):
                    yield
        finally:
            await self.jobs.close()

    async def _launch_jobs(self, after: Callable[[], Awaitable[None]], on_demand: bool) -> None:
        await after()
        for pause in backoff(_FIRST_RETRY_SECONDS, _MAX_RETRY_SECONDS):
            try:
                # What is half launched cannot be ended: the end waits for it.
                await asyncio.shield(self.jobs.launch(on_demand=on_demand))
                return
            except Exception as error:
                kind, told = type(error).__name__, log_fields(error)
                log.error("jobs_not_launched", again_in_seconds=pause, kind=kind, **told)
                problem = f"services.database: jobs do not run ({kind})"
            self.notices.append(problem)
            await asyncio.sleep(pause)
            self.notices.remove(problem)

    def signing_key(self) -> bytes:
        """The key that signs what clients bring back; 32 bytes, kept over restarts.

        Raises:
            ConfigError: the key given in the environment is too short, or the kept one damaged.
        """
        try:
            return signing.signing_key(self.data_dir)
        except ValueError as error:
            raise ConfigError([Problem(str(self.data_dir), 0, "", str(error))]) from None


@asynccontextmanager
async def open_services(
    config: ServicesConfig,
    data_dir: Path,
    *,
    root: Path = Path(),
    allow: tuple[str, ...] = (),
) -> AsyncGenerator[Services]:
    """Open the services that a configuration names; closed in reverse order.

    A model that cannot be used is no reason not to start: search goes on without it, and
    ``Services.notices`` says why.

    Args:
        config: the ``services:`` section.
        data_dir: where the embedded services keep their data.
        root: where the relative path of a ``file:`` reference starts.
        allow: rules for secrets that are not applied to what language models are sent.

    Raises:
        ConfigError: an address is wrong, or a reference leads nowhere.
    """
    services = _Opening(config, root).services(data_dir, allow)
    async with AsyncExitStack() as stack:
        for each in (services.database, services.cache, services.vectors, services.models):
            stack.push_async_callback(each.close)
        for model in (services.embedder, services.reranker):
            if model is not None:
                stack.push_async_callback(model.close)
        yield services


class _Opening:
    """Opens the services one by one and collects everything that is wrong with them."""

    def __init__(self, config: ServicesConfig, root: Path) -> None:
        self._config = config
        self._root = root
        self._notices: list[str] = []

    def services(self, data_dir: Path, allow: tuple[str, ...]) -> Services:
        from gateway.services.embedding.reranker import open_reranker
        from gateway.services.embedding.service import open_embedder
        from gateway.services.vectors.address import open_vectors, vectors_address

        config = self._config
        key = config.vectors_key
        secret = self._checked("vectors_key", lambda: resolve(key, self._root)) if key else None
        api_key = secret.get_secret_value() if secret else None
        cache = self._at("cache", open_cache)
        database = self._at("database", lambda at: open_database(at, data_dir))
        shared = cache.scoped(GATEWAY)
        return Services(
            data_dir=data_dir,
            database=database,
            vectors=self._at(
                "vectors",
                lambda at: open_vectors(
                    vectors_address(at, address(config.database, self._root)),
                    data_dir,
                    api_key=api_key,
                ),
            ),
            objects=self._at("objects", lambda at: open_objects(at, data_dir)),
            cache=cache,
            jobs=self._at("database", lambda at: open_jobs(at, data_dir, shared, database.check)),
            embedder=self._model("embedding", open_embedder),
            reranker=self._model("reranker", open_reranker),
            models=ModelService(config.models, database.for_owner(GATEWAY), self._root, allow),
            notices=self._notices,
        )

    def _at(self, service: str, opened: Callable[[str], T]) -> T:
        setting: str = getattr(self._config, service)
        return self._checked(service, lambda: opened(address(setting, self._root)))

    def _checked(self, service: str, opened: Callable[[], T]) -> T:
        try:
            return opened()
        except ValueError as error:
            raise ConfigError([_problem(service, error)]) from None

    def _model(self, service: str, opened: Callable[[str], T | None]) -> T | None:
        from gateway.services.embedding.model_files import ModelUnavailable

        try:
            return opened(getattr(self._config, service))
        except ModelUnavailable as error:
            self._notices.append(f"services.{service}: {error}")
            log.warning("model_unavailable", service=service, reason=str(error))
            return None


def _problem(service: str, error: Exception) -> Problem:
    return Problem("portal.yaml", 0, f"services.{service}", str(error))
