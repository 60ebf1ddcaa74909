"""``porch check`` on the servers of others."""

from __future__ import annotations

from typing import Any, cast

import pytest

from gateway.contract import Host
from plugins.upstreams.config import UpstreamsConfig
from plugins.upstreams.plugin import porch_plugin

HOST = cast(Host, None)


async def found(*servers: dict[str, Any]) -> list[tuple[str, str]]:
    check = porch_plugin().check
    assert check is not None
    findings = await check(UpstreamsConfig.model_validate({"servers": servers}), HOST)
    assert all(each.notice for each in findings)
    return [(".".join(map(str, each.location)), each.reason) for each in findings]


async def test_a_variable_that_is_not_set_is_named_by_the_line_that_needs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CODE_TOKEN", "a")
    monkeypatch.delenv("NOPE_TOKEN", raising=False)
    header = {"Authorization": "Bearer ${NOPE_TOKEN}", "X-Code": "${CODE_TOKEN}"}
    code = {
        "name": "code",
        "url": "https://code.example.org/mcp",
        "credential": {"header": header},
    }
    reason = "the environment has no NOPE_TOKEN; until it has, code is away"
    assert await found(code) == [("servers.0.credential.header.Authorization", reason)]
    monkeypatch.setenv("NOPE_TOKEN", "b")
    assert await found(code) == []


async def test_what_a_program_and_a_list_need_is_looked_for_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NOPE_A", "NOPE_B"):
        monkeypatch.delenv(name, raising=False)
    listed = {"list": {"Authorization": "Bearer ${NOPE_B}"}}
    places = [
        place
        for place, _ in await found(
            {"name": "near", "command": ["near"], "env": {"KEY": "${NOPE_A}"}},
            {
                "name": "far",
                "url": "https://far.example.org/mcp",
                "credential": {"member_oauth": listed},
            },
        )
    ]
    assert places == ["servers.0.env.KEY", "servers.1.credential.member_oauth.list.Authorization"]
