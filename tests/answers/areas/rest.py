"""The REST API, the memory API, webhooks, health, and what is no route at all."""

from __future__ import annotations

import hashlib
import hmac
import json
import time

import httpx2

from tests.answers import world
from tests.answers.recorder import Recorder

MEMORY = "/openspec/v1/knowledge"
ENTRY = {
    "content": "The well is eight metres deep.",
    "metadata": {"title": "The well", "tags": ["water"]},
    "access_policy": "private",
}
_JSON = {"content-type": "application/json"}


def routes(recorder: Recorder) -> None:
    """Every route that reads, as each tier; wrong parameters; what is not there."""
    reads = [
        "/api/v1/search?q=soil",
        "/api/v1/search?q=orchid",
        "/api/v1/search?q=bed&limit=3&contentType=pattern",
        "/api/v1/search?q=water&group=gardeners",
        "/api/v1/search",
        "/api/v1/search?q=",
        "/api/v1/search?q=x&limit=many",
        "/api/v1/search?q=x&limit=0",
        "/api/v1/search?q=x&colour=red",
        "/api/v1/search?q=x&q=y",
        "/api/v1/search?q=%ff",
        "/api/v1/entries/pattern/composting",
        "/api/v1/entries/file/members-only",
        "/api/v1/entries/pattern/nothing",
        "/api/v1/entries/gizmo/nothing",
        "/api/v1/codegraph/repositories",
        "/api/v1/codegraph/repositories/garden",
        "/api/v1/codegraph/repositories/shed",
        "/api/v1/codegraph/repositories/nothing",
        "/api/v1/knowledge/sync",
        "/api/v1/knowledge/verify",
        "/api/v1/knowledge/review",
        "/api/v1/openapi.json",
        f"{MEMORY}/openapi.json",
        "/api/v1/knowledge/openapi.json",
        "/api/v1/knowledge/entries",
        "/api/v1/nothing",
        "/api/v2/search",
        "/openspec/v1/nothing",
        "/nothing",
        "/healthz",
        "/readyz",
        "/admin/tools",
        "/admin/explain",
        "/hooks/knowledge/github",
    ]
    for path in reads:
        for who in ("open", "public", "member"):
            recorder.ask(f"GET {path} as {who}", "GET", path, who)
    for number in range(4):
        path = f"/api/v1/entries?contentType=pattern&limit=3&offset={3 * number}"
        recorder.ask(f"limited {number + 1}, GET {path}", "GET", path, "public")
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "POST"):
        recorder.ask(f"{method} /api/v1/search", method, "/api/v1/search?q=x")
    preflight = {
        "origin": "https://app.example.org",
        "access-control-request-method": "GET",
        "access-control-request-headers": "authorization",
    }
    for path in ("/api/v1/search", MEMORY, "/mcp", "/token", "/.well-known/jwks.json"):
        recorder.ask(f"preflight of {path}", "OPTIONS", path, "open", preflight)
    foreign = {"origin": "https://app.example.org"}
    recorder.ask("another origin", "GET", "/api/v1/search?q=soil", "open", foreign)
    wrong = {"authorization": "Bearer wrong"}
    recorder.ask("an unknown token", "GET", "/api/v1/search?q=soil", "open", wrong)
    recorder.ask("another host", "GET", "/api/v1/search?q=x", "open", {"host": "evil.example.org"})
    _metrics(recorder)


def _metrics(recorder: Recorder) -> None:
    """The names of what is measured; the numbers differ each time."""
    answer = recorder.http.get("/metrics")
    names = sorted({line.split()[2] for line in answer.text.splitlines() if line[:6] == "# TYPE"})
    recorder.keep("names of /metrics", {"status": answer.status_code, "names": names})


def writes(recorder: Recorder) -> None:
    """Routes that write or are refused."""
    where = "/api/v1/codegraph/repositories"
    for case, body in (
        ("without an address", {}),
        ("no https", {"url": "http://git.example.org/a"}),
        ("an unknown host", {"url": "https://git.example.org/a/b"}),
        ("too much", {"url": "https://git.example.org/a", "colour": "red"}),
    ):
        for who in ("open", "member"):
            recorder.ask(f"POST repository {case} as {who}", "POST", where, who, json=body)
    for who in ("open", "member"):
        recorder.ask(f"DELETE repository as {who}", "DELETE", f"{where}/nothing", who)
        recorder.ask(f"POST index as {who}", "POST", f"{where}/nothing/index", who)
        recorder.ask(f"POST sync as {who}", "POST", "/api/v1/knowledge/sync", who)
    for case, content, headers in (
        ("no JSON", b"{", _JSON),
        ("a list", b"[]", _JSON),
        ("text", b"hello", {"content-type": "text/plain"}),
        ("no type", b"{}", {}),
        ("too much", b" " * 300_000, _JSON),
    ):
        path = f"{MEMORY}/create"
        recorder.ask(f"body {case}", "POST", path, "member", headers, content=content)
    _hooks(recorder)


def _hooks(recorder: Recorder) -> None:
    body = b'{"zen": "Keep it simple."}'
    push = json.dumps({"ref": "refs/heads/main", "repository": {"full_name": "a/b"}}).encode()
    for plugin in ("knowledge", "skills_repo", "orchard"):
        path = f"/hooks/{plugin}/github"
        for case, event, content, signature in (
            ("unsigned", "ping", body, None),
            ("badly signed", "ping", body, "sha256=" + "0" * 64),
            ("ping", "ping", body, _signature(body)),
            ("push of another", "push", push, _signature(push)),
            ("no JSON", "push", b"{", _signature(b"{")),
        ):
            headers = {**_JSON, "x-github-event": event, "x-github-delivery": f"{plugin} {case}"}
            if signature:
                headers["x-hub-signature-256"] = signature
            recorder.ask(f"hook {plugin} {case}", "POST", path, "open", headers, content=content)
    recorder.ask("hook that is too large", "POST", path, "open", _JSON, content=b" " * 300_000)


def _signature(body: bytes) -> str:
    digest = hmac.new(world.HOOK_SECRET.encode(), body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"


def memory(recorder: Recorder) -> None:
    """The Knowledge Provider API, from an entry's first words to its end."""

    def ask(
        case: str, method: str, path: str = "", who: str = "member", **more: object
    ) -> httpx2.Response:
        return recorder.ask(case, method, MEMORY + path, who, **more)  # type: ignore[arg-type]

    for number, who in enumerate(("open", "public", "public", "public", "member")):
        ask(f"01 discovery {number}, as {who}", "GET", who=who)
    created = ask("02 create", "POST", "/create", json={"entry": ENTRY})
    id_ = created.json().get("entry", {}).get("id", "nothing")
    ask("02 create as a stranger", "POST", "/create", "open", json={"entry": ENTRY})
    ask("02 create nothing", "POST", "/create", json={})
    ask("02 create too much", "POST", "/create", json={"entry": {**ENTRY, "colour": "red"}})
    bad = {"entry": ENTRY, "options": {"layer": {"type": "cellar"}}}
    ask("02 create in no layer", "POST", "/create", json=bad)
    shared = {"entry": {**ENTRY, "content": "For everyone.", "access_policy": "public"}}
    waiting = ask("02 create for everyone", "POST", "/create", json=shared)
    old = ask("03 read", "GET", f"/{id_}")
    ask("03 read as another", "GET", f"/{id_}", "other")
    ask("03 read nothing", "GET", "/mem_000000000000000000000000")
    tag = {"if-none-match": old.headers.get("etag", "")}
    ask("03 read what is known", "GET", f"/{id_}", headers=tag)
    ask("03 metadata", "GET", f"/{id_}/metadata")
    ask("03 metadata without custom", "GET", f"/{id_}/metadata?include_custom=false")
    for mode in ("semantic", "keyword", "hybrid", "psychic"):
        ask(
            f"04 query {mode}",
            "POST",
            "/query",
            json={"query": "how deep is the well", "mode": mode},
        )
    options = {"limit": 1, "min_score": 0.3, "nearest": 3}
    ask("04 query options", "POST", "/query", json={"query": "well", "options": options})
    ask("04 query nothing", "POST", "/query", json={"query": ""})
    ask("04 query as a stranger", "POST", "/query", "open", json={"query": "well"})
    changed = {"entry": {"content": "The well is nine metres deep.", "version": 1}}
    ask("05 update", "PUT", f"/{id_}", json=changed)
    ask("05 update of another's", "PUT", f"/{id_}", "other", json=changed)
    ask("05 update of nothing", "PUT", "/mem_000000000000000000000000", json=changed)
    ask("06 list", "GET", "/entries?mine=true")
    ask("06 list by tag", "GET", "/entries?tag=water")
    ask("06 list by no date", "GET", "/entries?since=yesterday")
    ask("06 list with no cursor", "GET", "/entries?cursor=x")
    beds = [{"entry": {"content": f"Bed {number} has beans."}} for number in range(3)]
    entries = [*beds, {"entry": {"content": ""}}]
    batch = ask("07 batch", "POST", "/batch", json={"operation": "create", "entries": entries})
    operation = batch.json().get("operation_id", "nothing")
    _await_batch(recorder, operation)
    ask("07 batch report", "GET", f"/batch/{operation}")
    ask("07 batch report of another's", "GET", f"/batch/{operation}", "other")
    ask("07 batch of nothing", "POST", "/batch", json={"operation": "create", "entries": []})
    ask("07 batch of no kind", "POST", "/batch", json={"operation": "juggle", "entries": entries})
    ask("08 approvals", "GET", "/approvals?state=pending", "other")
    approval = waiting.json().get("approval_required") or {}
    request = approval.get("request_id") or approval.get("id") or "nothing"
    ask("08 approval", "GET", f"/approvals/{request}", "other")
    ask("08 approve one's own", "POST", f"/approvals/{request}/approve", json={})
    ask("08 reject", "POST", f"/approvals/{request}/reject", "other", json={"note": "Not now."})
    ask("08 reject again", "POST", f"/approvals/{request}/reject", "other", json={})
    ask("09 delete another's", "DELETE", f"/{id_}", "other")
    ask("09 delete", "DELETE", f"/{id_}?reason=done")
    ask("09 delete again", "DELETE", f"/{id_}")
    ask("09 read what is gone", "GET", f"/{id_}")
    ask("10 stream as a stranger", "GET", "/stream", "open")
    ask("10 stream of no type", "GET", "/stream?type=nothing")
    ask("11 no such place", "GET", "/a/b/c")
    ask("11 no such method", "PATCH", "/query")


def _await_batch(recorder: Recorder, operation: str) -> None:
    token = {"authorization": f"Bearer {world.MEMBER}"}
    for _ in range(100):
        answer = recorder.http.get(f"{MEMORY}/batch/{operation}", headers=token).json()
        if answer.get("status") in {"completed", "failed", None}:
            return
        time.sleep(0.1)
