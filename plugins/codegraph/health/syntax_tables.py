"""Which nodes of each grammar count for what, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_SCRIPT = (
    "if_statement",
    "for_statement",
    "for_in_statement",
    "while_statement",
    "do_statement",
    "switch_case",
    "catch_clause",
    "ternary_expression",
    "&&",
    "||",
    "??",
)
BRANCHES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "python": (
            "if_statement",
            "elif_clause",
            "for_statement",
            "while_statement",
            "except_clause",
            "case_clause",
            "conditional_expression",
            "boolean_operator",
            "if_clause",
            "for_in_clause",
            "assert_statement",
        ),
        "typescript": _SCRIPT,
        "javascript": _SCRIPT,
        "go": (
            "if_statement",
            "for_statement",
            "expression_case",
            "type_case",
            "communication_case",
            "&&",
            "||",
        ),
        "java": (
            "if_statement",
            "for_statement",
            "enhanced_for_statement",
            "while_statement",
            "do_statement",
            "switch_label",
            "catch_clause",
            "ternary_expression",
            "&&",
            "||",
        ),
        "rust": (
            "if_expression",
            "for_expression",
            "while_expression",
            "loop_expression",
            "match_arm",
            "try_expression",
            "&&",
            "||",
        ),
    }
)
"""The nodes that add a way through a function (McCabe 1976): one that begins with a letter is the
name of a node, another one the text of an operator."""

IMPORTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "python": ("import_statement", "import_from_statement"),
        "typescript": ("import_statement", "export_statement"),
        "javascript": ("import_statement", "export_statement"),
    }
)
"""The statements that import. Go and Rust cannot import in a circle between what they compile
apart, and Java loads a class when it is first used."""

FUNCTIONS = frozenset(
    {"function_definition", "lambda", "function_declaration", "function_expression"}
    | {"arrow_function", "method_definition", "generator_function_declaration"}
    | {"generator_function"}
)
"""What an import is in that is not run when its file is loaded."""
