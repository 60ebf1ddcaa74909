"""What keeps a portal from starting is one line that names the place and what to do."""

from __future__ import annotations

import socket

import pytest

from tests.faults.conftest import Place

pytestmark = pytest.mark.heavy

SECRET = "the-password-of-the-fault-tests"


def test_a_port_that_is_taken_is_said(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        refused = place.porch("serve", "--port", port)
    assert refused.returncode == 3
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in refused.stderr
    assert "choose another with --port" in refused.stderr


def test_a_data_directory_that_cannot_be_written_is_said(place: Place) -> None:
    place.data.write_text("a file where the directory should be")
    refused = place.porch("serve", "--port", "0")
    assert refused.returncode == 3
    assert f"{place.data}: cannot be the data directory: " in refused.stderr
    assert "name another with --data" in refused.stderr


def test_a_directory_without_leave_to_write_is_said(place: Place) -> None:
    refused = place.porch("serve", "--port", "0", "--data", "/proc/porch")
    assert refused.returncode == 3
    assert "/proc/porch: cannot be the data directory: " in refused.stderr


@pytest.mark.parametrize(
    ("service", "address", "said"),
    [
        (
            "database",
            f"postgresql://porch:{SECRET}@127.0.0.1:1/porch",
            "PostgreSQL at 127.0.0.1:1, database porch, cannot be used: ",
        ),
        ("cache", f"redis://:{SECRET}@127.0.0.1:1/0", "The cache server cannot be used: "),
    ],
)
def test_a_server_that_is_down_is_named_by_its_setting(
    place: Place, service: str, address: str, said: str
) -> None:
    place.configure(f"name: Ours\nservices:\n  embedding: none\n  {service}: env:ADDRESS")
    refused = place.porch("serve", "--port", "0", ADDRESS=address)
    assert refused.returncode == 3
    *logged, refusal = refused.stderr.strip().splitlines()
    assert all("server_away" in line for line in logged)
    assert refusal.startswith(f"config/portal.yaml:4: services.{service}: {said}")
    assert SECRET not in refused.stdout + refused.stderr
    assert "Traceback" not in refused.stderr


def test_every_slip_in_the_configuration_is_named_at_once(place: Place) -> None:
    place.configure(
        "nam: x\nlisten: {port: 99999}\nservices: {cach: memory}\nplugins: {knowledge: {a: 1}}"
    )
    refused = place.porch("serve", "--port", "0")
    assert refused.returncode == 3
    for said in ("portal.yaml:1: nam: ", "portal.yaml:3: services.cach: "):
        assert said in refused.stderr


def test_yaml_that_cannot_be_read_is_named_by_its_line(place: Place) -> None:
    place.configure("name: Ours\nplugins: {knowledge: [\n")
    refused = place.porch("serve", "--port", "0")
    assert refused.returncode == 3
    assert refused.stderr.startswith("config/portal.yaml:")
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("setting", ["./no/such/model", "./broken", "no/such-model"])
def test_without_a_model_it_searches_by_words_and_says_so(place: Place, setting: str) -> None:
    broken = place.root / "broken"
    broken.mkdir()
    for name in ("model.onnx", "tokenizer.json"):
        (broken / name).write_text("{")
    place.configure(f"services: {{embedding: {setting}}}")
    place.page("garden", "Garden")
    portal = place.serve().ready()
    answer = portal.call("search_knowledge", {"query": "garden"}).json()["result"]
    found = answer["structuredContent"]
    assert [each["id"] for each in found["results"]] == ["garden"]
    assert found["mode"] == "keyword"
    assert "no embedding model" in found["note"]
    (notice,) = portal.health()["notices"]
    assert notice.startswith("services.embedding: ")


def test_a_second_portal_on_one_data_directory_leaves_the_first_alone(place: Place) -> None:
    place.page("garden", "Garden")
    first = place.serve().ready()
    second = place.porch("serve", "--port", "0")
    assert second.returncode == 3
    assert f"another portal (process {first.process.pid}) holds this data directory" in (
        second.stderr
    )
    assert [each["id"] for each in first.search("garden")] == ["garden"]
