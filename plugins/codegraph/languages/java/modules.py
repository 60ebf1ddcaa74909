"""Java's modules: the parts of a Maven or Gradle build."""

from __future__ import annotations

import re
from collections.abc import Sequence
from posixpath import basename, dirname
from typing import TYPE_CHECKING

from plugins.codegraph.languages.base import Package

if TYPE_CHECKING:
    from plugins.codegraph.languages.source_view import SourceView

_PARENT = re.compile(
    r"<(parent|dependencies|dependencyManagement|build|profiles)>.*?</\1>", re.DOTALL
)
_ARTIFACT = re.compile(r"<artifactId>\s*([^<\s]+)\s*</artifactId>")
_MODULES = re.compile(r"<module>\s*([^<\s]+)\s*</module>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ROOT_NAME = re.compile(r"rootProject\.name\s*=\s*['\"]([^'\"]+)['\"]")


def modules(view: SourceView) -> Sequence[Package]:
    """The Maven and Gradle modules of a repository.

    Args:
        view: the repository.
    """
    found = [_maven(view, path) for path in view.manifests("pom.xml")]
    roots = {each.root for each in found}
    for pattern in ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"):
        for path in view.manifests(pattern):
            if dirname(path) not in roots:
                roots.add(dirname(path))
                found.append(_gradle(view, path))
    return found


def _maven(view: SourceView, path: str) -> Package:
    text = _COMMENT.sub("", _text(view, path))
    named = _ARTIFACT.search(_PARENT.sub("", text))
    root = dirname(path)
    several = any(_MODULES.search(_text(view, each)) for each in view.manifests("pom.xml"))
    name = named.group(1) if named else basename(root)
    return Package(name, root, "maven", "maven" if several else "")


def _gradle(view: SourceView, path: str) -> Package:
    root = dirname(path)
    name = basename(root)
    for settings in ("settings.gradle", "settings.gradle.kts"):
        found = _ROOT_NAME.search(_text(view, f"{root}/{settings}" if root else settings))
        name = found.group(1) if found else name
    several = any("include" in _text(view, each) for each in view.manifests("settings.gradle*"))
    return Package(name, root, "maven", "gradle" if several else "")


def _text(view: SourceView, path: str) -> str:
    return (view.read(path) or b"").decode("utf-8", "replace")
