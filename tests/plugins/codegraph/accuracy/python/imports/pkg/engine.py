from __future__ import annotations

from typing import TYPE_CHECKING

from pkg.tools import saw as _saw

if TYPE_CHECKING:
    from pkg.facade import Facade


class Engine:
    def start(self, owner: Facade | None = None):
        _saw()
        if owner is not None:
            owner.started()
