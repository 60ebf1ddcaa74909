"""The unit for systemd is what systemd reads, and leaves the portal the time that it takes."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.config.portal_keys import Limits

ROOT = Path(__file__).parents[2]
UNIT = ROOT / "packaging" / "systemd" / "porch.service"
INSTALLED = "/opt/porch"
MOST_EXPOSED = 20
"""Of 100, as systemd weighs it; a service that confines itself in nothing has 96."""

analyze = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None, reason="systemd is not installed"
)


def verdict(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)


def here(place: Path, **changed: str) -> Path:
    """The unit as if the portal were installed here, with lines in place of others."""
    porch = Path(sys.executable).with_name("porch")
    text = UNIT.read_text().replace(f"{INSTALLED}/.venv/bin/porch", str(porch))
    for old, new in changed.items():
        text = text.replace(f"{old}=", f"{new}=")
    unit = place / UNIT.name
    unit.write_text(text)
    return unit


@analyze
def test_systemd_finds_nothing_to_mend(tmp_path: Path) -> None:
    done = verdict("verify", "--man=no", here(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    mistaken = verdict("verify", "--man=no", here(tmp_path, KillMode="KillMood"))
    assert "KillMood" in mistaken.stderr


@analyze
def test_the_service_is_confined(tmp_path: Path) -> None:
    options = ("security", "--offline=true", "--no-pager", f"--threshold={MOST_EXPOSED}")
    done = verdict(*options, here(tmp_path))
    assert done.returncode == 0, done.stdout
    assert verdict(*options, here(tmp_path, SystemCallFilter="#")).returncode


def test_it_waits_until_a_drained_portal_has_left() -> None:
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read_string(UNIT.read_text())
    service = unit["Service"]
    assert service["Type"] == "notify"
    assert service["KillMode"] == "mixed"
    limits = Limits.model_validate({"drain": "10s"})
    wait = timedelta(seconds=int(service["TimeoutStopSec"]))
    assert wait > limits.drain + limits.linger + limits.shutdown


def test_the_page_says_how_to_install_it() -> None:
    page = (ROOT / "docs" / "admins" / "systemd.md").read_text()
    assert f"cp {INSTALLED}/{UNIT.relative_to(ROOT)} /etc/systemd/system/" in page
    assert f"Documentation=file:{INSTALLED}/docs/admins/systemd.md" in UNIT.read_text()
