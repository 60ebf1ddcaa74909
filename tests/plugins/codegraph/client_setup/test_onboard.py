"""``porch codegraph onboard``: what it writes, and what it never touches."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract import CommandContext
from plugins.codegraph.client_setup import onboard as onboarding
from plugins.codegraph.client_setup.clients import CLIENTS
from plugins.codegraph.client_setup.jsonc import parsed
from plugins.codegraph.client_setup.onboard import Mode, Outcome, onboard
from plugins.codegraph.client_setup.rule import VERSION, rule_text
from plugins.codegraph.client_setup.sections import Section, State
from plugins.codegraph.client_setup.settings import merged
from plugins.codegraph.commands.onboard import ONBOARD, OnboardArgs

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
        '{"servers": {} "inputs": 1}',
        '{"servers": {}, "servers": {}}',
        '{"servers": []}',
        "[]",
        '{"servers": {"porch": {"type": "http", "url": "https://elsewhere.example.org/mcp"}}}',
        '{"servers": {"porch": "https://elsewhere.example.org/mcp"}}',
    ],
    ids=["no JSON", "twice", "a list of servers", "a list", "another portal", "another form"],
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


def test_a_link_out_of_the_project_is_kept_and_what_it_leads_to_too(tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    for each in (project, other):
        each.mkdir()
    (other / "notes.md").write_text("Mine.\n")
    (project / "CLAUDE.md").symlink_to(other / "notes.md")
    (project / ".mcp.json").symlink_to(other / "not there.json")
    (project / ".cursor").symlink_to(other)
    before = files(other)
    found = outcomes(project)
    for path in ("CLAUDE.md", ".mcp.json", ".cursor/mcp.json", ".cursor/rules/porch.mdc"):
        assert found[path] is Outcome.KEPT
    assert files(other) == before


def test_links_that_lead_to_each_other_and_directories_are_kept(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").symlink_to(".mcp.json")
    (tmp_path / ".mcp.json").symlink_to("CLAUDE.md")
    (tmp_path / ".vscode/mcp.json").mkdir(parents=True)
    found = outcomes(tmp_path)
    for path in ("CLAUDE.md", ".mcp.json", ".vscode/mcp.json"):
        assert found[path] is Outcome.KEPT
    assert found[".cursor/mcp.json"] is Outcome.WRITTEN


@pytest.mark.parametrize("name", ["CLAUDE.md", ".mcp.json"])
def test_a_file_that_is_read_only_is_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("{}")
    path.chmod(0o444)
    assert outcomes(tmp_path, Mode.UPDATE)[name] is Outcome.KEPT
    assert path.read_text() == "{}"


def test_a_new_rule_of_a_client_begins_with_what_makes_it_read_it(tmp_path: Path) -> None:
    path = tmp_path / ".cursor/rules/porch.mdc"
    path.parent.mkdir(parents=True)
    path.write_text("\n")
    outcomes(tmp_path)
    assert path.read_text().startswith("---\ndescription: ")


ITEMS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
GAPS = st.sampled_from(["", " ", "\n  ", "\t", " // mine, {\n", "/* a } */", "\n\n"])


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """What a person may have written: any layout, with comments and trailing commas."""

    def written(value: Any) -> str:
        gap = draw(GAPS)
        if isinstance(value, dict) and value:
            parts = [
                f"{draw(GAPS)}{json.dumps(key)}:{written(each)}" for key, each in value.items()
            ]
            last = draw(st.sampled_from(["", ","]))
            return f"{gap}{{{','.join(parts)}{draw(GAPS)}{last}{draw(GAPS)}}}"
        return f"{gap}{json.dumps(value, ensure_ascii=draw(st.booleans()))}{draw(GAPS)}"

    names = st.text(max_size=5).filter(lambda name: name not in ("porch", "servers"))
    members = st.dictionaries(names, ITEMS, max_size=3)
    value: dict[str, Any] = draw(members)
    if draw(st.booleans()):
        value["servers"] = draw(members)
    text = draw(st.sampled_from(["", "\ufeff"])) + written(value)
    return (text.replace("\n", "\r\n") if draw(st.booleans()) else text), value


@given(documents())
def test_in_settings_of_any_layout_every_character_stays_and_the_entry_is_new(
    document: tuple[str, dict[str, Any]],
) -> None:
    text, value = document
    file = next(client.settings for client in CLIENTS if client.name == "VS Code")
    new = merged(text, file, URL)
    assert new is not None
    entry = {"porch": {"type": "http", "url": URL}}
    read, _ = parsed(new)
    assert read == {**value, "servers": {**value.get("servers", {}), **entry}}
    assert list(read)[: len(value)] == list(value)
    rest = iter(new)
    assert all(character in rest for character in text)  # the old text, with more in between
    assert merged(new, file, URL) is None
    if "\r\n" in text:
        assert new.count("\r\n") == new.count("\n")


def test_a_layout_is_kept_to_the_character(tmp_path: Path) -> None:
    path = tmp_path / ".vscode/mcp.json"
    path.parent.mkdir()
    own = (
        '\ufeff{\r\n\t// what we use\r\n\t"servers": {\r\n\t\t"other": '
        '{ "command": "x", "args": ["-y", "\\u00fc"] }, // keep\r\n\t},\r\n}\r\n'
    )
    path.write_text(own, newline="", encoding="utf-8")
    assert outcomes(tmp_path)[".vscode/mcp.json"] is Outcome.WRITTEN
    added = f'\r\n\t\t"porch": {{\r\n\t\t\t"type": "http",\r\n\t\t\t"url": "{URL}"\r\n\t\t}}'
    assert path.read_bytes().decode() == own.replace("// keep", f"// keep{added}")


@given(
    before=st.text(st.characters(exclude_characters="\r", exclude_categories=["Cs"])),
    body=st.text(st.characters(exclude_characters="\r<", exclude_categories=["Cs"])),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_a_section_can_be_put_into_any_text_and_found_again(
    before: str, body: str, newline: str
) -> None:
    before = before.replace("\n", newline)
    section = Section("1.0.0", body)
    once = section.put_into(before)
    assert section.state_in(once) is State.CURRENT
    assert section.put_into(once) == once
    assert once.startswith(before)
    after = f"{once}Mine.{newline}"
    newer = Section("1.1.0", rule_text())
    assert newer.state_in(after) is State.OUTDATED
    renewed = newer.put_into(after)
    assert newer.state_in(renewed) is State.CURRENT
    assert renewed.startswith(before)
    assert renewed.endswith(f"Mine.{newline}")


@pytest.mark.parametrize(
    ("before", "flags", "code"),
    [
        ([], {"check": True}, 1),
        ([], {}, 0),
        ([{}], {"check": True}, 0),
        ([{}], {"update": True}, 0),
        ([], {"check": True, "update": True}, 2),
    ],
    ids=["missing", "written", "there", "nothing to renew", "both"],
)
async def test_the_exit_code_says_whether_all_is_well(
    tmp_path: Path, before: list[dict[str, bool]], flags: dict[str, bool], code: int
) -> None:
    told: list[str] = []
    context = CommandContext(None, told.append, told.append, False, _no_host, URL)
    for each in before:
        await ONBOARD.run(OnboardArgs(path=tmp_path, **each), context)
    assert await ONBOARD.run(OnboardArgs(path=tmp_path, **flags), context) == code
    assert told


async def test_an_old_or_edited_rule_and_no_directory_are_told_by_the_exit_code(
    tmp_path: Path,
) -> None:
    context = CommandContext(None, lambda _: None, lambda _: None, False, _no_host, URL)
    args = OnboardArgs(path=tmp_path)
    assert await ONBOARD.run(args, context) == 0
    rule = tmp_path / "CLAUDE.md"
    written = rule.read_text()
    rule.write_text(f"{Section('0.9.0', 'An older rule.')}\n")
    assert await ONBOARD.run(args.model_copy(update={"check": True}), context) == 1
    assert await ONBOARD.run(args, context) == 1
    assert await ONBOARD.run(args.model_copy(update={"update": True}), context) == 0
    assert rule.read_text() == written
    rule.write_text(written.replace("Wait for", "Never wait for"))
    assert await ONBOARD.run(args.model_copy(update={"check": True}), context) == 1
    assert await ONBOARD.run(OnboardArgs(path=tmp_path / "no"), context) == 2


def _no_host() -> Any:
    raise AssertionError("onboarding needs no services")
