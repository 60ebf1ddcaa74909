"""Notes in MyST, without the marks that no reader sees."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from plugins.knowledge.notes.myst import is_myst
from plugins.knowledge.notes.note import Origin, Rules, parse
from plugins.knowledge.retrieval.markup import plain
from plugins.knowledge.retrieval.passages import cut

AT = datetime(2020, 1, 2, tzinfo=UTC)
LOOM = """(target-a)=
# Loom manual

% a remark of the author

:::{admonition} Shuttle
:class: tip
Shuttles are birch.
:::

See {ref}`the fees <target-a>` and {doc}`other`.

+++ {"tags": []}

```{code-block} matlab
% shown
```
"""


def content(body: str) -> str:
    document = parse(body.encode(), Origin("a.md", "a.md", AT), Rules({}, {})).document
    assert document is not None
    return document.content


def test_what_no_reader_sees_is_neither_shown_nor_found() -> None:
    read = content(LOOM)
    for mark in ("target-a)=", "a remark", "+++"):
        assert mark not in read
    assert "% shown" in read
    [passage] = cut(read)
    assert passage.trail == ("Loom manual",)
    assert passage.place is not None
    assert passage.text == ("Shuttle\nShuttles are birch.\nSee the fees and other.\n% shown")


VERSIONS = """# Locks

```{versionadded} 23.1
```

````{note}
:class: wide

Lock **files** are written by `lock`.

```{code-block} sh
pip lock
```
````

:::{deprecated} 25.0
Use {ref}`lock <lock>`.
:::

```{toctree}
:maxdepth: 1

other
```

~~~{versionchanged} 24.2
It sorts them.
~~~
"""


def test_what_directives_say_is_text_and_since_which_version_is_said_in_words() -> None:
    [passage] = cut(content(VERSIONS))
    assert passage.text == (
        "New in version 23.1:\nLock files are written by lock.\npip lock\n"
        "Deprecated since version 25.0: Use lock.\nChanged in version 24.2: It sorts them."
    )


def test_hostile_directives_are_read_in_no_time() -> None:
    began = time.process_time()
    for text in ("```{note}\n", "```{note}\n```\n", "````{note}\n```{tip}\n", ":::{toctree}\n"):
        content(text * 20_000)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    "text",
    ["% of people\n+++\nmore", "```\n{ref}`x`\n(a)=\n```", "{{ x }}`y`", "::: {.note}\nHi\n:::"],
)
def test_what_is_no_myst_stays_as_it_is(text: str) -> None:
    assert not is_myst(text)
    assert content(text) == text


def test_a_role_within_code_is_code() -> None:
    assert plain("Write `` {ref}`x` `` for it.") == "Write {ref}`x` for it."
