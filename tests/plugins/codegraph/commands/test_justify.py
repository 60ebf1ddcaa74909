"""``porch codegraph justify``: what asking would cost, and how it is begun."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.testing.migrations import replayed_migrations
from tests.plugins.codegraph.justification.opinions.asked import written

Porch = Callable[..., Result]
OFF = {name: {"enabled": False} for name in ("knowledge", "skills_repo", "workflows")}


def models(**prices: Any) -> dict[str, Any]:
    """Models of a provider that is not there: whoever asks one fails."""
    provider = {"kind": "compatible", "url": "http://127.0.0.1:9/v1", "prices": prices}
    return {"providers": {"x": provider}, "simple": "x/small", "complex": "x/large"}


@pytest.fixture
def porch(tmp_path: Path) -> Iterator[Porch]:
    """Run ``porch codegraph``, in a directory of the test's own."""
    config = tmp_path / "config"
    config.mkdir()
    where = ("--config", str(config), "--data", str(tmp_path / "data"))

    def run(*words: str, models: Any = None, **section: Any) -> Result:
        services = {"embedding": "none"} | ({"models": models} if models else {})
        settings = {"services": services, "plugins": {**OFF, "codegraph": section}}
        (config / "portal.yaml").write_text(yaml.safe_dump(settings))
        words = ("codegraph", *words, *where)
        return CliRunner().invoke(main, words, prog_name="porch", catch_exceptions=False)

    with replayed_migrations():
        yield run


def test_an_estimate_has_entities_tokens_and_money_by_role_and_asks_nobody(
    tmp_path: Path, porch: Porch
) -> None:
    assert porch("add", str(written(tmp_path / "shop"))).exit_code == 0
    price = {"input": 1_000, "output": 2_000}
    known = models(small=price, large=price)
    (found,) = json.loads(porch("justify", "shop", "--estimate", "--json", models=known).output)
    roles = {each["role"]: each for each in found["roles"]}
    assert found["entities"] == sum(each["entities"] for each in found["roles"]) == 6
    assert roles["complex"]["entities"] == 4  # a circle of two, a route and a program
    assert roles["simple"]["prompts"] == 2
    for each in roles.values():
        tokens = each["inputTokens"] + 2 * each["outputTokens"]
        assert float(each["usd"]) == pytest.approx(tokens / 1_000)
        assert each["priceList"] == "portal.yaml"
    assert float(found["usd"]) == pytest.approx(sum(float(each["usd"]) for each in roles.values()))
    whole = porch("justify", "shop", "--estimate", "--everything", models=known).output
    assert "shop: 9 entities would be asked about" in whole
    assert "Tokens are estimated" in whole


def test_an_estimate_says_where_a_price_is_not_known_or_there_is_no_model(
    tmp_path: Path, porch: Porch
) -> None:
    assert porch("add", str(written(tmp_path / "shop"))).exit_code == 0
    unknown = " ".join(porch("justify", "--estimate", models=models()).output.split())
    assert "nobody here knows what x/small costs" in unknown
    none = " ".join(porch("justify", "--estimate").output.split())
    assert "this portal has no such model" in none
    assert "at a price that nobody here knows" in none


def test_a_run_is_begun_only_where_an_admin_allows_it(tmp_path: Path, porch: Porch) -> None:
    assert porch("add", str(written(tmp_path / "shop"))).exit_code == 0
    assert "The portal asks" not in porch("justify", "shop").output
    begun = porch("justify", "shop", models=models(), justification={"model": True})
    assert "The portal asks models about the rest" in " ".join(begun.output.split())
    agents = porch("justify", "shop", "--json", justification={"agents": True})
    (found,) = json.loads(agents.output)
    assert found["run"]
