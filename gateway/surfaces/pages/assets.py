"""The style sheet, the scripts and the icon, as they are shipped."""

from __future__ import annotations

import hashlib
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "static"
_KINDS = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_YEAR_SECONDS = 365 * 86_400


class Assets:
    """Serves the files in ``static/`` under addresses that change with their content."""

    def __init__(self) -> None:
        self._files = {
            path.name: path.read_bytes() for path in _FOLDER.iterdir() if path.suffix in _KINDS
        }
        self._versions = {
            name: hashlib.sha256(content).hexdigest()[:12] for name, content in self._files.items()
        }

    def path(self, name: str) -> str:
        """The path of a file, with its version."""
        return f"/assets/{name}?v={self._versions[name]}"

    def routes(self) -> list[Route]:
        """The route that serves them."""
        return [Route("/assets/{name}", self._serve, methods=["GET"])]

    async def _serve(self, request: Request) -> Response:
        name = request.path_params["name"]
        content = self._files.get(name)
        if content is None:
            return Response(status_code=404)
        current = request.query_params.get("v") == self._versions[name]
        lifetime = f"public, max-age={_YEAR_SECONDS}, immutable" if current else "no-cache"
        headers = {
            "cache-control": lifetime,
            "x-content-type-options": "nosniff",
            "cross-origin-resource-policy": "same-origin",
            # An icon opened by itself is a document, and must run nothing either.
            "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
        }
        return Response(content, headers=headers, media_type=_KINDS[Path(name).suffix])
