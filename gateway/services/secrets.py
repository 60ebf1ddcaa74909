"""Secrets are written as references, and resolved where they are used.

A setting that holds a secret says where it is, never what it is: ``env:NAME`` or ``file:PATH``.
The value is read each time it is needed, so that a rotated file counts at once. Every value
that is resolved is made known to ``gateway.observability.redaction``, so that logs and errors
drop it.
"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from gateway.contract.config_types import is_reference
from gateway.observability.redaction import register_secret

__all__ = ["SecretMissing", "address", "resolve"]

MAX_SECRET_BYTES = 64 * 1024
"""A secret file above this size is surely the wrong file."""


class SecretMissing(ValueError):
    """A reference to a secret leads nowhere; the message tells the admin what to set."""


def resolve(reference: str, base: Path = Path()) -> SecretStr:
    """Read the secret that a reference names.

    Args:
        reference: ``env:NAME`` or ``file:PATH``.
        base: the directory that a relative path starts from.

    Returns:
        The value, without the line break that ends a file; its ``repr`` hides it.

    Raises:
        SecretMissing: the variable or file is missing, empty, unreadable or not text, or the
            setting is a plain value rather than a reference.
    """
    scheme, _, name = reference.partition(":")
    if scheme == "env" and name:
        value = _from_environment(name)
    elif scheme == "file" and name:
        value = _from_file(base / Path(name).expanduser())
    else:
        raise SecretMissing("A secret is written env:NAME or file:PATH, never as its value.")
    register_secret(value)
    return SecretStr(value)


def address(setting: str, base: Path = Path()) -> str:
    """A service's address, which may itself be a reference; its password is a secret.

    Args:
        setting: an address such as ``redis://...``, or a reference to one.
        base: as in :func:`resolve`.

    Raises:
        SecretMissing: as in :func:`resolve`.
    """
    url = resolve(setting, base).get_secret_value() if is_reference(setting) else setting
    password = urlsplit(url).password if "://" in url else None
    if password:
        register_secret(password)
        register_secret(unquote(password))
    return url


def _from_environment(name: str) -> str:
    value = os.environ.get(name)
    if not value:
        state = "empty" if value is not None else "not set"
        raise SecretMissing(f"The environment variable {name} is {state}; set it to the secret.")
    return value


def _from_file(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_SECRET_BYTES + 1)
        value = raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise SecretMissing(f"The secret file {path} is not UTF-8 text.") from error
    except OSError as error:
        raise SecretMissing(f"The secret file {path} cannot be read: {error.strerror}.") from error
    if len(raw) > MAX_SECRET_BYTES:
        raise SecretMissing(f"The secret file {path} is larger than {MAX_SECRET_BYTES} bytes.")
    if not value:
        raise SecretMissing(f"The secret file {path} is empty.")
    return value
