"""Python: modules are files, packages are directories, members are looked up in C3 order."""

from plugins.codegraph.languages.base import ParsedLanguage

LANGUAGES = (
    ParsedLanguage(
        name="python",
        suffixes=frozenset({".py", ".pyi"}),
        manifests=("pyproject.toml", "setup.cfg", "setup.py"),
        lookup="rules:PythonRules",
        ecosystem="projects:packages",
    ),
)
