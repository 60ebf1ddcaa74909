"""The static tokens that the environment gives a portal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gateway.cli.options import Setup

if TYPE_CHECKING:
    from auth import StaticTokens


def static_tokens(setup: Setup) -> StaticTokens:
    """The static tokens of the environment; from here on no log shows one of them.

    Raises:
        ConfigError: the variable is not written as it should be.
    """
    from auth import StaticTokens
    from gateway.errors import ConfigError, Problem
    from gateway.observability.redaction import register_secret

    text = setup.environment.static_tokens.get_secret_value()
    for pair in text.split(","):
        register_secret(pair.partition(":")[2].strip())
    try:
        return StaticTokens.parse(text)
    except ValueError as error:
        problem = Problem("environment", 0, "PORCH_STATIC_TOKENS", str(error))
        raise ConfigError([problem]) from None
