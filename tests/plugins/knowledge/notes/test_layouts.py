"""Directories as they are: each kind is recognised, and its proposal serves what it publishes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from plugins.knowledge.config import KnowledgeConfig, SourceConfig
from plugins.knowledge.inspection import inspect
from plugins.knowledge.notes.layouts import recognise
from plugins.knowledge.sync.manifest import Manifest
from plugins.knowledge.sync.plan import Planner
from plugins.knowledge.sync.sources import DirectorySource

TREES: Mapping[str, tuple[Mapping[str, str], int]] = {
    "MkDocs": (
        {
            "mkdocs.yml": "docs_dir: 'my pages'\nplugins:\n  - !!python/name:x.y {}\n"
            "exclude_docs: |\n  /internal/\n  *.part.md\ndraft_docs: soon/*.md\n",
            "my pages/index.md": "# Home",
            "my pages/a/setup.md": "---\ndate:\n  created: 2024-10-16\n---\n# Setup",
            "my pages/b/setup.md": "# Other setup",
            "my pages/internal/x/rates.md": "# Rates",
            "my pages/a/setup.part.md": "# A part",
            "my pages/soon/plan.md": "# A plan",
            "README.md": "# For contributors",
        },
        3,
    ),
    "Docusaurus": (
        {
            "website/docusaurus.config.ts": "export default {}",
            "docs/intro.mdx": "import A from 'a'\n\n# Intro\n\n<A>Words.</A>",
            "docs/_part.md": "# A partial",
            "website/blog/2024-post.md": "---\ndraft: true\n---\n# Soon",
            "docs/hidden.md": "---\nunlisted: true\n---\n# For those with the link",
            "node_modules/x/README.md": "# Theirs",
        },
        1,
    ),
    "Hugo": (
        {
            "hugo.toml": "title = 'x'",
            "content/_index.md": "+++\ntitle = 'Home'\ndate = 2024-10-16\n+++\nWords.",
            "content/posts/a.md": "+++\ntitle = 'A'\ndraft = true\n+++\nWords.",
            "content/posts/b.md": '{\n  "title": "B",\n  "draft": true\n}\nWords.',
            "content/posts/c.md": "---\ndate: 2999-01-01\n---\nWords.",
            "content/posts/d.md": "---\nexpiryDate: 2020-01-01\n---\nWords.",
            "content/posts/e.md": "---\nbuild: {render: never, list: never}\n---\nWords.",
            "themes/x/README.md": "# A theme",
        },
        1,
    ),
    "Astro or Starlight": (
        {"astro.config.mjs": "", "src/content/docs/a.mdx": "---\ntitle: A\n---\nWords."},
        1,
    ),
    "Jekyll": (
        {
            "_config.yml": "collections:\n  recipes:\n    output: true\n"
            "exclude: [/internal, '*.part.md']\n",
            "_site/built.md": "# Built",
            "_more/includes.md": "# Included",
            "_recipes/soup.md": "# Soup",
            "internal/rates.md": "# Rates",
            "a.part.md": "# A part",
            "_posts/2024-01-01-a.md": "---\ntitle: A\n---\nWords.",
            "_posts/2024-01-02-b.markdown": "---\ntitle: B\npublished: false\n---\nWords.",
            "_posts/2999-01-01-c.md": "---\ntitle: C\n---\nWords.",
            "_posts/2024-01-03-d.md": "---\ndate: 2999-01-01 10:00:00 -0400\n---\nWords.",
            "_drafts/e.md": "---\ntitle: E\n---\nWords.",
        },
        2,
    ),
    "VitePress": (
        {
            "docs/.vitepress/config.mts": "export default {\n  srcDir: './pages',\n"
            "  srcExclude: [\n    '**/drafts/**', \"old/*.md\", `TODO.md`],\n}",
            "docs/pages/guide.md": "# Guide",
            "docs/pages/a/drafts/x.md": "# A draft",
            "docs/pages/old/y.md": "# Old",
            "docs/pages/TODO.md": "# To do",
            "docs/other.md": "# Not a page",
            "README.md": "# For contributors",
        },
        1,
    ),
    "Sphinx": (
        {
            "conf.py": "import secrets_of_others",
            "docs/conf.py": "import os\nos.remove('README.md')\n"
            "extensions: list[str] = ['myst_parser']\n"
            "exclude_patterns = ['_build', 'wip', '**/old.md', 'a/*.part.md']\n",
            "docs/index.md": "# Home",
            "docs/wip/a.md": "# Work",
            "docs/x/old.md": "# Old",
            "docs/a/b.part.md": "# A part",
            "docs/_build/html/c.md": "# Built",
            "README.md": "# For contributors",
        },
        1,
    ),
    "mdBook": (
        {
            "book/book.toml": "[book]\nsrc = 'chapters'\n",
            "book/chapters/SUMMARY.md": "# Summary\n\n[Preface](README.md)\n"
            "- [A](./a/one.md)\n- [Later]()\n",
            "book/chapters/README.md": "# Preface",
            "book/chapters/a/one.md": "# One",
            "book/chapters/a/two.md": "# No chapter",
        },
        2,
    ),
    "GitBook": (
        {
            ".gitbook.yaml": "root: ./handbook/\n",
            "handbook/SUMMARY.md": "# Table of contents\n\n* [Welcome](README.md)\n\n## Life\n\n"
            "* [Money](life/all%20money.md)\n",
            "handbook/README.md": '# Welcome\n\n{% hint style="info" %}\nWords.\n{% endhint %}',
            "handbook/life/all money.md": "# Money",
            "handbook/life/old.md": "# Not in the contents",
            "README.md": "# For contributors",
        },
        2,
    ),
    "an Obsidian vault": (
        {
            ".obsidian/app.json": "{}",
            "Home.md": "See [[Ideas]] #start.",
            "Ideas.md": "Words.",
            "Private.md": "---\npublish: false\n---\nWords.",
            "Later.md": "---\npublished: false\n---\nWords.",
            "templates/note.md": "---\ntitle: {{title}}\n---\n",
        },
        2,
    ),
    "plain markdown": ({"README.md": "# It", "docs/README.md": "# More", "x.txt": "no"}, 2),
}


def laid(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


@pytest.mark.parametrize("name", TREES)
def test_a_tree_is_recognised_and_served_as_it_is(tmp_path: Path, name: str) -> None:
    files, served = TREES[name]
    directory = laid(tmp_path, files)
    layout = recognise(directory)
    assert layout.name == name
    source = SourceConfig.model_validate({"directory": directory, **layout.settings})
    report = inspect(directory, KnowledgeConfig(sources=(source,)))
    assert (report.served.total(), report.errors) == (served, 0), report.problems
    assert SourceConfig(directory=directory, layout="auto").laid_out() == source


def test_a_tag_in_the_text_of_a_vaults_note_is_one_of_its_tags(tmp_path: Path) -> None:
    directory = laid(tmp_path, TREES["an Obsidian vault"][0])
    vault = SourceConfig(directory=directory, layout="auto").laid_out()
    source = DirectorySource(vault, {}, max_note=10**6)
    plan = Planner(Manifest(), [(source, source.scan())], "", "").plan()
    tags = {put.document.path: put.document.metadata.tags for put in plan.puts.values()}
    assert tags == {"Home.md": ["start"], "Ideas.md": None}


def test_what_pages_of_docusaurus_put_in_is_served_as_it_stands_nowhere_else(
    tmp_path: Path,
) -> None:
    files = {
        "docusaurus.config.js": "",
        "docs/run.mdx": "---\nauthors: [{name: Ada, url: a}]\n---\n"
        "import Shell from './settings/_shell.mdx'\n\n# Run\n\n<Shell />",
        "docs/news.md": "---\nauthor: {name: Bob}\n---\nWords.",
        "docs/settings/_shell.mdx": "### shell\n\nWhich shell runs scripts.",
    }
    directory = laid(tmp_path, files)
    settings = SourceConfig(directory=directory, layout="auto").laid_out()
    source = DirectorySource(settings, {}, max_note=10**6)
    plan = Planner(Manifest(), [(source, source.scan())], "", "").plan()
    authors = {put.document.path: put.document.metadata.author for put in plan.puts.values()}
    assert authors == {
        "docs/news.md": ["Bob"],
        "docs/run.mdx": ["Ada"],
        "docs/settings/_shell.mdx": None,
    }


def test_a_vault_without_its_settings_is_known_by_its_links(tmp_path: Path) -> None:
    notes = {f"n{n}.md": f"See [[n{n + 1}]]." for n in range(9)}
    assert recognise(laid(tmp_path, notes)).name == "an Obsidian vault"


def test_what_is_given_wins_over_what_is_recognised(tmp_path: Path) -> None:
    directory = laid(tmp_path, {"mkdocs.yml": "", "docs/a.md": "# A"})
    given = SourceConfig(directory=directory, layout="auto", publish="marked", ids="path")
    found = given.laid_out()
    assert (found.publish, found.ids, found.include) == ("marked", "path", ("/docs/",))


def test_a_directory_that_is_not_there_looks_like_plain_markdown(tmp_path: Path) -> None:
    assert recognise(tmp_path / "absent").name == "plain markdown"


@pytest.mark.parametrize(
    ("tree", "served"), [("docs-tree-a/civic", 135), ("docs-tree-a/starlight", 74)]
)
def test_real_trees_are_served_whole_and_without_an_error(
    test_data: Path, tree: str, served: int
) -> None:
    directory = test_data / tree
    source = SourceConfig(directory=directory, layout="auto")
    report = inspect(directory, KnowledgeConfig(sources=(source,)))
    assert (report.served.total(), report.files, report.errors) == (served, served, 0)


def test_the_folder_of_obsidian_decides_where_notes_say_publish_as_well(tmp_path: Path) -> None:
    said = "---\npublish: true\n---\nWords."
    files = {".obsidian/app.json": "{}", "a/Templates.md": said, "b/Templates.md": said}
    layout = recognise(laid(tmp_path, files))
    assert layout.name == "an Obsidian vault"
    assert layout.settings["ids"] == "path"


def test_a_vault_whose_notes_say_publish_is_no_base_of_porch(tmp_path: Path) -> None:
    said = "---\npublish: true\n---\nSee [[Home]]."
    files = {"en/Home.md": said, "de/Home.md": said, "de/Mehr.md": said}
    directory = laid(tmp_path, files)
    layout = recognise(directory)
    assert (layout.name, layout.settings["ids"]) == ("an Obsidian vault", "path")
    source = SourceConfig(directory=directory, layout="auto")
    assert inspect(directory, KnowledgeConfig(sources=(source,))).served.total() == 3


def test_notes_that_say_their_types_too_are_a_base_of_porch(tmp_path: Path) -> None:
    said = "---\npublish: true\ntype: practice\n---\nSee [[Home]]."
    other = "---\ntype: place\npublish: true\n---\nWords."
    layout = recognise(laid(tmp_path, {"a/Home.md": said, "b/Home.md": other}))
    assert (layout.name, dict(layout.settings)) == ("a base of Porch", {"publish": "all"})


@pytest.mark.parametrize("said", ["extensions = [", "name = 'not of Sphinx'", "\0"])
def test_what_is_no_configuration_of_sphinx_is_none(tmp_path: Path, said: str) -> None:
    assert recognise(laid(tmp_path, {"conf.py": said, "a.md": "# A"})).name == "plain markdown"


def test_pages_of_sphinx_that_are_no_markdown_leave_the_rest_plain(tmp_path: Path) -> None:
    files = {"docs/conf.py": "extensions = []", "docs/index.rst": "Home", "notes/a.md": "# A"}
    assert recognise(laid(tmp_path, files)).name == "plain markdown"


@pytest.mark.parametrize("said", ["[book", "book = 3", ""])
def test_a_book_that_does_not_say_where_its_chapters_lie_has_them_in_src(
    tmp_path: Path, said: str
) -> None:
    files = {"book.toml": said, "src/SUMMARY.md": "- [A](a.md)", "src/a.md": "# A", "b.md": "# B"}
    assert recognise(laid(tmp_path, files)).settings["include"] == ["/src/"]
    (tmp_path / "src/SUMMARY.md").unlink()
    assert recognise(tmp_path).name == "plain markdown"


def proposed(directory: Path) -> tuple[object, object]:
    settings = recognise(directory).settings
    return settings.get("documents"), settings.get("ids")


def test_documents_of_one_name_in_two_folders_have_their_paths_for_ids(tmp_path: Path) -> None:
    files = {"2023/minutes.pdf": "x", "2024/minutes.pdf": "x", "notes.md": "# Notes"}
    assert proposed(laid(tmp_path, files)) == (["pdf"], "path")


def test_documents_of_one_name_in_one_folder_leave_ids_as_they_are(tmp_path: Path) -> None:
    files = {"plan.md": "# Plan", "plan.docx": "x", "plan.pdf": "x"}
    assert proposed(laid(tmp_path, files)) == (["pdf", "docx"], None)


def test_templates_and_what_tests_are_made_of_are_no_documents(tmp_path: Path) -> None:
    page = "<p>Words.</p>"
    files = {f"layouts/{n}.html": "{{ .Title }}" for n in range(9)}
    files |= {f"tests/{n}.html": page for n in range(9)} | {"tests/a.pdf": "x"}
    files |= {"README.md": "# It", "guide.md": "# Guide", "example.html": page}
    assert proposed(laid(tmp_path, files)) == (None, None)


def test_a_folder_of_html_is_served_without_its_templates(tmp_path: Path) -> None:
    page = "<p>Words.</p>"
    files = {"a.html": page, "b.htm": page, "c.md": "# C", "base.html": "{% block x %}"}
    directory = laid(tmp_path, files | {"layouts/d.html": page})
    source = SourceConfig(directory=directory, layout="auto")
    report = inspect(directory, KnowledgeConfig(sources=(source,)))
    assert (report.served.total(), report.errors) == (3, 0)


def test_a_kind_of_documents_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'doc' is none of pdf, docx"):
        SourceConfig(directory=tmp_path, documents=("pdf", "doc"))


@pytest.mark.parametrize(
    ("name", "files", "served"),
    [
        (
            "MkDocs",
            {
                "docs/en/mkdocs.yml": "site_name: x\nexclude_docs: |\n  later.md\n",
                "docs/en/docs/index.md": "# Home",
                "docs/en/docs/later.md": "# Later",
                "docs/de/docs/index.md": "# Anfang",
                "docs/de/docs/later.md": "# Sp\u00e4ter",
                "docs/de/translating.md": "# For translators",
                "README.md": "# For contributors",
            },
            2,
        ),
        (
            "MkDocs",
            {"website/mkdocs.yaml": "site_name: x", "website/docs/a.md": "# A", "b.md": "# B"},
            1,
        ),
        (
            "Hugo",
            {
                "config.toml": "title = 'x'",
                "layouts/x.html": "",
                "content/de/_index.md": "---\ntitle: Anfang\n---\nWords.",
                "CONTRIBUTING.md": "# For contributors",
            },
            1,
        ),
        ("Hugo", {"website/hugo.yaml": "", "website/content/a.md": "# A", "b.md": "# B"}, 1),
        ("plain markdown", {"config.toml": "", "content/a.md": "# A", "b.md": "# B"}, 2),
    ],
)
def test_a_site_is_recognised_where_it_lies(
    tmp_path: Path, name: str, files: Mapping[str, str], served: int
) -> None:
    layout = recognise(laid(tmp_path, files))
    assert layout.name == name
    source = SourceConfig.model_validate({"directory": tmp_path, **layout.settings})
    assert inspect(tmp_path, KnowledgeConfig(sources=(source,))).served.total() == served
