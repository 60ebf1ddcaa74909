"""Words in a form for comparing names."""

from __future__ import annotations


def singular(word: str) -> str:
    """A lower-case word in the singular, by a rule of English that need not be right.

    It is applied to both sides of a comparison, so that it need only be the same.
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ches", "shes", "sses", "xes", "zes")):
        return word[:-2]
    if len(word) > 2 and word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word
