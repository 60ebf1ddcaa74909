"""What people leaf through: found code, who calls it, what a change breaks, what a system does."""

from __future__ import annotations

from gateway.contract import View, Write
from plugins.codegraph.views.blueprint import blueprint_graph
from plugins.codegraph.views.graph import call_graph

CORRECTED = Write(
    "correct_justification",
    "That is said of {{ result.entity.name }} now, for everybody. Say something else, or take it "
    "back, to undo it.",
)


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(__file__, "search", "Code", "search_code", listed=True, asks="query"),
        View.beside(__file__, "function", "Function", "get_function"),
        View.beside(__file__, "callers", "Callers", "get_callers", template="calls.html"),
        View.beside(__file__, "callees", "Callees", "get_callees", template="calls.html"),
        View.beside(__file__, "impact", "What a change breaks", "analyze_impact"),
        View.beside(__file__, "graph", "The calls around it", "get_call_graph", graph=call_graph),
        View.beside(
            __file__, "blueprint", "What the system does", "get_blueprint", graph=blueprint_graph
        ),
        View.beside(
            __file__, "context", "Why code exists", "get_business_context", writes=(CORRECTED,)
        ),
        View.beside(__file__, "purpose", "Code by what it is for", "search_by_purpose"),
        View.beside(__file__, "repository", "Repository", "get_project_stats"),
        View.beside(__file__, "workspace", "Your uncommitted work", "get_workspace"),
        View.beside(__file__, "activity", "What changed", "get_recent_changes"),
        View.beside(__file__, "health", "Health", "get_health_report"),
        View.beside(__file__, "routes", "HTTP routes", "get_routes"),
    ]
