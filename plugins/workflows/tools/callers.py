"""Who calls, as the playbook sees them."""

from __future__ import annotations

from gateway.contract import Caller, Exchange
from plugins.workflows.errors import sign_in_first
from plugins.workflows.inputs import Writer

PUBLISH = "publish"
"""The tool whose tier in ``tiers.yaml`` says who may make something PUBLIC, by whatever tool."""


def signed_in(caller: Caller) -> str:
    """The id of whoever calls.

    Raises:
        ToolFailed: nobody has signed in.
    """
    if caller.person is None:
        raise sign_in_first()
    return caller.person


def writer(caller: Caller, exchange: Exchange) -> Writer:
    """Who writes, and whether they may publish.

    Args:
        caller: who calls.
        exchange: the call that is running, which knows the portal's tiers.

    Raises:
        ToolFailed: nobody has signed in.
    """
    return Writer(signed_in(caller), caller.name, exchange.allows(PUBLISH))
