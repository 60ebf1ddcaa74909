"""Plugins that are broken, as `porch check` and a real portal tell of them."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tests.faults.conftest import Place, eventually

pytestmark = pytest.mark.heavy

PLUGIN = '''
from contextlib import asynccontextmanager
from gateway.contract import Offer, Plugin, Tool, hookimpl

async def search_knowledge(query: str) -> str:
    """Search elsewhere.

    Args:
        query: what for.
    """
    return "elsewhere: " + query

@asynccontextmanager
async def opened(config, host):
    {opening}
    yield Offer(tools=[Tool.of(search_knowledge)])

@hookimpl
def porch_plugin():
    return Plugin("troubled", "Makes trouble.", opened)
'''


@pytest.fixture
def search_path(place: Place) -> str:
    """Where a plugin named ``troubled`` counts as installed, once its module is written."""
    place.page("garden", "Garden")
    info = place.root / "site" / "troubled-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: troubled\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[porch.plugins]\ntroubled = troubled\n")
    return f"{Path.cwd()}:{place.root / 'site'}"


def _install(place: Place, source: str) -> None:
    (place.root / "site" / "troubled.py").write_text(source)


def test_a_name_offered_twice_is_told_with_its_fix_by_check_health_and_log(
    place: Place, search_path: str
) -> None:
    _install(place, PLUGIN.format(opening="pass"))
    fix = (
        "troubled/search_knowledge: knowledge already offers 'search_knowledge'. In portal.yaml, "
        "under plugins: troubled:, write alias: {search_knowledge: ANOTHER_NAME}"
    )
    checked = place.porch("check", PYTHONPATH=search_path)
    assert checked.returncode == 1
    assert fix in " ".join((checked.stdout + checked.stderr).split())
    portal = place.serve(PYTHONPATH=search_path).ready()
    assert portal.health()["notices"] == [fix]
    assert "already offers 'search_knowledge'" in portal.printed
    assert [each["id"] for each in portal.search("garden")] == ["garden"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (PLUGIN.format(opening='raise OSError("its disk is gone")'), "OSError: its disk is gone"),
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("def porch_plugin(:", "SyntaxError: "),
        ("x = 1", "troubled"),
    ],
    ids=["raises while opening", "import fails", "syntax error", "no declaration"],
)
def test_a_broken_plugin_is_named_and_the_others_are_served(
    place: Place, search_path: str, source: str, said: str
) -> None:
    _install(place, source)
    checked = place.porch("check", PYTHONPATH=search_path)
    assert checked.returncode == 1
    told = [line for line in checked.stdout.splitlines() if "troubled" in line]
    assert any(said in line for line in told), checked.stdout
    assert "Traceback" not in checked.stdout
    portal = place.serve(PYTHONPATH=search_path)
    health = eventually(portal.health, "it tells how it is")
    assert health["plugins"]["troubled"]["state"] == "failed"
    assert said in health["plugins"]["troubled"]["detail"]
    eventually(lambda: portal.health()["plugins"]["knowledge"]["state"] == "ok", "it is ready")
    assert [each["id"] for each in portal.search("garden")] == ["garden"]
    stranger = httpx2.get(f"{portal.url}/readyz", headers={"x-forwarded-for": "203.0.113.9"})
    assert set(stranger.json()) == {"status"}
