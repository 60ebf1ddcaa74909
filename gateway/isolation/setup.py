"""What a plugin's process is started with."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

from gateway.config.portal import Portal
from gateway.contract import Plugin


@dataclass(frozen=True, slots=True)
class Setup:
    """What a plugin's process is started with; the portal sends it pickled.

    Attributes:
        plugin: the plugin's name.
        module: where its declaration is found, as an entry point has it: ``package.module``.
        portal: the configuration, without the text of its file.
        data_dir: where the embedded services keep their data.
        wait_ready: as in ``Host.wait_ready``.
        log_level: the least severe level that the portal writes.
    """

    plugin: str
    module: str
    portal: Portal
    data_dir: Path
    wait_ready: bool
    log_level: str

    def declared(self) -> Plugin:
        """The plugin's declaration; its module is imported."""
        module: Any = EntryPoint(self.plugin, self.module, "").load()
        plugin: Plugin = module.porch_plugin()
        return plugin
