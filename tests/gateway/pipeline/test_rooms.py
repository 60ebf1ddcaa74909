"""Which rooms of the gateway a call walks through."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import gateway
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.surfaces.mcp.conftest import Wire
from tests.journeys import garden

ROOT = Path(gateway.__file__).parent
WALKED = {"app", "surfaces", "pipeline", "catalog", "limits", "observability"}
USED = {"config", "contract", "scrubbing", "errors"}
"""What rooms use as they use a library: types, and functions that keep nothing."""
BESIDE = {"testing", "toolkit", "identity", "services"}
"""What other tasks of the portal run in while the call does: what is written, and looked at."""


@pytest.fixture(scope="module")
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(garden) as portal:
        yield portal


class Walk:
    """The rooms whose functions run while a block does."""

    def __init__(self) -> None:
        self.rooms: set[str] = set()

    def __enter__(self) -> Walk:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(ROOT):
            self.rooms.add(path.relative_to(ROOT).parts[0].removesuffix(".py"))


@pytest.mark.parametrize("era", ["2025-11-25", "2026-07-28"])
async def test_a_tool_call_walks_six_rooms(portal: TestPortal, era: str) -> None:
    wire = await Wire(portal, "members").begin()
    await wire.call("water", era=era, bed="peas").reply()  # what is imported late is there now
    with Walk() as walk:
        await wire.call("water", era=era, bed="peas").reply()
    assert walk.rooms - USED - BESIDE == WALKED
