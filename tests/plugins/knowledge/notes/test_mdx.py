"""MDX becomes the markdown in it."""

import pytest

from plugins.knowledge.notes.mdx import is_mdx, plain

PAGE = """import Tabs from '@theme/Tabs';
import {
  A,
} from 'a';

export const x = {
  y: 1,
};

# Title {/* a comment */}

<Tabs>Words.</Tabs>

```js
import kept from 'here';

export default kept;
```

imports are words, too."""


def test_imports_exports_and_comments_go_and_code_stays() -> None:
    text = plain(PAGE)
    assert text.startswith("# Title \n\n<Tabs>Words.</Tabs>")
    assert "import kept from 'here';\n\nexport default kept;" in text
    assert text.endswith("imports are words, too.")
    assert "theme" not in text
    assert "y: 1" not in text


def test_markdown_stays_as_it_is() -> None:
    text = "# A\n\n~~~\n```\nimport x from 'y'\n~~~\n\nB"
    assert plain(text) == text


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.MDX", "Text.", True),
        ("a.md", "import Tabs from '@theme/Tabs';\n\n<Tabs>a</Tabs>", True),
        ("a.md", 'import {Card, Grid} from "ui"\n\n<Card/>', True),
        ("a.md", "import Tabs from '@theme/Tabs';\n\nNo tag of it.", False),
        ("a.md", "```\nimport Tabs from '@theme/Tabs';\n```\n\n<Tabs>a</Tabs>", False),
        ("a.md", "import the Data from here\n\n<Data>", False),
        ("a.md", "Text.\n\n## Set up {/*set-up*/}", True),
        ("a.md", "Text {/*here*/}\n\n```\n## Set up {/*set-up*/}\n```", False),
    ],
)
def test_a_note_that_imports_its_components_is_mdx(path: str, text: str, expected: bool) -> None:
    assert is_mdx(path, text) is expected


def test_a_sentence_about_imports_stays() -> None:
    assert plain("import the data first\n\nexport it.") == "import the data first\n\nexport it."


def test_a_heading_that_gives_itself_an_id_is_called_by_it() -> None:
    text = plain("## Set up {/*set-up*/}\n\n### Next {/* #next.1 */} \n\n# No {/* to do */}")
    assert text == "## Set up {#set-up}\n\n### Next {#next.1}\n\n# No "
