"""A value by a schema from a model: asked for, read, validated, and asked for once more."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_ai.messages import (
    InstructionPart,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from gateway.contract.models import Generated, ModelFailed, Provenance

if TYPE_CHECKING:
    from pydantic_ai.settings import ModelSettings

    from gateway.services.models.metered_model import MeteredModel
    from gateway.services.models.records import Outcome

__all__ = ["Reading", "generated"]

Structure = Literal["auto", "tool", "schema"]

ROUNDS = 2
"""How often a model is asked for one value: once, and again where the answer does not fit."""
_MAX_PROBLEMS = 10
_TOOL = "answer"

M = TypeVar("M", bound=BaseModel)


class Reading(Generic[M]):
    """Reads answers by a schema.

    Attributes:
        value: the last answer's value, or None where it has none.
        problem: what is wrong with the last answer, for the model.
    """

    def __init__(self, schema: type[M]) -> None:
        self._schema = schema
        self.value: M | None = None
        self.problem = ""

    def judge(self, answer: ModelResponse) -> Outcome:
        """Read an answer, and say what it is worth."""
        self.value = None
        if answer.finish_reason == "content_filter":
            return "refused"
        if answer.finish_reason == "length":
            self.problem = "It was cut off, because it was too long. Answer more briefly."
            return "invalid_answer"
        try:
            self.value = self._read(answer)
        except ValidationError as error:
            self.problem = _problems(error)
            return "invalid_answer"
        if self.value is None:
            self.problem = "It held no value."
            return "invalid_answer"
        return "ok"

    def _read(self, answer: ModelResponse) -> M | None:
        for part in answer.parts:
            if isinstance(part, ToolCallPart) and part.tool_name == _TOOL:
                if isinstance(part.args, str):
                    return self._schema.model_validate_json(part.args)
                return self._schema.model_validate(part.args or {})
        text = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
        return self._schema.model_validate_json(text) if text.strip() else None


def _problems(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False, include_context=False)
    places = [
        f"{'.'.join(str(step) for step in each['loc']) or 'the whole'}: {each['msg']}"
        for each in found[:_MAX_PROBLEMS]
    ]
    return "It did not fit the schema: " + "; ".join(places) + "."


async def generated(
    model: MeteredModel,
    reading: Reading[M],
    schema: type[M],
    prompt: str,
    instructions: str,
    structure: Structure,
) -> Generated[M]:
    """Ask until there is a value, :data:`ROUNDS` times at most.

    Args:
        model: is asked; its judge is ``reading``'s.
        reading: reads the answers.
        schema: what the answer is.
        prompt: what is asked.
        instructions: how to answer.
        structure: how the schema is sent.

    Raises:
        ModelFailed: there is no value.
    """
    asked = prompt
    for _ in range(ROUNDS):
        mode = _mode(model, structure)
        parameters = _parameters(schema, instructions, mode)
        message = ModelRequest([UserPromptPart(asked)], instructions=instructions or None)
        answer = await model.request([message], _forcing(model, mode), parameters)
        if reading.value is not None:
            return Generated(reading.value, _provenance(model, answer))
        if answer.finish_reason == "content_filter":
            raise ModelFailed("refused", f"The model {answer.model_name} would not answer this.")
        asked = f"{prompt}\n\nYour last answer could not be used. {reading.problem}"
    raise ModelFailed(
        "invalid_answer",
        f"The model {answer.model_name} answered {ROUNDS} times, and never by the schema.",
    )


def _provenance(model: MeteredModel, answer: ModelResponse) -> Provenance:
    call = model.last.start
    return Provenance(answer.model_name or call.model, call.provider, None, call.at, call.id)


def _mode(model: MeteredModel, structure: Structure) -> Literal["tool", "schema"]:
    if structure != "auto":
        return structure
    profile = model.profile
    if profile.get("default_structured_output_mode") == "native":
        return "schema"
    # A model that thinks unless told not to is not made to call a tool: it may answer in text.
    thinks = profile.get("thinking_enabled_by_default") or profile.get("thinking_always_enabled")
    return "schema" if thinks and profile.get("supports_json_schema_output") else "tool"


def _forcing(model: MeteredModel, mode: Literal["tool", "schema"]) -> ModelSettings | None:
    """Have a model call the tool that would rather think, where an admin wants it by tool."""
    thinks = model.profile.get("thinking_enabled_by_default")
    return {"thinking": False} if mode == "tool" and thinks else None


@lru_cache(maxsize=256)
def _parameters(
    schema: type[BaseModel], instructions: str, mode: Literal["tool", "schema"]
) -> ModelRequestParameters:
    form = schema.model_json_schema()
    about = schema.__doc__ or None
    parts = [InstructionPart(content=instructions)] if instructions else []
    if mode == "tool":
        tool = ToolDefinition(
            name=_TOOL,
            parameters_json_schema=form,
            description=about or "The answer.",
            kind="output",
        )
        return ModelRequestParameters(
            output_mode="tool",
            output_tools=[tool],
            allow_text_output=False,
            instruction_parts=parts,
        )
    return ModelRequestParameters(
        output_mode="native",
        output_object=OutputObjectDefinition(form, schema.__name__, about),
        allow_text_output=True,
        instruction_parts=parts,
    )
