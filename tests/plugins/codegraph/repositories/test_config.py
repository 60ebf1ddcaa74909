from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from plugins.codegraph.config import CodegraphConfig


def test_by_default_nothing_is_indexed_and_no_host_is_on_the_list() -> None:
    config = CodegraphConfig()
    assert (config.repositories, dict(config.hosts)) == ((), {})
    assert (config.default_tier, config.workspace_hours) == (None, 12)
    assert config.refresh == timedelta(hours=1)


@pytest.mark.parametrize(
    ("section", "reason"),
    [
        ({"repositories": [{}]}, "give either path or url"),
        ({"repositories": [{"path": "/a", "url": "https://x.org/a"}]}, "give either path or url"),
        ({"repositories": [{"path": "/a", "branch": "main"}]}, "branch is for url"),
        ({"repositories": [{"path": "/a"}, {"path": "/b/a"}]}, "a name of its own"),
        ({"repositories": [{"path": "/"}]}, "--name"),
        ({"repositories": [{"url": "ssh://x.org/a"}]}, "no https address"),
        ({"repositories": [{"url": "https://me:hunter2@x.org/a"}]}, "holds a credential"),
        ({"repositories": [{"url": "https://x.org/a", "branch": "--exec"}]}, "name of a branch"),
        ({"repositories": [{"path": "/a", "name": "a/b"}]}, "cannot be a repository's name"),
        ({"hosts": {"x.org": {"token": "hunter2"}}}, "a secret is never written here"),
        ({"workspace_hours": 25}, "less than or equal to 24"),
        ({"workspace_hours": 0}, "greater than or equal to 1"),
        ({"refresh": "often"}, "a number with its unit"),
        ({"unknown": 1}, "Extra inputs"),
    ],
)
def test_what_cannot_work_is_refused_with_a_reason(section: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason) as refused:
        CodegraphConfig.model_validate(section)
    assert "hunter2" not in str(refused.value.errors(include_input=False))
