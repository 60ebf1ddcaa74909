import pytest
from hypothesis import given
from hypothesis import strategies as st

from plugins.knowledge.memory.algorithms.sentences import sentences, spans


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I go. You stay! We see;  fine\nend", ["I go.", "You stay!", "We see;", "fine", "end"]),
        ("We meet Dr. Jones and Mrs. Holm. Come.", ["We meet Dr. Jones and Mrs. Holm.", "Come."]),
        ("J. Smith of St. Gallen.", ["J. Smith of St. Gallen."]),
        ("That is plan B. We begin.", ["That is plan B.", "We begin."]),
        ("Nobody but I. Ben left.", ["Nobody but I.", "Ben left."]),
        ("It is No. 5. No. We go.", ["It is No. 5.", "No.", "We go."]),
        (
            "At 8 a.m. on Mondays. At 8 a.m. We go.",
            ["At 8 a.m. on Mondays.", "At 8 a.m.", "We go."],
        ),
        ("Ask the Dr.\nJones is out.", ["Ask the Dr.", "Jones is out."]),
        ('"Stop." We stopped. "Go!" he said.', ['"Stop."', "We stopped.", '"Go!" he said.']),
        ("See St. … end", ["See St.", "… end"]),
        (" \n ", []),
    ],
)
def test_sentences_end_at_full_stops_and_not_at_titles(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet='aB .!?;"\nDr', max_size=80))
def test_every_word_is_in_one_sentence(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())
    ends = [place for span in spans(text) for place in span]
    assert ends == sorted(ends)
