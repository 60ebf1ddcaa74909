"""What ``portal.yaml`` says of payment: Stripe, and a token on a chain; neither by default."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
)

from gateway.config.money import NANOS_PER_DOLLAR, Dollars
from gateway.contract.config_types import SafeUrl, SecretRef

NANOS_PER_CENT = NANOS_PER_DOLLAR // 100
"""Billionths of a dollar in a cent, the smallest unit of what is paid by card."""
_LEAST_CENTS = 50
_ADDRESS = r"^0x[0-9a-fA-F]{40}$"
_PRICE = r"^price_[A-Za-z0-9_]{1,120}$"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def _payable(nanos: int) -> int:
    if nanos % NANOS_PER_CENT:
        raise ValueError("must be whole cents, such as 5 or 7.50")
    if nanos < _LEAST_CENTS * NANOS_PER_CENT:
        raise ValueError("must be at least 0.50: Stripe charges no less")
    return nanos


def _quoted(value: Any) -> Any:
    if isinstance(value, float):
        raise ValueError("must stand in quotes, such as '7.50': a plain number is not kept exactly")
    return value


def _several(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Payable = Annotated[Dollars, BeforeValidator(_quoted), AfterValidator(_payable)]
"""An amount in US dollars that can be paid by card."""

Secrets = Annotated[
    tuple[SecretRef, ...],
    BeforeValidator(_several),
    Field(min_length=1, max_length=4),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"},
                {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 4},
            ]
        }
    ),
]
"""One secret, or several that count at the same time while one replaces another."""


class Overage(_Section):
    """How Stripe is told what plans with a soft limit have spent beyond their budget."""

    meter: str = Field(
        pattern=r"^[A-Za-z0-9_.-]{1,100}$",
        description="The event_name of the meter, which adds its values up; a value is a cent.",
    )
    price: str = Field(
        pattern=_PRICE, description="The metered price of that meter, part of such a subscription."
    )


class StripeSettings(_Section):
    """An account of Stripe that people pay to."""

    secret_key: SecretRef = Field(
        description="The secret or restricted API key, as env:NAME or file:PATH."
    )
    webhook_secret: Secrets = Field(
        description="The signing secret of the endpoint /hooks/payments/stripe, as env:NAME or "
        "file:PATH; a list of two while one replaces the other."
    )
    prices: dict[str, Annotated[str, StringConstraints(pattern=_PRICE)]] = Field(
        default_factory=dict,
        description="The recurring price of each plan of plans.yaml that can be bought, "
        "{pro: price_…}.",
    )
    top_up: tuple[Payable, ...] = Field(
        (), max_length=12, description="The credits that can be bought, in US dollars: [5, 10, 25]."
    )
    overage: Overage | None = None
    url: SafeUrl = Field("https://api.stripe.com", description="The address of Stripe's API.")


class TokenSettings(_Section):
    """A token on a chain that people pay credits with."""

    chain: int = Field(ge=1, description="The id of one of the chains: of this file.")
    token: str = Field(pattern=_ADDRESS, description="The ERC-20 contract's address.")
    symbol: str = Field(
        "tokens", min_length=1, max_length=12, description="What people call it, such as USDC."
    )
    decimals: int = Field(ge=0, le=36, description="The token's decimals, such as 6.")
    receiver: str = Field(pattern=_ADDRESS, description="The wallet that people transfer to.")
    price: Annotated[Dollars, BeforeValidator(_quoted)] = Field(
        description="What one token is worth in US dollars, in quotes: '1.00'."
    )
    confirmations: int = Field(
        12, ge=1, le=10_000, description="Blocks on top of a transfer before it counts."
    )
    from_block: int | None = Field(
        None,
        ge=0,
        description="The first block that is read; by default the newest one when the portal first "
        "looks.",
    )


class Payments(_Section):
    """How people pay for plans and credits; nothing of it is there unless it is set."""

    stripe: StripeSettings | None = None
    chain: TokenSettings | None = None

    def __bool__(self) -> bool:
        """Whether anything can be paid."""
        return self.stripe is not None or self.chain is not None
