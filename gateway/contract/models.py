"""Language models, as plugins see them: a question with a schema, and a validated answer.

There is no way to get free text: what a model says is checked against the schema before anybody
sees it, and a failure is typed (issue seed 003, cross-cutting concern 6). Most portals have no
model; ask :meth:`Models.available`, and do without where there is none.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

from auth import Caller
from gateway.contract.failures import ToolFailed

__all__ = [
    "NO_MODELS",
    "ExpectedCost",
    "Generated",
    "ModelFailed",
    "ModelFailure",
    "Models",
    "Provenance",
    "Role",
]

Role = Literal["simple", "complex", "chat"]
"""What a model is wanted for: short and cheap work, work that takes thought, or a conversation.

An admin says in ``portal.yaml`` which model each of them is; ``fallback`` is a role of the
configuration alone.
"""

ModelFailure = Literal[
    "no_model",
    "budget_reached",
    "throttled",
    "provider_down",
    "invalid_answer",
    "refused",
    "too_long",
    "timeout",
    "misconfigured",
]
"""Why there is no answer.

- ``no_model``: the portal has none for this role.
- ``budget_reached``: whoever pays has spent what there was.
- ``throttled``: the provider takes no more for now; ``retry_after_s`` says until when.
- ``provider_down``: the provider does not answer, or fails.
- ``invalid_answer``: the model answered, and not by the schema, also when asked again.
- ``refused``: the model, or the provider's filter, would not answer this.
- ``too_long``: the prompt does not fit into the model.
- ``timeout``: the answer did not come in time.
- ``misconfigured``: an admin has to mend something, such as a key or a model's name.
"""

M = TypeVar("M", bound=BaseModel)
M_co = TypeVar("M_co", bound=BaseModel, covariant=True)


class ModelFailed(ToolFailed):
    """A model gave no answer. Left alone it becomes an error that the caller's model can read.

    Args:
        code: why; see :data:`ModelFailure`.
        message: what is wrong and what to do.
        retry_after_s: seconds after which it may work, where that is known.
    """

    def __init__(
        self, code: ModelFailure, message: str, retry_after_s: float | None = None
    ) -> None:
        details = {} if retry_after_s is None else {"retry_after_s": retry_after_s}
        super().__init__(code, message, details)
        self.code: ModelFailure = code
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who gave an answer.

    Attributes:
        model: the model, as it calls itself; else as it was asked for.
        provider: the provider's name in ``portal.yaml``, ``agent`` for a member's agent, or
            ``client`` for a model that the caller's client has.
        who: the person whose agent or client answered; None where the portal's own model did.
        at: when.
        call: the id of the call in the table of usage, or None where the portal paid nothing.
    """

    model: str
    provider: str
    who: str | None
    at: datetime
    call: str | None = None


@dataclass(frozen=True, slots=True)
class Generated(Generic[M_co]):
    """A model's answer.

    Attributes:
        value: what was asked for, validated by the schema; a model may still be wrong.
        provenance: who says so. Show it wherever the value is shown.
    """

    value: M_co
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class ExpectedCost:
    """What a call would cost.

    Attributes:
        model: the role's model, as ``portal.yaml`` names it: provider/model.
        usd: the cost in USD, or None where nobody knows the model's price.
        price_list: which prices, or None.
    """

    model: str
    usd: Decimal | None
    price_list: str | None


class Models(Protocol):
    """The portal's language models, as one plugin sees them."""

    def available(self, role: Role) -> bool:
        """Whether there is a model for this role. It costs nothing to ask."""
        ...

    async def expected_cost(
        self, role: Role, input_tokens: int, output_tokens: int
    ) -> ExpectedCost | None:
        """What calls would cost, before they are made; nobody is asked.

        Args:
            role: which model.
            input_tokens: tokens of prompts.
            output_tokens: tokens of answers.

        Returns:
            None where the portal has no model for the role; what a client's model costs, nobody
            here knows.
        """
        ...

    async def generate(
        self,
        schema: type[M],
        prompt: str,
        role: Role,
        *,
        caller: Caller | None,
        operation: str,
        source: str | None = None,
        instructions: str = "",
    ) -> Generated[M]:
        """Ask a model for a value.

        The call is metered and counts towards its caller's budget. Secrets are taken out of what
        is sent; what the caller may not read must not be in it.

        Args:
            schema: what the answer is, with a description of each field.
            prompt: what is asked, with all that the answer is to be made from. Text of others in
                it is data: an answer by the schema is all that comes of it.
            role: which model.
            caller: for whom, and who pays; None where the portal does it for all, as in a job.
            operation: what it is for, as it is shown with its costs: ``summarise_flow``.
            source: what it is about, as the plugin's settings name it: a repository, a knowledge
                base.
            instructions: how to answer; the plugin's own words alone.

        Raises:
            ModelFailed: there is no answer.
        """
        ...


class _NoModels:
    """The models of a portal that has none."""

    def available(self, role: Role) -> bool:
        """Never."""
        return False

    async def expected_cost(
        self, role: Role, input_tokens: int, output_tokens: int
    ) -> ExpectedCost | None:
        """Nothing."""
        return None

    async def generate(
        self,
        schema: type[M],
        prompt: str,
        role: Role,
        *,
        caller: Caller | None,
        operation: str,
        source: str | None = None,
        instructions: str = "",
    ) -> Generated[M]:
        """Never.

        Raises:
            ModelFailed: ``no_model``.
        """
        raise no_model(role)


def no_model(role: str) -> ModelFailed:
    """What is raised where the portal has no model for a role."""
    return ModelFailed(
        "no_model",
        f"This portal has no language model for {role} work. An admin can configure one under "
        "services.models in portal.yaml.",
    )


NO_MODELS: Models = _NoModels()
"""The models of a portal that has none."""
