"""JSON schemas of the files that an admin edits, generated from the models that read them.

Editors use them to complete and check the files while they are typed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.json_schema import GenerateJsonSchema

from gateway.config.plans_file import PlansConfig
from gateway.config.portal_keys import PluginSection, PortalConfig, section_model
from gateway.config.tiers_file import TiersConfig
from gateway.contract.config_types import written_duration

DIRECTORY = "schema"
"""Where the schemas stand, below the configuration directory."""


class _Schema(GenerateJsonSchema):
    """Pydantic's schema, with defaults as they would be written in the file."""

    def encode_default(self, dft: Any) -> Any:
        return written_duration(dft) or super().encode_default(dft)


class _Plugins(BaseModel):
    """One section for each plugin, by the plugin's name."""

    model_config = ConfigDict(extra="allow")

    __pydantic_extra__: dict[str, PluginSection] = Field(init=False)


def generate(plugins: Mapping[str, type[BaseModel]]) -> dict[str, str]:
    """Generate the schemas.

    Args:
        plugins: the installed plugins and the models of their own keys.

    Returns:
        The text of each file by its name.
    """
    sections: dict[str, Any] = {
        name: (section_model(own) | None, None) for name, own in sorted(plugins.items())
    }
    every = create_model("Plugins", __base__=_Plugins, __doc__=_Plugins.__doc__, **sections)
    portal = create_model(
        "PortalConfig", __base__=PortalConfig, __doc__=PortalConfig.__doc__, plugins=(every, {})
    )
    models: dict[str, type[BaseModel]] = {
        "plans": PlansConfig,
        "portal": portal,
        "tiers": TiersConfig,
    }
    return {f"{name}.schema.json": _text(model) for name, model in models.items()}


def _text(model: type[BaseModel]) -> str:
    schema = model.model_json_schema(schema_generator=_Schema)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(schema, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def stale(config: Path, plugins: Mapping[str, type[BaseModel]]) -> list[Path]:
    """The schema files below a configuration directory that are not what would be generated."""
    return [
        path
        for path, text in _files(config, plugins).items()
        if not path.is_file() or path.read_text("utf-8") != text
    ]


def write(config: Path, plugins: Mapping[str, type[BaseModel]]) -> list[Path]:
    """Write the schema files below a configuration directory; returns those that changed."""
    changed = stale(config, plugins)
    for path in changed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_files(config, plugins)[path], "utf-8")
    return changed


def _files(config: Path, plugins: Mapping[str, type[BaseModel]]) -> dict[Path, str]:
    texts = generate(plugins)
    return {config / DIRECTORY / name: text for name, text in texts.items()}
