"""What holds a data directory, and who may look into it."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import pytest

from gateway.config.portal_keys import PortalConfig
from gateway.errors import ConfigError
from gateway.server.data_directory import held
from gateway.server.server import listen


def test_a_data_directory_that_is_made_here_is_its_users_alone(tmp_path: Path) -> None:
    with held(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_a_data_directory_that_is_made_in_a_checkout_is_left_out_by_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    with held(tmp_path / "data"):
        status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
        assert subprocess.run(status, capture_output=True, check=True).stdout == b""


def test_a_data_directory_is_held_by_one_portal_at_a_time(tmp_path: Path) -> None:
    with held(tmp_path), pytest.raises(ConfigError, match="another portal"), held(tmp_path):
        pass
    with held(tmp_path):
        pass


def test_a_portal_with_others_beside_it_refuses_connections_until_it_answers() -> None:
    settings = {"listen": {"host": "127.0.0.1", "port": 0}, "limits": {"drain": "1s"}}
    config = PortalConfig.model_validate(settings)
    with listen(config) as listener, pytest.raises(ConnectionRefusedError):
        socket.create_connection(listener.getsockname())
    with listen(config, alone=True) as listener, socket.create_connection(listener.getsockname()):
        pass


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="Linux has it")
def test_a_connection_whose_client_reads_nothing_breaks_after_a_minute() -> None:
    config = PortalConfig.model_validate({"listen": {"host": "127.0.0.1", "port": 0}})
    with listen(config) as listener:
        listener.setblocking(True)
        with socket.create_connection(listener.getsockname()):
            connection = listener.accept()[0]
            with connection:
                level, option = socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT
                assert connection.getsockopt(level, option) == 60_000
