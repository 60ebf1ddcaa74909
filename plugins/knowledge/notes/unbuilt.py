"""Which Markdown the tools for sites leave out, by what their own settings say.

Settings are read as text, as far as they are literal, and never run. A pattern leaves out rather
too much than too little.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from gateway.toolkit import frontmatter
from gateway.toolkit.yaml_lines import Broken, plain
from plugins.knowledge.notes.mkdocs import patterns

_QUOTED = re.compile(r"[\"'`]([^\"'`\n]{1,300})[\"'`]")
_SRC_EXCLUDE = re.compile(r"\bsrcExclude\s{0,9}:\s{0,9}\[([^\]]{0,5000})\]")
_SRC_DIR = re.compile(r"\bsrcDir\s{0,9}:\s{0,9}[\"'`]([^\"'`\n]{1,300})[\"'`]")
_GITBOOK_ROOT = re.compile(r"^root:[ \t]{0,9}[\"']?([^\s\"'#]{1,300})", re.MULTILINE)
_CHAPTER = re.compile(r"\]\(\s{0,9}<?([^()<>\n#]{1,500}?\.md)[>#\s)]", re.IGNORECASE)


def jekyll(written: str, folders: Iterable[str]) -> list[str]:
    """Patterns of what Jekyll does not read: folders that begin with ``_``, but its collections.

    Args:
        written: the text of ``_config.yml``.
        folders: the names of all folders of the site.
    """
    try:
        settings = plain(frontmatter.read(written))
    except Broken:
        settings = {}
    collections = settings.get("collections")
    named = collections if isinstance(collections, (Mapping, list)) else ()
    read = {"_posts", *(f"_{one}" for one in named)}
    usual = ("_drafts", "_includes", "_layouts", "_site")
    hidden = dict.fromkeys((*usual, *sorted(one for one in folders if one.startswith("_"))))
    excluded = settings.get("exclude")
    lines = excluded if isinstance(excluded, list) else ()
    return [*(f"{one}/" for one in hidden if one not in read), *rooted(lines, "")]


def vitepress(written: str, base: str) -> tuple[str, list[str]]:
    """The folder with VitePress' pages, and patterns of those that it leaves out.

    Args:
        written: the text of its configuration.
        base: the folder that holds ``.vitepress``.
    """
    found = _SRC_DIR.search(written)
    folder = _joined(base, found[1] if found else "")
    excluded = _SRC_EXCLUDE.search(written)
    return folder, rooted(_QUOTED.findall(excluded[1]) if excluded else (), folder)


def sphinx(written: str, base: str) -> list[str] | None:
    """Patterns of the pages that Sphinx leaves out; None where it is none of its settings.

    Args:
        written: the text of ``conf.py``.
        base: the folder that holds it.
    """
    try:
        body = ast.parse(written).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    said = {name: value for each in body for name, value in _assigned(each)}
    if not said.keys() & {"extensions", "exclude_patterns", "html_theme"}:
        return None
    excluded = said.get("exclude_patterns")
    lines = excluded if isinstance(excluded, list | tuple) else ()
    return list(dict.fromkeys(["_build/", "_templates/", *rooted(lines, base)]))


def _assigned(statement: ast.stmt) -> Iterator[tuple[str, Any]]:
    """The names that a statement gives a value, and the value as far as it is literal."""
    if isinstance(statement, ast.Assign):
        targets: Sequence[ast.expr] = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return
    try:
        value = ast.literal_eval(statement.value) if statement.value else None
    except (ValueError, TypeError, MemoryError, RecursionError):
        value = None
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id, value


def mdbook_folder(written: str, base: str) -> str:
    """The folder with mdBook's chapters.

    Args:
        written: the text of ``book.toml``.
        base: the folder that holds it.
    """
    try:
        book = tomllib.loads(written).get("book")
    except tomllib.TOMLDecodeError:
        book = None
    src = book.get("src") if isinstance(book, dict) else None
    return _joined(base, src if isinstance(src, str) else "src")


def gitbook_folder(written: str) -> str:
    """The folder with GitBook's pages, as ``.gitbook.yaml`` says.

    Args:
        written: its text.
    """
    found = _GITBOOK_ROOT.search(written)
    return _joined("", found[1]) if found else ""


def not_in_summary(summary: str, folder: str, notes: Iterable[str]) -> list[str]:
    """Patterns of what is no chapter: the table of contents, and what it does not name.

    Args:
        summary: the text of ``SUMMARY.md``, as mdBook and GitBook have it.
        folder: the folder with it.
        notes: the paths of all notes in that folder.
    """
    chapters = {_joined(folder, unquote(name)) for name in _CHAPTER.findall(summary)}
    return [f"/{path}" for path in notes if path not in chapters]


def rooted(lines: Iterable[Any], folder: str) -> list[str]:
    """Patterns of a source for globs that begin at a folder.

    Args:
        lines: the globs; what is no text is passed over.
        folder: the folder, or an empty text.
    """
    texts = (line.strip().removeprefix("./") for line in lines if isinstance(line, str))
    anchored = (one if one.startswith(("**/", "!", "#")) else f"/{one}" for one in texts if one)
    return list(dict.fromkeys(one for line in anchored for one in patterns(line, folder)))


def _joined(base: str, path: str) -> str:
    """A path below a folder, without what stays where it is; an empty text for the root."""
    joined = str(PurePosixPath(base, path.strip().strip("/")))
    return "" if joined == "." else joined
