"""What `make mutants` mutates, and how it reads the outcome."""

from pathlib import Path

import pytest

from scripts.mutant_sets import SETS, MutantSet, own_tests
from scripts.mutants import EQUIVALENT, configure, counted, ends, table, written

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("chosen", SETS.values(), ids=SETS)
def test_a_set_names_modules_of_one_package_and_tests_that_are_there(chosen: MutantSet) -> None:
    assert all((ROOT / path).is_file() for path in chosen.modules)
    assert all((ROOT / path).exists() for path in chosen.tests)
    assert {path.partition("/")[0] for path in chosen.modules} == {chosen.package}
    assert all(chosen.equivalent.values())


@pytest.mark.parametrize("module", SETS["memory"].modules)
def test_each_module_of_memory_is_tested_by_its_own_tests(module: str) -> None:
    assert own_tests(module) in SETS["memory"].tests


@pytest.mark.parametrize(
    ("name", "folder"), [("rules", "auth/rules"), ("scrubbing", "gateway/scrubbing")]
)
def test_a_set_of_a_whole_folder_leaves_no_module_out(name: str, folder: str) -> None:
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).glob("*.py")}
    assert set(SETS[name].modules) == files - {f"{folder}/__init__.py"}


def test_mutmut_is_told_the_set(tmp_path: Path) -> None:
    chosen = MutantSet(("auth/a.py", "auth/b.py"), ("tests/auth/test_a.py",))
    configure(tmp_path, chosen)
    assert (tmp_path / "setup.cfg").read_text() == (
        "[mutmut]\n"
        "source_paths = auth\n"
        "only_mutate = auth/a.py\n\tauth/b.py\n"
        "pytest_add_cli_args_test_selection = tests/auth/test_a.py\n"
        "also_copy = docs\n\n"
    )


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
    found = counted(ends(lines))
    told, good = table(found)
    assert good
    assert told.splitlines()[2:] == [
        "| `access.py` | 10 | 9 | 0 | 1 |",
        "| `layer_search.py` | 1 | 1 | 0 | 0 |",
        "| all | 11 | 10 | 0 | 1 |",
    ]
    found["access"][EQUIVALENT] += 1
    told, good = table(found)
    assert good
    assert "| `access.py` | 11 | 9 | 1 | 1 |" in told
    found["access"]["no tests"] += 1
    assert not table(found)[1]
    assert not table({})[1]


def test_an_equivalent_mutant_is_known_by_the_lines_that_it_writes() -> None:
    diff = "# a.b: survived\n--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n def a():\n-    x(1)\n+    x(2)\n"
    assert written(diff) == "x(2)"
