"""What MkDocs does not build is not served."""

from __future__ import annotations

import pytest

from plugins.knowledge.notes.mkdocs import docs_dir, unbuilt
from plugins.knowledge.notes.paths import matches


@pytest.mark.parametrize(
    ("written", "folder"),
    [
        ("site_name: x", "docs"),
        ('docs_dir: "my docs"  # ours', "my docs"),
        ("docs_dir: my docs\nnav: []", "my docs"),
        ("docs_dir: ./pages/", "pages"),
        ("docs_dir: !ENV [DIR, pages]", "docs"),
        ("docs_dir: .", ""),
    ],
)
def test_the_folder_of_the_pages_is_found(written: str, folder: str) -> None:
    assert docs_dir(written) == folder


@pytest.mark.parametrize(
    ("line", "path", "is_left_out"),
    [
        ("drafts/", "docs/a/drafts/b/c.md", True),
        ("/drafts/", "docs/drafts/c.md", True),
        ("/drafts/", "docs/a/drafts/c.md", False),
        ("a/drafts", "docs/a/drafts/c.md", True),
        ("a/*/drafts/", "docs/a/b/drafts/c.md", True),
        ("a/*/drafts/", "docs/a/drafts/c.md", False),
        ("*.part.md", "docs/a/b.part.md", True),
        ("/b.md", "docs/b.md", True),
        ("/b.md", "docs/a/b.md", False),
        ("a/*.md", "docs/a/b.md", True),
        ("a/*.md", "docs/a/b/c.md", False),
        ("**/drafts/", "docs/drafts/c.md", True),
        ("a/**", "docs/a/b/c.md", True),
        ("a/**/*.md", "docs/a/b/c.md", True),
        ("a/**/*.md", "docs/b/c.md", False),
        ("*", "docs/a.md", True),
        ("!a.md", "docs/a.md", False),
        ("# a.md", "docs/a.md", False),
    ],
)
def test_lines_as_in_gits_ignore_files_leave_pages_out(
    line: str, path: str, is_left_out: bool
) -> None:
    for key in ("exclude_docs", "draft_docs"):
        written = f"plugins: [!!x y]\n{key}: |\n  x.md\n\n  {line}\nnav: []\n"
        assert matches(unbuilt(written), path) is is_left_out
    assert matches(unbuilt(f"exclude_docs: '{line}'"), path) is is_left_out
