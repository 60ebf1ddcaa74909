"""What an OpenAPI document says of a stream: its parameters, its forms, its events."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gateway.surfaces.rest.parameters import FORMAT, FORMATS, LAST_ID

if TYPE_CHECKING:
    from pydantic import BaseModel

    from gateway.surfaces.rest.openapi import Described

# Without a type: some read such a schema as that of the text, others as that of one event.
_BODY = {
    "description": "Server-sent events. The data of each is JSON; x-events has its schema by the "
    "event's kind.",
}
_FORM = "The form of the stream; websocket is for a WebSocket alone, which needs no such word."
_LAST = "The id of the last event that you have had: the stream goes on after it."


def stream_parameters() -> Iterator[dict[str, Any]]:
    """The parameters that every stream has."""
    form = {"type": "string", "enum": list(FORMATS)}
    yield {"name": FORMAT, "in": "query", "required": False, "description": _FORM, "schema": form}
    for place, name in (("header", "Last-Event-ID"), ("query", LAST_ID)):
        schema = {"type": "string"}
        own = {"name": name, "in": place, "required": False, "description": _LAST}
        yield {**own, "schema": schema}


def stream_answers(
    each: Described, names: Mapping[type[BaseModel], Any], plain: Mapping[str, Any]
) -> dict[str, Any]:
    """A stream's ``responses``.

    Args:
        each: the stream.
        names: references to the schemas, by their models.
        plain: what a route of its kind would answer.
    """
    events: Sequence[type[BaseModel]] = each.models
    content = {"schema": _BODY, "x-events": {model.__name__: names[model] for model in events}}
    refused = plain["400"]
    own = {
        "101": "A WebSocket: each message is an object of id, event and data.",
        "204": "There is nothing more to come: do not connect again.",
    }
    return {
        **plain,
        **{status: {"description": text} for status, text in own.items()},
        "200": {
            **plain["200"],
            "description": "The events, as they happen.",
            "content": {"text/event-stream": content},
        },
        "426": {**refused, "description": "A WebSocket was asked for, by a request that is none."},
        "429": {
            **(plain.get("429") or refused),
            "description": "Too many streams are open, or were opened of late.",
        },
    }
