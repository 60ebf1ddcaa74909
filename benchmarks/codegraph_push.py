"""A push to a large repository, from the webhook's delivery until the graph knows it.

``porch serve`` reads 5,000 Python files (those of :mod:`benchmarks.codegraph_speed`) from a Git
host on loopback, without an embedding model. Each push changes three files, and is there when a
tool finds the functions that it adds, says what they are for, and the feed has its commit.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.codegraph_speed import SMALL, copy
from benchmarks.portal import Portal, configured
from benchmarks.table import Bar, Row
from tests.plugins.codegraph.checkouts import committed, run_git
from tests.servers.git_host import GitHost

SECTION = "codegraph_push"
PUSHES, FILES = 7, 3
NAME = "plants/garden"
PURPOSE = "Plant a bed."
_FUNCTION = '\n\ndef {}(bed):\n    """{}"""\n    return bed\n'
_SECRET = "a-secret-of-this-benchmark"
_PATIENCE_SECONDS, _READY_SECONDS = 120.0, 1_800.0


def measure() -> list[Row]:
    """Index the repository, then push to it again and again."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        tree = root / "garden"
        copy(tree, lines=10**9, files=SMALL)
        first = committed(tree, {})
        with _hosted(root, tree) as host, _served(root, host) as portal:
            _until(portal, lambda: _told(portal, first) and _settled(portal), _READY_SECONDS)
            files = sorted(tree.rglob("*.py"))[17 :: SMALL // (FILES * PUSHES) - 1]
            pushes = [files[at * FILES : (at + 1) * FILES] for at in range(PUSHES)]
            seconds = [_pushed(portal, tree, each) for each in pushes]
    note = f"{SMALL:,} files, {FILES} changed, median of {PUSHES}, worst {max(seconds):.2f} s"
    bar = Bar("under", 2.0)
    return [
        Row(
            SECTION, "a push, from the delivery to the graph", median(seconds), "s", bar, note, True
        )
    ]


def _pushed(portal: Portal, tree: Path, files: Sequence[Path]) -> float:
    """Push a function in each file; the seconds until all is known of them."""
    names = [f"planted_{path.stem.strip('_')}_{time.time_ns()}" for path in files]
    changed = {
        str(path.relative_to(tree)): path.read_text() + _FUNCTION.format(name, PURPOSE)
        for path, name in zip(files, names, strict=True)
    }
    commit = committed(tree, changed)
    run_git(tree, "push", "-q", "origin", "main")
    push = {"ref": "refs/heads/main", "after": commit, "repository": {"full_name": NAME}}
    begun = time.perf_counter()
    portal.deliver("codegraph", push, _SECRET)
    # The feed is asked first: to look for a name that is not there costs the portal most.
    _until(portal, lambda: _told(portal, commit) and _known(portal, names), _PATIENCE_SECONDS)
    return time.perf_counter() - begun


def _known(portal: Portal, names: Sequence[str]) -> bool:
    """Whether the graph has these functions, and says what they are for."""
    found = [portal.call("get_business_context", {"name": name}) for name in names]
    return all(each and each["justification"]["purpose"] == PURPOSE for each in found)


def _told(portal: Portal, commit: str) -> bool:
    """Whether the feed of changes has come to a commit."""
    found = portal.call("get_recent_changes", {"limit": 1})
    return found is not None and commit[:7] in str(found)


def _settled(portal: Portal) -> bool:
    """Whether all that follows a first index has been made."""
    blueprint = portal.call("get_blueprint", {})
    return bool(blueprint and blueprint["verticals"] and portal.call("get_health_report", {}))


def _until(portal: Portal, holds: Callable[[], bool], seconds: float) -> None:
    begun = time.perf_counter()
    while not holds():
        portal.still_running()
        if time.perf_counter() - begun > seconds:
            raise TimeoutError(f"it does not hold after {seconds:g} s")
        time.sleep(0.1)


@contextmanager
def _hosted(root: Path, tree: Path) -> Generator[GitHost]:
    bare = root / "host" / f"{NAME}.git"
    bare.parent.mkdir(parents=True)
    run_git(root, "clone", "-q", "--bare", str(tree), str(bare))
    run_git(tree, "remote", "add", "origin", str(bare))
    with GitHost(root / "host").serving() as host:
        yield host


@contextmanager
def _served(root: Path, host: GitHost) -> Generator[Portal]:
    own = {"ca_file": str(host.ca_file), "webhook_secret": "env:PORCH_BENCH_HOOK"}
    codegraph = {
        "hosts": {host.netloc: own},
        "repositories": [{"url": host.url(f"{NAME}.git"), "tier": "open"}],
        "refresh": "24h",
    }
    settings = {"services": {"embedding": "none"}, "plugins": {"codegraph": codegraph}}
    with configured(root, settings, {"PORCH_BENCH_HOOK": _SECRET}) as portal:
        portal.await_ready()
        yield portal
