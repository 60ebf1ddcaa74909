"""What `make mutants` mutates, and how it reads the outcome."""

import tomllib
from pathlib import Path

import pytest

from scripts.mutants import counted, table

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mutmut"]


@pytest.mark.parametrize("module", SETTINGS["only_mutate"])
def test_each_module_that_is_mutated_is_tested_by_its_own_tests(module: str) -> None:
    package, name = Path(module).parent, Path(module).name
    assert (ROOT / module).is_file()
    tests = f"tests/{package}/test_{name}"
    assert tests in SETTINGS["pytest_add_cli_args_test_selection"]
    assert (ROOT / tests).is_file()


def test_mutants_are_counted_by_their_module_and_a_module_below_the_mark_is_told() -> None:
    lines = [
        *(
            f"    plugins.knowledge.memory.rights.access.x_keys__mutmut_{n}: killed"
            for n in range(9)
        ),
        "    plugins.knowledge.memory.rights.access.x_keys__mutmut_9: survived",
        "    plugins.knowledge.memory.query.layer_search.xǁLogǁ__call____mutmut_1: timeout",
        "something else: killed",
    ]
    found = counted(lines)
    told, good = table(found)
    assert good
    assert told.splitlines()[2:] == [
        "| `access.py` | 10 | 9 | 90% |",
        "| `layer_search.py` | 1 | 1 | 100% |",
    ]
    found["access"]["no tests"] += 1
    assert not table(found)[1]
    assert not table({})[1]
