"""What `make coverage` measures, and how it reads the outcome."""

import fnmatch
from pathlib import Path

from scripts.covered import (
    COMPONENTS,
    FLOORS,
    PLUGIN,
    component_of,
    package_table,
    packages,
    shares,
    table,
)

ROOT = Path(__file__).parents[2]


def test_the_table_is_that_of_the_protocol() -> None:
    assert {each.name: each.target for each in COMPONENTS} == {
        "Business Logic": 90,
        "Data Models": 95,
        "API Endpoints": 85,
        "Database Layer": 85,
        "Vector DB Layer": 85,
        "Query Engine": 90,
    }


def test_each_component_has_files_and_each_pattern_names_one() -> None:
    plugin = ROOT / PLUGIN
    files = [path.relative_to(plugin).as_posix() for path in plugin.rglob("*.py")]
    assert {component_of(each) for each in files} == set(COMPONENTS)
    for pattern in (pattern for each in COMPONENTS for pattern in each.files):
        assert fnmatch.filter(files, pattern), pattern


def test_lines_are_summed_and_a_component_below_its_target_is_told() -> None:
    whole = {
        "memory/store/a.py": (17, 20),
        "store.py": (0, 0),
        "memory/store/vectors.py": (90, 100),
    }
    whole |= {"notes/content.py": (96, 100), "tools.py": (9, 10), "memory/query/engine.py": (9, 10)}
    found = shares({**whole, "memory/write/entries.py": (91, 100)})
    told, good = table(found)
    assert good
    assert "| Database Layer | 85% | 85.0% |" in told
    assert not table(shares({**whole, "memory/write/entries.py": (89, 100)}))[1]
    told, good = table(shares(whole))
    assert not good
    assert "| Business Logic | 90% | nothing measured |" in told


def test_every_floor_is_that_of_a_package_and_one_below_it_is_named() -> None:
    assert set(packages()) >= set(FLOORS)
    assert "plugins/knowledge" in packages()
    told, below = package_table({"auth": 95.0, "gateway": 94.9, "plugins/knowledge": 12.0})
    assert below == ["gateway"]
    assert "| auth | 95% | 95.0% |" in told
    assert "| plugins/knowledge |  | 12.0% |" in told
    assert package_table({})[1] == list(FLOORS)
