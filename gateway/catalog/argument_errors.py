"""What is wrong with a tool's arguments, in words by which a model mends them."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError
    from pydantic_core import ErrorDetails

_WORDS = {
    "missing": "is required",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object",
    "string_type": "must be a string",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
}
_NO_SUCH = "there is no such argument"
_LIST = "there are"
_OBJECTS = {"model_type", "model_attributes_type", "dataclass_type"}
_MAX_NAMES = 12
"""Names of arguments that one message lists."""
_WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+")


def reasons(error: ValidationError, model: type[BaseModel]) -> list[dict[str, str]]:
    """What is wrong, each with the argument's place: names and positions, with dots between.

    Args:
        error: what the model said of the arguments.
        model: of the arguments.
    """
    problems: list[dict[str, str]] = []
    for each in error.errors(include_url=False):
        reason = _reason(each, model)
        if _LIST in reason and any(reason == before["reason"] for before in problems):
            reason = _NO_SUCH
        problems.append({"argument": ".".join(map(str, each["loc"])), "reason": reason})
    return problems


def _reason(detail: ErrorDetails, model: type[BaseModel]) -> str:
    kind, place = detail["type"], detail["loc"]
    if kind == "extra_forbidden":
        return _unknown(str(place[-1]), model, place[:-1])
    if kind == "value_error":
        return str(detail.get("ctx", {}).get("error", detail["msg"]))
    if kind in _OBJECTS:
        return f"must be an object{_name_list(' with some of', _names(model, place))}"
    words = _WORDS.get(kind, detail["msg"].replace("Input should be", "must be"))
    given = detail["input"]
    if kind in {"list_type", "tuple_type", "dict_type"} and isinstance(given, str):
        words += ", and is a string" + (" with JSON in it" if _is_json(given) else "")
    return words


def _names(model: type[BaseModel], place: tuple[int | str, ...]) -> list[str]:
    from gateway.contract.schema_keys import keys_at  # Late, because only mistakes need it.

    return list(dict.fromkeys(keys_at(model, place)))


def _unknown(name: str, model: type[BaseModel], place: tuple[int | str, ...]) -> str:
    """That there is no such argument, and which was meant: camelCase is not another name."""
    known = _names(model, place)
    near = _nearest(name, known) or _within(name, model, [(*place, each) for each in known])
    meant = f"did you mean {near}?" if near else _name_list(_LIST, known)
    return f"{_NO_SUCH}; {meant}" if meant else _NO_SUCH


def _nearest(name: str, known: list[str]) -> str | None:
    """The known name that is nearly written like this, or the only one that has its words."""
    plain = {"".join(_words(each)): each for each in known}
    if near := difflib.get_close_matches("".join(_words(name)), plain, n=1, cutoff=0.75):
        return plain[near[0]]
    words = set(_words(name))
    akin = [each for each in known if words < set(_words(each)) or set(_words(each)) < words]
    return akin[0] if len(akin) == 1 else None


def _within(
    name: str, model: type[BaseModel], places: Iterable[tuple[int | str, ...]]
) -> str | None:
    """The place of an argument of this name inside one of those that there are, if there is one."""
    inside = [(*place, each) for place in places for each in _names(model, place)]
    same = [place for place in inside if _words(str(place[-1])) == _words(name)]
    return ".".join(map(str, same[0])) if len(same) == 1 else None


def _words(name: str) -> list[str]:
    """The words of a name in snake_case, camelCase or with hyphens."""
    return [each.lower() for each in _WORD.findall(name)]


def _name_list(words: str, names: Iterable[str]) -> str:
    shown = list(names)[:_MAX_NAMES]
    return f"{words} {', '.join(shown)}" if shown else ""


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False
