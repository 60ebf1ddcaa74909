"""A document's history over real repositories: what it says, and what it keeps from whom."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract import Host, Tier, ToolFailed
from gateway.plugin_host import make_host
from gateway.services import open_services
from plugins.knowledge.config import KnowledgeConfig
from plugins.knowledge.history.history import DocumentHistory
from plugins.knowledge.knowledge import Knowledge
from plugins.knowledge.notes.content_types import ContentType
from plugins.knowledge.sync.handle import KnowledgeHandle, open_handle
from tests.examples import examples
from tests.plugins.knowledge.retrieval.conftest import SETTINGS
from tests.plugins.knowledge.sync.branch import NAME, note
from tests.servers.github_contents import GithubContents, Repo
from tests.servers.github_history import History


@asynccontextmanager
async def served(root: Path, **config: Any) -> AsyncGenerator[KnowledgeHandle]:
    """The knowledge base of a section, synced once."""
    async with open_services(SETTINGS, root / "data") as services:
        host: Host = make_host(services.for_plugin("knowledge"), "knowledge", "Test portal")
        async with open_handle(KnowledgeConfig.model_validate(config), host) as opened:
            for each in opened.followers:
                await each.follow()
            if not opened.followers:
                await opened.sync_loop.sync_once()
            yield opened


async def told(
    knowledge: Knowledge,
    name: str = "a",
    tier: Tier = Tier.MEMBERS,
    limit: int = 30,
    commit: str | None = None,
) -> DocumentHistory:
    return await knowledge.history(ContentType.FILE, name, limit, commit, tier)


@pytest.fixture
def history(tmp_path: Path) -> History:
    begun = History.begun(tmp_path / "kb")
    begun.commit({"a.md": note("One.\nTwo.", title="First")}, None, "Begin")
    begun.commit({"a.md": note("One.\nThree.", title="First")}, None, "Change it")
    begun.commit({"a.md": None, "b.md": note("One.\nThree.", title="Second")}, None, "Rename it")
    return begun


async def expect_all(knowledge: Knowledge) -> None:
    found = await told(knowledge, "b")
    assert [each.subject for each in found.versions] == ["Rename it", "Change it", "Begin"]
    renamed, changed, first = found.versions
    assert (renamed.renamed_from, renamed.path) == ("a.md", "b.md")
    assert renamed.difference is not None
    assert "-title: First\n+title: Second" in renamed.difference
    assert changed.difference is not None
    assert changed.difference.endswith(" One.\n-Two.\n+Three.")
    assert (changed.added, changed.removed) == (1, 1)
    assert first.difference is None
    assert {each.author for each in found.versions} == {"a"}
    assert (found.has_more, found.is_newer, found.note) == (False, None, None)


async def test_a_document_in_a_checkout_has_its_commits_with_their_differences(
    history: History, tmp_path: Path
) -> None:
    async with served(tmp_path, sources=[{"directory": str(history.directory)}]) as opened:
        await expect_all(opened.knowledge)


async def test_a_document_on_github_has_the_same_and_is_asked_for_once(
    history: History, tmp_path: Path
) -> None:
    with GithubContents() as github:
        github.repos[NAME] = Repo(history.directory, history=history)
        config = {"sources": [{"github": NAME}], "github": {"api_url": github.url}}
        async with served(tmp_path, **config) as opened:
            await expect_all(opened.knowledge)
            asked = len(github.requests)
            await expect_all(opened.knowledge)
            assert len(github.requests) == asked
            github.limit(403, {"x-ratelimit-remaining": "0"})
            await expect_all(opened.knowledge)


async def test_what_github_refuses_is_said_beside_what_is_known(
    history: History, tmp_path: Path
) -> None:
    with GithubContents() as github:
        github.repos[NAME] = Repo(history.directory, history=history)
        config = {"sources": [{"github": NAME}], "github": {"api_url": github.url}}
        async with served(tmp_path, **config) as opened:
            github.limit(403, {"x-ratelimit-remaining": "0"})
            found = await told(opened.knowledge, "b")
            assert found.versions == []
            assert found.note is not None
            assert "takes no more requests" in found.note
            github.answers()
            await expect_all(opened.knowledge)


async def test_outside_of_git_it_says_that_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.md").write_bytes(note())
    async with served(tmp_path, sources=[{"directory": str(tmp_path / "plain")}]) as opened:
        found = await told(opened.knowledge)
        assert (found.versions, found.has_more) == ([], False)
        assert found.note == "Its source is a directory without Git, which keeps no history."


async def test_what_no_commit_holds_yet_is_said(history: History, tmp_path: Path) -> None:
    (history.directory / "b.md").write_bytes(note("Not committed.", title="Second"))
    (history.directory / "new.md").write_bytes(note("New."))
    async with served(tmp_path, sources=[{"directory": str(history.directory)}]) as opened:
        assert (await told(opened.knowledge, "b")).is_newer
        new = await told(opened.knowledge, "new")
        assert new.versions == []
        assert new.note == "No commit that you may see holds it."


async def test_a_version_is_had_alone_with_all_of_its_difference(
    history: History, tmp_path: Path
) -> None:
    long = "\n".join(f"Line {number}." for number in range(900))
    history.commit({"b.md": note(long, title="Second")}, None, "Grow")
    async with served(tmp_path, sources=[{"directory": str(history.directory)}]) as opened:
        newest = (await told(opened.knowledge, "b", limit=1)).versions[0]
        assert newest.is_cut
        (whole,) = (await told(opened.knowledge, "b", commit=newest.commit)).versions
        assert whole.is_cut is None
        assert "+Line 899." in (whole.difference or "")
        assert (await told(opened.knowledge, "b", limit=1)).has_more
        with pytest.raises(ToolFailed, match="no such version"):
            await told(opened.knowledge, "b", commit="0" * 40)


async def test_secrets_and_what_cannot_be_seen_are_in_no_version(tmp_path: Path) -> None:
    token = "ghp_" + "Ab3d" * 9
    made = History.begun(tmp_path / "kb")
    made.commit({"a.md": note(f"Use {token} there.")}, None, f"Add {token} \u202e now")
    made.commit({"a.md": note("Use yours.")}, None, "Take it out")
    async with served(tmp_path, sources=[{"directory": str(made.directory)}]) as opened:
        found = (await told(opened.knowledge)).model_dump_json()
        assert token not in found
        assert "\u202e" not in found
        assert "[U+202E]" in found


# What is kept from whom.


class Version(NamedTuple):
    """A version of the one document: who it is for, and whether it asks to be served."""

    tier: Tier
    publish: bool
    draft: bool
    broken: bool

    def text(self, number: int) -> bytes:
        if self.broken:
            return f"---\npublish: true\ntitle: [zz{number}zz\n---\n".encode()
        flags: Mapping[str, Any] = {"publish": str(self.publish).lower(), "tier": self.tier}
        draft = {"draft": "true"} if self.draft else {}
        return note(f"Body zz{number}zz.", title=f"Title zz{number}zz", **flags, **draft)

    def shows(self, tier: Tier) -> bool:
        return self.publish and not self.draft and not self.broken and tier.allows(self.tier)


VERSIONS = st.builds(
    Version,
    st.sampled_from(list(Tier)),
    st.sampled_from([True, True, False]),
    st.sampled_from([False, False, True]),
    st.sampled_from([False, False, False, True]),
)
CURRENT = st.builds(
    Version, st.sampled_from(list(Tier)), *[st.just(b) for b in (True, False, False)]
)


@settings(
    max_examples=examples(16, ordinary=6),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(older=st.lists(VERSIONS, max_size=5), now=CURRENT)
async def test_a_version_is_seen_by_whom_it_and_the_document_now_are_for_and_leaves_no_trace(
    tmp_path_factory: pytest.TempPathFactory, older: list[Version], now: Version
) -> None:
    root = tmp_path_factory.mktemp("history")
    made = History.begun(root / "kb")
    versions = [*older, now]
    for number, version in enumerate(versions):
        made.commit({"a.md": version.text(number)}, None, f"Commit zz{number}zz")
    async with served(root, sources=[{"directory": str(made.directory)}]) as opened:
        for tier in Tier:
            if not now.shows(tier):
                with pytest.raises(ToolFailed, match="Document not found"):
                    await told(opened.knowledge, tier=tier)
                continue
            found = await told(opened.knowledge, tier=tier)
            visible = [number for number, each in enumerate(versions) if each.shows(tier)]
            titles = [f"Title zz{number}zz" for number in reversed(visible)]
            assert [each.title for each in found.versions] == titles
            said = found.model_dump_json()
            for number in set(range(len(versions))) - set(visible):
                assert f"zz{number}zz" not in said
            if tier != Tier.MEMBERS:
                assert "Commit" not in said
            for number, each in zip(reversed(visible), found.versions, strict=True):
                alone = await told(opened.knowledge, tier=tier, commit=each.commit)
                assert alone.versions[0].title == f"Title zz{number}zz"
            hidden = made.git("rev-list", "HEAD").split()[::-1]
            for number in set(range(len(versions))) - set(visible):
                with pytest.raises(ToolFailed, match="no such version"):
                    await told(opened.knowledge, tier=tier, commit=hidden[number])


class Ruled:
    """What ``tiers.yaml`` says of one document."""

    version = 1
    ruled = True

    def __init__(self, row: str) -> None:
        self._row = row

    def tier(self, row: str, own: Tier = Tier.OPEN) -> Tier:
        return Tier.MEMBERS if row == self._row else own


async def test_a_version_under_a_name_that_tiers_yaml_closes_is_closed(
    history: History, tmp_path: Path
) -> None:
    async with served(tmp_path, sources=[{"directory": str(history.directory)}]) as opened:
        store = opened.knowledge.store
        store._rows = Ruled("document:file/a")
        found = await told(opened.knowledge, "b", Tier.OPEN)
        assert [each.path for each in found.versions] == ["b.md"]
        assert "a.md" not in found.model_dump_json()
