"""The jobs service: durable work, as DBOS workflows in a database of its own.

A job that the process dies under goes on with the step that it had reached: at the next start, or
in another replica (``jobs_lease``).
DBOS is one for the whole process, so a process has at most one launched service; DBOS is not
even imported where no plugin declares a job.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gateway.contract.services import Cache
from gateway.observability.logs import get_logger
from gateway.services.database.service import is_postgres
from gateway.services.jobs.lease import HEARTBEAT_SECONDS, Lease, LeaseLost
from gateway.services.jobs.log import JobsLog
from gateway.services.jobs.owned import OwnedJobs
from gateway.services.jobs.progress import ProgressBoard
from gateway.services.jobs.questions import Questions
from gateway.services.jobs.queues import APPLICATION, make_queues, settings_of
from gateway.services.jobs.run import Run, as_json
from gateway.services.jobs.schedules import apply_schedules, check_schedule
from gateway.services.jobs.sqlite import JOBS_FILE, Connection, database_url
from gateway.services.jobs.tally import JobsTally
from gateway.services.jobs.worker import QueueWorker
from gateway.toolkit.background import cancel, every

if TYPE_CHECKING:
    from dbos import DBOSConfig, WorkflowStatus

    from gateway.contract import Job

__all__ = ["JobService", "JobsNotRunning", "Run", "open_jobs"]

SCHEMA = "porch_jobs"
"""The schema of DBOS's tables in PostgreSQL."""
_CLOSE_TIMEOUT_SECONDS = 5.0
_LINE = {"connect_timeout": 5, "keepalives_idle": 10, "keepalives_interval": 5}
_LINE |= {"keepalives_count": 3, "tcp_user_timeout": 15_000}
"""Settings of libpq for connections of DBOS, in seconds and milliseconds."""
_LISTENER_INTERVAL_SECONDS = 0.25
"""Seconds between two looks of DBOS's listener for messages between jobs, and of its thread that
would tell others of them, on PostgreSQL. We send none, so a look costs next to nothing; but closing
waits for the next one. DBOS's defaults are a whole second, and 10 ms: half a percent of a core."""


log = get_logger(__name__)
Workflow = Callable[..., Coroutine[Any, Any, Any]]


class JobsNotRunning(RuntimeError):
    """Jobs are queued and asked for only while the service is launched."""


class JobService:
    """The jobs of all plugins.

    Args:
        address: ``sqlite``, or a ``postgresql://`` URL.
        data_dir: where ``jobs.db`` lies, for SQLite.
        cache: where replicas see each other's progress, or None.
        check: raises where the database is known to be away: DBOS would wait for it without end.
    """

    def __init__(
        self,
        address: str,
        data_dir: Path,
        cache: Cache | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self._address = address
        self._data_dir = data_dir
        self._check = check
        self._jobs: dict[str, Job] = {}
        self._workflows: dict[str, Workflow] = {}
        self._tasks: dict[str, asyncio.Task[Any]] = {}
        self.board = ProgressBoard(cache)
        self.questions = Questions()
        self.tally = JobsTally(self._workflows)
        self._running = False
        self._is_launched = False
        self._on_demand = False
        self._launching = asyncio.Lock()
        self._log = JobsLog()
        self._worker = QueueWorker(self._workflows.keys)
        self._lease = Lease(address, SCHEMA)
        self._beating: asyncio.Task[None] | None = None
        self._giving_back: asyncio.Task[None] | None = None

    @property
    def replicas(self) -> tuple[str, ...]:
        """The replicas on this database that live; none where it is embedded."""
        return self._lease.watch.living

    def notices(self) -> Iterator[str]:
        """What an admin should look at: replicas that died, and none has come in their place."""
        return self._lease.watch.notices()

    def register(self, plugin: str, jobs: Sequence[Job]) -> None:
        """Take in a plugin's declarations, in place of those of an opening that failed.

        Raises:
            ValueError: two of the plugin's jobs have one name, or a schedule is no cron
                expression.
        """
        declared: dict[str, Job] = {}
        for job in jobs:
            name = f"{plugin}/{job.name}"
            if name in declared:
                raise ValueError(f"The plugin {plugin} declares the job {job.name} twice.")
            check_schedule(name, job.schedule)
            declared[name] = job
        own = self.names(plugin)
        others = {name: job for name, job in self._jobs.items() if name not in own}
        self._jobs = others | declared  # a thread may be going through the one before

    def for_owner(self, plugin: str) -> OwnedJobs:
        """The jobs of one plugin: the port ``Jobs``."""
        return OwnedJobs(self, plugin)

    async def launch(self, *, on_demand: bool = False) -> None:
        """Start to work, on this event loop; jobs that a crash interrupted go on.

        Where no plugin declared a job, this does nothing.

        Args:
            on_demand: start DBOS when a job is first queued or asked for, if no job can be
                waiting from before. Until then no schedule queues one.
        """
        async with self._launching:
            self._is_launched = True
            self._on_demand = on_demand and self._is_new()
            if self._jobs and not self._on_demand:
                await self._launch()

    async def take_up(self, plugin: str) -> None:
        """Work on the jobs of a plugin that was registered after :meth:`launch`.

        What a crash interrupted goes on too. Before the launch this does nothing.
        """
        async with self._launching:
            names = [name for name in self.names(plugin) if name not in self._workflows]
            if not self._is_launched or not names or (self._on_demand and not self._running):
                return
            if not self._running:
                await self._launch()
                return
            from dbos import DBOS

            for name in names:
                self._workflows[name] = self._declare(name, self._jobs[name])
            for name in names:
                await DBOS.register_queue_async(name, **settings_of(self._jobs[name]))
            await asyncio.to_thread(apply_schedules, self._jobs, self._workflows)
            await self._go_on(names)
            self._worker.wake()

    async def _launch(self) -> None:
        await asyncio.to_thread(self._make_tables)
        await self._lease.take()
        await asyncio.to_thread(self._prepare, asyncio.get_running_loop())
        from dbos import DBOS

        self._running = True
        # On the loop's own thread: DBOS runs its workflows on the loop it finds here.
        DBOS.launch()
        await asyncio.to_thread(apply_schedules, self._jobs, self._workflows)
        if self._lease.is_shared and self._beating is None:
            beats = every(HEARTBEAT_SECONDS, self._beat, _missed, first_s=0)
            self._beating = asyncio.create_task(beats)

    async def _beat(self) -> None:
        """Say that this replica lives, and give back to their queues what dead ones ran."""
        try:
            dead = await self._lease.renew()
        except LeaseLost as lost:
            log.warning("jobs_begin_again", reason=str(lost))
            await asyncio.shield(asyncio.create_task(self._begin_again()))
            return
        for replica in filter(None, dead.values()):
            log.warning("replica_died", replica=replica)
        # Beside the heartbeat: DBOS tries without end where its database does not answer.
        if dead and (self._giving_back is None or self._giving_back.done()):
            self._giving_back = asyncio.create_task(self._give_back(list(dead)))

    async def _give_back(self, dead: Sequence[str]) -> None:
        """Queue the jobs of dead executors again; who takes one up goes on with its last step."""
        from dbos import DBOS

        try:  # DBOS's own way, which its service for many replicas calls from outside
            jobs = await asyncio.to_thread(DBOS._recover_pending_workflows, list(dead))
        except Exception as error:
            _missed(error)  # they are found again
            return
        if jobs:
            self._worker.wake()
            names = [each.workflow_id for each in jobs]
            log.warning("jobs_of_a_dead_replica_given_back", jobs=names, executors=list(dead))

    async def _begin_again(self) -> None:
        """End this life, whose jobs are others' by now, and begin one under another name."""
        async with self._launching:
            await self._stop()
            if self._is_launched:
                await self._launch()

    async def _go_on(self, names: Sequence[str]) -> None:
        """Go on with this replica's jobs that a crash interrupted, now that they are known."""
        from dbos import DBOS

        for found in await DBOS.list_workflows_async(name=list(names), status="PENDING"):
            if found.executor_id == self._lease.executor and found.workflow_id not in self._tasks:
                await DBOS.resume_workflow_async(found.workflow_id)

    async def close(self) -> None:
        """Stop at once; what was running goes on in another replica, or at the next launch."""
        self._is_launched = False
        await cancel(*(each for each in (self._beating, self._giving_back) if each))
        self._beating = None
        async with self._launching:
            await self._stop()
            await self._lease.release()

    async def _stop(self) -> None:
        if not self._running:
            return
        from dbos import DBOS

        self._running = False
        # That it stops jobs is no news for the log, while we ask for it.
        logging.getLogger("dbos").setLevel(logging.ERROR)
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        # DBOS had lent the loop its own threads, and ends them first of all, with all that waits
        # for one. They take work in its order: once this has its turn, nothing before it waits.
        loop = asyncio.get_running_loop()
        turn = loop.run_in_executor(None, int)
        loop.set_default_executor(ThreadPoolExecutor())
        await asyncio.wait({turn}, timeout=_CLOSE_TIMEOUT_SECONDS)
        self._worker.stop()
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
        logging.getLogger("dbos").removeFilter(self._log)

    async def enqueue(self, name: str, payload: Mapping[str, Any], job_id: str) -> str:
        """Queue the job ``plugin/job`` under an id; a known id means the job that has it."""
        if name not in self._jobs:
            raise KeyError(f"No plugin declares the job {name}.")
        await self._need_running()
        from dbos import DBOS, SetWorkflowID

        checked = as_json(dict(payload), f"The payload of {name}")
        with SetWorkflowID(job_id):
            handle: Any = await DBOS.enqueue_workflow_async(name, self._workflows[name], checked)
        self._worker.wake()
        return str(handle.workflow_id)

    async def status(self, job_id: str) -> WorkflowStatus | None:
        """DBOS's record of a job."""
        await self._need_running()
        from dbos import DBOS

        return await DBOS.get_workflow_status_async(job_id)

    async def listed(self, names: Sequence[str], limit: int) -> list[WorkflowStatus]:
        """DBOS's records of the jobs of these full names, the newest first."""
        await self._need_running()
        from dbos import DBOS

        return await DBOS.list_workflows_async(
            name=list(names), limit=limit, sort_desc=True, load_input=False
        )

    async def cancel(self, job_id: str) -> None:
        """End a job; what another replica runs ends before its next step."""
        await self._need_running()
        from dbos import DBOS

        await DBOS.cancel_workflow_async(job_id)
        if task := self._tasks.get(job_id):
            task.cancel()

    def names(self, plugin: str) -> list[str]:
        """The full names of a plugin's jobs."""
        return [name for name in self._jobs if name.startswith(f"{plugin}/")]

    def _is_new(self) -> bool:
        """Whether certainly no job was ever queued here."""
        return self._address == "sqlite" and not (self._data_dir / JOBS_FILE).exists()

    async def _need_running(self) -> None:
        self._check()
        if self._is_launched and not self._running:
            async with self._launching:  # where a new life begins, it has begun then
                if self._on_demand and self._is_launched and not self._running:
                    await self._launch()
        if not self._running:
            raise JobsNotRunning("Jobs run in a portal that serves: start it with `porch serve`.")

    def _make_tables(self) -> None:
        """Import DBOS and bring its tables up to date."""
        logger = logging.getLogger("dbos")
        if not logger.handlers:  # else DBOS prints to the console, beside the portal's own log
            logger.addHandler(logging.NullHandler())
        logger.addFilter(self._log)
        from dbos import DBOS

        self._data_dir.mkdir(parents=True, exist_ok=True)
        DBOS.migrate(database_url(self._address, self._data_dir), schema=SCHEMA)

    def _prepare(self, loop: asyncio.AbstractEventLoop) -> None:
        """Configure DBOS and declare the workflows."""
        from dbos import DBOS, DBOSPortableJSONSerializer

        url = database_url(self._address, self._data_dir)
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": url,
            "dbos_system_schema": SCHEMA,
            # Both pinned: a job is taken up again only by the executor and version it began with.
            "executor_id": self._lease.executor,
            "application_version": "porch",
            "serializer": DBOSPortableJSONSerializer(),  # JSON; DBOS's default would be pickle
            "log_level": "WARNING",
            "notification_listener_polling_interval_sec": _LISTENER_INTERVAL_SECONDS,
            "notification_coalesce_sec": _LISTENER_INTERVAL_SECONDS,
        }
        if self._address == "sqlite":
            config["db_engine_kwargs"] = {"connect_args": {"factory": Connection}}
        else:  # its threads give up a line on which nothing is answered
            config["db_engine_kwargs"] = {"connect_args": _LINE}
        jobs = self._jobs
        make_queues(url, SCHEMA, jobs)
        self._worker = QueueWorker(self._workflows.keys, loop)
        self._worker.take_over()
        DBOS(config=config)
        for name, job in jobs.items():
            self._workflows[name] = self._declare(name, job)

    def _declare(self, name: str, job: Job) -> Workflow:
        from dbos import DBOS

        async def workflow(payload: Any, _context: Any = None) -> Any:
            if not self._running:
                raise asyncio.CancelledError  # it stays where it is, for the next launch
            job_id = DBOS.workflow_id or ""
            task = cast("asyncio.Task[Any]", asyncio.current_task())
            self._tasks[job_id] = task
            # Its end is stored within the task: when that is done, the next one has its place.
            task.add_done_callback(lambda _: self._worker.wake())
            try:
                await self._lease.hold()
                # A schedule hands in its moment instead of a payload.
                values = payload if isinstance(payload, dict) else {"scheduled": str(payload)}
                with self.tally.counted(name):
                    run = Run(job_id, self.board, self._lease, self.questions)
                    # What a plugin that was opened anew declares, and no longer what it did.
                    return await run.result(name, self._jobs.get(name, job), values)
            finally:
                self._tasks.pop(job_id, None)
                self.board.ended(job_id)

        return DBOS.workflow(name=name)(workflow)


def open_jobs(
    address: str,
    data_dir: Path,
    cache: Cache | None = None,
    check: Callable[[], None] = lambda: None,
) -> JobService:
    """The jobs service at an address; nothing is opened before ``launch``.

    Args:
        address: ``sqlite`` (the file ``jobs.db``), or a ``postgresql://`` URL.
        data_dir: the portal's data directory.
        cache: where replicas see each other's progress, or None.
        check: as of :class:`JobService`.

    Raises:
        ValueError: the address is neither.
    """
    if address != "sqlite" and not is_postgres(address):
        raise ValueError("The jobs are kept in 'sqlite' or at a postgresql:// URL.")
    return JobService(address, data_dir, cache, check)


def _missed(error: Exception) -> None:
    log.debug("jobs_heartbeat_missed", reason=type(error).__name__)
