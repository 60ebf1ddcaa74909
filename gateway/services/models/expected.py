"""What a call would cost, by the same prices as one that was made."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from gateway.config.language_models import LanguageModels
from gateway.contract.models import ExpectedCost, Role
from gateway.services.models.prices import cost_of
from gateway.services.models.records import NANO_USD, Tokens

__all__ = ["expected"]


def expected(config: LanguageModels, role: Role, tokens: Tokens) -> ExpectedCost:
    """What a role's model would cost; the first time, it loads the list of public prices.

    Args:
        config: ``services.models``, with a model for the role.
        role: the role.
        tokens: how much is asked and answered.
    """
    named = config.roles[role]
    name, _, model = named.partition("/")
    provider = config.providers[name]
    found = cost_of(tokens, provider.kind, (model,), datetime.now(UTC), provider.prices)
    if found is None:
        return ExpectedCost(named, None, None)
    return ExpectedCost(named, Decimal(found.nano_usd) / NANO_USD, found.price_list)
