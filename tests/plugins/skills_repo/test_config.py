from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.contract import Tier
from plugins.skills_repo.config import SkillsRepoConfig


def read(*sources: dict[str, Any], **more: Any) -> SkillsRepoConfig:
    root = Path("/srv/portal")
    return SkillsRepoConfig.model_validate({"sources": sources, **more}, context={"root": root})


LOCAL = {"name": "house", "kind": "skills", "directory": "./skills"}
REMOTE = {"name": "handbook", "kind": "docs", "github": "owner/repo"}


def test_nothing_need_be_said_but_where_and_what() -> None:
    config = read(LOCAL, REMOTE)
    house, handbook = config.sources
    assert house.directory == Path("/srv/portal/skills")
    assert (house.ref, house.path, house.credential, house.tier) == (
        None,
        "",
        "none",
        Tier.MEMBERS,
    )
    assert handbook.ref == "main"
    assert config.schedule == "0 7 * * 6"
    assert config.cache == timedelta(minutes=10)
    assert config.max_file == 1024 * 1024
    assert config.github.api_url == "https://api.github.com"


def test_each_source_has_its_own_repository_branch_path_and_tier() -> None:
    config = read(
        LOCAL,
        REMOTE | {"branch": "release/1.x", "path": "./docs/", "tier": "open"},
        github={"api_url": "http://127.0.0.1:8080/api/v3/"},
    )
    assert config.sources[1].ref == "release/1.x"
    assert config.sources[1].path == "docs"
    assert config.sources[1].tier == Tier.OPEN
    assert config.github.api_url == "http://127.0.0.1:8080/api/v3"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (LOCAL | {"name": "House"}, "must be 1 to 32 of a to z"),
        (LOCAL | {"name": "x" * 33}, "must be 1 to 32 of a to z"),
        (LOCAL | {"kind": "prompts"}, "skills"),
        (LOCAL | {"github": "owner/repo"}, "either directory or github"),
        ({"name": "house", "kind": "skills"}, "either directory or github"),
        (LOCAL | {"credential": "caller"}, "is for github"),
        (REMOTE | {"github": "https://github.com/owner/repo"}, "must be owner/repo"),
        (REMOTE | {"github": "owner"}, "must be owner/repo"),
        (REMOTE | {"github": "owner/.."}, "must be owner/repo"),
        (REMOTE | {"github": "../repo"}, "must be owner/repo"),
        (REMOTE | {"github": "owner/repo/tree"}, "must be owner/repo"),
        (LOCAL | {"include": ["../*.md"]}, "must be a glob below the source's path"),
        (LOCAL | {"exclude": ["/a"]}, "must be a glob below the source's path"),
        (LOCAL | {"include": [""]}, "must be a glob below the source's path"),
        (REMOTE | {"path": "../docs"}, r"holds '\.\.'"),
        (REMOTE | {"branch": "--upload-pack=x"}, "not the name of a branch"),
        (REMOTE | {"branch": "a..b"}, "not the name of a branch"),
        (REMOTE | {"branch": "a b"}, "not the name of a branch"),
        (REMOTE | {"credential": "app"}, "github.token or github.app"),
    ],
)
def test_what_cannot_be_meant_is_refused(source: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        read(source)


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(ValidationError, match="two sources are called house"):
        read(LOCAL, LOCAL)


def test_a_source_may_be_read_with_the_operators_credential() -> None:
    app = {"id": "Iv1.abc", "installation": 2, "private_key": "file:key.pem"}
    for github in ({"token": "env:T"}, {"app": app}):
        assert read(REMOTE | {"credential": "app"}, github=github).sources[0].credential == "app"


def test_a_schedule_is_five_fields_of_cron() -> None:
    assert SkillsRepoConfig.model_validate({"schedule": "*/5 * * * *"}).schedule == "*/5 * * * *"
    with pytest.raises(ValidationError, match="is no cron expression"):
        SkillsRepoConfig.model_validate({"schedule": "every day"})
