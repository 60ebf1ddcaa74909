"""MCP beside the calls of tools: greetings, lists for each tier, reads, prompts, skills, faults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.answers.recorder import LEGACY, MODERN, Recorder

Ask = Callable[..., dict[str, Any]]
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "skills/list": "skills",
}
MAX_PAGES = 20
_JSON = {"content-type": "application/json"}


def record(recorder: Recorder) -> None:
    """Ask everything, in both eras."""
    for era, ask in (("modern", recorder.modern), ("legacy", recorder.legacy)):
        _lists(era, ask)
        _reads(era, ask)
        _prompts(era, ask)
        _skills(era, ask)
        _faults(era, ask)
    _modern_alone(recorder)
    _legacy_alone(recorder)
    _wire(recorder)


def _lists(era: str, ask: Ask) -> None:
    for who in ("open", "public", "member"):
        for method in LISTS:
            cursor: str | None = None
            for page in range(MAX_PAGES):
                params = {"cursor": cursor} if cursor else {}
                case = f"{era} {method} as {who}, page {page + 1}"
                cursor = ask(case, method, params, who).get("result", {}).get("nextCursor")
                if not cursor:
                    break
        ask(f"{era} ping as {who}", "ping", {}, who)
    ask(f"{era} tools/list with a cursor of nobody's", "tools/list", {"cursor": "nonsense"})
    ask(f"{era} tools/list of one plugin", "tools/list", {}, path="/mcp/workflows")
    ask(f"{era} tools/list of an unknown plugin", "tools/list", {}, path="/mcp/orchard")
    ask(f"{era} tools/list where members sign in", "tools/list", {}, path="/members/mcp")
    ask(f"{era} the same without a token", "tools/list", {}, "open", path="/members/mcp")


def _reads(era: str, ask: Ask) -> None:
    addresses = {
        "groups": "mcp://the-garden/data/groups",
        "ontology": "mcp://the-garden/data/ontology",
        "releases": "mcp://the-garden/data/releases",
        "how to search": "mcp://the-garden/prompts/knowledge-search",
        "a document": "mcp://the-garden/documents/pattern/three-tiers",
        "a document for members": "mcp://the-garden/documents/file/members-only",
        "no document": "mcp://the-garden/documents/pattern/nothing",
        "no type": "mcp://the-garden/documents/gizmo/three-tiers",
        "a group": "mcp://the-garden/groups/gardeners",
        "a release": "mcp://the-garden/releases/spring",
        "a term": "mcp://the-garden/terms/mulch",
        "a skill": "skill://house/water-plants/SKILL.md",
        "a file of a skill": "skill://house/water-plants/references/amounts.md",
        "a skill for members": "skill://inner/open-the-shed/SKILL.md",
        "a workflow": "playbook://workflows/code-review",
        "nothing": "mcp://the-garden/nothing",
        "no address": "nonsense",
    }
    for what, address in addresses.items():
        for who in ("open", "member"):
            ask(f"{era} resources/read of {what} as {who}", "resources/read", {"uri": address}, who)
    ask(f"{era} resources/read of an empty address", "resources/read", {"uri": ""})
    ask(f"{era} resources/read of nothing at all", "resources/read", {})


def _prompts(era: str, ask: Ask) -> None:
    def get(what: str, name: str, arguments: dict[str, Any], who: str = "member") -> None:
        params = {"name": name, "arguments": arguments}
        ask(f"{era} prompts/get {what} as {who}", "prompts/get", params, who)

    practices = {"practice1": "Water plants", "practice2": "Prune trees"}
    get("a comparison", "compare-practices", practices)
    get("a comparison", "compare-practices", practices, "open")
    get("a comparison without one", "compare-practices", {"practice1": "Water plants"})
    get("an explanation", "explain-pattern", {"pattern": "Composting"}, "open")
    get("research", "research-topic", {"topic": "soil", "depth": "deep"})
    get("research with a wrong word", "research-topic", {"topic": "soil", "depth": "abyss"})
    get("research with too much", "research-topic", {"topic": "soil", "colour": "red"})
    get("a skill", "water-plants", {})
    get("a skill", "water-plants", {}, "open")
    get("a workflow", "workflow-code-review", {})
    get("nothing", "no-such-prompt", {})
    for what, reference, argument in (
        ("a practice", {"type": "ref/prompt", "name": "compare-practices"}, ("practice1", "w")),
        ("a depth", {"type": "ref/prompt", "name": "research-topic"}, ("depth", "d")),
        ("no prompt", {"type": "ref/prompt", "name": "no-such-prompt"}, ("a", "b")),
        ("no argument", {"type": "ref/prompt", "name": "research-topic"}, ("colour", "")),
        (
            "a document",
            {"type": "ref/resource", "uri": "mcp://the-garden/documents/{contentType}/{id}"},
            ("contentType", "p"),
        ),
        ("no template", {"type": "ref/resource", "uri": "mcp://x/{id}"}, ("id", "")),
    ):
        params = {"ref": reference, "argument": {"name": argument[0], "value": argument[1]}}
        for who in ("open", "member"):
            case = f"{era} completion/complete {what} as {who}"
            ask(case, "completion/complete", params, who)


def _skills(era: str, ask: Ask) -> None:
    for what, address in (
        ("a skill", "skill://house/water-plants/SKILL.md"),
        ("a skill for members", "skill://inner/open-the-shed/SKILL.md"),
        ("no skill", "skill://house/nothing/SKILL.md"),
    ):
        for who in ("open", "member"):
            ask(f"{era} skills/get {what} as {who}", "skills/get", {"uri": address}, who)
    ask(f"{era} skills/get without an address", "skills/get", {})
    ask(f"{era} skills/get with a number", "skills/get", {"uri": 7})
    for what, address in (
        ("all skills", "skill://"),
        ("a source", "skill://house"),
        ("a skill", "skill://house/water-plants"),
        ("its folder", "skill://house/water-plants/references"),
        ("nothing", "skill://house/nothing"),
    ):
        case = f"{era} resources/directory/read of {what}"
        ask(case, "resources/directory/read", {"uri": address})


def _faults(era: str, ask: Ask) -> None:
    ask(f"{era} an unknown method", "tools/juggle", {})
    ask(f"{era} tools/call without a name", "tools/call", {"arguments": {}})
    ask(f"{era} tools/call with a list", "tools/call", {"name": "list_groups", "arguments": []})
    ask(f"{era} an unknown token", "tools/list", {}, headers={"authorization": "Bearer wrong"})
    ask(f"{era} no bearer", "tools/list", {}, headers={"authorization": "Basic YTpi"})
    ask(f"{era} an empty bearer", "tools/list", {}, headers={"authorization": "Bearer"})
    ask(f"{era} another host", "tools/list", {}, headers={"host": "evil.example.org"})
    ask(f"{era} another origin", "tools/list", {}, headers={"origin": "https://evil.example.org"})
    ask(f"{era} its own origin", "ping", {}, headers={"origin": "http://127.0.0.1:8321"})
    ask(f"{era} wants HTML", "tools/list", {}, headers={"accept": "text/html"})
    ask(f"{era} wants a stream alone", "ping", {}, headers={"accept": "text/event-stream"})
    ask(f"{era} wants JSON alone", "ping", {}, headers={"accept": "application/json"})


def _modern_alone(recorder: Recorder) -> None:
    ask = recorder.modern
    for who in ("open", "public", "member"):
        ask(f"modern server/discover as {who}", "server/discover", {}, who)
    ask("modern server/discover of one plugin", "server/discover", {}, path="/mcp/knowledge")
    for header, value in (
        ("mcp-method", "tools/call"),
        ("mcp-protocol-version", LEGACY),
        ("mcp-protocol-version", "1999-01-01"),
    ):
        ask(f"modern with {header} {value}", "tools/list", {}, headers={header: value})
    call = {"name": "list_groups", "arguments": {}}
    ask("modern with another name", "tools/call", call, headers={"mcp-name": "define_term"})
    key = "io.modelcontextprotocol/protocolVersion"
    ask("modern with an old version in _meta", "tools/list", {"_meta": {key: LEGACY}})
    version = {"mcp-protocol-version": "2031-01-01"}
    ask(
        "modern with a version to come",
        "tools/list",
        {"_meta": {key: "2031-01-01"}},
        headers=version,
    )
    notified = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    headers = {"mcp-protocol-version": MODERN}
    recorder.ask("modern notification", "POST", "/mcp", "open", headers, json=notified)
    bare = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    recorder.ask("modern without _meta", "POST", "/mcp", "open", headers, json=bare)
    response = {"jsonrpc": "2.0", "id": 1, "result": {}}
    recorder.ask("modern response", "POST", "/mcp", "open", headers, json=response)


def _legacy_alone(recorder: Recorder) -> None:
    def initialize(case: str, version: Any, path: str = "/mcp", who: str = "open") -> None:
        client = {"name": "answers", "version": "1"}
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
        message = {"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": params}
        headers = {"accept": "application/json, text/event-stream"}
        recorder.ask(f"legacy initialize {case}", "POST", path, who, headers, json=message)

    for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2019-01-01"):
        initialize(f"at {version}", version)
    initialize("without a version", None)
    initialize("one plugin", LEGACY, "/mcp/knowledge")
    initialize("an unknown plugin", LEGACY, "/mcp/orchard")
    initialize("where members sign in", LEGACY, "/members/mcp")
    initialize("where members sign in, as a member", LEGACY, "/members/mcp", "member")
    ask = recorder.legacy
    ask("legacy logging/setLevel", "logging/setLevel", {"level": "error"})
    ask("legacy logging/setLevel to nonsense", "logging/setLevel", {"level": "loud"})
    groups = {"uri": "mcp://the-garden/data/groups"}
    ask("legacy resources/subscribe", "resources/subscribe", groups)
    ask("legacy resources/unsubscribe", "resources/unsubscribe", groups)
    ask("legacy an unknown session", "ping", {}, headers={"mcp-session-id": "nonsense"})
    ask("legacy another version", "ping", {}, headers={"mcp-protocol-version": "2025-06-18"})
    ask("legacy a bad version", "ping", {}, headers={"mcp-protocol-version": "1999-01-01"})
    bare = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    recorder.ask("legacy without a session", "POST", "/mcp", "open", json=bare)
    recorder.ask("legacy GET without a session", "GET", "/mcp")
    recorder.ask("legacy DELETE without a session", "DELETE", "/mcp")


def _wire(recorder: Recorder) -> None:
    for case, body, headers in (
        ("no JSON", b"{", _JSON),
        ("nothing", b"", _JSON),
        ("a text", b'"hello"', _JSON),
        ("no JSON-RPC", b'{"hello": 1}', _JSON),
        ("another JSON-RPC", b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', _JSON),
        ("a batch", b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', _JSON),
        ("an id of null", b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', _JSON),
        ("a method that is a number", b'{"jsonrpc": "2.0", "id": 1, "method": 7}', _JSON),
        ("NaN", b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', _JSON),
        ("no UTF-8", b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', _JSON),
        ("text/plain", b"{}", {"content-type": "text/plain"}),
        ("no content type", b"{}", {}),
        ("too much", b" " * 300_000, _JSON),
    ):
        recorder.ask(f"wire {case}", "POST", "/mcp", "open", headers, content=body)
    for method in ("PUT", "PATCH", "OPTIONS", "HEAD"):
        recorder.ask(f"wire {method}", method, "/mcp")
