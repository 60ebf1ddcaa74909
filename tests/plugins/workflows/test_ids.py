"""Ids and keys."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.workflows.ids import new_id, portal_id, slug
from plugins.workflows.model import TargetType

ID = re.compile(r"[a-z2-7]{20}")


def test_no_id_is_made_twice() -> None:
    ids = {new_id() for _ in range(1000)}
    assert len(ids) == 1000
    assert all(ID.fullmatch(each) for each in ids)


def test_the_portals_ids_follow_from_kind_and_key() -> None:
    made = portal_id(TargetType.WORKFLOW, "quick-fix")
    assert ID.fullmatch(made)
    assert portal_id(TargetType.WORKFLOW, "quick-fix") == made
    assert portal_id(TargetType.SKILL, "quick-fix") != made
    assert portal_id(TargetType.WORKFLOW, "quick-fix-2") != made


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Quick Fix Workflow", "quick-fix-workflow"),
        ("  Über   Größe! ", "uber-grosse"),
        ("a/b_c.d", "a-b-c-d"),
        ("x" * 300, "x" * 100),
        ("a" * 99 + " b", "a" * 99),
    ],
)
def test_a_slug_is_the_name_in_plain_letters(name: str, key: str) -> None:
    assert slug(name) == key


def test_names_without_our_letters_have_slugs_of_their_own() -> None:
    assert slug("代码审查") != slug("设计")
    assert slug("代码审查") == slug("代码审查")


@given(st.text())
def test_every_name_has_a_slug(name: str) -> None:
    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{0,99}", slug(name))
    assert not slug(name).endswith("-")
