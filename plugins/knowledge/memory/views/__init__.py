"""Pages of memory: what agents remember of somebody, who may read it, and how it is mended.

Each form calls the tool that an agent would call, so a change that needs a person's approval waits
for it from here as well.
"""

from __future__ import annotations

from gateway.contract import View, Write

WAITS = "{{ result.note or '%s' }}"
"""What a page says of a write: that it waits, or that it is done."""
AT_ODDS = (
    "{% for each in result.near or [] if each.seems %} It seems at odds with "
    "“{{ each.content | truncate(80) }}”: say below how they go together.{% endfor %}"
)
"""What a page says of what was kept before, and seems not to hold beside what is written now."""
REMEMBERED = Write(
    "remember",
    WAITS % "It is kept. You can change its words, who may read it, or forget it below." + AT_ODDS,
)
CHANGED = Write(
    "update_memory", WAITS % "It is changed. Its history has what it said before." + AT_ODDS
)
LEFT = (
    "{% if result.same_words %} Its words still stand in "
    "{{ result.same_words | length | counted('other entry', 'other entries') }}:"
    "{% for each in result.same_words[:3] %} “{{ each.content | truncate(80) }}”"
    "{% endfor %}. Forget these too where they are to go.{% endif %}"
)
"""What a page says of the words of a forgotten entry that others still hold."""
FORGOTTEN = Write(
    "forget",
    "{% if result.forgotten %}It is forgotten: nobody finds it any more. To have it again, write "
    "it again. {% endif %}{{ result.note or '' }}" + LEFT,
)
VERIFIED = Write("verify_memory", "Noted: it still holds.")
SETTLED = Write("settle_memory", WAITS % "It is settled. Settle it again to decide otherwise.")


def views() -> list[View]:
    """The views of memory, beside those of the knowledge base."""
    return [
        View.beside(
            __file__,
            "memory",
            "Memory",
            "list_memory",
            template="memories.html",
            listed=True,
            writes=[REMEMBERED],
        ),
        View.beside(__file__, "recall", "Memory", "query_memory", asks="query"),
        View.beside(
            __file__,
            "entry",
            "What is remembered",
            "get_memory",
            writes=[CHANGED, FORGOTTEN, VERIFIED, SETTLED],
        ),
        View.beside(
            __file__, "entry-history", "What it said before", "memory_history", writes=[CHANGED]
        ),
        View.beside(
            __file__,
            "review",
            "What wants a look",
            "review_memory",
            writes=[SETTLED, VERIFIED, FORGOTTEN],
        ),
    ]
