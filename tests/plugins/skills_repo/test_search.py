"""Search finds skills by name, by words and, with a model, by meaning; never above the tier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gateway.config.portal_keys import Services as ServicesConfig
from gateway.contract import Tier, ToolFailed
from gateway.plugin_host import make_host
from gateway.repositories.protocol import Entry
from gateway.services import open_services
from gateway.testing import open_test_portal
from plugins.skills_repo import plugin
from plugins.skills_repo.config import Source
from plugins.skills_repo.index.build import Builder
from plugins.skills_repo.index.library import Library
from plugins.skills_repo.index.store import IndexStore
from plugins.skills_repo.search import Search
from plugins.skills_repo.visibility import Visibility
from tests.plugins.skills_repo.questions import RELEVANT, UNRELATED


async def found(portal: Any, query: str, tier: str = "members", **more: Any) -> list[str]:
    result = await portal.call("search_skills", {"query": query, **more}, tier=tier)
    assert not result.is_error, result.text
    return [each["name"] for each in result.structured["results"]]


async def test_names_descriptions_and_bodies_are_searched(garden: Any) -> None:
    garden.skill("pdf-forms", "Mind the marmalade.")
    garden.skill("letters", description="Writes letters to neighbours.")
    async with garden.opened(garden.source("house")) as portal:
        assert await found(portal, "marmalade") == ["pdf-forms"]
        assert await found(portal, "a letter to my neighbour") == ["letters"]
        result = (await portal.call("search_skills", {"query": "PDF-Forms"})).structured
        assert (result["results"][0]["name"], result["results"][0]["score"]) == ("pdf-forms", 1.0)
        assert (result["mode"], "words alone" in result["note"]) == ("keyword", True)
        assert await found(portal, "zebra") == []
        for query in ("", " ", "x" * 2001):
            assert (await portal.call("search_skills", {"query": query})).is_error


async def test_bodies_that_each_caller_must_prove_access_to_are_not_searched(garden: Any) -> None:
    garden.skill("pdf", "Mind the marmalade.")
    async with garden.opened(garden.source("house", backend="github", credential="caller")) as one:
        assert await found(one, "marmalade") == []
        assert await found(one, "pdf") == ["pdf"]


async def test_the_number_of_results_is_kept_within_bounds(garden: Any) -> None:
    for number in range(60):
        garden.skill(f"s{number}", "marmalade")
    async with garden.opened(garden.source("house")) as portal:
        assert len(await found(portal, "marmalade", limit=3)) == 3
        assert len(await found(portal, "marmalade", limit=500)) == 50
        assert len(await found(portal, "marmalade", limit=-1)) == 1


class Meaning:
    """A model in which `car` and `automobile` are the same, and all else is its own direction."""

    model = "meaning"
    dimensions = 64

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def passages(self, texts: Any) -> Any:
        self.embedded += texts
        return np.stack([self._vector(text) for text in texts])

    async def query(self, text: str) -> Any:
        return self._vector(text)

    def _vector(self, text: str) -> Any:
        vector = np.full(64, 0.001, np.float32)
        for word in text.lower().replace("automobile", "car").replace(".", " ").split():
            vector[sum(word.encode()) % 64] += 1.0
        return vector / np.linalg.norm(vector)


def library(*skills: tuple[str, str]) -> tuple[Library, Any]:
    source = Source(name="house", kind="skills", directory="/nowhere", tier=Tier.PUBLIC)
    builder = Builder("house", "skills", "")
    for name, body in skills:
        content = f"---\nname: {name}\ndescription: About {name}.\n---\n{body}".encode()
        builder.take(f"{name}/SKILL.md", Entry(f"{name}/SKILL.md", 1, "", "", content))
    index, texts = builder.done()
    return Library([source], {"house": index}), (index, texts)


async def test_meaning_finds_what_words_do_not_and_only_changes_are_embedded(tmp_path: Any) -> None:
    async with open_services(ServicesConfig(embedding="none"), tmp_path) as services:
        model = Meaning()
        host = replace(
            make_host(services.for_plugin("skills_repo"), "skills_repo", "Town"), embedder=model
        )
        store = IndexStore(host.objects)
        shown, kept = library(("car", "Wheels."), ("boat", "Sails."))
        await store.save(*kept)
        search = Search(host, store, Visibility(host.rows))
        await search.refresh(shown)
        result = await search("automobile", 10, Tier.MEMBERS)
        assert (result.mode, result.results[0].name) == ("hybrid", "car")
        assert (await search("automobile", 10, Tier.OPEN)).results == []
        count = len(model.embedded)
        shown, kept = library(("car", "Wheels."), ("plane", "Wings."))
        await store.save(*kept)
        again = Search(host, store, Visibility(host.rows))
        await again.refresh(shown)
        assert model.embedded[count:] == ["plane. About plane."]
        names = [each.name for each in (await again("boat", 10, Tier.MEMBERS)).results]
        assert "boat" not in names
        with pytest.raises(ToolFailed, match="is empty"):
            await again("", 1, Tier.OPEN)


async def test_real_skills_are_found_by_what_they_are_for(test_data: Path) -> None:
    skills = str(test_data / "skills-repo-a/skills")
    source = {"name": "house", "kind": "skills", "directory": skills}
    config = {
        "services": {"embedding": "embedded"},
        "plugins": {"skills_repo": {"sources": [source]}},
    }
    async with open_test_portal(plugin, config=config) as portal:
        for query, first in (
            ("make an animated picture for a chat channel", "slack-gif-creator"),
            ("token standards for collectibles", "nft-standards"),
            ("screen reader support", "accessibility-compliance"),
            ("tests for long running workflows", "temporal-python-testing"),
            ("knowledge-skill-builder", "knowledge-skill-builder"),
        ):
            assert (await found(portal, query))[0] == first, query


async def test_what_no_skill_is_for_finds_nothing_and_what_one_is_for_finds_it(
    test_data: Path,
) -> None:
    skills = str(test_data / "skills-repo-a/skills")
    config = {
        "services": {"embedding": "embedded"},
        "plugins": {
            "skills_repo": {"sources": [{"name": "house", "kind": "skills", "directory": skills}]}
        },
    }
    async with open_test_portal(plugin, config=config) as portal:

        async def asked(query: str) -> Any:
            return (await portal.call("search_skills", {"query": query, "limit": 50})).structured

        kept = [
            right in [each["directory"] for each in (await asked(query))["results"]]
            for query, right in RELEVANT
        ]
        assert sum(kept) >= 58 * len(kept) // 60
        answers = [await asked(query) for query in UNRELATED]
        nothing = [each for each in answers if not each["results"]]
        assert len(nothing) >= 28 * len(answers) // 40
        start = "Nothing here fits that. Nearest, though far from it: "
        assert all(each["note"].startswith(start) for each in nothing)
        assert {each["note"].removeprefix(start).count(",") for each in nothing} == {2}
        for word, right in (("imatrix", "quantized-export"), ("HADS", "hads")):
            assert (await asked(word))["results"][0]["directory"] == right


async def test_a_name_is_found_however_far_its_meaning_is_and_hidden_names_are_not_told(
    garden: Any,
) -> None:
    garden.skill("zzz", description="Counts the sheep.")
    garden.skill("inner", below="hidden", description="Lasagna without meat.")
    config = garden.config(
        garden.source("house", tier="open"), garden.source("other", path="hidden")
    )
    config["services"] = {"embedding": "embedded"}
    async with open_test_portal(plugin, config=config, tiers={"default": "open"}) as portal:
        assert await found(portal, "ZZZ", tier="open") == ["zzz"]
        told = await portal.call("search_skills", {"query": "recipe for lasagna"}, tier="open")
        assert told.structured["results"] == []
        assert told.structured["note"].endswith("far from it: zzz.")
        assert await found(portal, "recipe for lasagna") == ["inner"]


async def test_a_damaged_record_of_what_is_indexed_is_made_anew(garden: Any, tmp_path: Any) -> None:
    garden.skill("pdf", "Mind the marmalade.")
    data = tmp_path / "data"
    async with garden.opened(garden.source("house"), data_dir=data):
        pass
    for kept in (data / "objects/skills_repo").rglob("*.json"):
        kept.write_bytes(b"{")
    async with garden.opened(garden.source("house"), data_dir=data) as portal:
        assert await found(portal, "marmalade") == ["pdf"]
