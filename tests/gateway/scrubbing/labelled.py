"""The labelled set: fakes of every kind in real contexts, and innocent lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from tests.gateway.scrubbing.fakes import FORMS, made
from tests.gateway.scrubbing.more_fakes import MORE_FORMS

ALL_FORMS = FORMS | MORE_FORMS
PER_KIND = 2


@dataclass(frozen=True)
class Case:
    """A text with one secret in it.

    Attributes:
        rule: the rule that is to find it.
        context: what the text is, in a word.
        text: the text.
        secrets: the parts that must not be left in it.
    """

    rule: str
    context: str
    text: str
    secrets: tuple[str, ...]


def _diff(name: str, value: str) -> str:
    lines = (f'{name} = "{value}"' if name else value).split("\n")
    added = "\n".join(f"+{line}" for line in lines)
    return (
        "diff --git a/app/settings.py b/app/settings.py\n"
        "--- a/app/settings.py\n+++ b/app/settings.py\n"
        f"@@ -10,2 +10,{2 + len(lines)} @@ class Settings:\n"
        f"     debug = False\n{added}\n     timeout = 30\n"
    )


def _env(name: str, value: str) -> str:
    line = f"{name or 'VALUE'}={value}"
    return f"# settings of the app\nLOG_LEVEL=info\n{line}\nPORT=8080\n"


def _yaml(name: str, value: str) -> str:
    inner = "\n      ".join(value.split("\n"))
    said = f"|\n      {inner}" if "\n" in value else value
    return f"services:\n  app:\n    {name.lower() or 'value'}: {said}\n    replicas: 2\n"


def _json(name: str, value: str) -> str:
    return json.dumps({"region": "eu-west-1", name or "value": value, "retries": 3}, indent=2)


def _python(name: str, value: str) -> str:
    quotes = '"""' if "\n" in value else "'" if '"' in value else '"'
    return f"import os\n\n{name.lower() or 'value'} = {quotes}{value}{quotes}\nclient = Client()\n"


def _shell(name: str, value: str) -> str:
    quotes = '"' if "'" in value else "'"
    return f"#!/bin/sh\nset -e\nexport {name or 'VALUE'}={quotes}{value}{quotes}\n./run --fast\n"


def _log(name: str, value: str) -> str:
    said = f"{name}={value}" if name else value
    return f"2026-03-01T10:22:31Z INFO [worker-3] request failed: {said}\n"


CONTEXTS: dict[str, Callable[[str, str], str]] = {
    "diff": _diff,
    "env": _env,
    "yaml": _yaml,
    "json": _json,
    "python": _python,
    "shell": _shell,
    "log": _log,
}


def cases(seed: int = 6) -> Iterator[Case]:
    """Every kind, at least twice, in every context."""
    random = Random(seed)
    for rule, forms in ALL_FORMS.items():
        for number in range(max(PER_KIND, len(forms))):
            for context, write in CONTEXTS.items():
                yield _case(rule, context, write, made(forms[number % len(forms)], random))


def _case(rule: str, context: str, write: Callable[[str, str], str], fake: str) -> Case:
    name, value = "", fake
    secret = fake
    if "<<" in fake:
        before, _, rest = fake.partition("<<")
        secret, _, after = rest.partition(">>")
        value = before + secret + after
    elif _is_named(fake):
        name, _, value = fake.partition("=")
        secret = value
    return Case(rule, context, write(name, value), tuple(secret.split("\n")))


def _is_named(fake: str) -> bool:
    name, equals, _ = fake.partition("=")
    return bool(equals) and name.replace("_", "").isalpha() and len(name) < 30
