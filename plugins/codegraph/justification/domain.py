"""The words of a repository's own domain, and what its modules make of imported things."""

from __future__ import annotations

from plugins.codegraph.justification import technologies
from plugins.codegraph.justification.imports import Binding
from plugins.codegraph.justification.outline import Outline
from plugins.codegraph.justification.words import GENERIC, singular, words

MAX_PARTS = 12
"""The parts of a route that are looked at."""


class Domain:
    """What the code is about.

    Args:
        outline: what is known of the whole repository.
    """

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._external: dict[tuple[str, str], str | None] = {}

    def is_usual(self, technology: str) -> bool:
        """Whether so many files use a technology that the code is about it."""
        return technology in self._outline.usual

    def is_feature(self, name: str) -> bool:
        """Whether more than one entity of the repository is known to be part of a feature."""
        return name in self._outline.features

    def is_public(self, path: str, name: str) -> bool:
        """Whether a package gives a name of one of its files to everybody who imports it."""
        return (path.rpartition("/")[2].split(".")[0], name) in self._outline.public

    def is_own(self, module: str) -> bool:
        """Whether a module is of the repository itself."""
        relative = module.startswith((".", "@/", "~/"))
        return relative or module.split(".")[0] in self._outline.packages

    def noun_of(self, name: str) -> str:
        """The thing of the domain that a name has in it, or ""."""
        for word in reversed(words(name)):
            if (found := singular(word)) in self._outline.things:
                return found
        return ""

    def label(self, word: str) -> str:
        """What a feature of a word is called."""
        plain = word.replace("_", " ").replace("-", " ")
        return self._outline.things.get(singular(word), plain)

    def technology(self, binding: Binding) -> str:
        """The technology that an imported name stands for, or ""."""
        thing = binding.module, binding.name
        if thing not in self._external:
            whole = f"{binding.module}.{binding.name}" if binding.name else binding.module
            own = self.is_own(binding.module)
            self._external[thing] = None if own else technologies.of_module(whole) or ""
        found = self._external[thing]
        if found is not None:
            return found
        return self._outline.instances.get(binding.name or binding.local, "")


def thing_of_route(template: str) -> str:
    """The thing that a route is about: the first telling part of its path, or ""."""
    for part in template.strip("/").split("/")[:MAX_PARTS]:
        name = part.split(".")[0].lower()
        if name and "*" not in name and name not in GENERIC and name[0] != "{":
            return name.replace("-", "_")
    return ""
