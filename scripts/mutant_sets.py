"""What `make mutants` mutates, set by set, and the tests that have to notice.

A set is small enough to be run alone: it mutates a few modules and runs the tests next to them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MutantSet:
    """Modules that are mutated together.

    Attributes:
        modules: their paths, all below one top-level package.
        tests: the paths of the tests that are run.
        equivalent: changes that no test can notice, by the lines that they write (without
            indentation), and why.
    """

    modules: tuple[str, ...]
    tests: tuple[str, ...]
    equivalent: Mapping[str, str] = field(default_factory=dict)

    @property
    def package(self) -> str:
        """The top-level package that the modules are in."""
        return self.modules[0].partition("/")[0]


def own_tests(module: str) -> str:
    """The path of a module's own tests: the same tree below ``tests``."""
    folder, _, name = module.rpartition("/")
    return f"tests/{folder}/test_{name}"


_MEMORY = tuple(
    f"plugins/knowledge/memory/{module}.py"
    for module in (
        "algorithms/confidence",
        "algorithms/duplicates",
        "algorithms/merge",
        "algorithms/promotion",
        "algorithms/relevance",
        "algorithms/similarity",
        "model/fingerprint",
        "model/policy",
        "query/layer_search",
        "rights/access",
        "store/failure_log",
    )
)

SETS: Mapping[str, MutantSet] = {
    # The critical algorithms of the Knowledge Provider protocol.
    "memory": MutantSet(
        modules=_MEMORY,
        tests=tuple(map(own_tests, _MEMORY)),
        equivalent={
            line: "The lists are as long as each other."
            for zipped in (
                "for layer, answer in zip(layers, answers, {}):",
                "for layer, answer in zip(layers, answers, {})",
                "layer.layer for layer, answer in zip(layers, answers, {}) if answer.error",
            )
            for line in map(zipped.format, ("strict=None", "strict=False", ""))
        },
    ),
    "tier_rule": MutantSet(
        modules=("gateway/catalog/tier_rule.py", "gateway/catalog/decisions.py"),
        tests=(
            "tests/gateway/catalog/test_tier_rule.py",
            "tests/gateway/catalog/test_decisions.py",
        ),
    ),
    "resolver": MutantSet(
        modules=("auth/resolver.py",),
        tests=(
            "tests/auth/test_resolver.py",
            "tests/auth/test_resolver_ages.py",
            "tests/auth/rules/test_wallets.py",
        ),
        equivalent={"self._known.popitem(last=None)": "None is as false as False."},
    ),
    "rules": MutantSet(
        modules=tuple(
            f"auth/rules/{module}.py"
            for module in (
                "access",
                "address",
                "base",
                "claim",
                "email",
                "github",
                "hat",
                "language",
                "passport",
                "scalars",
                "signed_in",
                "token",
                "verdict",
                "wallets",
            )
        ),
        tests=("tests/auth/rules",),
        equivalent={
            "signed_in = _SIGNED_IN.verdict(accounts, None)": "It asks no source.",
            "near = difflib.get_close_matches(kind, KINDS, cutoff=0.6)": "The first is taken.",
            "near = difflib.get_close_matches(kind, KINDS, n=2, cutoff=0.6)": "The first is taken.",
            "near = difflib.get_close_matches(kind, KINDS, n=1, )": "0.6 is the default.",
            "return next(iter(value)) if (isinstance(value, dict | list) and len(value) == 1) "
            "or True else None": "What has more than one kind was refused before.",
            "return next(iter(value)) if isinstance(value, dict | list) or len(value) == 1 "
            "else None": "What has more than one kind was refused before.",
        },
    ),
    "scrubbing": MutantSet(
        modules=tuple(
            f"gateway/scrubbing/{module}.py"
            for module in (
                "blocks",
                "checks",
                "contents",
                "opaque",
                "report",
                "rule_files",
                "scanner",
                "scrubber",
            )
        ),
        tests=("tests/gateway/scrubbing",),
        equivalent={
            **dict.fromkeys(
                (
                    'return ", ".join(items).encode("ASCII")',
                    'text = files(__package__).joinpath(f"rules/{family}.yaml").read_text("UTF-8")',
                    'data = text.encode("UTF-8", "surrogatepass")',
                    'encoding = "UTF-8"',
                    'encoding = "LATIN-1"',
                    'return "" if b"\\0" in value else value.decode("LATIN-1")',
                    'cleaned, found = scrubber.text(value.decode("LATIN-1"), path)',
                    'return cleaned.encode("LATIN-1") if found else value',
                ),
                "An encoding has the same name in capitals.",
            ),
            **dict.fromkeys(
                (
                    'loader = getattr(yaml, "CSafeLoader", None)',
                    'loader = getattr(yaml, "CSafeLoader", )',
                    'loader = getattr(None, "CSafeLoader", yaml.SafeLoader)',
                    'loader = getattr(yaml, "XXCSafeLoaderXX", yaml.SafeLoader)',
                    'loader = getattr(yaml, "csafeloader", yaml.SafeLoader)',
                    'loader = getattr(yaml, "CSAFELOADER", yaml.SafeLoader)',
                ),
                "Both loaders read the same.",
            ),
            **dict.fromkeys(
                (
                    "given(data, None, start, end)",
                    "varied = given(data, None, start, end) and _varied(value)",
                ),
                "Where the match begins is not looked at.",
            ),
        },
    ),
}
