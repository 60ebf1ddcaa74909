"""``porch serve``: run the portal until it is told to stop."""

from __future__ import annotations

import gc
import shlex
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gateway.cli.options import HomePath, Setup, config_option, data_option
from gateway.cli.static_tokens import static_tokens

if TYPE_CHECKING:
    from socket import socket

    from auth import StaticTokens
    from gateway.server.worker import Worker


@click.command()
@click.option(
    "--content",
    type=HomePath(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Serve this directory of markdown, as it is, instead of the configured sources.",
)
@click.option("--port", type=click.IntRange(0, 65535), help="The TCP port; 0 picks a free one.")
@click.option("--host", metavar="ADDRESS", help="The address to listen on.")
@config_option
@data_option
@click.option("--reload", is_flag=True, help="Start again when a plugin's source changes.")
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    metavar="N",
    help="Answer with N processes on one port; it takes PostgreSQL, Redis and shared vectors.",
)
@click.option("--as-worker", type=int, hidden=True)
def command(  # noqa: PLR0913  (each is an option)
    content: Path | None,
    port: int | None,
    host: str | None,
    config: Path | None,
    data: Path | None,
    reload: bool,
    workers: int | None,
    as_worker: int | None,
) -> None:
    """Run the portal until Ctrl+C.

    It is one process unless --workers says otherwise, and keeps all it needs in the data
    directory. Told to stop, it finishes the calls in flight first. `GET /readyz` is 200 once
    everything is indexed.

    \b
    Examples:
      porch serve
      porch serve --content ~/notes --port 9000
      porch serve --config /etc/porch --data /var/lib/porch
      porch serve --reload                            while you write a plugin
      porch serve --workers 4                         a process for each core
    """
    if reload and workers:
        raise click.UsageError("--reload is for one process; leave --workers away.")
    if reload:
        _run_again_on_changes()
        return
    if as_worker is not None:
        _work(as_worker, config, _overrides(content, port, host))
        return
    setup = Setup(config, data, _overrides(content, port, host))
    _configure_logs(setup)
    if workers:
        from gateway.cli.workers import supervise

        supervise(setup, workers)
        return
    tokens = static_tokens(setup)
    _run(setup, tokens)


def _overrides(content: Path | None, port: int | None, host: str | None) -> dict[str, Any]:
    listen = {key: value for key, value in (("host", host), ("port", port)) if value is not None}
    overrides: dict[str, Any] = {"listen": listen} if listen else {}
    if content is not None:
        sources = [{"directory": str(content.absolute()), "layout": "auto"}]
        overrides["plugins"] = {"knowledge": {"sources": sources}}
    return overrides


def _configure_logs(setup: Setup, worker: int = 0) -> None:
    """Warnings only where a person watches, unless a level was asked for."""
    from gateway.observability import logs

    wanted = setup.portal.config.log
    level = setup.environment.log or wanted.level
    asked = setup.environment.log is not None or "level" in wanted.model_fields_set
    if not asked and sys.stderr.isatty():
        level = "warning"
    logs.configure(
        level, json={"auto": None, "text": False, "json": True}[wanted.format], worker=worker
    )


def _run(setup: Setup, tokens: StaticTokens) -> None:
    gc.disable()  # what is loaded from here on stays; PortalApp enables it once it is open
    from gateway.server.allocator import give_back_freed_memory
    from gateway.server.data_directory import held
    from gateway.server.server import listen

    give_back_freed_memory()
    with held(setup.data_dir), listen(setup.portal.config) as tcp:
        _serve(setup.on_port(tcp.getsockname()[1]), tokens, tcp)
    click.echo("Stopped.")


def _work(descriptor: int, config: Path | None, overrides: dict[str, Any]) -> None:
    """Be one of several processes on a port."""
    gc.disable()
    from gateway.cli.workers import shared_objects
    from gateway.server.allocator import give_back_freed_memory
    from gateway.server.data_directory import held
    from gateway.server.worker import Worker

    give_back_freed_memory()
    worker = Worker(descriptor)
    setup = shared_objects(Setup(config, worker.data_dir, overrides), worker.shared_dir)
    _configure_logs(setup, worker.task.number)
    worker.prepare()
    with held(setup.data_dir):
        _serve(setup, static_tokens(setup), worker.tcp, worker)


def _serve(setup: Setup, tokens: StaticTokens, tcp: socket, worker: Worker | None = None) -> None:
    # What takes long to import comes after the port is open: who connects waits, and is answered.
    import uvloop

    from gateway.app import PortalApp
    from gateway.cli.welcome import Welcome
    from gateway.observability import telemetry
    from gateway.observability.workers import ALONE
    from gateway.server.server import serve

    tracing = telemetry.configure("porch")
    workers = ALONE if worker is None else worker.workers
    app = PortalApp(setup.portal, setup.data_dir, tokens, workers=workers)
    welcome = Welcome(app, setup.portal, with_tokens=bool(tokens))
    ready = welcome.listening if worker is None else worker.answering
    try:
        uvloop.run(serve(app, setup.portal.config, setup.data_dir, ready, tcp, worker))
    finally:
        if tracing is not None:
            tracing.shutdown()


def _run_again_on_changes() -> None:
    from watchfiles import PythonFilter, run_process

    arguments = [each for each in sys.argv[1:] if each != "--reload"]
    same = shlex.join([sys.executable, "-m", "gateway.cli", *arguments])
    run_process(
        *_sources(),
        target=same,
        target_type="command",
        watch_filter=PythonFilter(),
        callback=lambda _: click.echo("A source has changed; starting again ...", err=True),
    )


def _sources() -> Iterator[Path]:
    """The directories whose changes matter: the gateway's own and every plugin's."""
    modules = {"gateway", *(point.module for point in entry_points(group="porch.plugins"))}
    for module in sorted(modules):
        spec = find_spec(module)
        if spec is not None and spec.origin is not None:
            yield Path(spec.origin).parent
