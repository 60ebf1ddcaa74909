"""GitHub's webhook deliveries: whether they are GitHub's, whether they are new, what was pushed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from gateway.contract.failures import ToolFailed
from gateway.contract.services import Cache

REMEMBERED_SECONDS = 24 * 3600.0
"""How long a delivery is known again."""

_SCHEME = "sha256="
_INSTALLATION_EVENTS = frozenset({"installation", "installation_repositories"})
_WITHDRAWING = frozenset({"deleted", "suspend"})
_GRANTING = frozenset({"created", "unsuspend"})
_MAX_ID_CHARACTERS = 100


class _Repository(BaseModel):
    full_name: str


class PushedCommit(BaseModel):
    """One of the commits that a push brings; its paths are what GitHub says, and unchecked.

    A file that was renamed is among the removed ones by its old path, and among the added ones by
    its new path.
    """

    id: str
    timestamp: datetime
    added: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class Push(BaseModel):
    """A push. Beside the repository and the ref all of it may be missing.

    Attributes:
        ref: what was pushed, such as ``refs/heads/main``.
        before: the commit that the ref named, or an empty text where there was none.
        after: the commit that it names now, or an empty text where it is deleted.
        forced: whether commits that were there are gone.
        commits: what was pushed, oldest first. GitHub may list fewer than there are: it names
            2,048 at most.
    """

    source: _Repository = Field(alias="repository")
    ref: str
    before: str = ""
    after: str = ""
    forced: bool = False
    commits: tuple[PushedCommit, ...] = ()

    @property
    def repository(self) -> str:
        """``owner/repo``."""
        return self.source.full_name

    @field_validator("before", "after")
    @classmethod
    def _is_no_commit(cls, commit: str) -> str:
        return commit if commit.strip("0") else ""

    def is_of(self, repository: str, branch: str) -> bool:
        """Whether it concerns a branch of a repository, whose name GitHub knows in any case."""
        same = self.repository.lower() == repository.lower()
        return same and self.ref == f"refs/heads/{branch}"


class Installation(BaseModel):
    """What became of the installation of a GitHub App; the repositories may all be missing.

    Attributes:
        action: what was done: created, deleted, suspend, added, removed ...
        repositories: the installation's own.
        repositories_added, repositories_removed: where they became more or fewer.
    """

    action: str
    repositories: tuple[_Repository, ...] = ()
    repositories_added: tuple[_Repository, ...] = ()
    repositories_removed: tuple[_Repository, ...] = ()

    @property
    def withdrawn(self) -> frozenset[str]:
        """The repositories that it may read no more, ``owner/repo`` in lower case."""
        whole = self.repositories if self.action in _WITHDRAWING else ()
        return frozenset(each.full_name.lower() for each in (*whole, *self.repositories_removed))

    @property
    def granted(self) -> frozenset[str]:
        """The repositories that it may read since, likewise."""
        whole = self.repositories if self.action in _GRANTING else ()
        return frozenset(each.full_name.lower() for each in (*whole, *self.repositories_added))


_Model = TypeVar("_Model", Push, Installation)


class Deliveries:
    """Takes what GitHub delivers to a webhook.

    Args:
        secret: what GitHub signs with.
        cache: remembers deliveries.
    """

    def __init__(self, secret: str, cache: Cache) -> None:
        self._secret = secret.encode()
        self._cache = cache

    def verify(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether the shared secret signed the raw body (HMAC SHA-256), in constant time.

        Args:
            body: as it was sent.
            headers: of the request, by their names in lower case.
        """
        given = headers.get("x-hub-signature-256", "")
        expected = _SCHEME + hmac.new(self._secret, body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), expected.encode())

    @asynccontextmanager
    async def taking(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[bool]:
        """Take a delivery once; what it asks for is done within, and where that fails, the sender
        may send it again.

        Args:
            body: as it was sent.
            headers: of the request; :func:`pushed` or :func:`installed` has looked at its id.

        Yields:
            Whether it is new. It is remembered for a day from now on.
        """
        # The id is not signed, so that the body itself is remembered too. Both count up.
        delivery = headers.get("x-github-delivery", "").encode("utf-8", "surrogateescape")
        marks = [f"delivery:{hashlib.sha256(each).hexdigest()}" for each in (delivery, body)]
        seen = [await self._cache.increment(mark, REMEMBERED_SECONDS) for mark in marks]
        is_new = max(seen) == 1
        try:
            yield is_new
        except BaseException:
            for mark in marks if is_new else ():
                await self._cache.delete(mark)
            raise


def pushed(body: bytes, headers: Mapping[str, str]) -> Push | None:
    """What a delivery whose signature is right says was pushed; None for any other event.

    Args:
        body: as it was sent.
        headers: of the request, by their names in lower case.

    Raises:
        ToolFailed: ``bad_delivery``, it is not as GitHub sends one.
    """
    if headers.get("x-github-event", "") != "push":
        return None
    return _read(Push, "a push", body, headers)


def installed(body: bytes, headers: Mapping[str, str]) -> Installation | None:
    """What a delivery whose signature is right says that a GitHub App may read since; None for any
    other event. Like :func:`pushed`."""
    if headers.get("x-github-event", "") not in _INSTALLATION_EVENTS:
        return None
    return _read(Installation, "an event of an installation", body, headers)


def _read(model: type[_Model], what: str, body: bytes, headers: Mapping[str, str]) -> _Model:
    delivery = headers.get("x-github-delivery", "")
    if not delivery or len(delivery) > _MAX_ID_CHARACTERS:
        raise ToolFailed("bad_delivery", "Send the delivery's id in X-GitHub-Delivery.")
    try:
        return model.model_validate_json(body)
    except ValidationError:
        message = f"The delivery is not {what} as GitHub sends it; choose application/json there."
        raise ToolFailed("bad_delivery", message) from None
