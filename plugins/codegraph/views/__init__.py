"""What people leaf through: code that a search found, who calls what, and what a change breaks."""

from __future__ import annotations

from pathlib import Path

from gateway.contract import View

_HERE = Path(__file__).parent


def views() -> list[View]:
    """The plugin's views."""
    return [
        _view("search", "Search the code", "search_code", listed=True),
        _view("function", "Function", "get_function"),
        _view("callers", "Callers", "get_callers"),
        _view("callees", "Callees", "get_callees"),
        _view("impact", "What a change breaks", "analyze_impact"),
        _view("routes", "HTTP routes", "get_routes"),
    ]


def _view(name: str, title: str, tool: str, *, listed: bool = False) -> View:
    return View(name, title, tool, _HERE / f"{name}.html", listed=listed)
