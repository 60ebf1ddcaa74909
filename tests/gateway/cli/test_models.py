"""``porch models`` says which model does what, and whether it answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from gateway.cli.models import usd
from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import PORTAL, Run
from tests.servers.openai_compatible import OpenAICompatible, failing

PRICES = {"m": {"input": "1", "output": "1"}}


def configured(place: Path, url: str) -> None:
    portal = yaml.safe_load(PORTAL)
    provider = {"kind": "compatible", "url": url, "prices": PRICES}
    portal["services"]["models"] = {"providers": {"local": provider}, "simple": "local/m"}
    portal["services"]["models"]["retries"] = 0
    (place / "config" / "portal.yaml").write_text(yaml.safe_dump(portal))


def test_a_portal_without_a_model_says_so_and_nothing_is_wrong(porch: Run) -> None:
    result = porch("models", "list")
    assert result.exit_code == EXIT.DONE
    assert "no language model" in result.output
    refused = porch("models", "test")
    assert refused.exit_code == EXIT.PROBLEM
    assert refused.output.startswith("no_model: ")


def test_roles_are_listed_with_what_is_wrong(place: Path, porch: Run) -> None:
    with OpenAICompatible(models=["mm"]) as server:
        configured(place, server.url)
        result = porch("models", "list", "--json")
        told = json.loads(result.output)
        assert told["roles"] == [
            {"role": "simple", "provider": "local", "model": "m", "address": server.url}
        ]
        assert "has no model m. It has mm" in told["problems"][0]
        assert result.exit_code == EXIT.PROBLEM
        server.models = ["m"]
        assert porch("models", "list").exit_code == EXIT.DONE
        assert not server.asked


def test_a_test_is_one_metered_call(place: Path, porch: Run) -> None:
    with OpenAICompatible() as server:
        configured(place, server.url)
        told = json.loads(porch("models", "test", "--json").output)
        assert (told["ok"], told["model"], len(server.asked)) == (True, "m", 1)
        spent = server.billed["prompt_tokens"] + server.billed["completion_tokens"]
        assert told["cost_usd"] == usd(spent * 1000)
        server.then(failing(401))
        refused = porch("models", "test")
    assert refused.exit_code == EXIT.PROBLEM
    assert refused.output.startswith("misconfigured: ")


@pytest.mark.parametrize(
    ("nano", "written"), [(None, None), (0, "0"), (1, "0.000000001"), (2_500_000_000, "2.5")]
)
def test_costs_are_written_exactly(nano: int | None, written: str | None) -> None:
    assert usd(nano) == written
