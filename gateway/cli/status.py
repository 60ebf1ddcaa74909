"""``porch status``: what a running portal does, on one screen."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import click

from gateway.cli.connection import request_portal
from gateway.cli.options import EXIT, Setup, emit, json_option, with_setup

WATCH_SECONDS = 2.0
"""Seconds between two looks of ``--watch``."""
_WIDTH = 80
_SHOWN_EVENTS = 8
_CLEARED = "\x1b[2J\x1b[H"
_MARKS = {"ok": ("✓", "green"), "starting": ("…", "cyan"), "degraded": ("!", "yellow")}
_FAILED = ("✗", "red")
_OURS = frozenset({"internal_error", "deadline"})
"""Outcomes for which the portal is to blame."""


@click.command()
@click.option("--watch", is_flag=True, help="Look again every two seconds, until Ctrl+C.")
@json_option
@with_setup
@click.pass_context
def command(ctx: click.Context, setup: Setup, watch: bool, as_json: bool) -> None:
    """Say what the portal on this data directory does now.

    How it is and since when, its calls of the last minute, open streams, services, jobs and
    plugins, and what an admin should look at. The exit code is 1 where no portal runs, or where
    it is not ready.

    \b
    Examples:
      porch status
      porch status --watch                            live
      porch status --json                             for a program
    """
    if watch:
        asyncio.run(_watch(setup, as_json=as_json))
        return
    found = _asked(setup)
    if as_json:
        emit(found)
    else:
        click.echo(_screen(setup, found))
    ctx.exit(EXIT.DONE if found is not None and found["status"] == "ok" else EXIT.PROBLEM)


def _asked(setup: Setup) -> Any:
    return asyncio.run(request_portal(setup, "GET", "/admin/status"))


async def _watch(setup: Setup, *, as_json: bool) -> None:
    """Look again and again, until Ctrl+C; whatever is asked just then is let go."""
    stopped = asyncio.Event()
    # Not by KeyboardInterrupt, which a process that a shell began in the background never gets.
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, stopped.set)
    stop = asyncio.create_task(stopped.wait())
    while not stopped.is_set():
        look = asyncio.create_task(request_portal(setup, "GET", "/admin/status"))
        await asyncio.wait({look, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not look.done():
            look.cancel()
            return
        found = look.result()
        told = json.dumps(found, ensure_ascii=False) if as_json else _screen(setup, found)
        # In one piece: a screen that is cleared first and filled line by line flickers.
        click.echo(told if as_json else f"{_CLEARED}{told}")
        await asyncio.wait({stop}, timeout=WATCH_SECONDS)


def _screen(setup: Setup, found: Mapping[str, Any] | None) -> str:
    return "\n".join(lines(found) if found else _absent(setup))


def _absent(setup: Setup) -> Iterator[str]:
    yield f"No portal runs on {setup.data_dir}."
    yield "Start it with `porch serve`, or name its data directory with --data."


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The screen, 80 columns wide.

    Args:
        found: the answer of ``GET /admin/status``.
    """
    from gateway.cli.render import clean, style

    mark, colour = _MARKS.get(found["status"], _FAILED)
    state = style(f"{mark} {found['status']}", fg=colour, bold=True)
    up = f"up for {_span(found['uptime_seconds'])}"
    yield f"{style(clean(found['name']), bold=True)}  {state}, {up}"
    yield f"{found['url']}, Porch {found['version']}, process {found['process']}"
    yield ""
    yield from _field("Calls", _calls(found["calls"]))
    late = found["calls"]["loop_lag_milliseconds"]
    yield from _field("Loop", f"at most {late:,} ms late in the last minute")
    streams = found["streams"]
    text = f"{streams['mcp']} of changes, {streams['rest']} of APIs, {streams['sessions']} sessions"
    yield from _field("Streams", text)
    yield from _processes(found)
    for service in found["services"]:
        yield from _service(service)
    yield from _field("Jobs", _jobs(found["jobs"]))
    yield ""
    yield style("Plugins", bold=True)
    for plugin in found["plugins"]:
        yield from _plugin(plugin)
    if found["notices"]:
        yield ""
        yield style("Notices", bold=True)
        for notice in found["notices"]:
            yield from folded("- ", notice)
    if found.get("lately"):  # a portal of an older version has none
        yield ""
        yield style("Lately", bold=True)
        for event in found["lately"][-_SHOWN_EVENTS:]:
            yield from _event(event)


def _event(event: Mapping[str, Any]) -> Iterator[str]:
    at = datetime.fromisoformat(event["at"]).astimezone()
    day = "" if at.date() == datetime.now().astimezone().date() else f"{at:%Y-%m-%d} "
    times = f" ({event['times']} times)" if event["times"] > 1 else ""
    return folded(f"{day}{at:%H:%M:%S}  ", f"{event['said']}{times}")


def _calls(calls: Mapping[str, Any]) -> str:
    over = "the last minute" if calls["seconds"] >= 55 else f"the last {calls['seconds']:.0f} s"
    said = f"{calls['per_second']:g}/s over {over}, {calls['at_once']} now"
    if not calls["calls"]:
        return said
    ended = ", ".join(f"{number} {outcome}" for outcome, number in calls["outcomes"].items())
    ours = sum(number for outcome, number in calls["outcomes"].items() if outcome in _OURS)
    failed = f"; {ours} failed here" if ours else ""
    return f"{said}, {calls['mean_milliseconds']:g} ms each: {ended}{failed}"


def _processes(found: Mapping[str, Any]) -> Iterator[str]:
    """The replicas on the database, and the workers on the port, where there are several."""
    if replicas := found.get("replicas"):  # a portal of an older version does not say
        yield from _field("Replicas", f"{len(replicas)} alive: {'; '.join(replicas)}")
    for worker in found.get("workers", ()):
        yield from _worker(worker)


def _worker(worker: Mapping[str, Any]) -> Iterator[str]:
    rate = worker["calls_per_second"]
    busy = "gives no figures" if rate is None else f"{rate:g} calls/s"
    died = f", died {worker['restarts']} times ({worker['ended']})" if worker["restarts"] else ""
    text = f"{worker['state']}, process {worker['process']}, {busy}{died}"
    yield from _field(f"Worker {worker['number']}", text)


def _service(service: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import style

    away = service["state"] != "ok"
    detail = f", {service['detail']}" if service["detail"] else ""
    mark = style("✗ away: ", fg="red", bold=True) if away else ""
    text = f"{mark}{service['address']}{detail}"
    yield from _field(service["name"].capitalize(), text)


def _jobs(jobs: list[Mapping[str, Any]]) -> str:
    if any("problem" in each for each in jobs):
        return f"not known: {jobs[0]['problem']}"
    busy = [each for each in jobs if each.get("waiting") or each.get("running")]
    said = [
        f"{each['name']} {each.get('running', 0)} running, {each.get('waiting', 0)} waiting "
        f"({_span(each['oldest_seconds'])})"
        for each in busy
    ]
    said += [
        f"{each['name']} {each['ended']['failed']} failed since the start"
        for each in jobs
        if each["ended"].get("failed")
    ]
    return "; ".join(said) or "none waits or runs"


def _plugin(plugin: Mapping[str, Any]) -> Iterator[str]:
    from gateway.cli.render import style

    mark, colour = _MARKS.get(plugin["state"], _FAILED)
    behind = plugin["behind_seconds"]
    late = f"Out of date for {_span(behind)}." if behind else ""
    said = " ".join(each for each in (late, plugin["detail"]) if each)
    state = "" if plugin["state"] == "ok" else plugin["state"]
    head = f"{style(mark, fg=colour)} {plugin['name']:<13} {state}".rstrip()
    yield head
    if said:
        yield from folded("    ", said)


def _field(name: str, text: str) -> Iterator[str]:
    return folded(f"{name:<11}", text)


def folded(head: str, text: str) -> Iterator[str]:
    """A text behind a head, in lines of 80 columns that begin below each other."""
    import textwrap

    from gateway.cli.render import clean

    first, *rest = textwrap.wrap(clean(text), _WIDTH - len(head)) or [""]
    yield f"{head}{first}".rstrip()
    yield from (" " * len(head) + line for line in rest)


def _span(seconds: float) -> str:
    """A span of time in its two largest units."""
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
