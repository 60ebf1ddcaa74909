from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gateway.repositories import BranchName, FolderPath, Github, RepositoryName

APP = {"id": 1, "installation": 2, "private_key": "file:key.pem"}


def test_nothing_need_be_said_of_github() -> None:
    github = Github()
    assert github.api_url == "https://api.github.com"
    assert not github.has_credential
    assert list(github.secrets()) == []


def test_the_api_is_written_without_a_slash_at_its_end() -> None:
    assert Github(api_url="http://127.0.0.1:8080/api/v3/").api_url == "http://127.0.0.1:8080/api/v3"


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"token": "ghp_abc"}, "env:NAME"),
        ({"webhook_secret": "plain"}, "env:NAME"),
        ({"api_url": "ftp://x"}, "whole address"),
        ({"api_url": "https://user:pw@x"}, "whole address"),
        ({"api_url": "https://x?y"}, "whole address"),
        ({"token": "env:T", "app": APP}, "not both"),
    ],
)
def test_secrets_and_addresses_have_their_form(section: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        Github.model_validate(section)


def test_each_secret_is_known_by_the_keys_that_lead_to_it() -> None:
    token = Github.model_validate({"token": "env:T", "webhook_secret": "env:W"})
    assert dict(token.secrets()) == {("token",): "env:T", ("webhook_secret",): "env:W"}
    app = Github.model_validate({"app": APP})
    assert dict(app.secrets()) == {("app", "private_key"): "file:key.pem"}
    assert app.has_credential
    assert token.has_credential


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (RepositoryName, ["a/b", "owner/.github"], ["a", "a/..", "../b", "a/b/c", "https://x/a/b"]),
        (BranchName, ["main", "release/1.x"], ["", "--upload-pack=x", "a..b", "a b", "a.lock"]),
        (FolderPath, ["", "docs", "a/b"], ["../docs", "a//b", "a\\b"]),
    ],
)
def test_names_have_their_form(kind: Any, good: list[str], bad: list[str]) -> None:
    adapter = TypeAdapter(kind)
    assert [adapter.validate_python(each) for each in good] == good
    for each in bad:
        with pytest.raises(ValidationError):
            adapter.validate_python(each)


def test_a_folder_may_be_written_as_one_of_the_shell() -> None:
    adapter = TypeAdapter(FolderPath)
    for written in ("./docs/", "docs/", "/docs"):
        assert adapter.validate_python(written) == "docs"
    assert adapter.validate_python("./") == ""
