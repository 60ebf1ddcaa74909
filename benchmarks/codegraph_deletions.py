"""Whether "safe to delete" is true: what is called safe is deleted, and the package's tests run.

``python -m benchmarks.codegraph_deletions PACKAGE==VERSION COUNT`` takes a Python package's source
distribution, draws so many of the entities that ``safe_to_delete`` calls safe (by a seed, so that
a run can be repeated), deletes each alone from a copy, and runs the package's own tests. It prints
for each whether its deletion breaks a test, and the count. ``--python`` names an interpreter whose
environment has what those tests need; ``--tests`` which of them to run.
"""

from __future__ import annotations

import ast
import asyncio
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.trees import python_tree
from plugins.codegraph.languages.registry import language_of
from plugins.codegraph.model import EdgeKind, Entity, EntityKind
from tests.plugins.codegraph.linker.in_memory import LinkedRepo, link_tree
from tests.plugins.codegraph.portal import world

SUITE_SECONDS = 300
"""A suite that takes longer has been broken by what was deleted."""


@dataclass(frozen=True)
class Deletion:
    """What is called safe to delete.

    Attributes:
        entity: it.
        also: lines that list its name and go with it, as ``path:line``.
    """

    entity: Entity
    also: Sequence[str]


async def safe_ones(files: Mapping[str, bytes]) -> list[Deletion]:
    """Everything in a tree's Python files that ``safe_to_delete`` calls safe."""
    entities = _unused(link_tree("trial", files))
    found, asked = [], set()
    with tempfile.TemporaryDirectory() as directory:
        async with world(Path(directory)) as portal:
            await portal.index("trial", files)
            for each in entities:
                place = (each.path, each.qualified)
                if place in asked:
                    continue
                asked.add(place)
                answer = await _answer(portal, each)
                if answer.get("verdict") == "safe":
                    found.append(Deletion(each, answer.get("also") or ()))
    return found


def _unused(linked: LinkedRepo) -> list[Entity]:
    """What may be safe to delete in a file of Python: the others need not be asked for."""
    uses = (each for each in linked.edges if each.kind is not EdgeKind.CONTAINS)
    used = {each.target for each in uses if each.source != each.target}
    named = {each.name for each in linked.mentions} | {each.name for each in linked.unresolved}
    free = (each for each in linked.entities if each.key not in used and not each.test)
    return [
        each
        for each in free
        if each.language == "python" and each.kind is not EntityKind.FILE and each.name not in named
    ]


async def _answer(portal: Any, entity: Entity) -> Mapping[str, Any]:
    try:
        answer: Mapping[str, Any] = await portal.call(
            "safe_to_delete", name=entity.qualified, file=entity.path
        )
    except Exception:  # no single thing has this name
        return {}
    return answer


def without(
    source: str, first: int, last: int, name: str, listed: Sequence[int] = ()
) -> str | None:
    """A Python file without some of its lines; None if it then is none.

    Args:
        source: the file.
        first, last: the lines of what is deleted.
        name: its name, which is taken out of the lines ``listed``.
        listed: lines that list what the file exports.
    """
    lines = source.split("\n")
    several = _names_of(source, first)
    if name in several:
        lines[first - 1] = re.sub(rf"\b{re.escape(name)}\s*=(?!=)", "", lines[first - 1], count=1)
        return "\n".join(lines) if several[name] else None
    for at in listed:
        lines[at - 1] = re.sub(rf"""["']{re.escape(name)}["']\s*,?""", "", lines[at - 1])
    indent = re.match(r"\s*", lines[first - 1])
    assert indent is not None
    lines[first - 1 : last] = []
    for filler in ([], [f"{indent[0]}pass"]):
        text = "\n".join([*lines[: first - 1], *filler, *lines[first - 1 :]])
        try:
            ast.parse(text)
        except SyntaxError:
            continue
        return text
    return None


def _names_of(source: str, line: int) -> dict[str, bool]:
    """The names that a line gives values to, where they are several, each with whether it can be
    taken out alone: of ``a = b = 1``, and not of ``a, b = 1, 2``."""
    found = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Assign)]
    targets = [to for each in found if each.lineno == line for to in each.targets]
    alone = [each.id for each in targets if isinstance(each, ast.Name)]
    names = {each.id for to in targets for each in ast.walk(to) if isinstance(each, ast.Name)}
    return {each: each in alone for each in names} if len(names) > 1 else {}


class Trial:
    """A package whose tests are run without this and that.

    Args:
        root: its source distribution, which stays as it is.
        python: what runs the tests.
        tests: which tests, from the root.
    """

    def __init__(self, root: Path, python: str, tests: Sequence[str]) -> None:
        self._root, self._tests = root, tests
        self._command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE"]
        self._usual: set[str] = set()

    def start(self) -> int:
        """Run the tests with nothing deleted; returns how many fail all the same."""
        self._usual = self._failing(self._root, "--continue-on-collection-errors")
        return len(self._usual)

    def broken(self, deletion: Deletion) -> set[str] | None:
        """The tests that fail without something; None if what is left is no program."""
        entity = deletion.entity
        listed = [int(each.rpartition(":")[2]) for each in deletion.also]
        source = (self._root / entity.path).read_text()
        text = without(source, entity.line, entity.end_line, entity.name, listed)
        if text is None:
            return None
        with tempfile.TemporaryDirectory() as directory:
            copy = Path(directory) / "copy"
            shutil.copytree(self._root, copy)
            (copy / entity.path).write_text(text)
            how = "--continue-on-collection-errors" if self._usual else "--exitfirst"
            return self._failing(copy, how) - self._usual

    def _failing(self, root: Path, *more: str) -> set[str]:
        path = root / "src"
        environment = {
            **os.environ,
            "PYTHONPATH": str(path if path.is_dir() else root),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        command = [*self._command, *more, *self._tests]
        try:
            done = subprocess.run(
                command,
                cwd=root,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SUITE_SECONDS,
            )
        except subprocess.TimeoutExpired:
            return {"the tests did not end"}
        failed = set(re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M))
        if not failed and done.returncode:
            return {f"pytest ended with {done.returncode}"}
        return failed


def tree_of(root: Path) -> dict[str, bytes]:
    """The files of a distribution that the code graph knows."""
    paths = (each for each in sorted(root.rglob("*")) if each.is_file())
    found = {each.relative_to(root).as_posix(): each for each in paths}
    kept = {path: each for path, each in found.items() if language_of(path) or "toml" in path}
    return {path: each.read_bytes() for path, each in kept.items()}


@click.command()
@click.argument("requirement")
@click.argument("count", type=int)
@click.option("--seed", default=1, help="What is drawn.")
@click.option("--python", default=sys.executable, help="What runs the tests.")
@click.option("--tests", multiple=True, default=["tests"], help="Which tests.")
def main(requirement: str, count: int, seed: int, python: str, tests: Sequence[str]) -> None:
    """Delete COUNT entities of a package, one by one, that are called safe to delete."""
    name, _, version = requirement.partition("==")
    root = python_tree(name, version)
    trial = Trial(root, python, tests)
    click.echo(f"{requirement}: {trial.start()} tests fail with nothing deleted")
    safe = asyncio.run(safe_ones(tree_of(root)))
    drawn = random.Random(seed).sample(safe, min(count, len(safe)))
    wrong = open_ = 0
    for each in drawn:
        broken, entity = trial.broken(each), each.entity
        where = f"{entity.path}:{entity.line} {entity.qualified}"
        open_ += broken is None
        wrong += bool(broken)
        if broken is None:
            click.echo(f"cannot be deleted alone: {where}")
        else:
            wrong_by = f"WRONG, {len(broken)} fail, such as {min(broken)}" if broken else "right"
            click.echo(f"{where}: {wrong_by}")
    right = len(drawn) - wrong - open_
    click.echo(f"{requirement}: {right} right, {wrong} wrong, {open_} not settled of {len(safe)}")


if __name__ == "__main__":
    main()
