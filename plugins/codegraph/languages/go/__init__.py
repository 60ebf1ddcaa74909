"""Go: packages are directories, imports are module paths of ``go.mod`` and ``go.work``."""

from plugins.codegraph.languages.base import ParsedLanguage

LANGUAGES = (
    ParsedLanguage(
        name="go",
        suffixes=frozenset({".go"}),
        manifests=("go.mod", "go.work"),
        lookup="rules:GoRules",
        ecosystem="modules:packages",
    ),
)
