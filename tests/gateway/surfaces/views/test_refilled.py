"""A form of a page, filled in again with what was sent."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from gateway.surfaces.views.refilled import refilled

PAGE = """<p>Before</p><details class="card"><summary>Change</summary>
<form method="post" action="/x"><input type="hidden" name="request" value="[&#34;a&#34;]">
<input type="hidden" name="id" value="{id}">
<input name="title" value="Old"><textarea name="text" rows="3">Old &amp; &lt;i&gt;</textarea>
<input type="checkbox" name="sure" value="true" checked><select name="kind">
<option value="one" selected>One</option><option value="two">Two</option></select></form></details>
"""
SENT = {"id": ["2"], "title": ["New"], "text": ["\n  New </textarea> text"], "kind": ["two"]}


def test_the_form_that_was_sent_has_what_was_typed_and_the_others_what_they_had() -> None:
    page = PAGE.format(id=1) + PAGE.format(id=2)
    made = refilled(page, SENT, '["a"]', "It is <not> so.")
    assert made is not None
    assert made.startswith(PAGE.format(id=1))
    form = made[len(PAGE.format(id=1)) :]
    assert '<details open class="card">' in form
    assert "It is &lt;not&gt; so." in form
    assert 'name="title" value="New"' in form
    assert '<textarea name="text" rows="3">\n\n  New &lt;/textarea&gt; text</textarea>' in form
    assert "Old" not in form
    assert "checked" not in form
    assert '<option value="one">' in form
    assert '<option value="two" selected="">' in form


def test_a_page_without_the_form_has_none() -> None:
    assert refilled(PAGE.format(id=2), SENT, '["b"]', "No.") is None
    assert refilled(PAGE.format(id=2), {**SENT, "other": ["x"]}, '["a"]', "No.") is None
    assert refilled("", SENT, '["a"]', "No.") is None


class Values(HTMLParser):
    """What stands in the fields of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.title = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        has = dict(attrs)
        if has.get("name") == "title":
            self.title = has.get("value") or ""


@given(st.text(min_size=1, max_size=60))
def test_whatever_is_typed_comes_back_and_stays_text(typed: str) -> None:
    sent = {**SENT, "title": [typed], "text": [typed]}
    made = refilled(PAGE.format(id=2), sent, '["a"]', typed)
    assert made is not None
    before, after = Values(), Values()
    before.feed(PAGE.format(id=2))
    after.feed(made)
    assert after.title == typed
    assert [each for each in after.tags if each not in {"div", "p"}] == [
        each for each in before.tags if each not in {"div", "p"}
    ]
