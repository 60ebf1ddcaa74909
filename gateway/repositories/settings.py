"""The settings that name repositories, and say how GitHub is reached."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from gateway.contract import PluginConfig
from gateway.contract.config_types import SafeUrl, SecretRef
from gateway.repositories import paths

_REPOSITORY = r"^[A-Za-z0-9](-?[A-Za-z0-9]){0,38}/\.{0,98}[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"
# What git-check-ref-format(1) refuses, and a leading hyphen, which would read as an option.
_NO_REF = re.compile(r"^[-/.]|[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(/|$)|[/.]$|^@$")


def _folder(value: str) -> str:
    folder = value.removeprefix("./").strip("/")
    if folder in {"", "."}:
        return ""
    if reason := paths.problem(folder):
        raise ValueError(reason)
    return folder


def _repository(value: str) -> str:
    if not re.fullmatch(_REPOSITORY, value):
        raise ValueError("must be owner/repo, as in the repository's address on GitHub")
    return value


def _branch(value: str) -> str:
    if not value or len(value) > 255 or _NO_REF.search(value):
        raise ValueError("is not the name of a branch, a tag or a commit")
    return value


def _api(value: str) -> str:
    parts = urlsplit(value)
    if parts.port == 0 or parts.query or parts.fragment:
        raise ValueError("must be a whole address such as https://api.github.com")
    return value


RepositoryName = Annotated[
    str, AfterValidator(_repository), Field(json_schema_extra={"pattern": _REPOSITORY})
]
"""A repository on GitHub: ``owner/repo``."""

BranchName = Annotated[str, AfterValidator(_branch)]
"""A branch, a tag or a commit."""

FolderPath = Annotated[str, AfterValidator(_folder)]
"""A folder from a repository's root; empty for the root itself."""


class GithubApp(PluginConfig):
    """A GitHub App that may read the repositories; its tokens stay in memory."""

    id: int | str = Field(description="The App's id, or its client id.")
    installation: int = Field(gt=0, description="The id of its installation.")
    private_key: SecretRef = Field(description="Its private key (PEM), as env:NAME or file:PATH.")


class Github(PluginConfig):
    """How GitHub is reached, and the operator's own credential there."""

    api_url: Annotated[SafeUrl, AfterValidator(_api)] = Field(
        "https://api.github.com", description="The API; that of a GitHub Enterprise server."
    )
    token: SecretRef | None = Field(
        None, description="The operator's token, as env:NAME or file:PATH; or else give app."
    )
    app: GithubApp | None = Field(None, description="A GitHub App; or else give token.")
    webhook_secret: SecretRef | None = Field(
        None, description="The secret of the push webhook, as env:NAME or file:PATH."
    )

    @property
    def has_credential(self) -> bool:
        """Whether the operator has a credential of their own."""
        return self.token is not None or self.app is not None

    def secrets(self) -> Iterator[tuple[tuple[str, ...], SecretRef]]:
        """Where each secret is kept that the section names, by the keys below the section."""
        if self.token is not None:
            yield ("token",), self.token
        if self.app is not None:
            yield ("app", "private_key"), self.app.private_key
        if self.webhook_secret is not None:
            yield ("webhook_secret",), self.webhook_secret

    @model_validator(mode="after")
    def _is_one_credential(self) -> Self:
        if self.token is not None and self.app is not None:
            raise ValueError("give token or app, not both")
        return self
