"""Read a tool's or prompt's declaration from one async function."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    parameters = inspect.signature(function).parameters
    for parameter in parameters.values():
        if parameter.name != "caller":
            fields[parameter.name] = _field(name, parameter, hints, described)
    model = create_model(
        _camel(name), __config__=ConfigDict(extra="forbid", regex_engine="python-re"), **fields
    )
    return Signature(
        name=name,
        summary=summary,
        model=model,
        run=_runner(function, tuple(fields), "caller" in parameters),
        result=_result(hints.get("return")),
    )


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


def _field(
    name: str, parameter: inspect.Parameter, hints: dict[str, Any], described: dict[str, str]
) -> tuple[Any, Any]:
    if parameter.name not in hints:
        raise TypeError(f"{name}: annotate the argument {parameter.name!r}.")
    annotation = hints[parameter.name]
    default = ... if parameter.default is parameter.empty else parameter.default
    annotated = any(
        isinstance(extra, FieldInfo) and extra.description
        for extra in getattr(annotation, "__metadata__", ())
    )
    if annotated:
        return annotation, default
    if parameter.name not in described:
        raise TypeError(f"{name}: describe the argument {parameter.name!r} under `Args:`.")
    return annotation, Field(default=default, description=described[parameter.name])


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
