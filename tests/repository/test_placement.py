"""Twenty changes that a newcomer may be asked for stand where the names of the rooms lead.

Each line has the change in an admin's or a member's words, the module that a reader of the folder
names goes to, and the text there that they have to change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLACES = [
    ("the message to a denied caller", "gateway/catalog/refusals.py", "Requires {required} access"),
    ("how a denied caller gets further", "gateway/catalog/upgrade_hint.py", "class UpgradeHint"),
    ("which key of tiers.yaml wins", "gateway/catalog/tier_rule.py", "class TierRules"),
    ("the size at which answers are cut", "gateway/contract/answer_size.py", "BYTES ="),
    ("for how long a cursor is good", "gateway/pipeline/cursors.py", "CURSOR_LIFETIME"),
    ("the order of what a call passes", "gateway/pipeline/pipeline.py", "class Pipeline"),
    ("how often a caller may call a tool", "gateway/limits/call_limits.py", "class CallLimits"),
    ("the headers of a limited REST route", "gateway/limits/route_limits.py", "Retry-After"),
    ("a new key in portal.yaml", "gateway/config/portal_keys.py", "class PortalConfig"),
    ("what is read of tiers.yaml", "gateway/config/tiers_file.py", "class TierRulesFile"),
    ("what happens to data of a deleted person", "gateway/identity/erasures.py", "class Erasures"),
    ("what the audit record holds", "gateway/observability/audit_record.py", "class AuditRecord"),
    ("when /readyz says no", "gateway/observability/health.py", "class HealthBoard"),
    ("which Host headers are taken", "gateway/surfaces/http/http_guard.py", "class HttpGuard"),
    ("what pages of other origins may do", "gateway/surfaces/http/cors.py", "class Sharing"),
    ("which facts a chain is asked for", "auth/fact_sources/hats.py", "class HatsSource"),
    ("a new kind of secret to take out", "gateway/scrubbing/rules", "cloud.yaml"),
    ("retry towards GitHub", "gateway/repositories/retry.py", "class Retry"),
    ("a new command of porch", "gateway/cli/program.py", "def main"),
    ("a new kind of rule on people", "auth/rules", "__init__.py"),
]


def test_there_are_twenty() -> None:
    assert len({change for change, _, _ in PLACES}) == 20


@pytest.mark.parametrize(("change", "place", "text"), PLACES)
def test_a_change_is_made_where_the_names_lead(change: str, place: str, text: str) -> None:
    path = ROOT / place
    found = "\n".join(sorted(p.name for p in path.iterdir())) if path.is_dir() else path.read_text()
    assert text in found, f"{change}: {place} has no {text!r}"
