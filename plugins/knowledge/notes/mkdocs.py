"""What ``mkdocs.yml`` says of where the pages are, and which of them are not built.

Such a file is full of tags that only MkDocs can read, so each key is read by itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gateway.toolkit import frontmatter
from gateway.toolkit.yaml_lines import Broken, plain

_UNBUILT = ("exclude_docs", "draft_docs")


def docs_dir(written: str, base: str = "") -> str:
    """The folder with the pages; an empty text where that is the root.

    Args:
        written: the file's text.
        base: where the file lies.
    """
    return posixpath.join(base, (_value(written, "docs_dir") or "docs").strip("./")).rstrip("/")


def unbuilt(written: str, base: str = "") -> list[str]:
    """Patterns of the pages that are not built; rather too much than too little.

    What a pattern excepts (``!this.md``) is not built either, as no pattern of a source says so.

    Args:
        written: the file's text.
        base: where the file lies.
    """
    folder = docs_dir(written, base)
    lines = "\n".join(_value(written, key) or "" for key in _UNBUILT).split("\n")
    found = (pattern for line in lines for pattern in patterns(line.strip(), folder))
    return list(dict.fromkeys(found))


def _value(written: str, key: str) -> str | None:
    found = re.search(rf"^{key}:[^\n]*\n(?:[ \t][^\n]*\n|\n)*", f"{written}\n", re.MULTILINE)
    if found is None:
        return None
    try:
        value = plain(frontmatter.read(found[0])).get(key)
    except Broken:
        return None
    return value if isinstance(value, str) else None


def patterns(line: str, folder: str) -> Iterator[str]:
    """A line as Git's ignore files have it, as patterns of a source.

    Args:
        line: the line.
        folder: where it counts from.
    """
    if not line or line.startswith(("#", "!")):
        return
    names_folder = line.endswith(("/", "/**"))
    path = line.rstrip("/").removesuffix("/**")
    if "/" not in line.rstrip("/") or line.startswith("**/"):
        found = path.rpartition("/")[2]
    else:
        above, deeper, _ = path.partition("/**/")
        names_folder = names_folder or bool(deeper)
        found = "/" + "/".join(filter(None, (folder, above.strip("/"))))
    yield f"{found}/"
    if not names_folder:
        yield found
