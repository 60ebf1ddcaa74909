"""What a caller is told where a server cannot be asked, or does not answer as it should."""

from __future__ import annotations

from gateway.contract import ToolFailed
from gateway.toolkit.bulkhead import Places
from gateway.toolkit.counts import counted
from plugins.upstreams.servers.state import State
from plugins.upstreams.wire import Unauthorized, WireError


def down(server: str, state: State) -> ToolFailed:
    """It is down.

    Args:
        server: its name.
        state: since when, and why.
    """
    text = (
        f"{server} does not answer since {state.since:%Y-%m-%d %H:%M:%S} UTC ({state.reason}). "
        "It is asked again by itself, and what others offer works meanwhile: try later."
    )
    return ToolFailed("server_down", text, {"server": server, "since": state.since.isoformat()})


def busy(server: str, places: Places) -> ToolFailed:
    """As many calls run and wait as may.

    Args:
        server: its name.
        places: where they do.
    """
    under_way = counted(places.taken, "call is", "calls are")
    text = (
        f"{server} is busy: {under_way} under way and {places.waiting} wait. "
        "Try again in a few seconds."
    )
    return ToolFailed("busy", text, {"busy": server})


def failed(server: str, error: WireError) -> ToolFailed:
    """It has answered what is no answer, or nothing, or takes no credential that there is.

    Args:
        server: its name.
        error: what went wrong, and whether the call may have run.
    """
    if isinstance(error, Unauthorized):
        text = (
            f"{server} does not take the credential that this call carries (HTTP {error.status}). "
            f"An admin of this portal has to look at credential of {server} in portal.yaml."
        )
        return ToolFailed("credential_refused", text, {"server": server, "may_have_run": False})
    return _without_answer(
        server, f"{server} did not answer as it should: {str(error).rstrip('.')}.", error
    )


def closed(server: str, error: WireError) -> ToolFailed:
    """The portal has closed the connection that the call used.

    Args:
        server: its name.
        error: what the call ended with, and whether it may have run.
    """
    text = f"The account at {server} that this call used was changed meanwhile."
    return _without_answer(server, text if error.may_have_run else f"{text} Call again.", error)


def _without_answer(server: str, text: str, error: WireError) -> ToolFailed:
    ran = " It may have done what it was asked: look before you ask again." * error.may_have_run
    details = {"server": server, "may_have_run": error.may_have_run}
    return ToolFailed("server_failed", text + ran, details)
