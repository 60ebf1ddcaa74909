"""Whether providers can be asked, found out without paying: by the list of their models."""

from __future__ import annotations

from collections.abc import Collection
from json import JSONDecodeError

import httpx2

from gateway.services.models.http import NotAnApi
from gateway.services.models.provider import OpenProvider
from gateway.services.secrets import SecretMissing

__all__ = ["examined"]

_MAX_NAMED = 8


async def examined(provider: OpenProvider, models: Collection[str]) -> str:
    """What an admin has to mend at a provider, or "" where nothing is known to be wrong.

    A provider that has no list of its models may be well all the same.

    Args:
        provider: is asked once.
        models: what ``portal.yaml`` wants of it.
    """
    name = provider.name
    try:
        response = await provider.probe()
    except SecretMissing as error:
        return f"The key of the model provider {name} is not there. {error}"
    except NotAnApi as error:
        return (
            f"The address of the model provider {name} answers {error.content_type}, and no "
            "language model's API. Mend its url in portal.yaml."
        )
    except httpx2.TransportError as error:
        reason = str(error) or type(error).__name__
        return f"The model provider {name} cannot be reached at {provider.url} ({reason})."
    if response.status_code in (401, 403):
        return f"The model provider {name} refuses the portal's key. Mend its key in portal.yaml."
    if response.status_code == 429:
        return f"The model provider {name} takes no calls for now: it is throttled, or used up."
    if response.status_code >= 500:
        return f"The model provider {name} fails (HTTP {response.status_code})."
    return _missing(name, response, models)


def _missing(name: str, response: httpx2.Response, models: Collection[str]) -> str:
    """Which models a provider does not list, where it lists any."""
    if not response.is_success:
        return ""
    try:
        listed = [str(each["id"]) for each in response.json()["data"]]
    except (JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
        return ""
    absent = sorted(set(models).difference(listed))
    if not listed or not absent:
        return ""
    from gateway.contract.suggestions import near

    like = near(absent[0], listed) or listed
    return (
        f"The model provider {name} has no model {', '.join(absent)}. It has "
        f"{', '.join(like[:_MAX_NAMED])}."
    )
