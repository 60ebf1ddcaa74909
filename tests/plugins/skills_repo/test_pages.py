"""The page of a skill: its text as it is read, and where a client reads a copy of it."""

from __future__ import annotations

from pathlib import Path

from gateway.testing import open_test_portal
from plugins.skills_repo import plugin
from tests.gateway.surfaces.views.painted import EVIL

SKILL = f"""---
name: prune
description: {EVIL!r}
---
# Prune {EVIL}

Begin in *February*.
"""


async def test_a_skill_is_read_and_says_where_a_copy_of_it_goes(tmp_path: Path) -> None:
    place = tmp_path / "skills" / "prune" / "SKILL.md"
    place.parent.mkdir(parents=True)
    place.write_text(SKILL)
    source = {"name": "house", "kind": "skills", "directory": str(tmp_path), "tier": "open"}
    config = {
        "services": {"embedding": "none"},
        "plugins": {"skills_repo": {"sources": [source]}},
    }
    async with open_test_portal(plugin, config=config, tiers={"default": "open"}) as portal:
        answer = await portal.http("members").get("/skills_repo/skill?name=prune")
    assert answer.status_code == 200, answer.text
    assert "Begin in <em>February</em>." in answer.text
    assert "~/.claude/skills/prune/SKILL.md" in answer.text
    assert ".agents/skills/prune/SKILL.md" in answer.text
    assert "~/.copilot/skills/prune/SKILL.md" in answer.text
    assert "porch skills install prune --client claude --source house" in answer.text
    assert "<script>alert" not in answer.text
    assert "<img src=x" not in answer.text


async def test_it_says_which_files_it_has_and_how_often_it_is_read(tmp_path: Path) -> None:
    files = {
        "SKILL.md": SKILL,
        "references/when.md": f"# When {EVIL}\n\nIn *winter*.",
        "cut.py": "print('<b>')\n",
    }
    for name, text in files.items():
        file = tmp_path / "skills" / "prune" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "skills" / "prune" / "saw.png").write_bytes(b"\x89PNG\x00")
    source = {"name": "house", "kind": "skills", "directory": str(tmp_path), "tier": "members"}
    config = {
        "services": {"embedding": "none"},
        "plugins": {"skills_repo": {"sources": [source]}},
    }
    page, shown = "/skills_repo/skill?name=prune", "/skills_repo/skill-file?skill=prune&file="
    async with open_test_portal(plugin, config=config, tiers={"default": "open"}) as portal:
        http = portal.http("members")
        answers = [(await http.get(page)).text for _ in range(2)]
        markdown = (await http.get(f"{shown}references/when.md")).text
        code = (await http.get(f"{shown}cut.py")).text
        binary = (await http.get(f"{shown}saw.png")).text
        closed = await portal.http("open").get(page)
        hidden = await portal.http("open").get(f"{shown}cut.py")
    assert "references/when.md" in answers[0]
    assert "text/x-python" in answers[0]
    assert "image/png" in answers[0]
    assert "1 time, by up to 1 person a day" in answers[0]
    assert "2 times, by up to 1 person a day" in answers[1]
    assert "In <em>winter</em>." in markdown
    assert "print(&#39;&lt;b&gt;&#39;)" in code
    assert "It is no text." in binary
    assert (closed.status_code, hidden.status_code) == (403, 403)
    for text in (closed.text, hidden.text):
        assert "when.md" not in text
        assert "text/x-python" not in text
    for text in (*answers, markdown):
        assert "<script>alert" not in text
