"""Which versions of Python `make versions` tests."""

import sys
import tomllib
from pathlib import Path

from scripts.versions import SUITE, declared, interpreter

ROOT = Path(__file__).parents[2]


def test_each_version_from_the_oldest_that_is_allowed_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    versions = declared(project["classifiers"])
    assert versions == [f"3.{minor}" for minor in range(11, 11 + len(versions))]
    assert project["requires-python"] == f">={versions[0]}"


def test_this_interpreter_is_found_and_one_that_is_not_there_is_none() -> None:
    assert interpreter("{}.{}".format(*sys.version_info)) is not None
    assert interpreter("3.99") is None


def test_the_smaller_suite_exists() -> None:
    assert all((ROOT / each).exists() for each in SUITE)
