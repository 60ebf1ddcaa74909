"""Opening everything that a configuration names, and handing out shares of it."""

import asyncio
import stat
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.config.language_models import LanguageModels
from gateway.contract import Job
from gateway.contract.jobs import JobRun
from gateway.errors import ConfigError
from gateway.observability.redaction import MARK, redactor
from gateway.services import clients, open_services


@dataclass(frozen=True)
class Section:
    database: str = "sqlite"
    vectors: str = "embedded"
    vectors_key: str | None = None
    objects: str = "embedded"
    cache: str = "memory"
    embedding: str = "none"
    reranker: str = "none"
    models: LanguageModels = field(default_factory=LanguageModels)


async def test_every_plugin_has_a_share_that_no_other_sees(tmp_path: Path) -> None:
    async with open_services(Section(), tmp_path) as services:
        notes, places = services.for_plugin("notes"), services.for_plugin("places")
        await notes.objects.put("key", b"notes")
        await notes.cache.set("key", b"notes")
        assert await places.objects.get("key") is None
        assert await places.cache.get("key") is None
        assert notes.data_dir == tmp_path / "plugins" / "notes"
        assert notes.data_dir.is_dir()
        assert (notes.embedder, notes.reranker) == (None, None)
        assert await services.shared_cache.get("key") is None
        with pytest.raises(ValueError, match="gateway's own name"):
            services.for_plugin("gateway")


async def test_the_grown_addresses_open_the_grown_services(
    postgres: str, redis_url: str, s3_bucket: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PORCH_EXAMPLE_DATABASE", postgres)
    (tmp_path / "redis").write_text(redis_url + "\n")
    section = Section(database="env:PORCH_EXAMPLE_DATABASE", objects=s3_bucket, cache="file:redis")
    async with open_services(section, tmp_path / "data", root=tmp_path) as services:
        share = services.for_plugin("notes")
        async with share.database.engine.connect() as connection:
            assert connection.dialect.name == "postgresql"
        await share.objects.put("key", b"1")
        await share.cache.set("key", b"1", ttl=1)
        assert await share.objects.get("key") == b"1"
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["plugins"]


@pytest.mark.parametrize(
    ("key", "address", "client"),
    [
        ("database", "postgresql://db.example.org/porch", "PostgreSQL"),
        ("cache", "redis://cache.example.org", "Redis"),
        ("vectors", "https://qdrant.example.org", "Qdrant"),
    ],
)
async def test_a_client_that_is_not_installed_is_named_with_what_to_run(
    key: str, address: str, client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "find_spec", lambda package: None)
    wrong: Any = {key: address}
    said = f"services.{key}: The client for {client} is not installed; run `make services`"
    with pytest.raises(ConfigError, match=said):
        async with open_services(Section(**wrong), tmp_path):
            pass


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"database": "mysql://db"}, r"portal.yaml: services.database: The database is 'sqlite'"),
        ({"cache": "memcached://db"}, r"portal.yaml: services.cache: The cache is 'memory'"),
        ({"vectors": "ftp://db"}, r"portal.yaml: services.vectors: "),
        ({"objects": "ftp://db"}, r"portal.yaml: services.objects: The objects are 'embedded'"),
        ({"vectors_key": "env:PORCH_NONE"}, r"services.vectors_key: .*PORCH_NONE is not set"),
        ({"database": "file:none"}, r"services.database: The secret file none cannot be read"),
    ],
)
async def test_a_wrong_address_is_named_by_its_key(
    wrong: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match=message):
        async with open_services(Section(**wrong), tmp_path):
            pass


async def test_a_model_that_cannot_be_used_is_a_notice_and_no_reason_to_stop(
    tmp_path: Path,
) -> None:
    section = Section(reranker=f"{tmp_path}/no/such/model")
    async with open_services(section, tmp_path) as services:
        assert services.reranker is None
        (notice,) = services.notices
        assert notice.startswith("services.reranker: ")


async def test_registered_jobs_run_until_the_block_ends(tmp_path: Path) -> None:
    done = asyncio.Event()

    async def work(run: JobRun, payload: object) -> None:
        done.set()

    async with open_services(Section(), tmp_path) as services:
        services.register_jobs("notes", [Job("work", work)])
        async with services.jobs_running():
            await services.for_plugin("notes").jobs.enqueue("work", {})
            await asyncio.wait_for(done.wait(), 60)


async def test_the_signing_key_is_kept_and_readable_by_its_user_alone(tmp_path: Path) -> None:
    async with open_services(Section(), tmp_path / "data") as services:
        key = services.signing_key()
        assert len(key) == 32
        assert services.signing_key() == key
    file = tmp_path / "data" / "signing-key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["signing-key"]
    assert redactor.text(file.read_text()) == MARK


async def test_replicas_are_given_one_signing_key_which_must_be_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PORCH_SIGNING_KEY", "shared between replicas, 32 chars and more")
    keys = set()
    for replica in ("one", "two"):
        async with open_services(Section(), tmp_path / replica) as services:
            keys.add(services.signing_key())
    assert len(keys) == 1
    monkeypatch.setenv("PORCH_SIGNING_KEY", "too short")
    async with open_services(Section(), tmp_path) as services:
        with pytest.raises(ConfigError, match="PORCH_SIGNING_KEY has fewer than 32 characters"):
            services.signing_key()


async def test_opening_imports_nothing_heavy_and_writes_nothing(tmp_path: Path) -> None:
    script = """
import asyncio, sys
from pathlib import Path
from types import SimpleNamespace
from gateway.config.language_models import LanguageModels
from gateway.services import clients, open_services
async def main():
    section = SimpleNamespace(database="sqlite", vectors="embedded", vectors_key=None,
        objects="embedded", cache="memory", embedding="none", reranker="none",
        models=LanguageModels())
    async with open_services(section, Path(sys.argv[1])) as services:
        async with services.jobs_running():
            heavy = {"sqlalchemy", "alembic", "obstore", "redis", "dbos", "qdrant_edge",
                     "qdrant_client", "fastembed", "onnxruntime", "onnx", "pydantic_ai"}
            print(sorted(heavy & set(sys.modules)))
asyncio.run(main())
"""
    command = [sys.executable, "-c", script, str(tmp_path / "data")]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")
    assert not (tmp_path / "data").exists()
