"""Keys of ``portal.yaml`` as environment variables: ``PORCH_LISTEN__PORT`` for ``listen.port``.

A variable is named ``PORCH_`` and the key in capitals, with ``__`` between a section and what is
in it. Its value is text, or YAML where it stands in brackets. With ``_FILE`` at its end and an
absolute path as its value it names a file that holds the value, as containers are given secrets;
with any other value it is a key that ends so itself, such as ``max_file``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from gateway.contract.config_types import Variable
from gateway.errors import ConfigError, Problem

__all__ = ["MAX_FILE_BYTES", "Variables", "from_file", "read_variables", "variable_of"]

_PREFIX, _INSIDE, _FILE = "PORCH_", "__", "_FILE"
_BRACKETS = {"[": "]", "{": "}"}
MAX_FILE_BYTES = 64 * 1024
"""A file above this size is surely not what a variable was meant to name."""

Key = tuple[str, ...]
"""A key of ``portal.yaml`` from its root, such as ``("listen", "port")``."""


@dataclass(frozen=True)
class Variables:
    """What the environment says of ``portal.yaml``.

    Attributes:
        values: the value of each key that a variable gives.
        names: the variable that gives it.
    """

    values: Mapping[Key, Any]
    names: Mapping[Key, str]

    @property
    def data(self) -> dict[str, Any]:
        """The values in the file's shape."""
        data: dict[str, Any] = {}
        for key, value in sorted(self.values.items(), key=lambda each: len(each[0])):
            section = data
            for part in key[:-1]:
                if not isinstance(section.get(part), dict):
                    section[part] = {}
                section = section[part]
            section[key[-1]] = value
        return data

    def below(self, overrides: Mapping[str, Any]) -> Variables:
        """Those that nothing stronger, such as an option of the command line, overrides."""
        left = [key for key in self.values if not _is_given(key, overrides)]
        return Variables(
            {key: self.values[key] for key in left}, {key: self.names[key] for key in left}
        )


def _is_given(key: Key, overrides: Any) -> bool:
    for part in key:
        if not isinstance(overrides, Mapping):
            return True
        if part not in overrides:
            return False
        overrides = overrides[part]
    return not isinstance(overrides, Mapping)


def variable_of(key: str) -> str:
    """The variable that stands in for a dotted key of ``portal.yaml``."""
    return _PREFIX + key.upper().replace(".", _INSIDE)


def read_variables(
    environ: Mapping[str, str], sections: Collection[str], reserved: Collection[str]
) -> Variables:
    """Read what the environment says of ``portal.yaml``; an empty variable says nothing.

    Args:
        environ: the environment's variables.
        sections: the keys at the file's root. A variable without ``__`` that is none of them is
            somebody else's.
        reserved: names that mean something of their own, such as ``log``.

    Raises:
        ConfigError: a file cannot be read, a value is not valid YAML, or a key is given twice.
    """
    values: dict[Key, Any] = {}
    names: dict[Key, str] = {}
    problems: list[Problem] = []
    for name, key in _ours(environ, sections, reserved):
        if key in names:
            reason = f"says the same as {names[key]}; keep one of the two"
            problems.append(Problem("environment", 0, name, reason))
            continue
        try:
            names[key], values[key] = name, _value(name, environ[name])
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems)
    return Variables(values, names)


def _ours(
    environ: Mapping[str, str], sections: Collection[str], reserved: Collection[str]
) -> Iterator[tuple[str, Key]]:
    """The variables that speak of ``portal.yaml``, each with its key."""
    for name in sorted(environ):
        if not name.startswith(_PREFIX) or not environ[name]:
            continue
        written = name.removeprefix(_PREFIX)
        if _names_file(name, environ[name]):
            written = written.removesuffix(_FILE)
        written = written.lower()
        key = tuple(written.split(_INSIDE))
        if written not in reserved and (len(key) > 1 or key[0] in sections):
            yield name, key


def _names_file(name: str, value: str) -> bool:
    return name.endswith(_FILE) and Path(value).is_absolute()


def _value(name: str, written: str) -> Any:
    if _names_file(name, written):
        return _parsed(name, from_file(name, written), f"file:{written}")
    return _parsed(name, written, f"env:{name}")


def from_file(name: str, path: str) -> str:
    """The text of the file that a variable names, without the line break at its end.

    Raises:
        ConfigError: it cannot be read, is empty, not text or far too large.
    """
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        text = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        reason = f"names {path}, which is not UTF-8 text"
    except OSError as error:
        reason = f"names {path}, which cannot be read: {error.strerror}"
    else:
        if text and len(raw) <= MAX_FILE_BYTES:
            return text
        state = "empty" if not text else f"larger than {MAX_FILE_BYTES} bytes"
        reason = f"names {path}, which is {state}"
    raise ConfigError([Problem("environment", 0, name, reason)])


def _parsed(name: str, text: str, reference: str) -> Any:
    if _BRACKETS.get(text[0]) != text[-1]:
        return Variable(text, reference)
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError):
        reason = "stands in brackets and is not valid YAML"
        raise ConfigError([Problem("environment", 0, name, reason)]) from None
