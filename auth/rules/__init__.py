"""The rules of ``tiers.yaml`` on who has which tier: a small language and its kinds."""

from auth.rules.access import NAMES, AccessRules, RuleName, is_bounded
from auth.rules.language import KINDS, Condition, Location, Rule, conditions

__all__ = [
    "KINDS",
    "NAMES",
    "AccessRules",
    "Condition",
    "Location",
    "Rule",
    "RuleName",
    "conditions",
    "is_bounded",
]
