"""The card of a call that waits for a person's yes, as a client that shows Apps draws it.

It shows what the page of the request shows, from the same template. It decides nothing: what an App
sends comes through the client of an agent, and an agent approves nothing. Its links lead to the
page, where a person is signed in, and to the same call once more, which runs only what is approved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from gateway.surfaces.views.drawing import shared_template
from gateway.surfaces.views.laid_out import laid_out, shown

if TYPE_CHECKING:
    from markupsafe import Markup

    from gateway.pipeline.approval_answers import NotApproved


def approval_card(failed: NotApproved, tool: str, again: Mapping[str, Any] | None) -> str:
    """A card as HTML, to stand in an App.

    Args:
        failed: why the call has not run.
        tool: what the portal calls the tool.
        again: what it was called with, to be called once more; None where that held a secret, which
            nothing repeats.
    """
    asked = failed.asked
    return shared_template("approval_card.html").render(
        asked=asked,
        name=shown(asked.name),
        note=shown(asked.note or ""),
        laid=list(laid_out(asked.arguments)) if asked.arguments else [],
        when=_moment,
        page=failed.page,
        waits=asked.state != "refused",
        tool=tool,
        again="" if again is None else json.dumps(again, ensure_ascii=False),
    )


def _moment(value: datetime) -> Markup:
    from markupsafe import Markup

    text = value.astimezone(UTC).strftime("%d %B %Y, %H:%M UTC")
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), text)
