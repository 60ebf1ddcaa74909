"""A tree with everything that is ugly, and an index that is killed: the whole way, by commands."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.examples import times
from tests.faults.conftest import Place
from tests.faults.forking import forking

DEEP = 5_000
KILLS = times(thorough=10, ordinary=5)
"""In each of the two ways in which an index takes in what changed."""
FILES = 40


def write(root: Path, path: str, text: str | bytes) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)


def git(directory: Path, *words: str) -> None:
    person = ["-c", "user.email=a@example.org", "-c", "user.name=A"]
    command = ["git", *person, "-c", "protocol.file.allow=always", *words]
    subprocess.run(command, cwd=directory, check=True, capture_output=True)


def ugly(root: Path) -> None:
    """A checkout with one of each."""
    write(root, "good/a.py", "from good.b import helper\n\n\ndef caller():\n    return helper()\n")
    write(root, "good/b.py", "def helper():\n    return 1\n")
    long = "def f{0}():\n    return f0()\n\n\n\n"
    write(root, "big/fifty.py", "".join(long.format(number) for number in range(10_000)))
    write(root, "big/huge.py", "x = 1\n" * 400_000)
    write(root, "web/bundle.js", "".join(f"function a{at}(b){{return b}}" for at in range(9_000)))
    write(
        root, "bad/latin.py", b"def ok():\n    return '\xff\xfe'\n\ndef two():\n    return ok()\n"
    )
    write(root, "bad/syntax.py", "def fine():\n    return 1\n\ndef broken(:\n    x = = 3\n")
    write(root, "bad/nul.py", b"x = '\0'\n")
    write(root, "deep/lists.py", f"x = {'[' * DEEP}{']' * DEEP}\n")
    write(root, "deep/blocks.go", f"package deep\n\nfunc main() {'{' * DEEP}{'}' * DEEP}\n")
    write(root, "deep/tsconfig.json", "[" * DEEP + "]" * DEEP)
    write(root, "deep/pyproject.toml", f"a = {'[' * DEEP}{']' * DEEP}")
    write(root, "win/a\\b.py", "def back(): pass\n")
    write(root, "win/crlf.py", b"\xef\xbb\xbfdef crlf():\r\n    return 1\r\n")
    (root / "links").mkdir()
    (root / "links" / "up").symlink_to("..")
    (root / "links" / "itself").symlink_to("itself")
    (root / "links" / "passwd.py").symlink_to("/etc/passwd")
    Path(os.fsdecode(os.fsencode(root / "bad") + b"/na\xffme.py")).write_text("def n(): pass\n")
    other = root.parent / "other"
    write(other, "s.py", "def s(): pass\n")
    for directory in (other, root):
        git(directory, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "one")
    git(root, "submodule", "add", "-q", str(other), "vendor/other")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "all")


SKIPPED = {
    "bad/na\\xffme.py": "its name is not UTF-8",
    "bad/nul.py": "binary",
    "big/huge.py": "larger than",
    "links/itself": "symbolic link",
    "links/passwd.py": "symbolic link",
    "links/up": "symbolic link",
    "vendor/other": "a submodule",
    "web/bundle.js": "minified",
}
IN_PART = {"bad/syntax.py", "deep/blocks.go", "deep/lists.py"}


@pytest.fixture
def code(place: Place) -> Place:
    """A place with no plugin but this one's commands."""
    settings = "services: {embedding: none}\nlimits: {calls: none}\nplugins: {codegraph: {}}\n"
    (place.root / "config" / "portal.yaml").write_text(settings)
    (place.root / "config" / "tiers.yaml").write_text("default: open\n")
    return place


@pytest.mark.heavy
@pytest.mark.timeout(900)
def test_an_ugly_tree_is_indexed_and_every_skipped_file_is_listed(code: Place) -> None:
    tree = code.root / "ugly"
    ugly(tree)
    done = code.porch("codegraph", "add", str(tree), "--tier", "open")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    listed = code.porch("codegraph", "list", "--problems", "--json")
    [shown] = json.loads(listed.stdout)["repositories"]
    problems = {each["file"]: each for each in shown["problems"]}
    assert {path for path, each in problems.items() if each["skipped"]} == set(SKIPPED)
    for path, reason in SKIPPED.items():
        assert reason in problems[path]["problem"]
    assert {path for path, each in problems.items() if not each["skipped"]} >= IN_PART
    plain = code.porch("codegraph", "list", "--problems").stdout
    assert all(path in plain for path in problems)


def fill(root: Path, mark: str) -> None:
    for at in range(FILES):
        other = (at * 7 + 1) % FILES
        text = (
            f"from f{other} import {mark}_{other}\n\n\ndef {mark}_{at}():\n    {mark}_{other}()\n"
        )
        write(root, f"f{at}.py", text)


def served(database: Path) -> set[str]:
    """The marks of the functions that are served, and how many there are of each."""
    query = """SELECT substr(e.name, 1, instr(e.name, '_') - 1), count(*)
        FROM codegraph_entities e JOIN codegraph_repositories r ON e.layer = r.layer
        WHERE e.name LIKE '%\\_%' ESCAPE '\\' GROUP BY 1"""
    with closing(sqlite3.connect(database)) as connection:
        return {f"{mark} {count}" for mark, count in connection.execute(query)}


def is_held(database: Path) -> bool:
    """Whether a process works on the index, or was killed while it did."""
    with closing(sqlite3.connect(database)) as connection:
        [holder] = connection.execute("SELECT holder FROM codegraph_work").fetchone()
    return bool(holder)


@pytest.mark.heavy
@pytest.mark.timeout(900)
@pytest.mark.parametrize("most", [FILES, 0], ids=["in place", "as a new layer"])
def test_an_index_killed_at_random_moments_is_served_whole_or_not_at_all(
    code: Place, most: int, record_property: Callable[[str, object], None]
) -> None:
    tree, chance, mark = code.root / "tree", random.Random(20), "one"
    fill(tree, mark)
    database = code.data / "porch.db"
    with forking(code, most) as commands:
        commands.begin("codegraph", "add", str(tree))
        assert commands.ended() == 0
        assert served(database) == {f"{mark} {FILES}"}
        fill(tree, "whole")
        began = time.monotonic()
        commands.begin("codegraph", "index")
        assert commands.ended() == 0
        span = time.monotonic() - began
        kills, at_work = 0, False
        while kills < KILLS or not at_work:  # a busy machine may be faster now than it was
            kills += 1
            before, mark = served(database), f"mark{kills}"
            fill(tree, mark)
            process = commands.begin("codegraph", "index")
            time.sleep(chance.uniform(0, 1) * span)
            commands.kill(process)
            assert served(database) in (before, {f"{mark} {FILES}"})
            at_work |= is_held(database)
        record_property("kills", kills)
        commands.begin("codegraph", "index")
        assert commands.ended() == 0  # what was held by one that is dead keeps nobody waiting
    assert served(database) == {f"{mark} {FILES}"}
