"""The Helm chart, as the real Helm renders it, fits Kubernetes, the image and the portal."""

from __future__ import annotations

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from gateway.config.portal_keys import Limits
from gateway.config.tiers_file import parse_tiers
from gateway.services.secrets import address
from gateway.services.signing_key import signing_key
from scripts.containerfile import last_stage
from tests.packaging.helm import CHART, Manifest, helm, refusal, rendered
from tests.packaging.settings import SECRETS, configured, longest_stop

ROOT = Path(__file__).parents[2]
IMAGE = last_stage(ROOT / "packaging" / "Containerfile").config
EMBEDDED = (
    *("--set", "replicas=1", "--set", "secrets.files=null"),
    *("--set", "data.persistentVolumeClaim.claimName=porch"),
    *("--set", "environment.PORCH_SERVICES__VECTORS=null"),
    *("--set", "environment.PORCH_SERVICES__OBJECTS=null"),
)
"""A single replica with everything embedded."""
OPTIONS = {
    "as it is": (),
    "embedded": EMBEDDED,
    "with an ingress": ("--set", "ingress.enabled=true", "--set", "ingress.tlsSecret=portal-tls"),
    "with content": ("--set", "content.configMap.name=handbook"),
    "on chosen nodes": ("--set", "pod.nodeSelector.disk=ssd", "--set", "replicas=5"),
}


@pytest.fixture(scope="module")
def manifests() -> dict[str, Manifest]:
    return rendered()


def pod(manifests: dict[str, Manifest]) -> dict[str, Any]:
    spec: dict[str, Any] = manifests["Deployment"]["spec"]["template"]["spec"]
    return spec


def portal(manifests: dict[str, Manifest]) -> dict[str, Any]:
    (container,) = pod(manifests)["containers"]
    assert isinstance(container, dict)
    return container


def variables(manifests: dict[str, Manifest]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in portal(manifests)["env"]}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_helm_finds_nothing_to_mend(options: tuple[str, ...]) -> None:
    done = helm("lint", "--strict", CHART, *options)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("version", ["1.25", "1.37"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
def test_kubernetes_takes_every_manifest(options: tuple[str, ...], version: str) -> None:
    for manifest in rendered(*options).values():
        kubernetes_validate.validate(manifest, version, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(manifest | {"spce": {}}, version, strict=True)


def test_the_chart_is_of_the_portals_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert {chart["version"], chart["appVersion"]} == {project["version"]}
    assert portal(rendered())["image"] == f"porch:{project['version']}"


def test_what_kubernetes_is_told_is_what_the_portal_reads(
    manifests: dict[str, Manifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    config.mkdir()
    for name, text in manifests["ConfigMap"]["data"].items():
        (config / name).write_text(text)
    read = configured(variables(manifests), config, tmp_path, monkeypatch).config
    assert address(read.services.database) == SECRETS["database-url"]
    assert address(read.services.cache) == SECRETS["redis-url"]
    assert read.services.objects == "s3://porch/documents"
    assert read.log.format == "json"
    assert len(signing_key(tmp_path / "none")) == 32
    parse_tiers((config / "tiers.yaml").read_bytes(), "tiers.yaml")


def test_settings_are_called_as_in_the_compose_files(manifests: dict[str, Manifest]) -> None:
    compose = yaml.safe_load((ROOT / "packaging" / "compose" / "replicas.yaml").read_text())
    composed = compose["services"]["portal-1"]
    said = {name.removesuffix("_FILE") for name in composed["environment"]}
    of_objects = {name for name in said if name.startswith("AWS_")}
    assert said - of_objects <= {name.removesuffix("_FILE") for name in variables(manifests)}
    given = [part for name in of_objects for part in ("--set", f"environment.{name}=given")]
    assert of_objects <= variables(rendered(*given)).keys()
    files = yaml.safe_load((CHART / "values.yaml").read_text())["secrets"]["files"]
    assert set(composed["secrets"]) <= set(files.values())


@pytest.mark.parametrize("options", [(), ("--set", "limits.drain=30s,limits.shutdown=60s")])
def test_kubernetes_asks_what_is_there_and_waits_until_a_replica_has_left(
    options: tuple[str, ...],
) -> None:
    made = rendered(*options)
    container, told = portal(made), variables(made)
    asked = {name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness")}
    assert {each["path"] for each in asked.values()} == {"/healthz"}
    ready = container["readinessProbe"]
    assert ready["httpGet"]["path"] == "/readyz"
    limits = Limits.model_validate(
        {each: told[f"PORCH_LIMITS__{each.upper()}"] for each in ("drain", "linger", "shutdown")}
    )
    assert limits.drain > timedelta(seconds=ready["periodSeconds"] * ready["failureThreshold"])
    grace = timedelta(seconds=pod(made)["terminationGracePeriodSeconds"])
    assert grace > limits.drain + limits.linger + limits.shutdown
    assert not options or grace > longest_stop(told)


def test_a_pod_is_confined_and_its_places_are_mounted(manifests: dict[str, Manifest]) -> None:
    spec, container = pod(manifests), portal(manifests)
    assert spec["securityContext"]["runAsNonRoot"]
    assert str(spec["securityContext"]["runAsUser"]) == IMAGE["User"].partition(":")[0]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    mounted = {each["mountPath"]: each["name"] for each in container["volumeMounts"]}
    assert set(mounted.values()) == {each["name"] for each in spec["volumes"]}
    assert IMAGE["Volumes"].keys() | {"/tmp"} <= mounted.keys()
    ports = {each["name"]: each["containerPort"] for each in container["ports"]}
    assert ports[manifests["Service"]["spec"]["ports"][0]["targetPort"]] == 8321


def test_one_replica_goes_at_a_time(manifests: dict[str, Manifest]) -> None:
    deployment = manifests["Deployment"]["spec"]
    assert deployment["replicas"] > 1
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    budget = manifests["PodDisruptionBudget"]["spec"]
    assert budget["maxUnavailable"] == 1
    labels = deployment["template"]["metadata"]["labels"]
    for selector in (budget["selector"], deployment["selector"]):
        assert selector["matchLabels"].items() <= labels.items()
    assert manifests["Service"]["spec"]["selector"].items() <= labels.items()


def test_a_replica_with_a_volume_of_its_own_is_alone() -> None:
    made = rendered(*EMBEDDED)
    assert made["Deployment"]["spec"]["strategy"] == {"type": "Recreate"}
    assert "PodDisruptionBudget" not in made
    claim = ("--set", "data.persistentVolumeClaim.claimName=porch")
    assert "belongs to one replica" in refusal(*claim)


def test_a_change_of_the_configuration_rolls_the_replicas(manifests: dict[str, Manifest]) -> None:
    changed = rendered("--set", "config.tiers=default: open")
    checksums = {
        str(each["Deployment"]["spec"]["template"]["metadata"]["annotations"])
        for each in (manifests, changed)
    }
    assert len(checksums) == 2


def test_plans_are_mounted_where_there_are_some(manifests: dict[str, Manifest]) -> None:
    assert "plans.yaml" not in manifests["ConfigMap"]["data"]
    given = rendered("--set", "config.plans=plans: {}")
    assert given["ConfigMap"]["data"]["plans.yaml"] == "plans: {}"


def test_an_ingress_is_for_the_name_that_members_paste() -> None:
    made = rendered(*OPTIONS["with an ingress"])
    (rule,) = made["Ingress"]["spec"]["rules"]
    assert f"https://{rule['host']}" == variables(made)["PORCH_PUBLIC_URL"]
    assert made["Ingress"]["spec"]["tls"][0]["hosts"] == [rule["host"]]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    assert backend["name"] == made["Service"]["metadata"]["name"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("replica=3", "replica"),
        ("limits.drain=soon", "/limits/drain"),
        ("image.tag=latest", "/image/tag"),
        ("environment.PORCH_PUBLIC_URL=null", "PORCH_PUBLIC_URL"),
        ("secrets.files.PORCH_SERVICES__CACHE_FILE=null", "PORCH_SERVICES__CACHE says where"),
    ],
)
def test_what_cannot_work_is_refused_before_it_is_sent(value: str, reason: str) -> None:
    assert reason in refusal("--set", value)
