"""Whatever is damaged in the data directory is made anew from the content, or named with a fix."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.conftest import MEMBER, Place, Portal, eventually

pytestmark = pytest.mark.heavy

Harm = Callable[[Path], None]


def _write(pattern: str, data: bytes) -> Harm:
    def harm(data_dir: Path) -> None:
        files = [path for path in data_dir.rglob(pattern) if path.is_file()]
        assert files
        for path in files:
            path.write_bytes(data)

    return harm


def _remove(pattern: str) -> Harm:
    def harm(data_dir: Path) -> None:
        found = list(data_dir.glob(pattern))
        assert found
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()

    return harm


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a portal with two pages leaves in its data directory; for copies."""
    place = Place(tmp_path_factory.mktemp("used"))
    _write_pages(place)
    portal = place.serve()
    try:
        assert portal.ready().stop() == 0
    finally:
        portal.process.kill()
    return place.data


@pytest.fixture
def used(place: Place, data: Path) -> Place:
    """A place on which a portal has run before."""
    _write_pages(place)
    shutil.copytree(data, place.data)
    return place


def _write_pages(place: Place) -> None:
    place.page("garden", "Garden")
    place.page("sow", "How to sow")


def _serves_everything(portal: Portal) -> None:
    assert {each["id"] for each in portal.search("garden")} == {"garden", "sow"}
    assert portal.get("/api/v1/entries", headers=MEMBER).json()["total"] == 2
    for id in ("garden", "sow"):
        answer = portal.get(f"/api/v1/entries/pattern/{id}", headers=MEMBER)
        assert answer.json()["id"] == id


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(_write("manifest.json", b"{broken"), id="manifest is no JSON"),
        pytest.param(_write("manifest.json", b'{"format": 1, "files": []}'), id="manifest differs"),
        pytest.param(_remove("objects/**/manifest.json"), id="manifest is gone"),
        pytest.param(_remove("objects"), id="all documents are gone"),
        pytest.param(_remove("objects/**/content/pattern/garden.json"), id="a document is gone"),
        pytest.param(_remove("vectors"), id="vectors are gone"),
        pytest.param(_write("spec.json", b"{"), id="what vectors there are is not known"),
        pytest.param(_remove("porch.db*"), id="the database is gone"),
        pytest.param(_write("porch.db", b""), id="the database is empty"),
    ],
)
def test_what_can_be_made_anew_is_made_anew(used: Place, harm: Harm) -> None:
    harm(used.data)
    portal = used.serve().ready()
    _serves_everything(portal)
    assert "Traceback" not in portal.printed


def test_a_damaged_document_is_said_to_be_lost_and_is_read_anew(used: Place) -> None:
    _write("content/pattern/garden.json", b"garbage")(used.data)
    portal = used.serve().ready()
    answer = portal.get("/api/v1/entries/pattern/garden", headers=MEMBER)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "lost"
    used.page("another", "Another")
    eventually(
        lambda: portal.get("/api/v1/entries/pattern/garden", headers=MEMBER).status_code == 200,
        "the document is there again",
    )


def test_damaged_vectors_are_named_with_the_fix_and_the_fix_works(used: Place) -> None:
    (folder,) = used.data.glob("vectors/*")
    for path in (folder / "shard").rglob("*"):
        if path.is_file():
            path.write_bytes(os.urandom(500))
    portal = used.serve()
    detail = eventually(lambda: portal.health()["plugins"]["knowledge"]["detail"], "it is said")
    assert "Remove that folder; it is made anew from the content." in detail
    assert str(folder) in detail
    assert portal.stop() == 0
    shutil.rmtree(folder)
    _serves_everything(used.serve().ready())


@pytest.mark.parametrize("garbage", [os.urandom(9000), None], ids=["garbage", "cut off"])
def test_a_damaged_database_is_named_with_the_fix_and_the_fix_works(
    used: Place, garbage: bytes | None
) -> None:
    file = used.data / "porch.db"
    file.write_bytes(garbage or file.read_bytes()[:5000])
    for log in used.data.glob("porch.db-*"):
        log.unlink()
    refused = used.porch("serve", "--port", "0")
    assert refused.returncode == 3
    assert "services.database: " in refused.stderr
    assert "move the file away, and a new one is made" in refused.stderr
    assert "Traceback" not in refused.stderr
    file.rename(used.root / "damaged.db")
    _serves_everything(used.serve().ready())


def test_a_damaged_signing_key_is_named_with_the_fix(used: Place) -> None:
    (used.data / "signing-key").write_bytes(b"\xff\x00")
    refused = used.porch("serve", "--port", "0")
    assert refused.returncode == 3
    assert "signing-key is damaged; remove it" in refused.stderr
