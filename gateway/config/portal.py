"""The settings: ``portal.yaml`` as read from its directory, and the ``PORCH_*`` environment.

An option of the command line wins over a variable, that over the file, that over the default.

A relative path in the file starts at the portal's root, the parent of the configuration
directory, so that ``./content`` beside ``config/`` means the same from wherever the portal is
started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from gateway.config.directories import DEFAULT_CONFIG
from gateway.config.portal_keys import PluginSection, PortalConfig, section_model
from gateway.config.variables import from_file, read_variables, variable_of
from gateway.config.yaml_source import YamlSource, problems_of, read_yaml, reason_of, without_empty
from gateway.contract.suggestions import unknown
from gateway.errors import ConfigError, Problem

Model = TypeVar("Model", bound=BaseModel)

PORTAL_FILE = "portal.yaml"
TIERS_FILE = "tiers.yaml"


class Environment(BaseSettings):
    """The few settings of one process, from ``PORCH_*`` environment variables."""

    model_config = SettingsConfigDict(
        env_prefix="PORCH_", frozen=True, extra="ignore", hide_input_in_errors=True
    )

    config: Path = Field(DEFAULT_CONFIG, description="The configuration directory.")
    data: Path | None = Field(
        None, description="The data directory; data beside the configuration directory if not set."
    )
    static_tokens: SecretStr = Field(
        SecretStr(""),
        description="Tokens for development and tests, members:TOKEN,public:TOKEN; never in use "
        "on a portal that others can reach.",
    )
    log: Literal["debug", "info", "warning", "error"] | None = Field(
        None, description="The log level, in place of the one in portal.yaml."
    )


@dataclass(frozen=True)
class Portal:
    """A portal's configuration as read from its directory.

    Attributes:
        directory: the configuration directory.
        root: where relative paths start: the parent of ``directory``.
        config: ``portal.yaml``, validated.
        source: ``portal.yaml`` as written, for line numbers.
        overrides: what was put over the file when it was read.
    """

    directory: Path
    root: Path
    config: PortalConfig
    source: YamlSource
    overrides: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tiers_file(self) -> Path:
        """The file that says who may use what."""
        return self.directory / TIERS_FILE

    def section(self, plugin: str) -> PluginSection:
        """The gateway's own settings in a plugin's section; the defaults if there is none."""
        return self.config.plugins.get(plugin) or PluginSection.model_validate({})

    def plugin_config(self, plugin: str, model: type[Model]) -> Model:
        """Validate a plugin's own keys.

        Args:
            plugin: the plugin's name.
            model: the model of its section.

        Raises:
            ConfigError: with one problem for each wrong key, by line.
        """
        own = without_empty(self.section(plugin).model_extra or {}, model)
        try:
            return model.model_validate(own, context={"root": self.root})
        except ValidationError as error:
            problems = problems_of(error, self.source, section_model(model), ("plugins", plugin))
            # Without its cause: pydantic's text holds the values, a secret's among them.
            raise ConfigError(problems) from None

    def unknown_plugins(self, installed: set[str]) -> list[Problem]:
        """Sections of plugins that are not installed; a disabled one is no problem."""
        return [
            self.source.problem(("plugins", name), unknown(name, installed, "plugin"))
            for name, section in self.config.plugins.items()
            if section.enabled and name not in installed
        ]


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = _merge(old, value) if both and old is not None else value
    return merged


def load_portal(directory: Path, overrides: Mapping[str, Any] | None = None) -> Portal:
    """Read ``portal.yaml`` from a configuration directory, and what the environment says of it.

    Args:
        directory: the configuration directory; without a ``portal.yaml`` all defaults hold.
        overrides: values that win over both, in the file's shape, such as
            ``{"listen": {"port": 9000}}`` for an option of the command line.

    Raises:
        ConfigError: the file or a variable is wrong; it lists every problem with its place.
    """
    given = overrides or {}
    directory = directory.expanduser().absolute()
    path = directory / PORTAL_FILE
    name = f"{directory.name}/{PORTAL_FILE}"
    source = read_yaml(path, name) if path.exists() else YamlSource(name, {}, None)
    sections = PortalConfig.model_fields
    variables = read_variables(os.environ, sections, Environment.model_fields).below(given)
    data = _merge(_merge(source.data, variables.data), given)
    source = replace(source, data=data, variables=variables.names)
    root = directory.parent
    try:
        config = PortalConfig.model_validate(
            without_empty(source.data, PortalConfig), context={"root": root}
        )
    except ValidationError as error:
        raise ConfigError(problems_of(error, source, PortalConfig)) from None
    return Portal(directory, root, config, source, given)


def read_environment() -> Environment:
    """Read the ``PORCH_*`` variables.

    Raises:
        ConfigError: a variable has a value that means nothing; the value is not repeated.
    """
    variable = f"{variable_of('static_tokens')}_FILE"
    path = os.environ.get(variable)
    try:
        if path:
            return Environment(static_tokens=SecretStr(from_file(variable, path)))
        return Environment()
    except ValidationError as error:
        problems = [
            Problem(
                "environment",
                0,
                variable_of(str(detail["loc"][0])),
                reason_of(detail, Environment),
            )
            for detail in error.errors(include_url=False, include_input=False)
        ]
        raise ConfigError(problems) from None
