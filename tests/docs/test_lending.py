"""The worked example of the author's guide: its files are written out, and its tests run."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gateway.testing import PluginContract

PAGE = Path(__file__).parents[2] / "docs" / "plugin-authors" / "lending.md"
FILES = {
    match[1]: match[2]
    for match in re.finditer(r"```python\n# (\S+\.py)\n(.*?)```", PAGE.read_text(), re.S)
}
OWN_TESTS = re.findall(r"^async def (test_\w+)", FILES["tests/test_lending.py"], re.M)
CONTRACT = [
    name
    for name, check in inspect.getmembers(PluginContract, inspect.isfunction)
    if name.startswith("test_") and list(inspect.signature(check).parameters) == ["self"]
]


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The page's files as a package that can be imported, and its tests as a module."""
    place = tmp_path_factory.mktemp("lending")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (place / "porch_lending" / "__init__.py").touch()
    sys.path[:0] = [str(place), str(place / "tests")]
    try:
        yield importlib.import_module("test_lending")
    finally:
        sys.path[:2] = []
        for name in [name for name in sys.modules if name.startswith("porch_lending")]:
            del sys.modules[name]
        del sys.modules["test_lending"]


@pytest.fixture(autouse=True)
def _shelf_secret(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LENDING_SHELF_SECRET", example.SECRET)


@pytest.mark.parametrize("name", OWN_TESTS)
async def test_its_own_tests_pass(example: ModuleType, name: str) -> None:
    await getattr(example, name)()


@pytest.mark.parametrize("name", CONTRACT)
async def test_it_keeps_the_contract(example: ModuleType, name: str) -> None:
    suite: Any = example.TestContract()
    outcome = getattr(suite, name)()
    if inspect.isawaitable(outcome):
        await outcome
