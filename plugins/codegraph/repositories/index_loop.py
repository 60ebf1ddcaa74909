"""The background loop of a serving portal: polls the registry, watches, indexes and purges."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from gateway.contract import Health, Host, follow, is_outage
from gateway.toolkit.background import cancel, start
from gateway.toolkit.counts import counted
from gateway.toolkit.retry import backoff
from plugins.codegraph.config import CodegraphConfig
from plugins.codegraph.jobs import INDEX, SCIP, UPKEEP, RepositoryJobs, index_key
from plugins.codegraph.repositories.build import BuildFailed, PlainSteps
from plugins.codegraph.repositories.calm import Calm
from plugins.codegraph.repositories.leases import Busy, Gone
from plugins.codegraph.repositories.repository import Repository

POLL_INTERVAL_S = 2.0
"""Seconds between polls of the registry, which other processes write to as well."""
_SOON, _LATER = 0.1, 2.0
"""Seconds between attempts at a repository that somebody else works on: first, and at most."""
_RETRY_PAUSE, _MAX_RETRY_PAUSE = timedelta(seconds=30), timedelta(hours=1)


class IndexLoop:
    """Keeps the indexes up to date with the repositories while a portal runs.

    Args:
        config: the plugin's section of ``portal.yaml``.
        host: the plugin's services.
        jobs: the jobs that do the work.
        now: the time, in UTC.
        problems: problems with the section, to report.
        first: called once when there is a repository, or None; the tools that it then offers stay
            until the portal stops, since an agent may be using them.
    """

    def __init__(
        self,
        config: CodegraphConfig,
        host: Host,
        jobs: RepositoryJobs,
        now: Callable[[], datetime],
        problems: Sequence[str] = (),
        first: Callable[[], None] | None = None,
    ) -> None:
        self._config, self._host, self._jobs, self._now = config, host, jobs, now
        self._problems = list(problems)
        self._first = first
        self._me = f"watch:{secrets.token_hex(4)}"
        self._watching: dict[str, asyncio.Task[None]] = {}
        self._embedding: dict[str, asyncio.Task[None]] = {}
        self._reported: dict[str, int] = {}
        self._justifying: dict[str, asyncio.Task[None]] = {}
        self._calm = Calm()
        self._asked: dict[str, str] = {}
        self._said: dict[str, str] = {}

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Run the loop for the duration of the block; if the host waits, run it once before the
        block."""
        if self._host.wait_ready:
            await self._once()
            yield
            return
        looking = start(self._look_on())
        try:
            yield
        finally:
            behind = (*self._embedding.values(), *self._justifying.values())
            await cancel(looking, *self._watching.values(), *behind)

    async def health(self) -> Health:
        """``degraded`` if an index failed, a removal is late or a declaration is wrong."""
        found = await self._jobs.repositories.all()
        open_removals = await self._jobs.purger.log(is_open=True)
        late = [each.name for each in open_removals if each.is_late(self._now())]
        facts = {
            "repositories": len(found),
            "entities": sum(each.entities for each in found),
            "indexing": [f"{each.name}: {each.state}" for each in found if each.state.indexing],
            "waiting": [each.name for each in found if each.state.requested],
            "taken_out": [
                f"{each.name}: {place}"
                for each in found
                for place in each.state.summary.get("secrets", {}).get("places", ())
            ],
            "asking": await self._asking(found),
            "removing": len(open_removals),
            "late_removals": late,
        }
        failed = [f"{each.name}: {each.state.error}" for each in found if each.state.error]
        behind = bool(failed or facts["indexing"] or facts["waiting"])
        said = [*self._problems, *failed]
        if late:
            names = ", ".join(late)
            said.insert(0, f"Removed more than 24 hours ago and not purged: {names}.")
        if said:
            return Health("degraded", " ".join(said)[:1000], facts, behind)
        return Health("ok", _detail(found), facts, behind)

    async def _asking(self, found: Sequence[Repository]) -> list[str]:
        """How far it is asked what code is for, where it is asked now."""
        if self._jobs.opinions is None:
            return []
        names = {each.id: each.name for each in found}
        runs = await self._jobs.opinions.runs.all()
        under_way = [each for each in runs if each.repo in names and each.state != "done"]
        return [f"{names[each.repo]}: {each}" for each in under_way]

    async def _once(self) -> None:
        for repository in await self._jobs.repositories.all():
            try:
                if repository.layer is None or repository.state.requested:
                    await self._jobs.builder.make(repository, self._me, PlainSteps())
                elif repository.kind == "path":
                    await self._jobs.builder.catch_up(repository, self._me)
            except (Busy, Gone, BuildFailed) as reason:
                self._say(repository.name, str(reason))
        for repository in await self._jobs.repositories.all():
            if repository.layer is not None:
                await self._after_index(repository)
        for each in [] if self._jobs.justifier is None else await self._jobs.justifier.lagging():
            await self._justified(each.org, each.repo)

    async def _after_index(self, repository: Repository) -> None:
        """What light jobs do, at once."""
        jobs, org, repo = self._jobs, repository.org, repository.id
        if jobs.health is not None:
            await jobs.health.make(org, repo, jobs.builder.root(repository))
        if jobs.embed is not None and not repository.embedded:
            await jobs.embed(org, repo, _tell_nobody)

    async def _look_on(self) -> None:
        while True:
            try:
                await self._look()
                self._said.pop("", None)
            except Exception as error:
                if not is_outage(error):
                    self._host.log.error("repositories_not_kept", exc_info=error)
                else:
                    self._say("", str(error))
            await asyncio.sleep(POLL_INTERVAL_S)

    async def _look(self) -> None:
        found = await self._jobs.repositories.all()
        if found and self._first is not None:
            self._first()
            self._first = None
        for repository in found:
            await self._see_to(repository)
        watched = {each.id: each for each in found if each.kind == "path" and each.layer}
        for repo in set(self._watching) - set(watched):
            self._watching.pop(repo).cancel()
        for repo, repository in watched.items():
            if repo not in self._watching or self._watching[repo].done():
                self._watching[repo] = start(self._watch(repository))
        await self._see_to_justifications(found)
        await self._see_to_opinions(found)
        for deletion in await self._jobs.purger.log(is_open=True):
            if deletion.is_due(self._now()):
                key = f"purge/{deletion.id}/{deletion.attempts}"
                await self._ask(UPKEEP, {"task": "purge", "entry": deletion.id}, key)

    async def _see_to(self, repository: Repository) -> None:
        state, repo, leases = repository.state, repository.id, self._jobs.leases
        if state.holder:
            await leases.free_dead(repo)  # its request is handled at the next poll
        if state.requested and not state.holder:
            await self._ask(INDEX, {"repo": repo}, index_key(repository, self._now()))
        elif state.error and not state.holder:
            await leases.request_stale(
                repo, min(_RETRY_PAUSE * 2 ** min(state.failures, 10), _MAX_RETRY_PAUSE)
            )
        elif repository.kind == "git" and self._config.refresh is not None:
            await self._refresh(repository, self._config.refresh)
        await self._see_to_vectors(repository)
        await self._see_to_health(repository)
        checked = (repository.scip or {}).get("layer")
        if self._jobs.check is not None and repository.layer not in (None, checked):
            # Once per full index; incremental changes do without SCIP.
            await self._ask(SCIP, {"repo": repo}, f"scip/{repo}/{repository.layer}")

    async def _see_to_vectors(self, repository: Repository) -> None:
        """Queue a job to embed a new index; embed incremental changes here, as they are small."""
        embed, repo = self._jobs.embed, repository.id
        if repository.layer is None or repository.embedded or repository.state.holder:
            return
        if embed is None or repo in self._embedding:
            return
        if repository.vectors_of != repository.layer:
            made = f"{repository.layer}/{self._now():%Y%m%d%H}"
            await self._ask(UPKEEP, {"task": "embed", "repo": repo}, f"embed/{repo}/{made}")
            return

        async def change() -> None:
            try:
                await embed(repository.org, repo, _tell_nobody)
                self._said.pop(f"{repository.name}: vectors", None)
            except Exception as error:  # of the model or its store; the next poll retries
                self._say(f"{repository.name}: vectors", str(error) or type(error).__name__)
            finally:
                self._embedding.pop(repo, None)

        self._embedding[repo] = asyncio.create_task(change())

    async def _see_to_health(self, repository: Repository) -> None:
        """Queue a job to report on a new full index."""
        layer, repo, health = repository.layer, repository.id, self._jobs.health
        if health is None or layer is None or self._reported.get(repo) == layer:
            return
        if await health.is_made(repo, layer):
            self._reported[repo] = layer
            return
        made = f"{layer}/{self._now():%Y%m%d%H}"
        await self._ask(UPKEEP, {"task": "health", "repo": repo}, f"health/{repo}/{made}")

    async def _see_to_justifications(self, found: Sequence[Repository]) -> None:
        """Queue a job to justify a new index; the rules go over a changed one here."""
        justifier = self._jobs.justifier
        lagging = [] if justifier is None else await justifier.lagging()
        self._calm.keep({each.repo for each in lagging})
        sizes = {each.id: each.entities for each in found}
        for each in lagging:
            if each.new:
                key = f"justify/{each.repo}/{each.layer}/{self._now():%Y%m%d%H}"
                await self._ask(UPKEEP, {"task": "justify", "repo": each.repo}, key)
                continue
            state = each.layer, each.generation
            is_running = each.repo in self._justifying
            if not is_running and self._calm.may_run(each.repo, state, sizes.get(each.repo, 0)):
                work = self._justified(each.org, each.repo)
                self._justifying[each.repo] = asyncio.create_task(work)

    async def _see_to_opinions(self, found: Sequence[Repository]) -> None:
        """Go on asking what code is for, where somebody is asked."""
        if self._jobs.opinions is not None:
            with suppress(RuntimeError):  # jobs start shortly after plugins
                await self._jobs.opinions.loop.look(found)

    async def _justified(self, org: str, repo: str) -> None:
        end = self._calm.begin(repo)
        try:
            if self._jobs.justifier is not None:
                await self._jobs.justifier.run(org, repo)
            self._said.pop(f"{repo}: justifications", None)
        except Exception as error:  # of the database; the next poll retries
            self._say(f"{repo}: justifications", str(error) or type(error).__name__)
        finally:
            end()
            self._justifying.pop(repo, None)

    async def _refresh(self, repository: Repository, age: timedelta) -> None:
        finished = repository.state.finished
        if finished is not None and finished < self._now() - age:
            await self._jobs.leases.request_stale(repository.id, age)

    async def _ask(self, name: str, payload: dict[str, Any], key: str) -> None:
        """Queue a job once in this process; its key makes it unique across replicas."""
        about = "/".join(key.split("/")[:2])
        if self._asked.get(about) == key:
            return
        with suppress(RuntimeError):  # jobs start shortly after plugins
            await self._host.jobs.enqueue(name, payload, key=key)
            self._asked[about] = key

    async def _watch(self, repository: Repository) -> None:
        async def catch_up() -> bool:
            try:
                now, found = await self._caught_up(repository.id)
            except Exception as error:  # also of the database: the next round tries again
                is_told = isinstance(error, Gone | BuildFailed) or is_outage(error)
                reason = str(error) or type(error).__name__
                self._say(repository.name, reason, None if is_told else error)
                return False
            if now is None:
                return True
            self._said.pop(repository.name, None)
            if found is not None:
                self._host.log.info("repository_caught_up", repository=repository.name)
            return True

        await follow([Path(repository.location)], catch_up)

    async def _caught_up(self, repo: str) -> tuple[Repository | None, dict[str, Any] | None]:
        """Index what changed, as soon as nobody else works on the repository.

        The holder of a full index still writes its summary after the index is served; files saved
        in that time must not wait for the next regular retry.
        """
        for pause in backoff(_SOON, _LATER):
            now = await self._jobs.repositories.by_id(repo)
            if now is None or now.layer is None:
                return None, None
            try:
                made = await self._jobs.builder.catch_up(now, self._me, self._jobs.follow_up)
                return now, made
            except Busy:
                await asyncio.sleep(pause)
        raise AssertionError("unreachable")  # pragma: no cover

    def _say(self, about: str, reason: str, fault: Exception | None = None) -> None:
        """Log a failure, but only once per reason; a fault of ours with its traceback."""
        if self._said.get(about) != reason:
            self._said[about] = reason
            self._host.log.warning(
                "repository_not_indexed", repository=about, reason=reason, exc_info=fault
            )


def _tell_nobody(done: int, total: int, message: str) -> None:
    return None


def _detail(found: Sequence[Repository]) -> str:
    if not found:
        return "No repository has been added."
    files = sum(each.state.summary.get("secrets", {}).get("files", 0) for each in found)
    if not files:
        return ""
    return f"Secrets were taken out of {counted(files, 'file')}, see taken_out: have them replaced."
