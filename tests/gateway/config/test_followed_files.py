"""Files that are followed stay followed, whatever an admin saves and whatever the disk says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from gateway.config import followed_file, portal_file
from gateway.config.followed_file import FollowedFile
from gateway.config.portal import PORTAL_FILE, Portal, load_portal
from gateway.config.portal_file import PortalFile
from gateway.config.tiers_file import TierRulesFile
from gateway.config.yaml_source import read_bytes_if_there
from gateway.errors import ConfigError, Problem
from gateway.toolkit.background import background

SOON = 0.01


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(SOON)


async def test_a_character_that_does_not_exist_is_a_problem_and_the_mended_file_is_in_force(
    tmp_path: Path,
) -> None:
    path = tmp_path / "tiers.yaml"
    path.write_text("default: members\n")
    file, seen = TierRulesFile(path), list[Any]()
    async with background(file.watch(seen.append, interval=SOON)):
        path.write_text('default: members\nitems: {"\\UFFFFFFFF": open}\n')
        await until(lambda: file.problems)
        assert "holds a value that YAML cannot express" in str(file.problems[0])
        path.write_text("default: open\n")
        await until(lambda: seen)
    assert file.problems == ()


async def test_a_fault_in_reading_is_a_problem_of_the_file_alone(tmp_path: Path) -> None:
    def parse(raw: bytes, _: str) -> bytes:
        if raw == b"odd":
            raise LookupError("no such thing")
        return raw

    path = tmp_path / "plans.yaml"
    path.write_text("good")
    file, seen = FollowedFile(path, parse), list[bytes]()
    async with background(file.watch(seen.append, interval=SOON)):
        path.write_text("odd")
        await until(lambda: file.problems)
        assert "cannot be put in force (LookupError: no such thing)" in str(file.problems[0])
        assert file.content == b"good"
        path.write_text("better")
        await until(lambda: seen)
    assert (seen, file.problems) == ([b"better"], ())


async def test_what_cannot_be_applied_is_said_and_applied_at_a_later_look(tmp_path: Path) -> None:
    path, applied, fails = tmp_path / "plans.yaml", list[bytes](), [True]

    def apply(content: bytes) -> None:
        if fails[0]:
            raise RuntimeError("not now")
        applied.append(content)

    file = FollowedFile(path, lambda raw, _: raw)
    async with background(file.watch(apply, interval=SOON)):
        path.write_text("more")
        await until(lambda: file.problems)
        fails[0] = False
        await until(lambda: not file.problems)
    assert applied == [b"more"]


@pytest.fixture
def portal(tmp_path: Path) -> Portal:
    (tmp_path / PORTAL_FILE).write_text("name: Ours\n")
    return load_portal(tmp_path)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """What reading a file fails with, as long as something stands in it."""
    fails: list[Exception] = []

    def read(path: Path, file: str) -> bytes | None:
        if fails:
            raise fails[0]
        return read_bytes_if_there(path, file)

    for module in (followed_file, portal_file):
        monkeypatch.setattr(module, "read_bytes_if_there", read)
    return fails


@pytest.mark.parametrize(
    "failure",
    [OSError(5, "Input/output error"), ConfigError([Problem("portal.yaml", 0, "", "is away")])],
    ids=["unforeseen", "told"],
)
async def test_a_disk_that_fails_for_a_moment_is_a_problem_for_as_long(
    portal: Portal, disk: list[Exception], failure: Exception
) -> None:
    taken: list[Portal] = []

    async def take(new: Portal) -> Sequence[Problem]:
        taken.append(new)
        return []

    file = PortalFile(portal)
    async with background(file.watch(take, SOON)):
        disk.append(failure)
        await until(lambda: file.problems)
        disk.clear()
        await until(lambda: not file.problems)
    assert taken


async def test_a_file_that_nobody_may_look_at_is_told_and_not_taken_for_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refused)
    with pytest.raises(ConfigError, match="cannot be read: Permission denied"):
        read_bytes_if_there(tmp_path / "tiers.yaml", "tiers.yaml")


async def test_a_plugin_that_fails_at_new_settings_is_told_and_asked_again_at_the_next_save(
    portal: Portal,
) -> None:
    async def take(new: Portal) -> Sequence[Problem]:
        if new.config.name == "Odd":
            raise LookupError("no such thing")
        return []

    file = PortalFile(portal)
    async with background(file.watch(take, SOON)):
        (portal.directory / PORTAL_FILE).write_text("name: Odd\n")
        await until(lambda: file.problems)
        assert "LookupError: no such thing" in str(file.problems[0])
        (portal.directory / PORTAL_FILE).write_text("name: Ours\n")
        await until(lambda: not file.problems)
