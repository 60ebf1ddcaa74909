"""A small Human Passport API on loopback: one scorer, one key, and a score for each wallet."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.servers.serving import bound, serving


class Passport:
    """The API; a context manager.

    Attributes:
        url: its address.
        scores: what it says of each address; any other has 0.
        answer: what it answers to everything instead, or None.
        asked: how often each address was asked about.
    """

    def __init__(self, scorer: str = "335", key: str = "example-key", port: int = 0) -> None:
        self.scorer = scorer
        self.key = key
        self.scores: dict[str, Any] = {}
        self.answer: Response | None = None
        self.asked: Counter[str] = Counter()
        self._listener = bound(port)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._stack = ExitStack()

    def __enter__(self) -> Passport:
        app = Starlette(routes=[Route("/v2/stamps/{scorer}/score/{address}", self._score)])
        self._stack.enter_context(serving(app, self._listener))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def _score(self, request: Request) -> Response:
        address = request.path_params["address"]
        self.asked[address] += 1
        if self.answer is not None:
            return self.answer
        if request.headers.get("x-api-key") != self.key:
            return JSONResponse({"detail": "Unauthorized"}, 401)
        if request.path_params["scorer"] != self.scorer:
            return JSONResponse({"detail": "No scorer matches the given criteria."}, 404)
        score = self.scores.get(address, "0")
        return JSONResponse({"address": address, "score": score, "error": None, "stamps": {}})
