"""The assistant's pages and API as routes; none where the portal has no model for it."""

from __future__ import annotations

from starlette.routing import Route

from gateway.open_portal import OpenPortal
from gateway.surfaces.assistant.api import ConversationApi
from gateway.surfaces.assistant.following import Following
from gateway.surfaces.assistant.pages import ChatPages
from gateway.surfaces.assistant.sources import ResultSources
from gateway.surfaces.http.open_streams import OpenStreams
from gateway.surfaces.pages.frame import Frame


def assistant_routes(frame: Frame, running: OpenPortal, streams: OpenStreams) -> list[Route]:
    """The routes.

    Args:
        frame: what all pages share.
        running: the open portal.
        streams: the streams that are open.
    """
    assistant = running.assistant
    if not assistant.is_there:
        return []
    assistant.sources = ResultSources(running.catalog).of
    following = Following(assistant, streams)
    pages = ChatPages(frame, assistant, running.approvals, following)
    return [*ConversationApi(assistant, following).routes(), *pages.routes()]
