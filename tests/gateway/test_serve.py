"""What holds a data directory, and who may look into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.errors import ConfigError
from gateway.serve import held


def test_a_data_directory_that_is_made_here_is_its_users_alone(tmp_path: Path) -> None:
    with held(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_a_data_directory_is_held_by_one_portal_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(ConfigError, match="another portal"), held(tmp_path):
        pass
    with held(tmp_path):
        pass
