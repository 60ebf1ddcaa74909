"""Puts the assistant of a portal together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from auth import Caller
from gateway.approvals.approvals import Approvals
from gateway.assistant.assistant import Assistant, ModelFor, Parts
from gateway.budgets.left import AskBudget
from gateway.catalog.catalog import Catalog
from gateway.config.portal import Portal
from gateway.discovery.discovery import Discovery
from gateway.pipeline.pipeline import Pipeline
from gateway.services import GATEWAY, Services

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from gateway.services.models.service import ModelService


def assistant_of(
    portal: Portal,
    services: Services,
    catalog: Catalog,
    discovery: Discovery,
    pipeline: Pipeline,
    approvals: Approvals,
    budget: AskBudget,
) -> Assistant:
    """The assistant, which is not there where no model is for the role ``chat``.

    Args:
        portal: the configuration.
        services: has the models, and the database.
        catalog: the tier gate.
        discovery: fits lists of tools to models.
        pipeline: what every call passes.
        approvals: the requests for a person's yes.
        budget: says what is left of a person's budget.
    """
    settings, models = portal.config.assistant, services.models
    is_there = settings.enabled and models.available("chat")
    return Assistant(
        Parts(
            portal=portal.config.name,
            database=services.shared_database,
            catalog=catalog,
            discovery=discovery,
            pipeline=pipeline,
            approvals=approvals,
            steps=settings.steps,
            retention=settings.retention,
            model=_metered(models) if is_there else None,
            budget=budget,
        )
    )


def _metered(models: ModelService) -> ModelFor:
    async def model(caller: Caller) -> Model:
        from gateway.services.models.records import Purpose

        return await models.chat_model(Purpose(GATEWAY, "chat", caller, "assistant"))

    return model
