"""Events of an answer: whatever a client has heard, it hears the rest, and nothing twice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gateway.assistant.conversation import Part, State, Turn
from gateway.assistant.stream import Place, news
from tests.gateway.assistant.garden import Heard, heard

NOW = datetime(2026, 11, 27, tzinfo=UTC)


def turn(parts: list[Part], state: State) -> Turn:
    return Turn("turn_1", "chat_1", 1, "?", state, parts, None, None, 0, NOW, None)


def call(id: str, state: Any) -> Part:
    return {
        "kind": "call",
        "id": id,
        "tool": "look",
        "title": "Look",
        "arguments": {"query": id},
        "state": state,
        "said": "No." if state == "failed" else "",
        "sources": [{"title": "A", "address": "https://a.example.org/"}] if state == "done" else [],
        "approval": None,
    }


WHOLE = st.lists(
    st.one_of(
        st.text("abc \n\0é👋", min_size=1, max_size=12),
        st.sampled_from(["done", "failed", "refused"]),
    ),
    max_size=5,
)


@st.composite
def growing(draw: st.DrawFn) -> list[list[Part]]:
    """An answer at several moments: words grow, and calls made together end in any order."""
    whole: list[Part] = []
    for number, each in enumerate(draw(WHOLE)):
        is_call = each in ("done", "failed", "refused")
        whole.append(
            call(f"call_{number}", each) if is_call else {"kind": "text", "text": str(each)}
        )
    moments: list[list[Part]] = []
    for at in range(len(whole) + 1):
        now: list[Part] = []
        for part in whole[:at]:
            is_last = len(now) == at - 1
            if part["kind"] == "text" and is_last:
                length = draw(st.integers(1, len(part["text"])))
                now.append({"kind": "text", "text": part["text"][:length]})
            elif part["kind"] == "call" and draw(st.booleans()) and _runs(moments, len(now)):
                now.append(call(part["id"], "running"))
            else:
                now.append(part)
        moments.append(now)
    return [*moments, whole]


def _runs(moments: list[list[Part]], at: int) -> bool:
    """Whether a call ran still when it was last looked at: what has ended does not run again."""
    before = moments[-1][at] if moments and at < len(moments[-1]) else None
    return before is None or before["kind"] == "text" or before["state"] == "running"


@given(growing(), st.data())
def test_what_is_heard_in_pieces_and_after_reconnections_is_the_whole_answer(
    moments: list[list[Part]], data: st.DataObject
) -> None:
    events: list[Heard] = []
    last = ""
    for number, parts in enumerate(moments):
        state: State = "done" if number == len(moments) - 1 else "running"
        come = heard("".join(news(turn(parts, state), Place.read(last))))
        if come and state == "running" and data.draw(st.booleans(), "the connection breaks"):
            come = come[: data.draw(st.integers(0, len(come) - 1), "after so many events")]
        events += come
        last = next((each.id for each in reversed(come) if each.id), last)
    whole = moments[-1]
    texts: dict[str, str] = {}
    for each in events:
        if each.kind == "text-delta":
            texts[each.data["id"]] = texts.get(each.data["id"], "") + each.data["delta"]
    assert list(texts.values()) == [each["text"] for each in whole if each["kind"] == "text"]
    calls = [each["id"] for each in whole if each["kind"] == "call"]
    asked = [each.data["toolCallId"] for each in events if each.kind == "tool-input-available"]
    assert asked == calls
    ends = ("tool-output-available", "tool-output-error", "tool-output-denied")
    ended = [each.data["toolCallId"] for each in events if each.kind in ends]
    assert sorted(ended) == sorted(calls)
    assert [each.kind for each in events[-2:]] == ["finish", "[DONE]"]


@given(st.text(max_size=20) | st.from_regex(r"\d{1,6}\.\d{1,9}\.(\d{1,6}-){0,3}", fullmatch=True))
def test_an_id_that_is_none_of_ours_begins_anew_or_goes_on_without_failing(id: str) -> None:
    parts: list[Part] = [{"kind": "text", "text": "abc"}, call("call_1", "done")]
    events = heard("".join(news(turn(parts, "done"), Place.read(id))))
    assert [each.kind for each in events[-2:]] == ["finish", "[DONE]"]
