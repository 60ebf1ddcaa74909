"""What the shared services show in the portal's metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gateway.observability.metrics import Metrics, Numbers
from gateway.services.cache.redis import RedisCache

if TYPE_CHECKING:
    from gateway.services import Services
    from gateway.services.embedding.reranker import ThreadedReranker
    from gateway.services.embedding.service import ThreadedEmbedder

__all__ = ["show_services"]


def show_services(services: Services, metrics: Metrics) -> None:
    """Have the services' numbers read at each scrape.

    Args:
        services: all of them, open.
        metrics: where they are shown.
    """
    _show_connections(services, metrics)
    _show_jobs(services, metrics)
    _show_models(services, metrics)


def _show_connections(services: Services, metrics: Metrics) -> None:
    database, cache = services.database, services.cache

    def held() -> Numbers:
        states = {**database.connections}
        states.pop("most")
        return {(state,): number for state, number in states.items()}

    metrics.gauges(
        "database_connections", "Connections to the portal's database.", ("state",), held
    )
    metrics.gauge(
        "database_connections_max",
        "Connections to the database that there may be; who needs another one waits.",
        lambda: database.connections["most"],
    )
    redis = cache.connections if isinstance(cache, RedisCache) else dict
    metrics.gauges(
        "redis_connections",
        "Connections to Redis.",
        ("state",),
        lambda: {(state,): number for state, number in redis().items()},
    )
    metrics.gauge(
        "redis_away",
        "1 while Redis does not answer, so that each process counts and remembers for itself.",
        lambda: isinstance(cache, RedisCache) and cache.breaker.is_open,
    )


def _show_jobs(services: Services, metrics: Metrics) -> None:
    jobs = services.jobs
    metrics.before(jobs.tally.refresh)
    metrics.gauges(
        "jobs",
        "Jobs of all replicas that wait or run.",
        ("job_name", "state"),
        lambda: {key: each.number for key, each in jobs.tally.open.items()},
    )
    metrics.gauges(
        "job_oldest_seconds",
        "Seconds since the oldest job was queued that still waits or runs.",
        ("job_name", "state"),
        lambda: {key: each.oldest_seconds for key, each in jobs.tally.open.items()},
    )
    metrics.counters(
        "jobs_ended",
        "Jobs that ended here: done, failed, or stopped with the portal or by somebody.",
        ("job_name", "outcome"),
        lambda: jobs.tally.ended,
    )


def _show_models(services: Services, metrics: Metrics) -> None:
    models = dict(_models(services))
    metrics.gauges(
        "model_waiting",
        "Batches and questions that wait for a turn of the model.",
        ("model",),
        lambda: {(name,): model.waiting for name, model in models.items()},
    )
    metrics.counters(
        "model_busy_seconds",
        "Seconds that the model has worked.",
        ("model",),
        lambda: {(name,): model.usage.seconds for name, model in models.items()},
    )
    metrics.counters(
        "model_texts",
        "Texts that the model has read.",
        ("model",),
        lambda: {(name,): model.usage.texts for name, model in models.items()},
    )


def _models(services: Services) -> Iterator[tuple[str, ThreadedEmbedder | ThreadedReranker]]:
    if services.embedder is not None:
        yield "embedding", services.embedder
    if services.reranker is not None:
        yield "reranker", services.reranker
