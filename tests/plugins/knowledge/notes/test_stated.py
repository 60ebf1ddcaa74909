"""A record of a decision says in its text whether it holds, and since when."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from plugins.knowledge.notes.stated import stated, with_stated

DAY = datetime(2016, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("# 2. Shell\n\nDate: 2016-02-12\n\n## Status\n\nAccepted\n\n## Context\n", "Accepted"),
        ("# Shell\n\n* Status: superseded by [ADR-5](5.md)\n* Date: 2016-02-12\n",
         "superseded by [ADR-5](5.md)"),
        ("# Shell\n**Status:** rejected\n**Date**: 12 February 2016\n", "rejected"),
        ("# Shell\nDate: 2016-02-12\n## Status\n\nAccepted\n\nSuperceded by [9. Help](9.md)\n",
         "Superceded by [9. Help](9.md)"),
    ],
)  # fmt: skip
def test_its_status_and_date_are_read(body: str, status: str) -> None:
    assert stated(body) == {"status": status, "date": DAY}


@pytest.mark.parametrize(
    "body",
    [
        "Status: accepted\n",
        "# Shell\n\nThe status: accepted.\n",
        "# Shell\n```\nStatus: accepted\nDate: 2016-02-12\n```\n",
        "# Shell\n\n## Usage\n\nStatus: accepted\nDate: 2016-02-12\n",
        "# Shell\n\nDate: next week\n",
        "# Shell\n\n## Status\n\n## Context\n\nAccepted\n",
        "",
    ],
)
def test_what_is_prose_or_code_states_nothing(body: str) -> None:
    assert not stated(body)


def test_an_export_of_notion_states_its_tags() -> None:
    body = "# Onboarding\n\nStatus: Done\nTags: people, welcome\nOwner: Ann\n\nCome in.\n"
    assert stated(body) == {"status": "Done", "tags": "people, welcome"}


def test_what_the_frontmatter_says_counts_before_the_text() -> None:
    body = "# Shell\n\nStatus: rejected\n"
    assert with_stated({}, body) == {"status": "rejected"}
    assert with_stated({"status": "accepted"}, body) == {"status": "accepted"}
    assert with_stated({"type": "question"}, body) == {"type": "question"}
