"""What providers and their libraries raise, as typed failures.

The words of a provider never go further than the log: an error's text may repeat the key, the
prompt, or what somebody wants a model to read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
from pydantic_ai import exceptions as ai

from gateway.contract.models import ModelFailed, ModelFailure
from gateway.services.models.http import NotAnApi, TooLarge
from gateway.services.secrets import SecretMissing

__all__ = ["connects_not", "failure_of", "read_or_refused"]


@contextmanager
def read_or_refused() -> Iterator[None]:
    """Read an answer: what a client stumbles over is one of another shape, and no fault of ours.

    Raises:
        UnexpectedModelBehavior: it cannot be read.
    """
    try:
        yield
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise ai.UnexpectedModelBehavior("The answer has another shape.") from error


def failure_of(error: Exception, provider: str, model: str) -> ModelFailed | None:
    """What a failed call means for its caller; None where it is a fault of ours.

    Args:
        error: what was raised.
        provider: the provider's name in ``portal.yaml``.
        model: the model that was asked.
    """
    if isinstance(error, ModelFailed):
        return error
    for cause in _causes(error):
        if isinstance(cause, NotAnApi):
            return _misconfigured(
                f"The address of the model provider {provider} answers {cause.content_type}, and "
                "no language model's API. An admin has to mend its url in portal.yaml."
            )
        if isinstance(cause, SecretMissing):
            return _misconfigured(f"The key of the model provider {provider} is not there. {cause}")
        if isinstance(cause, TooLarge):
            return ModelFailed(
                "invalid_answer", f"The model provider {provider} sent an answer without end."
            )
    return _by_kind(error, provider, model)


def _by_kind(error: Exception, provider: str, model: str) -> ModelFailed | None:
    if isinstance(error, ai.ModelRateLimitError):
        return _throttled(provider, error.retry_after)
    for kinds, code, message in _KINDS:
        if isinstance(error, kinds):
            after = getattr(error, "retry_after", None)
            return ModelFailed(code, message.format(provider=provider, model=model), after)
    return None


_KINDS: tuple[tuple[tuple[type[Exception], ...], ModelFailure, str], ...] = (
    (
        (ai.ModelQuotaExceededError,),
        "misconfigured",
        "The portal's account at the model provider {provider} is used up. An admin has to look "
        "after it there.",
    ),
    (
        (ai.ModelAuthenticationError,),
        "misconfigured",
        "The model provider {provider} refuses the portal's key. An admin has to mend "
        "services.models in portal.yaml.",
    ),
    (
        (ai.ModelNotFoundError,),
        "misconfigured",
        "The model provider {provider} has no model {model}, or its url is wrong. An admin has to "
        "mend services.models in portal.yaml.",
    ),
    (
        (ai.ModelContextWindowExceededError,),
        "too_long",
        "This is more than the model {model} can read at once. Ask for less.",
    ),
    ((ai.ContentFilterError,), "refused", "The model {model} would not answer this."),
    (
        (ai.ModelTimeoutError, ai.ModelRequestTimeout, TimeoutError),
        "timeout",
        "The model provider {provider} gave no answer in time. Try again later.",
    ),
    (
        (ai.ModelConnectionError, httpx2.TransportError),
        "provider_down",
        "The model provider {provider} cannot be reached, or broke off. Try again later.",
    ),
    (
        (ai.ModelRequestRejectedError,),
        "misconfigured",
        "The model provider {provider} does not take what the portal sends for {model}. An admin "
        "sees why in the log (model_call_failed).",
    ),
    (
        (ai.ModelAPIError,),
        "provider_down",
        "The model provider {provider} fails. Try again later.",
    ),
    (
        (ai.UserError,),
        "misconfigured",
        "The model {model} of {provider} cannot be asked in this way. An admin has to set "
        "structure to auto or tool, in services.models of portal.yaml.",
    ),
    (
        (ai.UnexpectedModelBehavior,),
        "invalid_answer",
        "The model {model} gave an answer that cannot be read.",
    ),
)
"""What each error means, the narrow ones before those that they are kinds of."""


def connects_not(error: Exception) -> bool:
    """Whether the provider was not reached at all, so that nobody need ask it for a while."""
    return isinstance(error, ai.ModelConnectionError) and error.phase == "connect"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _misconfigured(message: str) -> ModelFailed:
    return ModelFailed("misconfigured", message)


def _throttled(provider: str, retry_after_s: float | None) -> ModelFailed:
    when = "later" if retry_after_s is None else f"in {retry_after_s:.0f} s"
    message = f"The model provider {provider} takes no more calls for now. Try again {when}."
    return ModelFailed("throttled", message, retry_after_s)
