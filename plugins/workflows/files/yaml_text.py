"""YAML, read without trust and written so that it reads the same again."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import yaml

from gateway.toolkit import yaml_lines

_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,30}")
_DECIMAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")
_UNSEEN = re.compile(r"[\x85\u2028\u2029\ufeff]|[ \t](?=\n)|[ \t]\Z|\A[ \t\n]")


def json_number(written: str) -> int | float | None:
    """A number if it is written as JSON writes that number: ``1.10`` and ``007`` are texts."""
    if _INTEGER.fullmatch(written):
        return int(written)
    if _DECIMAL.fullmatch(written) and repr(float(written)) == written:
        return float(written)
    return None


read = partial(yaml_lines.read, numbers=json_number)
"""Read one YAML document, as :func:`gateway.toolkit.yaml_lines.read`, with JSON's numbers."""


def write(values: Any) -> str:
    """JSON values as YAML that :func:`read` gives back exactly.

    Lines are not folded and keys keep their order, so that a change of one value is a change of
    its lines alone.
    """
    return yaml.dump(
        values,
        Dumper=_Dumper,
        allow_unicode=True,
        default_flow_style=False,
        sort_keys=False,
        width=float("inf"),
    )


class _Dumper(yaml.SafeDumper):
    """Quotes what any reader of YAML could take for something else than text."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:
        """Write what is there twice out twice."""
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _UNSEEN.search(text):
        style = '"'
    elif "\n" in text:
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _decimal(dumper: yaml.SafeDumper, number: float) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:float", repr(number))


_Dumper.add_representer(str, _text)
_Dumper.add_representer(float, _decimal)
# What reads as a number here must not be written plain where it is a text.
_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _DECIMAL, list("-0123456789"))
