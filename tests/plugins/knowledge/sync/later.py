"""Time that passes for what is published at its time, without anybody waiting for it."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

import pytest

from plugins.knowledge.notes import note
from plugins.knowledge.sync import freshness, sync_loop


class _Later(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz) + timedelta(days=1)


def let_a_day_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have notes be read, and looked through, as on the next day."""
    for module in (note, freshness, sync_loop):
        monkeypatch.setattr(module, "datetime", _Later)
