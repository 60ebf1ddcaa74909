"""MDX becomes the markdown in it."""

from plugins.knowledge.notes.mdx import plain

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
