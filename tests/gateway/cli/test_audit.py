"""``porch audit`` reads the record of calls."""

from __future__ import annotations

import json

import pytest

from gateway.cli.options import EXIT
from tests.gateway.cli.conftest import Run


@pytest.fixture
def called(porch: Run) -> Run:
    """A portal on which two calls were made."""
    porch("call", "search_knowledge", "query=very private words")
    porch("call", "get_document", "contentType=tag", "id=garden", "--as", "open")
    return porch


def test_records_are_shown_newest_first_without_values(called: Run) -> None:
    result = called("audit")
    head, newest, oldest = result.output.splitlines()
    assert head.split() == ["time", "tier", "outcome", "took", "answer", "person", "item"]
    assert "not_allowed" in newest
    assert oldest.endswith("knowledge/search_knowledge")
    assert "private" not in result.output


def test_they_can_be_narrowed(called: Run) -> None:
    (record,) = json.loads(called("audit", "--outcome", "ok", "--since", "1h", "--json").stdout)
    assert record["item"] == "knowledge/search_knowledge"
    assert called("audit", "--tier", "public").output == "No call matches.\n"
    assert len(json.loads(called("audit", "--limit", "1", "--json").stdout)) == 1


def test_a_span_that_is_none_is_a_usage_error(porch: Run) -> None:
    assert porch("audit", "--since", "yesterday").exit_code == EXIT.USAGE


def test_a_directory_without_records_is_named(porch: Run) -> None:
    result = porch("audit")
    assert result.exit_code == EXIT.CONFIG
    assert "no portal has kept a record here" in result.output
