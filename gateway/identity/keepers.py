"""Who keeps something of people: each plugin, and the gateway itself of what models cost."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping
from typing import cast

from gateway.contract.offers import Offer
from gateway.services.models.personal_data import personal_data
from gateway.services.models.service import ModelService

__all__ = ["keepers"]


def keepers(
    offers: Mapping[str, Offer], models: ModelService | None, others: Mapping[str, Offer]
) -> Mapping[str, Offer]:
    """Every open plugin's offer by its name, and the gateway's own, as they are when read.

    Args:
        offers: the open plugins' offers, which change.
        models: the language models, whose calls are kept with who made them; None without any.
        others: what else the gateway keeps of people, such as their answers to work.
    """
    own = {**others}
    if models is not None:
        own["models"] = Offer(personal=personal_data(models.database))
    return ChainMap(own, cast("dict[str, Offer]", offers))  # nobody writes to it
