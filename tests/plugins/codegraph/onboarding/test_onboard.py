"""``porch codegraph onboard``: what it writes, and what it never touches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.codegraph.onboarding import onboard as onboarding
from plugins.codegraph.onboarding.clients import CLIENTS
from plugins.codegraph.onboarding.onboard import Mode, Outcome, onboard
from plugins.codegraph.onboarding.rule import VERSION, rule_text
from plugins.codegraph.onboarding.sections import Section, State

URL = "https://portal.example.org/mcp"
RULES = [client.rule.path for client in CLIENTS]
SETTINGS = [c.settings.path for c in CLIENTS if not c.settings.path.startswith("~")]


def files(project: Path) -> dict[str, bytes]:
    found = (path for path in project.rglob("*") if path.is_file())
    return {path.relative_to(project).as_posix(): path.read_bytes() for path in found}


def outcomes(project: Path, mode: Mode = Mode.WRITE, url: str = URL) -> dict[str, Outcome]:
    return {step.path: step.outcome for step in onboard(project, url, mode)}


def test_an_empty_project_gets_the_rule_and_the_settings_of_every_client(tmp_path: Path) -> None:
    found = outcomes(tmp_path)
    assert {found[path] for path in (*RULES, *SETTINGS)} == {Outcome.WRITTEN}
    written = files(tmp_path)
    assert sorted(written) == sorted((*RULES, *SETTINGS))
    for path in RULES:
        assert "git add -N . && git diff HEAD" in written[path].decode()
        assert f"version={VERSION}" in written[path].decode()
    for path in SETTINGS:
        [servers] = json.loads(written[path]).values()
        assert servers["porch"]["url"] == URL


def test_the_second_time_nothing_changes(tmp_path: Path) -> None:
    onboard(tmp_path, URL, Mode.WRITE)
    before = files(tmp_path)
    for mode in Mode:
        found = outcomes(tmp_path, mode)
        assert {found[path] for path in (*RULES, *SETTINGS)} == {Outcome.CURRENT}
        assert files(tmp_path) == before


def test_a_check_writes_nothing(tmp_path: Path) -> None:
    found = outcomes(tmp_path, Mode.CHECK)
    assert {found[path] for path in (*RULES, *SETTINGS)} == {Outcome.MISSING}
    assert files(tmp_path) == {}


def test_what_is_a_persons_own_file_elsewhere_is_shown_and_not_written(tmp_path: Path) -> None:
    [step] = [each for each in onboard(tmp_path, URL, Mode.WRITE) if each.path.startswith("~")]
    assert step.outcome is Outcome.BY_HAND
    assert json.loads(step.paste) == {"mcpServers": {"porch": {"serverUrl": URL}}}


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_what_a_person_wrote_around_the_rule_stays(tmp_path: Path, newline: str) -> None:
    own = f"# My project{newline}{newline}Use tabs.{newline}"
    (tmp_path / "CLAUDE.md").write_text(own, newline="")
    assert outcomes(tmp_path)["CLAUDE.md"] is Outcome.WRITTEN
    text = (tmp_path / "CLAUDE.md").read_bytes().decode()
    assert text.startswith(own)
    assert text.count(newline) == text.count("\n")
    assert outcomes(tmp_path)["CLAUDE.md"] is Outcome.CURRENT


def test_an_older_rule_is_named_and_renewed_only_when_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(onboarding, "VERSION", "0.9.0")
    onboard(tmp_path, URL, Mode.WRITE)
    with (tmp_path / "CLAUDE.md").open("a") as file:
        file.write("\nMine.\n")
    monkeypatch.setattr(onboarding, "VERSION", VERSION)
    before = files(tmp_path)
    assert outcomes(tmp_path)["CLAUDE.md"] is Outcome.OUTDATED
    assert files(tmp_path) == before
    found = outcomes(tmp_path, Mode.UPDATE)
    assert {found[path] for path in RULES} == {Outcome.WRITTEN}
    text = (tmp_path / "CLAUDE.md").read_text()
    assert f"version={VERSION}" in text
    assert "version=0.9.0" not in text
    assert text.endswith("\nMine.\n")


@pytest.mark.parametrize("mode", [Mode.WRITE, Mode.UPDATE])
def test_a_rule_that_a_person_has_edited_is_kept(tmp_path: Path, mode: Mode) -> None:
    onboard(tmp_path, URL, Mode.WRITE)
    path = tmp_path / "CLAUDE.md"
    path.write_text(path.read_text().replace("Wait for the answer.", "Do not wait."))
    before = files(tmp_path)
    assert outcomes(tmp_path, mode)["CLAUDE.md"] is Outcome.KEPT
    assert files(tmp_path) == before


@pytest.mark.parametrize(
    "text",
    [
        "<!-- porch:begin version=1.0.0 digest=000000000000 -->\nno end\n",
        "no begin\n<!-- porch:end -->\n",
        f"{Section('1.0.0', 'one')}\n{Section('1.0.0', 'two')}\n",
    ],
    ids=["no end", "no begin", "two"],
)
def test_a_file_with_broken_markers_is_kept(tmp_path: Path, text: str) -> None:
    (tmp_path / "CLAUDE.md").write_text(text)
    assert outcomes(tmp_path, Mode.UPDATE)["CLAUDE.md"] is Outcome.KEPT
    assert (tmp_path / "CLAUDE.md").read_text() == text


def test_other_servers_and_settings_stay_where_they_are(tmp_path: Path) -> None:
    servers = {"other": {"command": "x", "args": ["ü"]}}
    own = {"inputs": [], "servers": servers}
    (tmp_path / ".vscode").mkdir()
    path = tmp_path / ".vscode/mcp.json"
    path.write_text(json.dumps(own, indent=4, ensure_ascii=False))
    assert outcomes(tmp_path)[".vscode/mcp.json"] is Outcome.WRITTEN
    text = path.read_text()
    porch = {"type": "http", "url": URL}
    assert json.loads(text) == {"inputs": [], "servers": {**servers, "porch": porch}}
    assert "\n    " in text
    assert "ü" in text


@pytest.mark.parametrize(
    "text",
    [
        '{"servers": {} // mine\n}',
        '{"servers": []}',
        "[]",
        '{"servers": {"porch": {"type": "http", "url": "https://elsewhere.example.org/mcp"}}}',
        '{"servers": {"porch": "https://elsewhere.example.org/mcp"}}',
    ],
    ids=["a comment", "a list of servers", "a list", "another portal", "another form"],
)
def test_settings_that_would_lose_something_are_kept_and_shown(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".vscode/mcp.json"
    path.parent.mkdir()
    path.write_text(text)
    [step] = [
        each for each in onboard(tmp_path, URL, Mode.UPDATE) if each.path == ".vscode/mcp.json"
    ]
    assert step.outcome is Outcome.KEPT
    assert URL in step.paste
    assert path.read_text() == text


def test_files_that_are_no_text_are_kept(tmp_path: Path) -> None:
    for path in ("CLAUDE.md", ".mcp.json"):
        (tmp_path / path).write_bytes(b"\xff\xfe\x00")
    found = outcomes(tmp_path)
    assert (found["CLAUDE.md"], found[".mcp.json"]) == (Outcome.KEPT, Outcome.KEPT)


def test_a_link_is_written_through_and_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("# Agents\n")
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    onboard(tmp_path, URL, Mode.WRITE)
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert "porch:begin" in (tmp_path / "AGENTS.md").read_text()


@given(
    before=st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])),
    body=st.text(st.characters(exclude_characters="\r<", exclude_categories=["Cs"])),
)
def test_a_section_can_be_put_into_any_text_and_found_again(before: str, body: str) -> None:
    section = Section("1.0.0", body)
    once = section.put_into(before)
    assert section.state_in(once) is State.CURRENT
    assert section.put_into(once) == once
    assert once.startswith(before.rstrip())
    newer = Section("1.1.0", rule_text())
    assert newer.state_in(once) is State.OUTDATED
    assert newer.state_in(newer.put_into(once)) is State.CURRENT
