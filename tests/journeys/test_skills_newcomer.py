"""A newcomer takes comment signs off, and the official Inspector reads what the sources hold."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.journeys.community import PATIENCE, Community, running
from tests.journeys.inspecting import failed, inspected
from tests.servers import forked

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[2]
ERAS = ["legacy", "modern"]
SKILL = "skill://house/postgresql-table-design"


def uncommented(shipped: str) -> str:
    """The shipped ``portal.yaml`` with the sources that are directories, and nothing else."""
    lines = shipped.splitlines()
    first = lines.index("  # skills_repo:")
    last = lines.index("", first)
    block = [line.replace("# ", "", 1) for line in lines[first:last]]
    kept = [line for line in block if "github" not in line.lower()]
    return "\n".join([*lines[:first], *kept, *lines[last:], ""])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory, test_data: Path) -> Path:
    """A directory as a newcomer has it: the shipped files, and a community's repositories."""
    place = tmp_path_factory.mktemp("newcomer")
    shutil.copytree(ROOT / "config", place / "config")
    shutil.copytree(ROOT / "content", place / "content")
    for kind in ("skills", "agents"):
        shutil.copytree(test_data / "skills-repo-a" / kind, place / kind)
    shutil.copytree(test_data / "docs-tree-a" / "civic", place / "docs")
    shipped = (ROOT / "config" / "portal.yaml").read_text()
    (place / "config" / "portal.yaml").write_text(uncommented(shipped))
    return place


@pytest.fixture(scope="module")
def portal(place: Path) -> Iterator[Community]:
    """The portal of that directory."""
    with running(place) as portal:
        yield portal


@pytest.fixture(scope="module")
def tokens(portal: Community) -> dict[str, str]:
    """A token of each tier that an operator makes while the portal runs."""
    made = {}
    for tier in ("public", "members"):
        words = ("token", "create", "--tier", tier, "--name", f"the-{tier}")
        done = forked.run(words, portal.root, dict(os.environ), PATIENCE)
        done.check_returncode()
        made[tier] = done.stdout.strip()
    return made


class Client:
    """The Inspector as somebody uses it."""

    def __init__(self, url: str, era: str, token: str | None, place: Path) -> None:
        self._given = (f"{url}/mcp", era, place, token)

    def ask(self, method: str, *arguments: str) -> dict[str, Any]:
        return inspected(*self._given, "--method", method, *arguments)

    def call(self, tool: str, **arguments: str) -> Any:
        options = [f"{name}={value}" for name, value in arguments.items()]
        given = ["--tool-arg", *options] if options else []
        answer = self.ask("tools/call", "--tool-name", tool, *given)
        text, found = answer["content"][0]["text"], answer["structuredContent"]
        # A file is said as itself; every other answer as the JSON of what it says.
        said = found["text"] if "text" in found else found.get("content")
        assert text == said or json.loads(text) == found
        return found

    def refusal(self, tool: str, *arguments: str) -> str:
        given = ["--method", "tools/call", "--tool-name", tool, *arguments]
        return failed(*self._given, *given)


@pytest.fixture(params=ERAS)
def member(
    request: pytest.FixtureRequest, portal: Community, tokens: dict[str, str], tmp_path: Path
) -> Client:
    return Client(portal.url, str(request.param), tokens["members"], tmp_path)


def test_a_skill_is_listed_and_read(member: Client) -> None:
    first = member.call("list_skills")
    assert first["pagination"]["totalCount"] > 90
    assert len(first["data"]) < 90
    assert first["data"][0].keys() == {"name", "description", "source", "directory"}
    assert len(json.dumps(first)) < 12_500
    skill = member.call("get_skill", name="postgresql-table-design")
    assert skill["content"].startswith("---\nname: postgresql-table-design\n")
    assert skill["path"] == "postgresql/SKILL.md"
    found = member.call("search_skills", query="design the tables of a PostgreSQL database")
    assert found["results"][0]["name"] == "postgresql-table-design"


def test_an_agent_is_listed_and_read_by_either_name(member: Client) -> None:
    listed = member.call("list_agents")["data"]
    other = next(each for each in listed if each["name"] != each["file"])
    by_name = member.call("get_agent", name=other["name"])
    assert by_name["content"].startswith("---\n")
    assert member.call("get_agent", name=other["file"])["sha"] == by_name["sha"]


def test_a_doc_page_is_listed_and_read(member: Client) -> None:
    first = member.call("list_docs")
    assert len(json.dumps(first)) < 16_000
    assert first["pages"] == 135
    docs = member.call("list_docs", section='["content-guide", "our-style"]')["docs"]
    assert docs["content-guide"]["our-style"]["names"] == "Names"
    page = member.call("get_doc", path='["content-guide", "our-style", "names"]')
    assert page["filePath"] == "content-guide/our-style/names.md"
    assert "# Names" in page["content"] or "title: Names" in page["content"]


def test_a_skill_is_a_prompt_and_a_resource_too(member: Client) -> None:
    prompts = {each["name"]: each for each in member.ask("prompts/list")["prompts"]}
    assert prompts["postgresql-table-design"]["arguments"][0]["name"] == "arguments"
    read = member.ask("resources/read", "--uri", f"{SKILL}/SKILL.md")["contents"][0]
    assert read["mimeType"] == "text/markdown"
    assert read["text"].startswith("---\nname: postgresql-table-design\n")


def test_a_skill_is_found_and_verified_through_the_skills_extension(
    portal: Community, tokens: dict[str, str], tmp_path: Path
) -> None:
    # The Inspector looks for extensions where the older revisions have no place for them.
    member = Client(portal.url, "modern", tokens["members"], tmp_path)
    listed = member.ask("skills/list")["skills"]
    assert f"{SKILL}/SKILL.md" in {each["uri"] for each in listed}
    (report,) = member.ask("skills/get", "--uri", f"{SKILL}/SKILL.md", "--verify")["reports"]
    assert report["outcome"] == "verified"
    children = member.ask("resources/directory/read", "--uri", SKILL)["resources"]
    assert f"{SKILL}/SKILL.md" in {each["uri"] for each in children}
    stranger = Client(portal.url, "modern", None, tmp_path)
    assert stranger.ask("skills/list")["skills"] == []


@pytest.mark.parametrize("era", ERAS)
def test_whoever_is_signed_in_reads_what_is_public_and_sees_no_more(
    era: str, portal: Community, tokens: dict[str, str], tmp_path: Path
) -> None:
    public = Client(portal.url, era, tokens["public"], tmp_path)
    assert public.call("list_skills")["data"] == []
    assert public.call("search_skills", query="PostgreSQL")["results"] == []
    assert public.call("list_agents")["pagination"]["totalCount"] > 60
    assert public.call("get_agent", name="architect")["path"] == "architect.md"
    refused = public.refusal("get_skill", "--tool-arg", "name=postgresql")
    assert "NOT_FOUND" in refused


@pytest.mark.parametrize("era", ERAS)
def test_a_stranger_sees_that_there_are_lists_and_nothing_in_them(
    era: str, portal: Community, tmp_path: Path
) -> None:
    stranger = Client(portal.url, era, None, tmp_path)
    names = {each["name"] for each in stranger.ask("tools/list")["tools"]}
    assert {"list_skills", "search_skills", "list_agents", "list_docs"} <= names
    assert not {"get_skill", "get_skill_file", "get_agent", "get_doc"} & names
    assert stranger.call("list_agents")["data"] == []


async def test_the_admin_s_commands_say_what_is_there_and_what_to_mend(portal: Community) -> None:
    assert (await portal.porch("check")).endswith("No problems, 2 notes.\n")
    said = await portal.porch("skills", "index")
    assert said.splitlines()[0].startswith("house: 1")
    assert said.splitlines()[1].startswith("crew: 6")
    problems = await portal.porch("skills", "check", "--source", "house", code=1)
    assert "postgresql/SKILL.md:2: its name, postgresql-table-design, is not that" in problems
    assert "porch skills index" in await portal.porch("plugins")


def test_what_the_shipped_file_shows_is_what_may_be_written(place: Path) -> None:
    from gateway.config.portal_keys import PortalConfig

    sources = yaml.safe_load((place / "config" / "portal.yaml").read_text())["plugins"]
    assert [each["name"] for each in sources["skills_repo"]["sources"]] == [
        "house",
        "crew",
        "handbook",
    ]
    PortalConfig.model_validate({"plugins": sources})
