"""YAML as plain data, with the line of every key and every problem named by its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from yaml.reader import ReaderError

from gateway.contract.schema_keys import keys_at
from gateway.contract.suggestions import unknown
from gateway.errors import ConfigError, Problem

Location = Sequence[str | int]
"""A path into the data: mapping keys and list positions, from the root."""


@dataclass(frozen=True)
class YamlSource:
    """A YAML file that has been read: its data, and the location of each part.

    Attributes:
        file: the file's name for messages.
        data: plain dicts, lists and scalars; an empty file is an empty dict.
        root: the node tree, which keeps scalars as they were written; None for an empty file.
        variables: the environment variable that gives a part in place of the file.
    """

    file: str
    data: dict[str, Any]
    root: yaml.MappingNode | None
    variables: Mapping[tuple[str, ...], str] = field(default_factory=dict)

    def line(self, location: Location) -> int:
        """The line, from 1, of a key or list element, or of the nearest parent that exists."""
        line, _ = self._find(location)
        return line

    def raw(self, location: Location) -> str | None:
        """A scalar exactly as written (``30.10``, ``0x1f``), or None where there is none."""
        _, node = self._find(location)
        return node.value if isinstance(node, yaml.ScalarNode) else None

    def texts(self, location: Location) -> Any:
        """A part of the data with every scalar as the text that was written, quoted or not.

        YAML reads an unquoted ``30.10`` as 30.1, and ``0x…`` as a number; here both stay what
        they are. Where nothing was written after a key there is None.
        """
        _, node = self._find(location)
        return None if node is None else _texts(node, {})

    def problem(self, location: Location, reason: str) -> Problem:
        """A problem at a location of this file, or of the variable that stands in for it."""
        if place := self._variable(tuple(map(str, location))):
            name, deep = place
            return Problem("environment", 0, dotted((name, *location[deep:])), reason)
        return Problem(self.file, self.line(location), dotted(location), reason)

    def _variable(self, location: tuple[str, ...]) -> tuple[str, int] | None:
        """The variable that gives a location, or something in it alone, and how deep it is."""
        for end in range(len(location), 0, -1):
            if name := self.variables.get(location[:end]):
                return name, end
        if self._find(location)[1] is not None:
            return None
        inside = (name for key, name in self.variables.items() if key[: len(location)] == location)
        return next(((name, len(location)) for name in inside), None)

    def _find(self, location: Location) -> tuple[int, yaml.Node | None]:
        line = 1
        node: yaml.Node | None = self.root
        for part in location:
            found = _child(node, part)
            if found is None:
                return line, None
            mark, node = found
            line = mark.line + 1
        return line, node


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    """The mark and node of one step down, or None where the tree has no such step."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        element = node.value[part]
        return element.start_mark, element
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return key.start_mark, value
    return None


def _texts(node: yaml.Node, done: dict[int, Any]) -> Any:
    """A node's data with texts for scalars; what several aliases name is one object."""
    if id(node) not in done:
        if isinstance(node, yaml.SequenceNode):
            done[id(node)] = list(map(_texts, node.value, repeat(done)))
        elif isinstance(node, yaml.MappingNode):
            names = (key.value for key, _ in node.value)
            values = map(_texts, (value for _, value in node.value), repeat(done))
            done[id(node)] = dict(zip(names, values, strict=True))
        else:
            written = node.value or getattr(node, "style", None)
            done[id(node)] = node.value if written else None
    return done[id(node)]


def dotted(location: Location) -> str:
    """A location as an admin reads it: ``plugins.knowledge.sources[0].directory``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def read_yaml(path: Path, name: str | None = None) -> YamlSource:
    """Read a YAML file whose root is a mapping.

    Args:
        path: the file.
        name: the file's name for messages; its path where not given.

    Raises:
        ConfigError: the file cannot be read, is not UTF-8, is broken YAML, says a key twice,
            or is not a mapping.
    """
    file = name or str(path)
    return parse_yaml(read_bytes(path, file), file)


def read_bytes(path: Path, file: str) -> bytes:
    """Read a file; ``file`` is its name for messages.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(file, error) from None


def read_bytes_if_there(path: Path, file: str) -> bytes | None:
    """Read a file as :func:`read_bytes`; None where there is none.

    Raises:
        ConfigError: it cannot be read, or nobody can say whether it is there.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(file, error) from None


def _unreadable(file: str, error: OSError) -> ConfigError:
    return ConfigError([Problem(file, 0, "", f"cannot be read: {error.strerror}")])


def parse_yaml(raw: bytes, file: str) -> YamlSource:
    """Read YAML from bytes, as :func:`read_yaml`; ``file`` is the name for messages."""
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError([Problem(file, line, "", "is not UTF-8 text")]) from None
    try:
        return _compose(text, file)
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        reason = f"the character {chr(error.character)!r} is not allowed"
        raise ConfigError([Problem(file, line, "", reason)]) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = f"is not valid YAML: {error.problem or error.context}"
        raise ConfigError([Problem(file, mark.line + 1 if mark else 0, "", reason)]) from None
    except (ValueError, OverflowError, RecursionError):
        reason = "holds a value that YAML cannot express, such as a date that does not exist"
        raise ConfigError([Problem(file, 1, "", reason)]) from None


def _compose(text: str, file: str) -> YamlSource:
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if root is None or root.tag == "tag:yaml.org,2002:null":
            return YamlSource(file, {}, None)
        if not isinstance(root, yaml.MappingNode):
            reason = "must be a mapping of keys to values, such as `name: Our portal`"
            raise ConfigError([Problem(file, root.start_mark.line + 1, "", reason)])
        if problems := list(_key_problems(root, file, frozenset(), set())):
            raise ConfigError(problems)
        return YamlSource(file, loader.construct_document(root), root)
    finally:
        loader.dispose()


def _key_problems(
    node: yaml.Node, file: str, above: frozenset[int], done: set[int]
) -> Iterator[Problem]:
    """Keys that are no plain words or occur twice in a mapping, and nodes that hold themselves."""
    if id(node) in above:
        yield Problem(file, node.start_mark.line + 1, "", "holds itself through its own anchor")
    if id(node) in done or isinstance(node, yaml.ScalarNode):
        return
    done.add(id(node))
    children = node.value
    if isinstance(node, yaml.MappingNode):
        yield from _mapping_problems(node, file)
        children = [value for _, value in node.value]
    for child in children:
        yield from _key_problems(child, file, above | {id(node)}, done)


_KEY_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"}


def _mapping_problems(node: yaml.MappingNode, file: str) -> Iterator[Problem]:
    first: dict[str, int] = {}
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            yield Problem(file, line, "", "a key must be a plain word")
        elif key.tag not in _KEY_TAGS:
            yield Problem(file, line, key.value, "is not read as text; put the key in quotes")
        elif key.value in first:
            reason = f"is already set on line {first[key.value]}; keep one of the two"
            yield Problem(file, line, key.value, reason)
        else:
            first[key.value] = line


def without_empty(data: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Leave out a model's keys with nothing under them: all of their lines are comments."""
    fields = model.model_fields
    return {key: value for key, value in data.items() if value is not None or key not in fields}


def problems_of(
    error: ValidationError, source: YamlSource, model: type[BaseModel], prefix: Location = ()
) -> list[Problem]:
    """Turn pydantic's errors into problems with lines. Values never appear in them.

    Args:
        error: what validation raised.
        source: the file that was validated.
        model: the model it was validated against, for the names of valid keys.
        prefix: where in the file the validated data stands.
    """
    details = error.errors(include_url=False, include_input=False)
    inside = {detail["loc"][:end] for detail in details for end in range(len(detail["loc"]))}
    # pydantic counts the good elements alone, and calls a list of bad ones empty as well.
    reported = [
        each for each in details if each["type"] != "too_short" or each["loc"] not in inside
    ]
    return [_problem(detail, source, model, tuple(prefix)) for detail in reported]


def _problem(
    detail: ErrorDetails, source: YamlSource, model: type[BaseModel], prefix: tuple[str | int, ...]
) -> Problem:
    location = _file_location(prefix + detail["loc"], source.data, len(prefix))
    return source.problem(location, reason_of(detail, model))


def _file_location(location: Location, data: Any, keep: int) -> tuple[str | int, ...]:
    """Drop what pydantic adds to a location and the file does not hold: the tags of unions."""
    path: list[str | int] = []
    for index, part in enumerate(location):
        missing_key = isinstance(data, dict) and index == len(location) - 1
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            if index >= keep and not missing_key:
                continue
        path.append(part)
    return tuple(path)


_WORDS = {
    "missing": "is missing",
    "string_type": "must be text; if it looks like a number or a date, put it in quotes",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "float_parsing": "must be a number",
    "path_type": "must be a path",
    "byte_size": "must be a size, such as 4MiB",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "model_attributes_type": "must be a mapping of keys to values",
    "too_short": "must not be empty",
}


def reason_of(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """One of pydantic's errors in an admin's words, without the value."""
    kind = detail["type"]
    if kind == "extra_forbidden":
        return unknown(str(detail["loc"][-1]), keys_at(model, detail["loc"][:-1]))
    if kind == "value_error":
        return str(detail.get("ctx", {}).get("error", detail["msg"]))
    message = detail["msg"].replace("Input should be", "must be")
    return _WORDS.get(kind, message[:1].lower() + message[1:])
