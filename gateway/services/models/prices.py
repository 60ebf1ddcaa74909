"""What a call costs, in whole billionths of a USD: from ``portal.yaml``, else from genai-prices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import cache

from gateway.config.language_models import Price
from gateway.services.models.records import NANO_USD, Tokens

__all__ = ["Cost", "cost_of"]

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """A price that was found.

    Attributes:
        nano_usd: the cost.
        price_list: ``portal.yaml``, or ``genai-prices`` with its version.
    """

    nano_usd: int
    price_list: str


def cost_of(
    tokens: Tokens,
    kind: str,
    models: tuple[str, ...],
    at: datetime,
    own: Mapping[str, Price],
) -> Cost | None:
    """The cost of a call, or None where nobody knows the model's price.

    Args:
        tokens: what the provider counted.
        kind: the provider's kind (``Provider.kind``); the public prices of ``openai`` and
            ``anthropic`` are those of their own services, and no other server's.
        models: names of the model, the surest first.
        at: when the call was made; prices change.
        own: the prices that ``portal.yaml`` gives, by the model's name.
    """
    for model in models:
        if (price := own.get(model)) is not None:
            return Cost(_nano(_own(tokens, price)), "portal.yaml")
    if kind == "compatible":
        return None
    return next(filter(None, (_public(tokens, kind, model, at) for model in models)), None)


def _own(tokens: Tokens, price: Price) -> Decimal:
    kept = price.input if price.cache_read is None else price.cache_read
    whole = (tokens.input - tokens.cache_read) * price.input
    return (whole + tokens.cache_read * kept + tokens.output * price.output) / _MILLION


def _public(tokens: Tokens, provider: str, model: str, at: datetime) -> Cost | None:
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.input,
        output_tokens=tokens.output,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_write,
    )
    try:
        found = calc_price(usage, model, provider_id=provider, genai_request_timestamp=at)
    except (LookupError, ValueError):  # an unknown model, or counts that cannot be
        return None
    return Cost(_nano(found.total_price), f"genai-prices {_version()}")


@cache
def _version() -> str:
    from importlib.metadata import version

    return version("genai-prices")


def _nano(usd: Decimal) -> int:
    return int((usd * NANO_USD).to_integral_value(ROUND_HALF_EVEN))
