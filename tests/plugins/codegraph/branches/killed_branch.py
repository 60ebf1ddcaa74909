"""A portal that kills itself while it reads a branch: its argument is a ``Place`` as JSON.

``MOMENTS`` are the moments at which it can do so, in the order in which they come.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

from gateway.testing import TestPortal, open_test_portal
from plugins.codegraph import offer, plugin
from plugins.codegraph.branches import branch_graphs
from plugins.codegraph.branches.branch_graphs import BranchGraphs
from plugins.codegraph.branches.branches import Branches
from plugins.codegraph.git import command
from plugins.codegraph.git.working_copy import WorkingCopy
from plugins.codegraph.indexer import indexer
from plugins.codegraph.indexer.worker_pool import _Process
from plugins.codegraph.search.embedder import EntityEmbedder
from plugins.codegraph.search.vectors import CodeVectors
from plugins.codegraph.store.layers import Layers
from tests.plugins.codegraph.portal import WordsModel

PATIENT_S = 120.0
"""Seconds that a call waits for a branch here, however busy the machine is."""


@dataclass(frozen=True)
class Place:
    """Where the portal's data and its repository are, and what it is to do.

    Attributes:
        database: what ``services.database`` says.
        data: the data directory.
        url, ca_file: the repository on its host, and what vouches for that.
        branch: which branch it asks about, then.
        moment: when it kills itself, of :data:`MOMENTS`.
    """

    database: str
    data: str
    url: str
    ca_file: str
    branch: str = ""
    moment: str = ""

    @asynccontextmanager
    async def portal(self) -> AsyncGenerator[TestPortal]:
        """The portal on this data; it looks for a branch whenever it is asked about one."""
        netloc = self.url.removeprefix("https://").partition("/")[0]
        section = {
            "hosts": {netloc: {"ca_file": self.ca_file}},
            "repositories": [{"url": self.url, "tier": "open"}],
            "refresh": "24h",
            "most_branches": 2,
        }
        config = {"plugins": {"codegraph": section}, "services": {"database": self.database}}
        with contextlib.ExitStack() as stack:
            stack.enter_context(patch.object(offer, "opened", _with_model(offer.opened)))
            for name, value in _PATIENT.items():
                stack.enter_context(patch.object(branch_graphs, name, value))
            opened = open_test_portal(plugin, config=config, data_dir=Path(self.data))
            async with opened as portal:
                yield portal

    def argument(self) -> str:
        """This, as the process takes it."""
        return json.dumps(asdict(self))


_PATIENT = {
    "CHECK_INTERVAL": timedelta(0),
    "WAIT_TIMEOUT_S": PATIENT_S,
    "CHECK_TIMEOUT_S": PATIENT_S,
}


def _with_model(opened: Any) -> Any:
    return lambda config, host: opened(config, replace(host, embedder=WordsModel()))


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@contextmanager
def _replaced(
    where: Any, name: str, *, after: bool, only: Callable[..., bool] = lambda *args: True
) -> Iterator[None]:
    """Have a coroutine function kill this process before or after it does its work."""
    real = getattr(where, name)

    async def dying(*args: Any, **more: Any) -> Any:
        if not after and only(*args):
            _die()
        found = await real(*args, **more)
        if only(*args):
            _die()
        return found

    with patch.object(where, name, dying):
        yield


@contextmanager
def _around(where: Any, name: str, *, after: bool) -> Iterator[None]:
    """Have this process be killed before a transaction begins, or once it is committed."""
    real = getattr(where, name)

    @asynccontextmanager
    async def dying(*args: Any, **more: Any) -> AsyncIterator[Any]:
        if not after:
            _die()
        async with real(*args, **more) as found:
            yield found
        _die()

    with patch.object(where, name, dying):
        yield


def _is_fetch(*args: Any) -> bool:
    return bool(args[1] == "fetch")


MOMENTS: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "before anything is looked at": lambda: _replaced(WorkingCopy, "heads", after=False),
    "while Git fetches": lambda: _replaced(command, "_answered", after=False, only=_is_fetch),
    "when the commit is here": lambda: _replaced(WorkingCopy, "fetch_branch", after=True),
    "when it is known what differs": lambda: _replaced(indexer, "tree_edits", after=True),
    "while a worker waits for its task": lambda: _replaced(_Process, "_run", after=False),
    "when a worker has read": lambda: _replaced(_Process, "_run", after=True),
    "when a layer is begun": lambda: _replaced(Layers, "begin", after=True),
    "when its texts are kept": lambda: _replaced(Layers, "keep", after=True),
    "when its files are written": lambda: _replaced(Layers, "write", after=True),
    "before it is embedded": lambda: _replaced(EntityEmbedder, "embed_overlay", after=False),
    "when some of it is embedded": lambda: _replaced(CodeVectors, "put", after=True),
    "before it is committed": lambda: _replaced(Branches, "put", after=True),
    "when it is shown": lambda: _around(Layers, "show", after=True),
    "when all is done but noted": contextlib.nullcontext,
}
"""The moments of a branch that is read, or read again."""
EVICTIONS: Mapping[str, Callable[[], AbstractContextManager[None]]] = {
    "when another branch's commit is let go": lambda: _around(Layers, "hide", after=False),
    "when another branch is forgotten": lambda: _replaced(Branches, "remove", after=True),
    "when another branch is gone": lambda: _around(Layers, "hide", after=True),
}
"""The moments at which the branch that was asked about longest ago makes room."""


@contextmanager
def _armed(moment: str) -> Iterator[None]:
    """Have the job that reads a branch kill this process at a moment; no other work does."""
    real = BranchGraphs.run

    async def run(self: BranchGraphs, *args: Any) -> Any:
        with {**MOMENTS, **EVICTIONS}[moment]():
            await real(self, *args)
        _die()

    with patch.object(BranchGraphs, "run", run):
        yield


async def main(place: Place) -> None:
    """Ask about the branch, and be killed."""
    with _armed(place.moment):
        async with place.portal() as portal:
            await portal.call("get_project_stats", {"branch": place.branch})


if __name__ == "__main__":
    asyncio.run(main(Place(**json.loads(sys.argv[1]))))
