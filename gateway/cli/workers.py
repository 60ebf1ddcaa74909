"""``porch serve --workers N``: what it takes, and how it is begun."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from gateway.cli.options import Setup
from gateway.errors import ConfigError, Problem

_NEEDED = {
    "database": (
        "sqlite",
        "is SQLite, which belongs to one process; workers share PostgreSQL: "
        "write postgresql://..., or leave --workers away",
    ),
    "cache": (
        "memory",
        "is this process's memory; workers hear of each other over Redis: "
        "write redis://..., or leave --workers away",
    ),
    "vectors": (
        "embedded",
        "is an index inside a process, which each worker would hold and fill for itself; workers "
        "share PostgreSQL with pgvector, or Qdrant: write database or a URL, or leave --workers "
        "away",
    ),
}
"""What workers cannot share: a service, its embedded kind, and what to do."""


def unshared(setup: Setup) -> Iterator[Problem]:
    """The services of a configuration that several processes cannot share."""
    from gateway.services.secrets import SecretMissing, address

    for name, (embedded, reason) in _NEEDED.items():
        try:
            at = address(getattr(setup.portal.config.services, name), setup.portal.root)
        except SecretMissing as error:
            yield setup.portal.source.problem(("services", name), str(error))
            continue
        if at == embedded:
            yield setup.portal.source.problem(("services", name), reason)


def check_shared(setup: Setup) -> None:
    """Refuse services that several processes cannot share.

    Raises:
        ConfigError: with the line of each.
    """
    if problems := list(unshared(setup)):
        raise ConfigError(problems)


def shared_objects(setup: Setup, shared_dir: Path) -> Setup:
    """A worker's settings: documents that are kept in the data directory are kept in that of all.

    Args:
        setup: the worker's settings as its files and options say them.
        shared_dir: the data directory of all workers.
    """
    portal = setup.portal
    if portal.config.services.objects != "embedded":
        return setup
    objects = {"services": {"objects": str(shared_dir.absolute() / "objects")}}
    return Setup(portal.directory, setup.data_dir, {**portal.overrides, **objects})


def supervise(setup: Setup, number: int) -> None:
    """Run several workers until a signal says to stop.

    Raises:
        ConfigError: a service cannot be shared, the port is taken, or another portal runs here.
    """
    from gateway.cli.static_tokens import static_tokens
    from gateway.cli.welcome import Welcome
    from gateway.contract.directories import rebuildable
    from gateway.server.data_directory import held, made
    from gateway.server.server import listen
    from gateway.server.supervisor import CannotStart, Hooks, Supervisor
    from gateway.services.signing_key import signing_key

    check_shared(setup)
    config = setup.portal.config
    welcome = Welcome(None, setup.portal, with_tokens=bool(static_tokens(setup)))
    made(setup.data_dir)
    with held(setup.data_dir), listen(config, alone=True) as tcp:
        _key(setup, signing_key)
        rebuildable(setup.data_dir / "workers")
        limits = config.limits
        drained = limits.drain + limits.linger + limits.shutdown
        command = _command(setup, tcp.getsockname()[1])

        hooks = Hooks(
            checked=lambda: check_shared(_again(setup)),
            serving=welcome.show,
            ready=lambda: click.echo(f"Ready: {number} workers serve. Ctrl+C stops."),
        )
        patience = drained.total_seconds()

        async def run() -> None:  # what it is made of belongs to the loop that runs
            await Supervisor(command, tcp, setup.data_dir, number, patience, hooks).run()

        try:
            asyncio.run(run())
        except CannotStart as error:
            sys.exit(error.code)
    click.echo("Stopped.")


def _key(setup: Setup, signing_key: Any) -> None:
    """Make the key that all workers sign with, where there is none."""
    try:
        signing_key(setup.data_dir)
    except ValueError as error:
        raise ConfigError([Problem(str(setup.data_dir), 0, "", str(error))]) from None


def _again(setup: Setup) -> Setup:
    """The settings as the files say them now."""
    return Setup(setup.portal.directory, setup.data_dir, setup.portal.overrides)


def _command(setup: Setup, port: int) -> list[str]:
    """What a worker is started with: the same settings, on the port that is open."""
    words = [sys.executable, "-m", "gateway.cli", "serve", "--config", str(setup.portal.directory)]
    given = setup.portal.overrides
    if host := given.get("listen", {}).get("host"):
        words += ["--host", host]
    if plugins := given.get("plugins"):  # of --content
        words += ["--content", plugins["knowledge"]["sources"][0]["directory"]]
    return [*words, "--port", str(port), "--as-worker"]
