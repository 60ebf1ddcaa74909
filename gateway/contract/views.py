"""Views: what a plugin would rather show than say. One declaration is a page and an MCP App.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from auth import Tier

APP_MEDIA_TYPE = "text/html;profile=mcp-app"
"""The media type of an MCP App (MCP Apps, revision 2026-01-26)."""


@dataclass(frozen=True, slots=True)
class View:
    """A picture of what a tool returns, at the tool's own tier.

    It is a page of the portal at ``/<plugin>/<path>``, whose query brings the tool's arguments, and
    the MCP App ``ui://<plugin>/<name>``, which a client that shows Apps draws where the tool is
    called. Both are drawn by one Jinja template from the very JSON that the tool answers with;
    clients without Apps see no change.

    A template knows ``result`` (the answer's JSON values; undefined where the page was opened
    without arguments), ``arguments``, ``link(tool, **arguments)`` for the attributes of a link to
    what another tool of the plugin shows, and the macros of ``components.html``. It escapes
    everything, and holds neither scripts nor styles.

    Attributes:
        name: matches ``[a-z][a-z0-9-]{0,30}``.
        title: what the page is called.
        tool: the tool that it shows, by the name that the plugin declares. It must only read.
        template: the Jinja template.
        path: its path below the plugin's name; the view's name if empty.
        listed: whether the start page leads to it; for one that can be opened without arguments.
    """

    name: str
    title: str
    tool: str
    template: Path
    path: str = ""
    listed: bool = False

    @classmethod
    def beside(
        cls,
        file: str,
        name: str,
        title: str,
        tool: str,
        *,
        template: str = "",
        listed: bool = False,
    ) -> View:
        """A view whose template lies beside a module.

        Args:
            file: the module's ``__file__``.
            name, title, tool, listed: as in the class.
            template: the template's file name; the view's name with ``.html`` if empty.
        """
        place = Path(file).with_name(template or f"{name}.html")
        return cls(name, title, tool, place, listed=listed)

    @property
    def tier(self) -> Tier | None:
        """None: the tier of its tool decides."""
        return None

    @property
    def floor(self) -> Tier:
        """Open: the floor of its tool decides."""
        return Tier.OPEN

    @property
    def page(self) -> str:
        """The path of its page below the plugin's name."""
        return self.path or self.name
