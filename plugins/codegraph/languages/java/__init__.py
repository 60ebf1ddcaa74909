"""Java: packages as files declare them, with Maven and Gradle modules."""

from plugins.codegraph.languages.base import ParsedLanguage

LANGUAGES = (
    ParsedLanguage(
        name="java",
        suffixes=frozenset({".java"}),
        manifests=(
            "pom.xml",
            "settings.gradle",
            "settings.gradle.kts",
            "build.gradle",
            "build.gradle.kts",
        ),
        lookup="rules:JavaRules",
        ecosystem="modules:modules",
    ),
)
