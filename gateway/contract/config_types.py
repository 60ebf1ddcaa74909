"""The value types of ``portal.yaml``: durations, paths, service addresses, secret references.

Plugins use them in their own sections; ``gateway.contract`` hands them out.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, ValidationInfo, WithJsonSchema

from auth.portal_addresses import is_safe

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)")
_RATE = re.compile(r"(\d+)(?:\s+in\s+(\d+(?:\.\d+)?\s*(?:ms|s|m|h|d)))?")
_UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_REFERENCE = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*|file:.+")


def _duration(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value
    match = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        raise ValueError("must be a number with its unit: 500ms, 45s, 30m, 12h or 90d")
    try:
        return timedelta(seconds=float(match[1]) * _UNITS[match[2]])
    except OverflowError:
        raise ValueError("is longer than any clock can count") from None


def written_duration(value: Any) -> str | None:
    """A duration as it is written in a file, such as ``90d``; None for any other value."""
    if not isinstance(value, timedelta):
        return None
    seconds = value.total_seconds()
    unit = next((unit for unit in ("d", "h", "m", "s") if not seconds % _UNITS[unit]), "ms")
    return f"{seconds / _UNITS[unit]:.0f}{unit}"


def checked_rate(value: Any) -> str:
    """A :data:`CallRate` as it is kept; raises ``ValueError`` where it means nothing."""
    text = str(value).strip() if isinstance(value, str | int) and value is not True else ""
    match = _RATE.fullmatch("0" if text == "none" else text)
    if match is None:
        raise ValueError("must say how many in which time, such as 60 in 60s, or none for no limit")
    span = match[2] or "60s"
    if not _duration(span):
        raise ValueError("must have a time that is longer than nothing, such as 60 in 60s")
    return f"{int(match[1])} in {span}" if int(match[1]) else "none"


def rate_of(written: str) -> tuple[int, float] | None:
    """The times and seconds of a :data:`CallRate`; None where there is no limit."""
    if written == "none":
        return None
    times, _, span = written.partition(" in ")
    return int(times), _duration(span).total_seconds()


def _resolve(path: Path, info: ValidationInfo) -> Path:
    root = (info.context or {}).get("root")
    path = path.expanduser()
    return root / path if root is not None else path


def _place(value: str, info: ValidationInfo) -> str:
    return str(_resolve(Path(value), info)) if value.startswith(("./", "../", "~/")) else value


def is_reference(value: str) -> bool:
    """Whether a text is written as a reference to a secret: ``env:NAME`` or ``file:PATH``."""
    return _REFERENCE.fullmatch(value) is not None


class Variable(str):
    """A setting's text that an environment variable, or a file that one names, holds.

    There a secret may stand as it is, and is kept by reference like any other.

    Args:
        text: the value.
        reference: where it is: ``env:NAME`` or ``file:PATH``.
    """

    __slots__ = ("reference",)

    reference: str

    def __new__(cls, text: str, reference: str) -> Variable:
        """Keep the text, and where it is."""
        value = super().__new__(cls, text)
        value.reference = reference
        return value

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        """What another process makes it of."""
        return str(self), self.reference


def _reference(value: Any) -> Any:
    if isinstance(value, Variable) and not is_reference(value):
        return value.reference
    if not isinstance(value, str) or not is_reference(value):
        raise ValueError(
            "a secret is never written here; write env:NAME or file:PATH and keep it there"
        )
    return value


def _without_password(value: Any) -> Any:
    if isinstance(value, Variable) and not is_reference(value) and _password(value) is not None:
        return value.reference
    return value


def _password(address: str) -> str | None:
    try:
        return urlsplit(address).password
    except ValueError:
        raise ValueError("is not a valid address") from None


def _address(value: str) -> str:
    if is_reference(value):
        return value
    if _password(value) is not None:
        raise ValueError(
            "holds a password; put the whole address into the environment or a file and write "
            "env:NAME or file:PATH"
        )
    return value


def whole_url(value: str) -> str:
    """A whole http or https address without a password, or ``ValueError``."""
    url = urlsplit(value)
    if url.scheme not in {"http", "https"} or not url.hostname or url.username or url.password:
        raise ValueError("must be a whole address without a password, such as https://example.org")
    return value


def safe_url(value: str) -> str:
    """An address that can be believed and told secrets, or ``ValueError``."""
    if not is_safe(value):
        raise ValueError(
            "must begin with https:// unless it is on this machine: it is believed, or told secrets"
        )
    return value


def _without_slash(value: str) -> str:
    return value.rstrip("/")


SafeUrl = Annotated[
    str, AfterValidator(whole_url), AfterValidator(safe_url), AfterValidator(_without_slash)
]
"""The address of someone who is believed or told secrets: https, but for this machine.

Every address that the portal or a plugin sends something to is of this type; a slash at its end is
taken away.
"""

Duration = Annotated[
    timedelta,
    BeforeValidator(_duration),
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)?\s*(ms|s|m|h|d)$"}),
]
"""A span of time, written as a number with its unit: ``500ms``, ``45s``, ``30m``, ``90d``."""

_RATE_PATTERN = r"^(none|\d+(\s+in\s+\d+(\.\d+)?\s*(ms|s|m|h|d))?)$"
CallRate = Annotated[
    str,
    BeforeValidator(checked_rate),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": _RATE_PATTERN}, {"type": "integer", "minimum": 0}]}
    ),
]
"""How often something may be done: ``60 in 60s``, ``60`` (in 60 s), or ``none`` for no limit."""

ConfigPath = Annotated[Path, AfterValidator(_resolve)]
"""A path; a relative one starts at the parent of the configuration directory."""

SecretRef = Annotated[
    str,
    BeforeValidator(_reference),
    WithJsonSchema({"type": "string", "pattern": "^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$"}),
]
"""Where a secret is kept: ``env:NAME`` or ``file:PATH``. A plain value is refused."""

Address = Annotated[str, BeforeValidator(_without_password), AfterValidator(_address)]
"""A service: a word, a URL without a password, or a reference to where the URL is kept."""

Place = Annotated[Address, AfterValidator(_place)]
"""An :data:`Address` that may be a path: ``./name`` starts where :data:`ConfigPath` does."""
