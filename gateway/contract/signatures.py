"""Read a tool's or prompt's declaration from one async function."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Example|Examples|Note|Notes):\s*$", re.M)
_ARGUMENT = re.compile(r"^ {4}(\w+)(?: \([^)]*\))?: +(.*)$")


@dataclass(frozen=True, slots=True)
class Signature:
    """What :func:`read` finds: a name, a summary, an arguments model and a uniform ``run``."""

    name: str
    summary: str
    model: type[BaseModel]
    run: Callable[[Any, Any], Awaitable[Any]]
    result: type[BaseModel] | None


def read(function: Callable[..., Awaitable[Any]]) -> Signature:
    """Read an async function's signature and Google-style docstring.

    Args:
        function: the function; a parameter named ``caller`` is handed the caller.

    Raises:
        TypeError: the function is not async, has no docstring, or an argument has no
            annotation or no description.
    """
    name = function.__name__
    if not inspect.iscoroutinefunction(function):
        raise TypeError(f"{name}: write it as `async def`.")
    summary, described = _docstring(function)
    hints = _hints(function)
    parameters = inspect.signature(function).parameters
    arguments = tuple(
        _argument(name, parameter, hints, described)
        for parameter in parameters.values()
        if parameter.name != "caller"
    )
    return Signature(
        name=name,
        summary=summary,
        model=_model(name, arguments),
        run=_runner(function, tuple(each.name for each in arguments), "caller" in parameters),
        result=_result(hints.get("return")),
    )


def _hints(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The types of a function's arguments and result.

    A function that is made anew by each opening has the very objects again, which the model that
    was kept for them is found by.
    """
    inner, written = inspect.unwrap(function), function.__annotations__
    if all(isinstance(each, str) for each in written.values()) and inspect.isfunction(inner):
        # A module that is loaded again has the same names, and new code.
        place = _Same(inner.__code__), _Same(inner.__globals__)
        return _kept_hints(place, tuple(written.items()))
    return typing.get_type_hints(function, include_extras=True)


class _Same:
    """Something that equals itself alone, whatever else it is like."""

    def __init__(self, it: Any) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)


@lru_cache(maxsize=512)
def _kept_hints(
    place: tuple[_Same, _Same], written: tuple[tuple[str, str], ...]
) -> Mapping[str, Any]:
    def named() -> None: ...

    named.__annotations__ = dict(written)
    return typing.get_type_hints(named, globalns=place[1].it, include_extras=True)


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    text = inspect.getdoc(function)
    if not text:
        raise TypeError(f"{function.__name__}: give it a docstring; the model reads it.")
    summary, _, rest = text.partition("\nArgs:\n")
    summary = _SECTION.split(summary)[0]
    rest = _SECTION.split(rest)[0]
    described: dict[str, str] = {}
    current = ""
    for line in rest.splitlines():
        if match := _ARGUMENT.match(line):
            current = match[1]
            described[current] = match[2].strip()
        elif current and line.strip():
            described[current] += " " + line.strip()
    return re.sub(r"(?<!\n)\n(?!\n)", " ", summary.strip()), described


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument: ``kind`` is the type of its default, for 1 equals True."""

    name: str
    annotation: Any
    default: Any
    kind: type
    description: str | None


def _argument(
    name: str, parameter: inspect.Parameter, hints: Mapping[str, Any], described: dict[str, str]
) -> _Argument:
    if parameter.name not in hints:
        raise TypeError(f"{name}: annotate the argument {parameter.name!r}.")
    annotation = hints[parameter.name]
    default = ... if parameter.default is parameter.empty else parameter.default
    annotated = any(
        isinstance(extra, FieldInfo) and extra.description
        for extra in getattr(annotation, "__metadata__", ())
    )
    if not annotated and parameter.name not in described:
        raise TypeError(f"{name}: describe the argument {parameter.name!r} under `Args:`.")
    description = None if annotated else described[parameter.name]
    return _Argument(parameter.name, annotation, default, type(default), description)


def _model(name: str, arguments: tuple[_Argument, ...]) -> type[BaseModel]:
    try:
        hash(arguments)
    except TypeError:  # A default is a list, for example.
        return _made_model(name, arguments)
    return _kept_model(name, arguments)


def _made_model(name: str, arguments: tuple[_Argument, ...]) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for each in arguments:
        default = each.default
        if each.description is not None:
            default = Field(default=default, description=each.description)
        fields[each.name] = (each.annotation, default)
    config = ConfigDict(extra="forbid", regex_engine="python-re")
    return create_model(_camel(name), __config__=config, **fields)


_kept_model = lru_cache(maxsize=512)(_made_model)
"""Its model takes half of what reading a function does, and plugins are opened again."""


def _runner(
    function: Callable[..., Awaitable[Any]], names: tuple[str, ...], wants_caller: bool
) -> Callable[[Any, Any], Awaitable[Any]]:
    async def run(args: Any, caller: Any) -> Any:
        given = {name: getattr(args, name) for name in names}
        if wants_caller:
            given["caller"] = caller
        return await function(**given)

    return run


def _result(annotation: Any) -> type[BaseModel] | None:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation
    return None


def _camel(name: str) -> str:
    return "".join(part.title() for part in name.split("_"))
