from __future__ import annotations

import gzip
import io
import tarfile
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.repositories import tarball
from gateway.repositories.paths import problem
from gateway.repositories.protocol import Entry
from gateway.repositories.tarball import BadTarball, Tarball

Fill = Callable[[tarfile.TarFile], None]


def packed(fill: Fill, **more: object) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1, **more) as archive:  # type: ignore[call-overload]
        fill(archive)
    return out.getvalue()


def add(archive: tarfile.TarFile, name: str, content: bytes = b"x", **more: object) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    for field, value in more.items():
        setattr(member, field, value)
    archive.addfile(member, io.BytesIO(content))


def unpacked(data: bytes, below: str = "", largest: int = 1000) -> tuple[list[Entry], list[str]]:
    left_out: list[str] = []
    opened = Tarball(io.BytesIO(data), len(data), largest, lambda path, _: left_out.append(path))
    return list(opened.entries(below)), left_out


def test_what_would_lead_elsewhere_is_passed_over() -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "top", b"", type=tarfile.DIRTYPE)
        for name in ("good.md", "../up.md", "a/../../b.md", "/etc/passwd", "a\\b", "a/./b", "a//b"):
            add(archive, f"top/{name}")
        add(archive, "/absolute")
        add(archive, "no-folder")
        add(archive, "top/soft", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")
        add(archive, "top/hard", b"", type=tarfile.LNKTYPE, linkname="top/good.md")
        add(archive, "top/pipe", b"", type=tarfile.FIFOTYPE)
        add(archive, "top/device", b"", type=tarfile.CHRTYPE)

    found, left_out = unpacked(packed(fill))
    assert {entry.path for entry in found} <= {"good.md", "absolute"}
    assert {"soft", "hard", "pipe", "device", "a\\b"} <= set(left_out)


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), max_size=5))
def test_every_name_that_is_served_may_be_asked_for(names: list[str]) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        for name in names:
            add(archive, f"top/{name}")

    found, _ = unpacked(packed(fill))
    assert all(problem(entry.path) is None for entry in found)


def test_only_what_is_below_the_folder_is_looked_at() -> None:
    def fill(archive: tarfile.TarFile) -> None:
        for name in ("docs/a.md", "docs/b/c.md", "docs2/d.md", "e.md"):
            add(archive, f"top/{name}")

    found, _ = unpacked(packed(fill), "docs")
    assert {entry.path for entry in found} == {"docs/a.md", "docs/b/c.md"}


def test_a_tarball_that_grows_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "RATIO_EXEMPT_BYTES", 1_000_000)
    bomb = packed(lambda archive: add(archive, "top/zeros", b"\0" * 50_000_000))
    assert len(bomb) * tarball.MAX_RATIO < 50_000_000
    with pytest.raises(BadTarball, match="too large when it is unpacked"):
        unpacked(bomb)


def test_so_is_one_of_too_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "MAX_MEMBERS", 10)

    def fill(archive: tarfile.TarFile) -> None:
        for n in range(11):
            add(archive, f"top/{n}")

    with pytest.raises(BadTarball, match="more than 10 files"):
        unpacked(packed(fill))


@given(st.integers(0, 2000))
def test_a_tarball_that_ends_early_is_an_error_wherever_it_ends(cut: int) -> None:
    def fill(archive: tarfile.TarFile) -> None:
        for n in range(20):
            add(archive, f"top/{n}", bytes([n]) * 100)

    data = packed(fill)
    with pytest.raises(BadTarball):
        unpacked(data[: min(cut, len(data) - 1)])


@given(st.binary(max_size=2000))
def test_what_is_no_tarball_is_an_error_or_holds_nothing(data: bytes) -> None:
    for sent in (data, gzip.compress(data)):
        try:
            found, _ = unpacked(sent)
        except BadTarball:
            continue
        assert found == []


def test_one_that_is_not_compressed_is_read_too() -> None:
    found, _ = unpacked(gzip.decompress(packed(lambda archive: add(archive, "top/a.md"))))
    assert [entry.path for entry in found] == ["a.md"]


@pytest.mark.parametrize("comment", ["a" * 40, "0f" * 32, "A" * 40, "a" * 39, "no commit"])
def test_the_commit_is_the_one_that_is_noted(comment: str) -> None:
    data = packed(lambda archive: add(archive, "top/a"), pax_headers={"comment": comment})
    opened = Tarball(io.BytesIO(data), len(data), 10, lambda path, reason: None)
    list(opened.entries(""))
    assert opened.commit == (comment if len(comment) in {40, 64} and comment.islower() else None)


def test_what_its_owner_may_run_is_known() -> None:
    def fill(archive: tarfile.TarFile) -> None:
        add(archive, "top/run.sh", mode=0o775)
        add(archive, "top/notes.md", mode=0o664)

    found, _ = unpacked(packed(fill))
    assert {entry.path: entry.executable for entry in found} == {"run.sh": True, "notes.md": False}
