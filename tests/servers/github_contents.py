"""A small GitHub on loopback: the Contents API, tarballs, and tokens of a GitHub App.

::

    with GithubContents() as github:
        github.repos["garden/tools"] = Repo(directory)                # public, branch main
        github.repos["garden/house"] = Repo(directory, tokens={"ghp_a"})
        github.limit(429, {"retry-after": "30"})                      # until github.answers()
        github.behaves = "html"                                       # see ``behaves``
        github.asked["/repos/garden/tools/contents/README.md"]
    github.repos["garden/kb"] = Repo(history.directory, history=history)   # commits, trees, compare
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import tarfile
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from tests.servers.github_history import History
from tests.servers.github_writes import Writes
from tests.servers.serving import bound, serving

WITH_CONTENT = 1024 * 1024
"""Bytes of a file that the JSON holds; a larger one is sent raw only."""


@dataclass
class Repo:
    """A repository: the files that lie in a directory.

    Attributes:
        directory: its root.
        branches: the branches, all alike.
        tokens: who may read it; None for everybody.
        forbidden: tokens that see it and may not read it.
        history: the commits, where it is what they hold that is served; ``branches`` says nothing
            then.
        writes: takes what is written, where it can be written to.
    """

    directory: Path
    branches: set[str] = field(default_factory=lambda: {"main"})
    tokens: set[str] | None = None
    forbidden: set[str] = field(default_factory=set)
    history: History | None = None
    writes: Writes | None = None


@dataclass(frozen=True)
class Asked:
    """One request: its path as it was sent, its headers, and the status of the answer."""

    method: str
    path: str
    host: str
    headers: Mapping[str, str]
    status: int


class GithubContents:
    """GitHub; a context manager.

    Attributes:
        url: the address of its API.
        repos: by ``owner/repo``.
        tokens: the tokens that are good beside those that repositories name.
        renamed: old names of repositories and the new ones, answered with 301.
        behaves: ``well``; ``html`` (a page with status 200), ``cut`` (the connection ends early),
            ``short`` (fewer bytes than the size says), ``no_base64``, ``loop`` (redirects without
            an end), ``away`` (redirects to another host), ``tar_cut`` (half a tarball).
        failing: a status that everything is answered with, or 0.
        delay: seconds that each answer takes; setting it to 0 ends all waiting.
        company: how many requests are open before a content is answered.
        prompt: how many more questions are answered without that delay.
        no_etags: whether it sends none.
        app: the id, installation and public key (PEM) of a GitHub App that gets tokens.
        app_token_seconds: how long the App's tokens live.
        requests: everything that was asked, in order.
        open: the requests that wait for their answer.
        most_at_once: the most requests that were open at a time.
    """

    def __init__(self) -> None:
        self.url = ""
        self.elsewhere = ""
        self.repos: dict[str, Repo] = {}
        self.tokens: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.behaves = "well"
        self.failing = 0
        self.delay = 0.0
        self.company = 0
        self.prompt = 0
        self.no_etags = False
        self.app: tuple[str, int, bytes] | None = None
        self.app_token_seconds = 3600
        self.issued: list[str] = []
        self.requests: list[Asked] = []
        self.most_at_once = 0
        self.open = 0
        self._limited: tuple[int, Mapping[str, str]] | None = None
        self._stack = ExitStack()

    def __enter__(self) -> GithubContents:
        routes = [
            Route("/app/installations/{id:int}/access_tokens", self._app_token, methods=["POST"]),
            Route("/codeload/{rest:path}", self._codeload),
            Route("/{rest:path}", self._api, methods=["GET", "POST", "PATCH", "DELETE"]),
        ]
        app = self._seen(Starlette(routes=routes))
        self.url = self._stack.enter_context(serving(app, bound()))
        self.elsewhere = self._stack.enter_context(serving(app, bound()))
        return self

    def __exit__(self, *_: object) -> None:
        self.delay = 0.0
        self._stack.close()

    def limit(self, status: int, headers: Mapping[str, str]) -> None:
        """Take no more requests, as GitHub says so."""
        self._limited = status, headers

    def answers(self) -> None:
        """Take requests again, and behave."""
        self._limited, self.failing, self.behaves, self.delay = None, 0, "well", 0.0

    @property
    def asked(self) -> Counter[str]:
        """How often each path was asked for, decoded, without its query."""
        return Counter(unquote(asked.path.partition("?")[0]) for asked in self.requests)

    @property
    def last(self) -> Asked:
        """The newest request."""
        return self.requests[-1]

    def _seen(self, app: Any) -> Any:
        """Note each request and its answer."""

        async def seen(scope: Any, receive: Any, send: Any) -> None:
            headers = {k.decode(): v.decode() for k, v in scope["headers"]}
            path = scope["raw_path"].decode()
            if query := scope["query_string"].decode():
                path += f"?{query}"
            self.open += 1
            self.most_at_once = max(self.most_at_once, self.open)
            status = 0

            async def noting(message: Any) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                    note = Asked(scope["method"], path, headers["host"], headers, status)
                    self.requests.append(note)
                await send(message)

            try:
                await app(scope, receive, noting)
            finally:
                self.open -= 1

        return seen

    async def _api(self, request: Request) -> Response:
        end = time.monotonic() + (0.0 if self.prompt > 0 else self.delay)
        self.prompt -= 1
        while self.delay and time.monotonic() < end:  # noqa: ASYNC110  (any thread may end it)
            await asyncio.sleep(0.01)
        if "/contents/" in request.url.path:
            await self._accompanied()
        if (trouble := self._trouble(request)) is not None:
            return trouble
        rest = request.scope["raw_path"].decode().strip("/").split("/")
        if rest[:1] == ["repositories"]:
            name, what, parts = rest[1].replace("~", "/"), rest[2], rest[3:]
        elif rest[:1] == ["repos"] and len(rest) > 3:
            name, what, parts = "/".join(rest[1:3]), rest[3], rest[4:]
        else:
            return _said(404, "Not Found")
        if name in self.renamed:
            there = self.renamed[name].replace("/", "~")
            query = f"?{request.url.query}" if request.url.query else ""
            path = "/".join(("repositories", there, what, *parts))
            return RedirectResponse(f"{self.url}/{path}{query}", 301)
        path = "/".join(map(unquote, parts))
        body = await request.body()
        return await asyncio.to_thread(self._repository, request, name, what, path, body)

    async def _accompanied(self) -> None:
        end = time.monotonic() + 60
        while self.most_at_once < self.company and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    def _trouble(self, request: Request) -> Response | None:
        token = _token(request)
        if token is not None and not self._is_good(token):
            return _said(401, "Bad credentials")
        if self._limited is not None:
            status, headers = self._limited
            return JSONResponse({"message": "API rate limit exceeded"}, status, dict(headers))
        if self.failing:
            return HTMLResponse("<h1>Unicorn!</h1>", self.failing)
        if self.behaves == "html":
            return HTMLResponse("<html>Sign in to the network</html>")
        if self.behaves == "loop":
            return RedirectResponse(str(request.url), 302)
        if self.behaves == "away":
            return RedirectResponse(f"{self.elsewhere}{request.url.path}", 302)
        return None

    def _repository(
        self, request: Request, name: str, what: str, path: str, body: bytes
    ) -> Response:
        repo = next((repo for key, repo in self.repos.items() if key.lower() == name.lower()), None)
        token = _token(request)
        if repo is None or (repo.tokens is not None and token not in repo.tokens | repo.forbidden):
            return _said(404, "Not Found")
        if token in repo.forbidden:
            return _said(403, "Resource not accessible by personal access token")
        if repo.writes is not None:
            done = repo.writes.answer(request.method, what, path, request.url.query, body)
            if done is not None:
                return JSONResponse(done[1], done[0], dict(done[2]))
        ref = request.query_params.get("ref", "main") if what == "contents" else path
        if repo.history is not None:
            return self._recorded(request, repo.history, name, what, path, ref)
        if ref not in repo.branches:
            return _said(404, f"No commit found for the ref {ref}")
        if what == "tarball":
            return RedirectResponse(f"{self.elsewhere}/codeload/{name}?token=of-the-moment", 302)
        if what == "commits":
            return Response(commit_of(repo.directory), media_type="application/vnd.github.sha")
        return (
            self._contents(request, repo, path) if what == "contents" else _said(404, "Not Found")
        )

    def _recorded(
        self, request: Request, history: History, name: str, what: str, path: str, ref: str
    ) -> Response:
        """What the commits hold."""
        if history.is_empty:
            return _said(409, "Git Repository is empty.")
        if what == "compare":
            base, _, head = (history.resolve(each) or "" for each in path.partition("..."))
            compared = history.compare(base, head) if base and head else None
            return JSONResponse(compared) if compared else _said(404, "Not Found")
        if what == "commits" and not path:
            return JSONResponse(history.touching(dict(request.query_params)))
        kind, _, ref = ref.partition("/") if what == "git" else (what, "", ref)
        commit = history.resolve(ref)
        if commit is None:
            known = what == "commits"
            return _said(422 if known else 404, f"No commit found for SHA: {ref}")
        if what == "commits":
            media = "application/vnd.github.sha"
            asked = request.headers.get("accept") == media
            whole = {} if asked else history.whole(commit)
            return Response(commit, media_type=media) if asked else JSONResponse(whole)
        if what == "git":
            told = history.tree(commit) if kind == "trees" else history.described(commit)
            return JSONResponse(told)
        if what == "tarball":
            query = f"token=of-the-moment&commit={commit}"
            return RedirectResponse(f"{self.elsewhere}/codeload/{name}?{query}", 302)
        content = history.content(commit, path) if what == "contents" else None
        return _said(404, "Not Found") if content is None else self._file(request, path, content)

    def _contents(self, request: Request, repo: Repo, path: str) -> Response:
        file = (repo.directory / path).resolve()
        root = repo.directory.resolve()
        inside = file.is_relative_to(root) and ".git" not in file.relative_to(root).parts
        if not inside or not file.exists():
            return _said(404, "Not Found")
        if file.is_dir():
            return JSONResponse([{"name": each.name} for each in sorted(file.iterdir())])
        return self._file(request, path, file.read_bytes())

    def _file(self, request: Request, path: str, content: bytes) -> Response:
        sha = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        etag = f'W/"{hashlib.sha256(f"{path}:{sha}".encode()).hexdigest()}"'
        headers = {} if self.no_etags else {"etag": etag}
        if request.headers.get("if-none-match") == etag and not self.no_etags:
            return Response(status_code=304, headers=headers)
        if "raw" in request.headers.get("accept", ""):
            media = "application/vnd.github.raw+json; charset=utf-8"
            return Response(self._cut(content), headers=headers, media_type=media)
        described = self._described(path, content, sha)
        body = json.dumps(described).encode()
        if self.behaves == "cut":
            headers["content-length"] = str(len(body))
            body = body[: len(body) // 2]
        return Response(body, headers=headers, media_type="application/json; charset=utf-8")

    def _cut(self, content: bytes) -> bytes:
        return content[: len(content) // 2] if self.behaves == "short" else content

    def _described(self, path: str, content: bytes, sha: str) -> dict[str, Any]:
        inside = len(content) <= WITH_CONTENT
        encoded = base64.encodebytes(self._cut(content)).decode() if inside else ""
        if self.behaves == "no_base64":
            encoded = "*" + encoded
        return {
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": sha,
            "size": len(content),
            "type": "file",
            "encoding": "base64" if inside else "none",
            "content": encoded,
        }

    async def _codeload(self, request: Request) -> Response:
        if "authorization" in request.headers or request.query_params["token"] != "of-the-moment":
            return _said(401, "A credential has no place here")
        name = request.path_params["rest"]
        repo, commit = self.repos[name], request.query_params.get("commit", "")
        if repo.history is not None:
            data = await asyncio.to_thread(repo.history.tarball, commit, name)
        else:
            data = await asyncio.to_thread(tarball, repo.directory, name)
        if self.behaves == "tar_cut":
            data = data[: len(data) // 2]
        return Response(data, media_type="application/x-gzip")

    async def _app_token(self, request: Request) -> Response:
        import jwt

        await asyncio.sleep(0.01)
        assert self.app is not None
        app, installation, key = self.app
        try:
            claims = jwt.decode(_token(request) or "", key, algorithms=["RS256"], issuer=app)
        except jwt.PyJWTError as error:
            return _said(401, f"A JSON web token could not be decoded: {error}")
        if claims["exp"] - claims["iat"] > 600 or request.path_params["id"] != installation:
            return _said(401, "'Expiration time' claim ('exp') is too far in the future")
        self.issued.append(f"ghs_{len(self.issued):036d}")
        self.tokens.add(self.issued[-1])
        ends = time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.app_token_seconds)
        )
        return JSONResponse({"token": self.issued[-1], "expires_at": ends}, 201)

    def _is_good(self, token: str) -> bool:
        named = [repo.tokens or set() for repo in self.repos.values()]
        forbidden = [repo.forbidden for repo in self.repos.values()]
        return token in self.tokens.union(*named, *forbidden)


def commit_of(directory: Path) -> str:
    """A commit's id for what lies in a directory: another one as soon as any file changes."""
    seen = hashlib.sha1()
    for file in sorted(each for each in directory.rglob("*") if each.is_file()):
        if ".git" not in file.relative_to(directory).parts:
            seen.update(f"{file.relative_to(directory)}\0{file.stat().st_size}\0".encode())
            seen.update(file.read_bytes())
    return seen.hexdigest()


def tarball(directory: Path, name: str) -> bytes:
    """The files of a directory as GitHub packs them: one folder, the commit in the pax header."""
    out = io.BytesIO()
    commit = commit_of(directory)
    top = f"{name.replace('/', '-')}-{commit[:7]}"
    headers = {"comment": commit}
    with tarfile.open(fileobj=out, mode="w:gz", pax_headers=headers, compresslevel=1) as archive:
        archive.add(directory, top, filter=_but_git)
    return out.getvalue()


def _but_git(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if ".git" in member.name.split("/") else member


def _token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() in {"bearer", "token"} and token else None


def _said(status: int, message: str) -> JSONResponse:
    return JSONResponse({"message": message, "status": str(status)}, status)
