"""Pages of drafts: what waits, and one as it would stand, to be proposed by its person."""

from __future__ import annotations

from gateway.contract import View, Write

_PROPOSE = Write(
    "create_draft",
    "{% if result.draft.status == 'publishing' %}It is on its way; look again in a few minutes."
    "{% else %}It waits for its reviewers now. Withdraw it here to take it back.{% endif %}",
)
_PREVIEW = Write("preview_draft", "It is kept for you alone. Look at it, then propose it.")
_WITHDRAW = Write("withdraw_draft", "It is withdrawn. Propose it again to bring it back.")


def views() -> list[View]:
    """The views of drafts."""
    return [
        View.beside(__file__, "drafts", "Drafts", "list_drafts", listed=True, writes=[_PREVIEW]),
        View.beside(
            __file__,
            "draft",
            "Draft",
            "get_draft",
            writes=[_PREVIEW, _PROPOSE, _WITHDRAW],
        ),
    ]
