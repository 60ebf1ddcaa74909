from __future__ import annotations

from pathlib import Path

import pytest

from gateway.cli.options import Setup
from gateway.cli.workers import check_shared, shared_objects
from gateway.errors import ConfigError

SHARED = """services:
  database: postgresql://porch@127.0.0.1/porch
  cache: redis://127.0.0.1:6379/0
  vectors: http://127.0.0.1:6333
"""


def configure(place: Path, text: str) -> Path:
    directory = place / "config"
    directory.mkdir(exist_ok=True)
    (directory / "portal.yaml").write_text(text)
    return directory


def test_services_that_cannot_be_shared_are_refused_by_line(tmp_path: Path) -> None:
    text = "services:\n  database: sqlite\n  vectors: embedded\n  cache: memory\n"
    with pytest.raises(ConfigError) as refused:
        check_shared(Setup(configure(tmp_path, text), tmp_path / "data"))
    database, vectors, cache = map(str, refused.value.problems)
    assert database.startswith("config/portal.yaml:2: services.database: is SQLite")
    assert vectors.startswith("config/portal.yaml:3: services.vectors: is an index inside")
    assert cache.startswith("config/portal.yaml:4: services.cache: is this process's memory")
    assert all("leave --workers away" in each for each in (database, vectors, cache))


def test_a_reference_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    text = SHARED.replace("redis://127.0.0.1:6379/0", "env:NO_SUCH_VARIABLE")
    with pytest.raises(ConfigError, match=r"portal.yaml:3: services.cache: .*NO_SUCH_VARIABLE"):
        check_shared(Setup(configure(tmp_path, text), tmp_path / "data"))


def test_servers_are_shared(tmp_path: Path) -> None:
    check_shared(Setup(configure(tmp_path, SHARED), tmp_path / "data"))


def test_documents_on_disk_are_those_of_all_workers(tmp_path: Path) -> None:
    directory, own = configure(tmp_path, SHARED), tmp_path / "data" / "workers" / "1"
    setup = shared_objects(Setup(directory, own), tmp_path / "data")
    assert setup.portal.config.services.objects == str(tmp_path / "data" / "objects")
    assert setup.data_dir == own
    configure(tmp_path, SHARED + "  objects: s3://bucket/documents\n")
    setup = shared_objects(Setup(directory, own), tmp_path / "data")
    assert setup.portal.config.services.objects == "s3://bucket/documents"
