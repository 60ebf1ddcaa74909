"""What people leaf through: code that a search found, who calls what, and what a change breaks."""

from __future__ import annotations

from gateway.contract import View


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "search", "Search the code", "search_code", listed=True),
        View.beside(__file__, "function", "Function", "get_function"),
        View.beside(__file__, "callers", "Callers", "get_callers", template="calls.html"),
        View.beside(__file__, "callees", "Callees", "get_callees", template="calls.html"),
        View.beside(__file__, "impact", "What a change breaks", "analyze_impact"),
        View.beside(__file__, "routes", "HTTP routes", "get_routes"),
    ]
