"""Secrets in skills, agents and docs: no read path shows one, and digests are of what is served."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from random import Random
from typing import Any

from gateway.testing import open_test_portal
from plugins.skills_repo import plugin
from tests.gateway.scrubbing.fakes import made

TOKEN = made("ghp_{alnum:36}", Random(21))
FILES = {
    "skills/deploy/SKILL.md": f"---\nname: deploy\ndescription: Deploys with {TOKEN}\n---\n"
    f"Use `{TOKEN}` here.\n",
    "skills/deploy/env.sh": f"export TOKEN={TOKEN}\n",
    "agents/cook.md": f"---\nname: cook\ndescription: Cooks.\n---\nThe token is {TOKEN}.\n",
    "docs/index.md": f"# Keys\n\nOurs is {TOKEN}.\n",
}


async def test_nothing_of_a_source_shows_a_secret_and_every_digest_is_right(tmp_path: Path) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    sources = [
        {"name": kind, "kind": kind, "directory": str(tmp_path / kind)}
        for kind in ("skills", "agents", "docs")
    ]
    config = {"plugins": {"skills_repo": {"sources": sources}}}
    data = tmp_path / "data"
    async with open_test_portal(plugin, config=config, data_dir=data) as portal:
        calls: list[tuple[str, dict[str, Any]]] = [
            *((name, {}) for name in ("list_skills", "list_agents", "list_docs")),
            ("search_skills", {"query": f"deploy token {TOKEN[:10]}"}),
            ("get_skill", {"name": "deploy"}),
            ("get_skill_file", {"skill": "deploy", "file": "env.sh"}),
            ("get_agent", {"name": "cook"}),
            ("get_doc", {"path": []}),
        ]
        shown = [json.dumps(await portal.mcp("members").call(*each)) for each in calls]
        shown.append(json.dumps([await portal.tools(), await portal.prompts()]))
        file = json.loads(shown[5])["structuredContent"]
        shown.append(base64.b64decode(file["content"]).decode())
        resources = await portal.resources()
        shown.append(json.dumps(resources))
        digests = 0
        for uri in resources:
            content = await portal.read_bytes(uri)
            shown.append(content.decode())
            digests += hashlib.sha256(content).hexdigest() in json.dumps(resources)
        assert not [each for each in shown if TOKEN in each]
        assert any("[REDACTED: GitHub" in each for each in shown)
    kept = [path.read_bytes() for path in data.rglob("*") if path.is_file()]
    assert not [each for each in kept if TOKEN.encode() in each]
