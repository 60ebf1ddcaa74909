"""A slip in the list of servers is told by its line, with what was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.config.portal import load_portal
from gateway.errors import ConfigError
from plugins.upstreams.config import UpstreamsConfig

NAME = "must be 1 to 24 of a to z, 0 to 9 and single hyphens, and begin with a letter"


def problems(folder: Path, server: str) -> list[str]:
    (folder / "config").mkdir()
    text = f"plugins:\n  upstreams:\n    servers:\n      - {server}\n"
    (folder / "config" / "portal.yaml").write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_portal(folder / "config").plugin_config("upstreams", UpstreamsConfig)
    begin = "config/portal.yaml:4: plugins.upstreams.servers[0]"
    return [str(each).removeprefix(begin) for each in refused.value.problems]


@pytest.mark.parametrize(
    ("server", "told"),
    [
        ("{name: My_One, url: 'https://a.example/mcp'}", f".name: {NAME}"),
        ("{name: a--b, url: 'https://a.example/mcp'}", f".name: {NAME}"),
        ("{name: one, ulr: 'https://a.example'}", ".ulr: unknown key; did you mean url?"),
        ("{name: one}", ": give either url or command"),
        ("{name: one, url: 'https://a.example', command: [x]}", ": give either url or command"),
        (
            "{name: one, url: 'https://a.example', env: {A: b}}",
            ": env and directory are for command; leave them out",
        ),
        (
            "{name: one, url: 'https://a.example', tools: {alias: {a: 'b c'}}}",
            ".tools.alias.a: must be 1 to 45 of letters, digits, _ and -",
        ),
        (
            "{name: one, url: 'https://a.example', credential: {header: {Authorization: B x}}}",
            ".credential.header: a secret is never written here; write ${NAME} and keep it in the "
            "environment",
        ),
        (
            "{name: one, url: 'https://a.example', credential: {exchange: "
            "{token_endpoint: 'https://b.example/token', client_id: x}}}",
            ".credential.exchange: give client_secret, or headers in list: with neither the portal "
            "cannot ask the server what it offers",
        ),
        (
            "{name: one, url: 'https://a.example', credential: {header: {A: b}, member_oauth: {}}}",
            ".credential: give one of header, member_oauth and exchange",
        ),
        (
            "{name: one, url: 'https://a.example', commons: {tol: x}}",
            ".commons.tol: unknown key; did you mean tool?",
        ),
        (
            "{name: one, url: 'https://a.example', commons: {tool: find}, tools: {include: [a]}}",
            ": commons.tool is find, which tools.include or exclude leaves out",
        ),
        (
            "{name: one, url: 'https://a.example', commons: {tool: commons_search}}",
            ".commons: tool must not be another portal's commons_search: two that ask each other "
            "do not come to an end; name the search tool of its own knowledge",
        ),
    ],
)
def test_a_slip_is_told_with_its_place(tmp_path: Path, server: str, told: str) -> None:
    assert told in problems(tmp_path, server)


def test_no_two_servers_have_one_name() -> None:
    one = {"name": "one", "url": "https://a.example"}
    with pytest.raises(ValueError, match="two servers are called one"):
        UpstreamsConfig.model_validate({"servers": [one, one]})


def test_a_server_without_a_credential_may_say_so() -> None:
    one = {"name": "one", "url": "https://a.example", "credential": "none"}
    [server] = UpstreamsConfig.model_validate({"servers": [one]}).servers
    assert server.credential is None
