"""What a directory of markdown looks like, and the settings by which it is served as it is.

Each kind of site has a file that names it, and keeps its pages in a folder of its own. What is
proposed is nothing but keys of a source in ``portal.yaml``, so an admin can paste and change it.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from plugins.knowledge.notes import conversion, mkdocs, unbuilt
from plugins.knowledge.notes.ids import InvalidId, generate_id
from plugins.knowledge.notes.paths import EXCLUDED, SUFFIXES, is_note, is_passed_over, matches

_OTHER_MARKUP = frozenset(
    {".rst", ".adoc", ".asciidoc", ".org", ".textile", ".mediawiki", ".ipynb"}
)
"""Endings of pages that nothing here reads."""
MAX_FILES = 200_000
"""So many files are looked at to see whether names come twice."""
SAMPLE = 60
"""So many notes are opened to see how they are written."""
SAMPLE_BYTES = 4096

PORCH = "a base of Porch"
"""The layout whose notes are written for a portal."""
VAULT = "an Obsidian vault"
_BASES = ("", "docs", "doc", "docs/source", "doc/source", "source", "website", "site", "guide",
          "book")  # fmt: skip
"""Where a site lies in a repository."""

_MKDOCS = ("mkdocs.yml", "mkdocs.yaml")
_WIKILINK = re.compile(rb"!?\[\[[^\[\]\n]{1,200}\]\]")
_CONTENTS = re.compile(r"\s{0,9}# Table of contents\b", re.IGNORECASE)
"""How GitBook begins its table of contents."""
_TYPED = re.compile(
    rb"\A---[ \t]*\r?\n(?=(?:(?!---).*\n)*?publish[ \t]*:)(?:(?!---).*\n)*?type[ \t]*:"
)
"""A note that says its type and whether it is published, which others say too."""

_PARTIAL = re.compile(
    rb"^import\s+\w+\s+from\s+[\"'][^\"'\n]*/_[^\"'/\n]+\.mdx?[\"']", re.MULTILINE
)
"""A page that puts another one in, as MDX does it."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A kind of directory.

    Attributes:
        name: as people call it.
        settings: the keys of a source that serve it as it is.
        translations: the pattern of ``include`` that would serve its translations too, where it has
            any.
    """

    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    translations: str = ""


def recognise(directory: Path) -> Layout:
    """What a directory looks like; blocks.

    Args:
        directory: it may be absent, which looks like plain markdown.
    """
    found = next((each for look in _LOOKS if (each := look(directory)) is not None), _PLAIN)
    settings = {"publish": "all", **found.settings}
    if found.name == PORCH:  # its notes are called by their names, in each type
        return Layout(found.name, settings)
    if found.name in _WITH_DOCUMENTS and conversion.is_available():
        settings |= _with_documents(directory, settings["exclude"])
    exclude, include = settings.get("exclude", EXCLUDED), settings.get("include", ())
    suffixes = (*SUFFIXES, *conversion.suffixes(settings.get("documents", False)))
    if _has_twins(path for path in _files(directory) if is_note(path, exclude, include, suffixes)):
        settings["ids"] = "path"
    return replace(found, settings=settings)


def left_out(directory: Path, layout: Layout) -> Mapping[str, int]:
    """How many notes lie in folders that a layout's ``include`` does not name; blocks.

    Args:
        directory: the directory.
        layout: what it looks like.
    """
    include, exclude = layout.settings.get("include", ()), layout.settings.get("exclude", EXCLUDED)
    if not include:
        return {}
    outside = (
        path
        for path in _files(directory)
        if "/" in path and is_note(path, exclude) and not is_note(path, exclude, include)
    )
    return Counter(_folder(path, include) for path in outside)


def other_markup(directory: Path) -> Mapping[str, int]:
    """How many pages are written in another markup than Markdown, by their ending; blocks.

    Args:
        directory: the directory.
    """
    endings = (f".{path.rpartition('.')[2].lower()}" for path in _files(directory))
    return Counter(one for one in endings if one in _OTHER_MARKUP)


def _folder(path: str, include: Sequence[str]) -> str:
    """The topmost folder of a note in which nothing is included."""
    folders = path.split("/")[:-1]
    for depth in range(1, len(folders)):
        folder = "/".join(folders[:depth])
        if not any(one.startswith(f"/{folder}/") for one in include):
            return folder
    return "/".join(folders)


def _mkdocs(directory: Path) -> Layout | None:
    """One site, or one for each language, which inherit from the first and may have no settings."""
    places = ((base, name) for base in (*_BASES, "docs/*") for name in _MKDOCS)
    found = (
        (base, each) for base, name in places for each in directory.glob(posixpath.join(base, name))
    )
    base, named = next(found, ("", None))
    if named is None:
        return None
    written = _text(named)
    settings = _below(mkdocs.docs_dir(written, base)) | {"map": {"date": "date.created"}}
    return Layout("MkDocs", settings | {"exclude": ["/README.md", *mkdocs.unbuilt(written, base)]})


def _docusaurus(directory: Path) -> Layout | None:
    for base in ("", "website", "docs", "site"):
        if any((directory / base).glob("docusaurus.config.*")):
            break
    else:
        return None
    inside = f"{base}/" if base else ""
    folders = dict.fromkeys([f"{inside}docs", "docs", f"{inside}blog", f"{inside}community"])
    there = [folder for folder in folders if (directory / folder).is_dir() and folder != base]
    settings = _below(*there) | {"map": {"date": "last_update.date"}}
    partials = [] if _has_partials(directory, settings) else ["_*"]
    translated = f"{inside}i18n/*/docusaurus-plugin-content-*/current"
    return Layout(
        "Docusaurus",
        settings | {"exclude": [*partials, "node_modules/"]},
        f"/{translated}/" if any(directory.glob(translated)) else "",
    )


def _has_partials(directory: Path, settings: Mapping[str, Any]) -> bool:
    """Whether pages put in others whose names begin with ``_``; what these say is nowhere else."""
    pages = (path for path in _notes(directory, settings) if not Path(path).name.startswith("_"))
    return any(_PARTIAL.search(_head(directory / path)) for path in pages)


def _starlight(directory: Path) -> Layout | None:
    for base in ("", "docs/"):
        if any((directory / base).glob("astro.config.*")):
            pages = f"{base}src/content"
            if (directory / pages).is_dir():
                return Layout("Astro or Starlight", _below(pages))
    return None


def _hugo(directory: Path) -> Layout | None:
    base = next((base for base in _BASES if _is_hugo(directory / base)), None)
    if base is None:
        return None
    names = {"date": "lastmod", "publishDate": "date"}  # what has a date to come is not built
    return Layout("Hugo", _below(f"{base}/content" if base else "content") | {"map": names})


def _is_hugo(directory: Path) -> bool:
    named = any(directory.glob("hugo.*")) or (directory / "config" / "_default").is_dir()
    older = any((directory / f"config.{ending}").is_file() for ending in ("toml", "yaml", "json"))
    own = any((directory / name).is_dir() for name in ("archetypes", "layouts", "themes"))
    return (named or (older and own)) and (directory / "content").is_dir()


def _jekyll(directory: Path) -> Layout | None:
    posts = any((directory / name).is_dir() for name in ("_posts", "_drafts"))
    if not (directory / "_config.yml").is_file() or not (posts or _has_gemfile(directory)):
        return None
    names = {"publish": "published", "publishDate": "date"}
    folders = {Path(folder).name for folder, _, _ in islice(_walk(directory), MAX_FILES)}
    hidden = unbuilt.jekyll(_text(directory / "_config.yml"), folders)
    return Layout("Jekyll", {"map": names, "exclude": [*EXCLUDED, "vendor/", *hidden]})


def _vitepress(directory: Path) -> Layout | None:
    base = _base(directory, ".vitepress")
    if base is None:
        return None
    kept = directory / base / ".vitepress"
    files = sorted([*kept.glob("config.*"), *kept.glob("config/index.*")])
    folder, hidden = unbuilt.vitepress("\n".join(map(_text, files)), base)
    settings = _below(folder)
    return Layout("VitePress", settings | {"exclude": [*settings["exclude"], *hidden]})


def _sphinx(directory: Path) -> Layout | None:
    """Sphinx' own pages are no Markdown: it counts where there is some beside them."""
    for base in _BASES:
        written = _text(directory / base / "conf.py")
        hidden = unbuilt.sphinx(written, base) if written else None
        settings = _below(base)
        if hidden is not None and any(_notes(directory, settings)):
            return Layout("Sphinx", settings | {"exclude": [*settings["exclude"], *hidden]})
    return None


def _mdbook(directory: Path) -> Layout | None:
    base = _base(directory, "book.toml")
    if base is None:
        return None
    folder = unbuilt.mdbook_folder(_text(directory / base / "book.toml"), base)
    if not (directory / folder / "SUMMARY.md").is_file():
        return None
    settings = _below(folder)
    hidden = _not_in_summary(directory, folder, settings)
    return Layout("mdBook", settings | {"exclude": [*settings["exclude"], *hidden]})


def _gitbook(directory: Path) -> Layout | None:
    root = unbuilt.gitbook_folder(_text(directory / ".gitbook.yaml"))
    base = next((base for base in (root, *_BASES) if _is_gitbook(directory, base)), None)
    if base is None:
        return None
    include = {"include": [f"/{base}/"]} if base else {}
    return Layout("GitBook", include | {"exclude": _not_in_summary(directory, base, include)})


def _is_gitbook(directory: Path, base: str) -> bool:
    summary = directory / base / "SUMMARY.md"
    marks = (".gitbook.yaml", f"{base}/.gitbook".strip("/"), f"{base}/book.json".strip("/"))
    own = any((directory / mark).exists() for mark in marks)
    return summary.is_file() and (own or _CONTENTS.match(_text(summary)) is not None)


def _not_in_summary(directory: Path, folder: str, settings: Mapping[str, Any]) -> list[str]:
    summary = _text(directory / folder / "SUMMARY.md")
    return unbuilt.not_in_summary(summary, folder, _notes(directory, settings))


def _base(directory: Path, name: str) -> str | None:
    """The folder of a site that lies beside other things: the first that has a file so called."""
    return next((base for base in _BASES if (directory / base / name).exists()), None)


def _notes(directory: Path, settings: Mapping[str, Any]) -> Iterator[str]:
    """The notes in the folders that settings include."""
    include = settings.get("include", ())
    return (path for path in _files(directory) if is_note(path, (), include))


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _has_gemfile(directory: Path) -> bool:
    return (directory / "Gemfile").is_file()


def _obsidian(directory: Path) -> Layout | None:
    return _VAULT if (directory / ".obsidian").is_dir() else None


def _wikilinked(directory: Path) -> Layout | None:
    heads = list(_heads(directory))
    linked = sum(_WIKILINK.search(head) is not None for head in heads)
    return _VAULT if heads and linked * 10 >= len(heads) else None


def _porch(directory: Path) -> Layout | None:
    heads = list(_heads(directory))
    marked = sum(_TYPED.search(head) is not None for head in heads)
    return Layout(PORCH) if heads and marked * 3 >= len(heads) else None


_VAULT = Layout(
    VAULT,
    {
        "exclude": ["templates/", "Templates/", "_templates/", "Excalidraw/"],
        "inline_tags": True,
    },
)
_PLAIN = Layout("plain markdown", {"exclude": []})
_LOOKS: Sequence[Callable[[Path], Layout | None]] = (
    _mkdocs, _docusaurus, _starlight, _vitepress, _hugo, _jekyll, _mdbook, _gitbook, _sphinx,
    _obsidian, _porch, _wikilinked,
)  # fmt: skip


_WITH_DOCUMENTS = (_PLAIN.name, VAULT)
"""Where files of other kinds lie for readers, and not for building a site."""


_BUILDING = ("_includes/", "_layouts/", "fixtures/", "layouts/", "partials/", "templates/",
             "test/", "testdata/", "tests/", "theme/", "themes/")  # fmt: skip
"""Folders whose documents are for programs, such as templates and what tests are made with."""
_TEMPLATE = re.compile(rb"\{\{|\{%|<%")


def _with_documents(directory: Path, exclude: Sequence[str]) -> dict[str, Any]:
    """The settings for documents of other kinds, where there are some for readers.

    HTML is what templates and tests are made of too, so it counts where there is more of it than
    of Markdown.
    """
    files = [path for path in _files(directory) if not matches(_BUILDING, path)]
    kinds = {path.rpartition(".")[2].lower() for path in files if conversion.is_document(path)}
    found = [one for one in conversion.KINDS if one in kinds and one != "html"]
    shown = [path for path in files if is_note(path, exclude, (), conversion.suffixes(["html"]))]
    templates = [path for path in shown if _TEMPLATE.search(_head(directory / path))]
    if len(shown) - len(templates) <= sum(is_note(path, EXCLUDED) for path in files):
        return {"documents": found} if found else {}
    left_out = [*exclude, *_BUILDING, *(f"/{path}" for path in templates)]
    return {"documents": [*found, "html"], "exclude": left_out}


def _below(*folders: str) -> dict[str, Any]:
    include = [f"/{folder}/" for folder in folders if folder]
    return ({"include": include} if include else {}) | {"exclude": ["/README.md"]}


def _files(directory: Path) -> Iterator[str]:
    """The paths of files below a directory, in order, without what nobody reads."""
    walked = (
        Path(folder, name).relative_to(directory).as_posix()
        for folder, _, names in _walk(directory)
        for name in sorted(names)
    )
    return islice(walked, MAX_FILES)


def _walk(directory: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not is_passed_over(name))
        yield folder, folders, names


def _heads(directory: Path) -> Iterator[bytes]:
    """The beginnings of some notes, from all over the directory."""
    notes = [path for path in _files(directory) if is_note(path, EXCLUDED)]
    found = (_head(directory / path) for path in notes[:: len(notes) // SAMPLE + 1])
    return (head for head in found if head)


def _head(path: Path) -> bytes:
    """The beginning of a file; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(SAMPLE_BYTES)
    except OSError:
        return b""


def _has_twins(paths: Iterator[str]) -> bool:
    """Whether two notes would have one id; beside one of its name a document has another."""
    seen: dict[str, str] = {}
    for path in paths:
        try:
            id = generate_id(path)
        except InvalidId:
            continue
        stem = path.rpartition(".")[0]
        if seen.setdefault(id, stem) != stem:
            return True
    return False
