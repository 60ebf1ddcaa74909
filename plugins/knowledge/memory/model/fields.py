"""The strict types of the fields that clients send, and the base of the protocol's models."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Strict

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def _written(value: Any) -> Any:
    if isinstance(value, datetime) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise ValueError("a time is written as text, such as 2026-03-01T12:00:00Z")


# What clients send is taken at its word: a number is no yes, and no time either.
Flag = Annotated[bool, Strict()]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
Moment = Annotated[datetime, BeforeValidator(_written)]


class Part(BaseModel):
    """The base of what the protocol names: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)
