"""One call of a language model, as it is metered: what is known before it, and what after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from auth import Caller
from gateway.config.language_models import ConfiguredRole
from gateway.contract.models import ModelFailure

__all__ = ["NANO_USD", "CallEnd", "CallStart", "Outcome", "Purpose", "Tokens"]

NANO_USD = 1_000_000_000
"""Costs are whole billionths of a USD: a token of a cheap model costs a few dozen of them."""

Outcome = Literal["started", "ok", "cancelled", "unknown"] | ModelFailure
"""How a call ended.

``started`` is one that runs; ``unknown`` one whose process died before it knew, so that the
provider may have been paid; ``cancelled`` one that its caller gave up.
"""


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a model is asked for, as it is metered.

    Attributes:
        plugin: which plugin asks, or ``gateway``.
        role: the role.
        caller: for whom, or None.
        operation: what it is for.
        source: what it is about, or None.
    """

    plugin: str
    role: ConfiguredRole
    caller: Caller | None
    operation: str
    source: str | None = None


@dataclass(frozen=True, slots=True)
class CallStart:
    """A request that a provider is about to get.

    Attributes:
        id: the call's own, 32 hexadecimal digits.
        at: when it began.
        ends_by: when it has ended, whatever happens; later it is ``unknown``.
        person: for whom (``Caller.person``), or None where it is for the portal itself.
        plugin: which plugin asks; ``gateway`` for the portal's own parts.
        source: what it is about, as the plugin's settings name it, or None.
        operation: what it is for, in the plugin's words.
        role: the role that was asked for.
        provider: the provider's name in ``portal.yaml``.
        model: the model that is asked, as the provider calls it.
        request_id: the request that it is a part of, as in the audit log, or None.
    """

    id: str
    at: datetime
    ends_by: datetime
    person: str | None
    plugin: str
    source: str | None
    operation: str
    role: ConfiguredRole
    provider: str
    model: str
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a provider has counted.

    Attributes:
        input: tokens of the prompt, with those that the provider had kept.
        output: tokens of the answer, with those of thinking.
        cache_read: of the input, those that the provider had kept.
        cache_write: of the input, those that it keeps from now on.
    """

    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0


@dataclass(frozen=True, slots=True)
class CallEnd:
    """How a call ended.

    Attributes:
        outcome: as one word.
        latency_ms: from the request to the end of the answer.
        model: what the model that answered calls itself, or None where none did.
        tokens: what the provider counted, or None where it did not say.
        cost_nano_usd: what it costs, or None where the tokens or the price are not known.
        price_list: which prices: ``portal.yaml`` or ``genai-prices`` with its version.
        price_date: the day of these prices.
    """

    outcome: Outcome
    latency_ms: int
    model: str | None = None
    tokens: Tokens | None = None
    cost_nano_usd: int | None = None
    price_list: str | None = None
    price_date: date | None = None
