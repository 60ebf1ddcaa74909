"""A caller's own GitHub token reads what it may read, and afterwards it is nowhere."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.journeys.community import LOG, PORCH, Community, community
from tests.journeys.test_serving import request
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.serving import bound, serving

pytestmark = pytest.mark.heavy

GARDEN = Path(__file__).parents[1] / "plugins" / "skills_repo" / "garden"
OPERATOR = "ghp_" + "Op3" * 12
GOOD = "ghp_" + "aB3" * 12
REFUSED = "github_pat_" + "cD4_" * 10
UNKNOWN = "gho_" + "eF5" * 12
ODD = "odd-shaped!secret-of-mine"
SKILL = "skill://house/water-plants/SKILL.md"
OLD = "2025-11-25"

_HEADER = {"X-GitHub-Token": "{token}"}
_BEARER = {"Authorization": "Bearer {encoded}"}
_PLAIN = {"Authorization": "Bearer {token}"}
WAYS: dict[str, tuple[str, dict[str, str], bool]] = {
    "the header at /mcp": ("/mcp", _HEADER, True),
    "the header at the plugin's own address": ("/mcp/skills_repo", _HEADER, True),
    "the bearer token there": ("/mcp/skills_repo", _BEARER, True),
    "both there": ("/mcp/skills_repo", _HEADER | _BEARER, True),
    "a bearer token there that is not encoded": ("/mcp/skills_repo", _PLAIN, False),
    "the bearer token at /mcp": ("/mcp", _BEARER, False),
    "the same, not encoded": ("/mcp", _PLAIN, False),
    "the header where everybody must sign in": ("/members/mcp", _HEADER, False),
}
"""Where a token comes in, and whether it is taken there."""

READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("list_skills", {}),
    ("search_skills", {"query": "water"}),
    ("get_skill", {"name": "water-plants"}),
    ("get_skill", {"name": "water-plants"}),
    ("get_skill", {"name": "water-plants", "skipCache": True}),
    ("get_skill_file", {"skill": "water-plants", "file": "references/how-much.md"}),
    ("get_agent", {"name": "gardener"}),
    ("get_doc", {"path": ["index"]}),
)
FAILS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("get_skill", {"name": "not-there"}),
    ("get_skill", {"name": "../water-plants"}),
    ("get_doc", {"path": []}),
    ("get_agent", {"nam": "gardener"}),
)
TROUBLES: tuple[dict[str, Any], ...] = (
    {"behaves": "html"},
    {"behaves": "cut"},
    {"behaves": "short"},
    {"behaves": "no_base64"},
    {"behaves": "away"},
    {"behaves": "loop"},
    {"failing": 500},
)


@dataclass
class Run:
    """What a run of the portal leaves to be looked through.

    Attributes:
        portal: the portal.
        github: the GitHub that it asks.
        http: what callers send their requests with.
        read: what reading a skill gave, by token, way, and whether the revision was an old one.
        answers: everything that callers and admins were sent.
        traces: what the trace collector was sent.
        printed: what commands printed.
    """

    portal: Community
    github: GithubContents
    http: httpx2.Client
    read: dict[tuple[str, str, bool], str] = field(default_factory=dict)
    answers: list[bytes] = field(default_factory=list)
    traces: list[bytes] = field(default_factory=list)
    printed: list[bytes] = field(default_factory=list)

    def left(self) -> dict[str, bytes]:
        """Every text and file, by a name that says where it is."""
        files = {
            str(each): each.read_bytes()
            for each in sorted(self.portal.root.rglob("*"))
            if each.is_file()
        }
        return files | {
            "answers": b"\n".join(self.answers),
            "traces": b"\n".join(self.traces),
            "printed": b"\n".join(self.printed),
        }


class Caller:
    """A client that sends a credential with each of its requests, in one of the ways there are."""

    def __init__(self, run: Run, path: str, headers: Mapping[str, str], *, old: bool) -> None:
        self._run = run
        self._url = f"{run.portal.url}{path}"
        self._headers = dict(headers)
        self._old = old

    def begin(self) -> Caller:
        """Begin a session, where the revision has such."""
        if self._old:
            client = {"name": "test", "version": "1"}
            params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}
            answer = self._post({"id": 1, "method": "initialize", "params": params}, {})
            if answer.is_success:
                self._headers["mcp-session-id"] = answer.headers["mcp-session-id"]
                self._post({"method": "notifications/initialized"}, {})
        return self

    def ask(self, method: str, **params: Any) -> str:
        """The text of the answer to one request."""
        if self._old:
            return self._post({"id": 2, "method": method, "params": params}, {}).text
        made = request(method, **params)
        if "uri" in params:
            made["headers"]["mcp-name"] = params["uri"]
        return self._post(made["json"], made["headers"]).text

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text of the answer to a call."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def _post(self, message: Mapping[str, Any], headers: Mapping[str, str]) -> httpx2.Response:
        accepts = {"accept": "application/json, text/event-stream"}
        answer = self._run.http.post(
            self._url,
            json={"jsonrpc": "2.0", **message},
            headers={**accepts, **headers, **self._headers},
        )
        self._run.answers.append(repr(answer.headers).encode() + answer.content)
        return answer


@contextmanager
def collector(received: list[bytes]) -> Iterator[str]:
    """A trace collector; gives its address."""

    async def take(request: Request) -> Response:
        received.append(await request.body())
        return Response()

    app = Starlette(routes=[Route("/v1/traces", take, methods=["POST"])])
    with serving(app, bound()) as url:
        yield url


def config(github: GithubContents) -> dict[str, Any]:
    sources = [
        {"name": name, "kind": kind, "github": "garden/house", "path": kind}
        | {"credential": "caller", "tier": "open"}
        for name, kind in (("house", "skills"), ("crew", "agents"), ("handbook", "docs"))
    ]
    access = {"api_url": github.url, "token": "env:OPERATORS_TOKEN"}
    return {
        "plugins": {
            "knowledge": {"enabled": False},
            "skills_repo": {"sources": sources} | {"github": access},
        },
        "log": {"level": "debug", "format": "json"},
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    """A run in which callers of every kind came by; it is over."""
    traces: list[bytes] = []
    root = tmp_path_factory.mktemp("portal")
    with GithubContents() as github, collector(traces) as collected:
        github.repos["garden/house"] = Repo(GARDEN, tokens={OPERATOR, GOOD}, forbidden={REFUSED})
        variables = {
            "OPERATORS_TOKEN": OPERATOR,
            "OTEL_EXPORTER_OTLP_ENDPOINT": collected,
            "OTEL_EXPORTER_OTLP_COMPRESSION": "none",
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        tiers = {"items": {"skills_repo": "open"}}
        with (
            community(root, config(github), tiers, variables) as portal,
            httpx2.Client(timeout=60) as http,
        ):
            made = Run(portal, github, http, traces=traces)
            visited(made)
            looked_at(made)
        yield made


def visited(run: Run) -> None:
    """Let callers come with each credential, by each way, on good days and bad ones."""
    for token in (GOOD, REFUSED, UNKNOWN, ODD):
        for way, old, caller in callers(run, token):
            run.read[token, way, old] = caller.call("get_skill", {"name": "water-plants"})
            for tool, arguments in (*READS, *FAILS):
                caller.call(tool, arguments)
            caller.ask("prompts/get", name="water-plants", arguments={"arguments": "figs"})
            caller.ask("resources/read", uri=SKILL)
            caller.ask("skills/get", uri=SKILL)
            caller.ask("tools/list")
    for _, _, caller in callers(run, GOOD):
        for trouble in TROUBLES:
            for key, value in trouble.items():
                setattr(run.github, key, value)
            caller.call("get_skill", {"name": "water-plants", "skipCache": True})
            caller.call("get_doc", {"path": ["index"], "skipCache": True})
            run.github.answers()
        for status in (403, 429):
            run.github.limit(status, {"x-ratelimit-remaining": "0", "retry-after": "30"})
            caller.call("get_skill", {"name": "water-plants", "skipCache": True})
            run.github.answers()


def callers(run: Run, token: str) -> Iterator[tuple[str, bool, Caller]]:
    """A caller for each way in which a token may come, and for each era."""
    for way, (path, headers, _) in WAYS.items():
        encoded = base64.urlsafe_b64encode(token.encode()).decode().rstrip("=")
        sent = {k: v.format(token=token, encoded=encoded) for k, v in headers.items()}
        for old in (False, True):
            yield way, old, Caller(run, path, sent, old=old).begin()


def looked_at(run: Run) -> None:
    """Look at all that an admin looks at while the portal runs."""
    for path in ("/", "/metrics", "/readyz", "/api/v1/openapi.json"):
        answer = run.http.get(f"{run.portal.url}{path}", headers={"X-GitHub-Token": GOOD})
        run.answers.append(answer.content)
    for words in (["audit", "--json"], ["plugins"], ["skills", "index"], ["check"]):
        done = subprocess.run(
            [PORCH, *words],
            cwd=run.portal.root,
            env={"PATH": "/usr/bin:/bin", "OPERATORS_TOKEN": OPERATOR},
            capture_output=True,
        )
        run.printed.append(done.stdout + done.stderr)


def forms(token: str) -> dict[str, bytes]:
    """A token as it might be written somewhere."""
    raw = token.encode()
    return {
        "as it is": raw,
        "in URL-safe Base64": base64.urlsafe_b64encode(raw).rstrip(b"="),
        "in Base64": base64.b64encode(raw).rstrip(b"="),
        "in Base64, with its scheme": base64.b64encode(b"Bearer " + raw)[10:-4],
        "percent-encoded": quote(token, safe="").encode(),
        "in hexadecimal digits": raw.hex().encode(),
        "as its SHA-256": hashlib.sha256(raw).hexdigest().encode(),
        "as the bytes of its SHA-256": hashlib.sha256(raw).digest(),
    }


@pytest.mark.parametrize("token", [GOOD, REFUSED, UNKNOWN, ODD, OPERATOR])
def test_no_token_is_left_anywhere_in_any_form(run: Run, token: str) -> None:
    found = [
        f"{where}: {form}"
        for where, content in run.left().items()
        for form, text in forms(token).items()
        if text in content
    ]
    assert found == []


def test_the_run_was_one_in_which_tokens_could_have_been_left(run: Run) -> None:
    sent = {each.headers.get("authorization", "") for each in run.github.requests}
    assert {f"Bearer {token}" for token in (OPERATOR, GOOD, REFUSED, UNKNOWN, ODD)} <= sent
    left = run.left()
    assert b"in the morning" in left["answers"]
    for code in (b"UNAUTHORIZED", b"FORBIDDEN", b"NOT_FOUND", b"UPSTREAM_ERROR", b"INVALID_PATH"):
        assert code in left["answers"], code
    assert b'item="get_skill"' in left["answers"]
    assert b"tools/call get_skill" in left["traces"]
    assert b"get_skill" in left["printed"]
    log = left[str(run.portal.root / LOG)]
    assert b'"level": "debug"' in log
    databases = [name for name in left if name.endswith((".db", ".sqlite", ".sqlite3"))]
    assert databases
    assert any(b"get_skill" in left[name] for name in left if "data" in name)


def test_who_may_read_has_read_and_nobody_else(run: Run) -> None:
    by_way: dict[tuple[str, str], set[bool]] = {}
    for (token, way, _), text in run.read.items():
        by_way.setdefault((token, way), set()).add("in the morning" in text)
    expected = {
        (token, way): {token == GOOD and taken}
        for token in (GOOD, REFUSED, UNKNOWN, ODD)
        for way, (_, _, taken) in WAYS.items()
    }
    assert by_way == expected
