"""The JSON schemas of arguments and results: made of models, checked, and put to use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import from_json, to_json

from gateway.catalog.argument_errors import reasons
from gateway.contract import ToolFailed

Parser = Callable[[Mapping[str, Any]], Any]
"""Turns raw arguments into what a declaration's function takes."""


_PLAIN = frozenset({type(None), bool, int, str})


class BadDeclaration(Exception):
    """A declaration that cannot be served; the message says what to change in it."""


def schema_of(
    model: type[BaseModel] | None, raw: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """The schema that was given, or else a model's; None where there is neither."""
    if raw is not None:
        return dict(raw)
    return _of_model(model) if model else None


@cache
def _of_model(model: type[BaseModel]) -> dict[str, Any]:
    # Pydantic takes up to 0.1 s for a large model, and several tools may return the same one.
    schema = model.model_json_schema(schema_generator=_Untitled)
    for name, each in [(model.__name__, schema), *schema.get("$defs", {}).items()]:
        if each.get("title") == name:
            del each["title"]
    return schema


class _Untitled(GenerateJsonSchema):
    """Without the titles that pydantic makes of names: a client's model reads every word."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def encode_default(self, dft: Any) -> Any:
        # Pydantic makes a type adapter for each default, and these are JSON as they are.
        return dft if type(dft) in _PLAIN else super().encode_default(dft)


def check_schema(schema: Mapping[str, Any], what: str) -> None:
    """Refuse what is no schema of an object (JSON Schema 2020-12).

    Raises:
        BadDeclaration: why; ``what`` names the schema.
    """
    if schema.get("type") != "object":
        raise BadDeclaration(f'its {what} must have "type": "object" at the root')
    try:
        _check(to_json(schema))
    except (jsonschema_rs.ValidationError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise BadDeclaration(f"its {what} is not a JSON schema: {reason}") from None


@lru_cache(maxsize=512)
def _check(text: bytes) -> None:
    # An eighth of what opening a plugin takes; several tools return the same, and each reload.
    schema = from_json(text)
    jsonschema_rs.meta.validate(schema)
    _validator(schema)


def _validator(schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(dict(schema), retriever=_refuse_reference)


def _refuse_reference(uri: str) -> Any:
    # MCP 2026-07-28: a network reference in a schema must not be fetched.
    raise ValueError(f"it refers to {uri}; references to other documents are not followed")


def model_parser(model: type[BaseModel]) -> Parser:
    """What makes instances of a model, or says in a ``ToolFailed`` which argument is bad."""
    validate = model.__pydantic_validator__.validate_python

    def parse(raw: Mapping[str, Any]) -> Any:
        try:
            return validate(raw)
        except ValidationError as error:
            raise _invalid(reasons(error, model)) from None

    return parse


def schema_parser(schema: Mapping[str, Any]) -> Parser:
    """What lets arguments of a schema through, or says in a ``ToolFailed`` which one is bad."""
    validator = _validator(schema)

    def parse(raw: Mapping[str, Any]) -> Any:
        if not validator.is_valid(raw):
            raise _invalid(
                [
                    {"argument": ".".join(map(str, e.instance_path)), "reason": e.message[:300]}
                    for e in validator.iter_errors(raw)
                ]
            )
        return dict(raw)

    return parse


def longest_texts(schema: Mapping[str, Any]) -> dict[str, int]:
    """The most characters of each argument that is a text and has a limit (``maxLength``)."""
    arguments = schema.get("properties", {})
    limits = {name: _longest(said) for name, said in arguments.items()}
    return {name: most for name, most in limits.items() if most is not None}


def _longest(said: Any) -> int | None:
    """The limit of a text, or of one that may be left out."""
    kinds = [said, *said.get("anyOf", ())] if isinstance(said, Mapping) else []
    limits = (each.get("maxLength") for each in kinds if isinstance(each, Mapping))
    return next((most for most in limits if isinstance(most, int)), None)


def check_lengths(raw: Mapping[str, Any], longest: Mapping[str, int]) -> None:
    """Refuse texts that are too long as they came, before anything else reads them.

    Args:
        raw: arguments.
        longest: as :func:`longest_texts` gives it.

    Raises:
        ToolFailed: some are; it says by how much, and nothing of what stands in them.
    """
    errors = [
        {"argument": name, "reason": f"has {len(text)} characters; {most} is the limit"}
        for name, most in longest.items()
        if isinstance(text := raw.get(name), str) and len(text) > most
    ]
    if errors:
        raise _invalid(errors)


def _invalid(errors: list[dict[str, str]]) -> ToolFailed:
    lines = "; ".join(f"{e['argument'] or 'arguments'}: {e['reason']}" for e in errors[:5])
    return ToolFailed("invalid_arguments", f"Invalid arguments. {lines}", {"errors": errors[:20]})
