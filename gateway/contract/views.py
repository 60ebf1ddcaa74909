"""Views: what a plugin would rather show than say. One declaration is a page and an MCP App.

Plugins reach these names through :mod:`gateway.contract`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auth import Tier
from gateway.contract.graphs import Graph

APP_MEDIA_TYPE = "text/html;profile=mcp-app"
"""The media type of an MCP App (MCP Apps, revision 2026-01-26)."""


@dataclass(frozen=True, slots=True)
class Write:
    """A form of a view: it calls one of the plugin's tools, mostly one that changes something.

    On the page it is a POST from the person's own session, with a mark that proves it; in an App
    it is the call. The tool's own tier decides, as for every call.

    Attributes:
        tool: the tool, by the name that the plugin declares.
        said: what the page says once it is done: a Jinja text that knows ``result`` and
            ``arguments``. Say there how it can be undone.
        shown_once: a text that the page shows this once, to be copied: a Jinja text like ``said``.
            For what is kept nowhere, such as the secret in a link.
        shows: for a tool that only reads, such as a preview of what a form would do: the answer to
            the form is the view of that tool, at once, with no address of its own. Its arguments
            may be long, and nothing is done.
    """

    tool: str
    said: str = "It is done."
    shown_once: str = ""
    shows: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """A picture of what a tool returns, at the tool's own tier.

    It is a page of the portal at ``/<plugin>/<path>``, whose query brings the tool's arguments, and
    the MCP App ``ui://<plugin>/<name>``, which a client that shows Apps draws where the tool is
    called. Both are drawn by one Jinja template from the very JSON that the tool answers with;
    clients without Apps see no change.

    A template knows ``result`` (the answer's JSON values; undefined where the page was opened
    without arguments), ``arguments``, ``link(tool, **arguments)`` for the attributes of a link to
    what another tool of the plugin shows, ``write(tool, **arguments)`` for a form that changes
    something, ``picture()`` for the view's graph, and the macros of ``components.html``. It escapes
    everything, and holds neither scripts nor styles.

    Attributes:
        name: matches ``[a-z][a-z0-9-]{0,30}``.
        title: what the page is called.
        tool: the tool that it shows, by the name that the plugin declares. It must only read.
        template: the Jinja template.
        path: its path below the plugin's name; the view's name if empty.
        listed: whether the start page leads to it; for one that can be opened without arguments.
        writes: the forms that its template may hold.
        asks: the argument of its tool that takes the words of the portal's own search, which then
            shows this view's answers among those of other plugins; "" for no part in it.
        glance: the arguments with which the start page shows it at a glance, such as the newest
            five; None where it does not.
        graph: makes the graph that ``picture()`` draws, of the answer's JSON values and what the
            tool was called with.
        extra: what the template shows beside the answer, as ``view.extra``: the same for everyone.
    """

    name: str
    title: str
    tool: str
    template: Path
    path: str = ""
    listed: bool = False
    writes: Sequence[Write] = ()
    asks: str = ""
    glance: Mapping[str, Any] | None = None
    graph: Callable[[Mapping[str, Any], Mapping[str, Any]], Graph] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def beside(
        cls, file: str, name: str, title: str, tool: str, *, template: str = "", **others: Any
    ) -> View:
        """A view whose template lies beside a module.

        Args:
            file: the module's ``__file__``.
            name, title, tool: as in the class.
            template: the template's file name; the view's name with ``.html`` if empty.
            others: further attributes, as in the class.
        """
        place = Path(file).with_name(template or f"{name}.html")
        return cls(name, title, tool, place, **others)

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
