"""Rules that every file of the project keeps."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LONGEST_FILE = 400
LONGEST_FUNCTION = 40
Function = ast.FunctionDef | ast.AsyncFunctionDef

# Written in pieces, so that this file keeps the rules too.
REGISTRIES = "|".join(
    rf"{host}\.{end}"
    for host, end in [
        ("py" + "pi", "org"),
        ("python" + "hosted", "org"),
        ("np" + "mjs", "(?:org|com)"),
        ("yarn" + "pkg", "com"),
        ("deb." + "debian", "org"),
    ]
)
HOMES = "|".join(["work", "root", r"home/\w+", r"Users/\w+", r"tmp/bash\w*"])
MACHINE_PATHS = rf"(?<![\w.}}-])/(?:{HOMES})/"
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")


def listed() -> list[Path]:
    """Every file of the project: tracked, or new and not ignored."""
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return sorted({path for name in output.split("\0") if name and (path := ROOT / name).is_file()})


@pytest.fixture(scope="module")
def files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no Git checkout, so which files are the project's is not known")
    return listed()


def matches(files: list[Path], pattern: str) -> Iterator[str]:
    """``file:line: match`` for every match in a text file."""
    expression = re.compile(pattern)
    for path in files:
        text = path.read_bytes().decode(errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if match := expression.search(line):
                yield f"{path.relative_to(ROOT)}:{number}: {match[0]}"


def test_no_file_names_a_package_registry(files: list[Path]) -> None:
    assert list(matches(files, REGISTRIES)) == []


def test_no_file_names_a_path_of_one_machine(files: list[Path]) -> None:
    assert list(matches(files, MACHINE_PATHS)) == []


def test_no_python_file_is_too_long(files: list[Path]) -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in files if path.suffix == ".py"}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_function_is_too_long(files: list[Path]) -> None:
    too_long = [
        f"{path.relative_to(ROOT)}:{function.lineno} {function.name}: {length} lines"
        for path in files
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] != "tests"
        for function, length in functions(path)
        if length > LONGEST_FUNCTION
    ]
    assert too_long == []


def functions(path: Path) -> Iterator[tuple[Function, int]]:
    """Every function of a file, and how many lines are its own.

    Its docstring is not, nor are the functions that it defines: they are counted for themselves.
    """
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, Function):
            inner = sum(lines(each) for each in node.body if isinstance(each, Function))
            docstring = lines(node.body[0]) if ast.get_docstring(node) is not None else 0
            yield node, lines(node) - docstring - inner


def lines(node: ast.stmt) -> int:
    """How many lines a statement has."""
    return (node.end_lineno or 0) - node.lineno + 1


def test_every_link_between_documents_leads_somewhere(files: list[Path]) -> None:
    broken = [
        f"{path.relative_to(ROOT)}: {target}"
        for path in files
        if path.suffix == ".md" and path.relative_to(ROOT).parts[0] not in {"content", "tests"}
        for target in LINK.findall(path.read_text())
        if ":" not in target and not target.startswith("#")
        if not (path.parent / target.partition("#")[0]).exists()
    ]
    assert broken == []


def test_every_decision_is_listed(files: list[Path]) -> None:
    folder = ROOT / "docs" / "decisions"
    listed_names = set(LINK.findall((folder / "README.md").read_text()))
    records = {path.name for path in files if path.parent == folder} - {"README.md"}
    assert records == listed_names
