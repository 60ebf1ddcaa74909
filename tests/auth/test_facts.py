"""Facts: believed for a while, asked in batches, and never older than they may be."""

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth.facts import (
    FACT_CACHE_SIZE,
    REFRESH_AHEAD_SHARE,
    SOURCE_RETRY_INTERVAL_S,
    UNWATCHED_MAX_AGE_S,
    Facts,
    Question,
    SourceUnavailable,
)

BELIEVED = 100.0


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


class Memory:
    """A source that knows what it was given, and notes what it is asked."""

    def __init__(self):
        self.facts = {}
        self.batches = []
        self.error = None
        self.held = None

    async def answers(self, questions):
        self.batches.append(list(questions))
        if self.held is not None:
            await self.held.wait()
        if self.error is not None:
            raise self.error
        return {question: self.facts[question] for question in questions if question in self.facts}


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def source():
    return Memory()


@pytest.fixture
async def facts(clock, source):
    facts = Facts({"memory": source}, BELIEVED, clock=clock, wall=clock, limit=5.0)
    yield facts
    await facts.close()


def question(key, source="memory"):
    return Question(source, (key,))


async def turns(count=5):
    """Let the event loop go round, as what runs in the background needs."""
    for _ in range(count):
        await asyncio.sleep(0)


async def answer(facts, asked):
    return (await facts.answers([asked]))[asked]


async def test_an_answer_is_remembered_with_the_moment_it_was_asked(facts, source, clock):
    source.facts[question("a")] = True
    first = await answer(facts, question("a"))
    assert (first.value, first.at, first.problem) == (True, clock.now, None)
    clock.now += 10
    assert await answer(facts, question("a")) is first
    assert facts.fresh([question("a")]) == (first,)
    assert source.batches == [[question("a")]]


async def test_what_is_asked_in_one_turn_goes_in_one_batch_and_once(facts, source):
    asked = [question(key) for key in "abc"]
    source.facts = dict.fromkeys(asked, 1)
    await asyncio.gather(facts.answers(asked[:2]), facts.answers(asked[1:]), facts.answers(asked))
    (batch,) = source.batches
    assert Counter(batch) == Counter(asked)


async def test_every_source_gets_its_own_questions(clock):
    one, other = Memory(), Memory()
    facts = Facts({"one": one, "other": other}, clock=clock)
    asked = [question("a", "one"), question("a", "other")]
    one.facts[asked[0]], other.facts[asked[1]] = 1, 2
    answers = await facts.answers(asked)
    assert [answers[each].value for each in asked] == [1, 2]
    assert (one.batches, other.batches) == ([[asked[0]]], [[asked[1]]])


async def test_a_question_on_its_way_is_not_asked_again(facts, source):
    source.held = asyncio.Event()
    source.facts[question("a")] = True
    first = asyncio.create_task(facts.answers([question("a")]))
    await turns()
    second = asyncio.create_task(facts.answers([question("a")]))
    await turns()
    source.held.set()
    assert await first == await second
    assert len(source.batches) == 1


async def test_who_gives_up_waiting_does_not_take_it_from_the_others(facts, source):
    source.held = asyncio.Event()
    source.facts[question("a")] = True
    impatient, patient = (asyncio.create_task(facts.answers([question("a")])) for _ in range(2))
    await turns()
    impatient.cancel()
    await turns()
    source.held.set()
    assert (await patient)[question("a")].value is True
    assert impatient.cancelled()


async def test_an_answer_in_use_is_asked_again_ahead_of_its_end(facts, source, clock):
    source.facts[question("a")] = True
    old = await answer(facts, question("a"))
    clock.now += REFRESH_AHEAD_SHARE * BELIEVED
    source.facts[question("a")] = False
    assert facts.fresh([question("a")]) == (old,)
    await turns()
    assert len(source.batches) == 2
    clock.now += BELIEVED - 1
    assert (await answer(facts, question("a"))).value is False
    await turns()
    assert len(source.batches) == 3


async def test_an_answer_that_nobody_uses_is_not_asked_again(facts, source, clock):
    source.facts[question("a")] = True
    await answer(facts, question("a"))
    clock.now += 0.9 * BELIEVED
    await turns()
    assert len(source.batches) == 1


async def test_an_answer_past_its_end_is_waited_for(facts, source, clock):
    source.facts[question("a")] = True
    await answer(facts, question("a"))
    source.facts[question("a")] = False
    clock.now += BELIEVED
    assert facts.fresh([question("a")]) is None
    assert (await answer(facts, question("a"))).value is False


async def test_a_source_that_fails_is_left_alone_for_a_moment(facts, source, clock):
    source.error = SourceUnavailable("no RPC of Optimism answers")
    unknown = await answer(facts, question("a"))
    assert (unknown.value, unknown.problem) == (None, "no RPC of Optimism answers")
    assert facts.fresh([question("a")]) == (unknown,)
    other = await answer(facts, question("b"))
    assert other.problem == "no RPC of Optimism answers"
    assert len(source.batches) == 1
    clock.now += SOURCE_RETRY_INTERVAL_S
    source.error = None
    source.facts[question("a")] = source.facts[question("b")] = True
    assert facts.fresh([question("a")]) == (unknown,)  # nobody waits while it is tried again
    await turns()
    assert (await answer(facts, question("a"))).value is True
    assert (await answer(facts, question("b"))).problem
    await turns()
    assert (await answer(facts, question("b"))).value is True


async def test_what_was_unknown_long_ago_is_waited_for(facts, source, clock):
    source.error = SourceUnavailable("no RPC of Optimism answers")
    await answer(facts, question("a"))
    clock.now += 3600
    source.error = None
    source.facts[question("a")] = True
    assert (await answer(facts, question("a"))).value is True


async def test_a_failure_ahead_of_its_end_leaves_an_answer_believed_to_its_end_alone(
    facts, source, clock
):
    source.facts[question("a")] = True
    known = await answer(facts, question("a"))
    source.error = SourceUnavailable("no RPC of Optimism answers")
    clock.now += REFRESH_AHEAD_SHARE * BELIEVED
    for _ in range(3):
        assert await answer(facts, question("a")) is known
        await turns()
    assert len(source.batches) == 2
    clock.now += BELIEVED - REFRESH_AHEAD_SHARE * BELIEVED
    assert (await answer(facts, question("a"))).value is None


async def test_a_question_that_a_source_leaves_out_is_unknown_for_itself(facts, source):
    source.facts[question("a")] = True
    answers = await facts.answers([question("a"), question("b")])
    assert answers[question("a")].value is True
    assert answers[question("b")].problem == "memory did not say"


async def test_a_source_that_takes_too_long_is_given_up(clock, source):
    source.held = asyncio.Event()
    facts = Facts({"memory": source}, clock=clock, limit=0.01)
    assert (await answer(facts, question("a"))).problem == (
        "memory did not answer within 0.01 seconds"
    )


async def test_a_source_that_breaks_is_told_of_and_nothing_of_it_shows(clock, source):
    told = []
    facts = Facts({"memory": source}, clock=clock, failed=lambda *what: told.append(what))
    source.error = ZeroDivisionError("https://rpc.example/SECRET")
    assert (await answer(facts, question("a"))).problem == "memory could not be asked"
    assert told == [("memory", source.error)]


@pytest.mark.parametrize("nonsense", [None, 7, [1]])
async def test_a_source_that_answers_nonsense_keeps_nobody_waiting(clock, nonsense):
    class Nonsense:
        async def answers(self, questions):
            return nonsense

    told = []
    facts = Facts({"memory": Nonsense()}, clock=clock, failed=lambda *what: told.append(what))
    assert (await answer(facts, question("a"))).problem == "memory could not be asked"
    assert len(told) == 1


async def test_a_source_whose_work_is_cancelled_keeps_nobody_waiting(facts, source):
    source.error = asyncio.CancelledError()
    assert (await answer(facts, question("a"))).problem == "memory was interrupted"


async def test_a_source_that_is_not_there_knows_nothing(facts):
    unknown = await answer(facts, question("a", "hats"))
    assert (unknown.value, unknown.problem) == (None, "the portal is not set up to ask hats")


async def test_only_so_many_answers_are_remembered_the_longest_unused_goes_first(facts, source):
    asked = [question(key) for key in range(FACT_CACHE_SIZE + 1)]
    source.facts = dict.fromkeys(asked, True)
    await facts.answers(asked[:FACT_CACHE_SIZE])
    facts.fresh(asked[:1])
    await facts.answers(asked[FACT_CACHE_SIZE:])
    assert facts.fresh(asked[:1]) is not None
    assert facts.fresh(asked[1:2]) is None
    await turns()


async def test_nothing_needs_nothing(facts, source):
    assert facts.fresh([]) == ()
    assert await facts.answers([]) == {}
    assert source.batches == []


async def test_closing_ends_the_waiting(clock, source):
    source.held = asyncio.Event()
    facts = Facts({"memory": source}, clock=clock)
    waiting = asyncio.create_task(facts.answers([question("a")]))
    await turns()
    await facts.close()
    assert (await waiting)[question("a")].problem == "the portal is stopping"
    assert (await answer(facts, question("b"))).problem == "the portal is stopping"
    assert source.batches == [[question("a")]]


steps = st.lists(
    st.tuples(
        st.sampled_from("ab"),
        st.floats(0, 1.2 * BELIEVED),
        st.sampled_from(["up", "down", "mute", "broken"]),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(steps)
def test_no_answer_is_used_past_its_time_or_was_never_true(script):
    """Whatever the source does: the truth is the time itself, so its age is seen."""

    class Watch:
        state = "up"

        async def answers(self, questions):
            match self.state:
                case "down":
                    raise SourceUnavailable("down")
                case "broken":
                    raise ValueError("broken")
            return {} if self.state == "mute" else dict.fromkeys(questions, clock.now)

    async def play():
        facts = Facts({"memory": watch}, BELIEVED, clock=clock, wall=clock)
        for key, seconds, state in script:
            clock.now += seconds
            watch.state = state
            said = await answer(facts, question(key))
            if said.value is None:
                assert said.problem
            else:
                assert said.at == said.value
                assert clock.now - said.value < BELIEVED
            await turns()
        await facts.close()

    clock, watch = Clock(), Watch()
    asyncio.run(play())


async def test_a_source_is_silent_until_it_answers_again(facts, source, clock):
    source.error = SourceUnavailable("no chain")
    await answer(facts, question("a"))
    assert facts.silent == {"memory": "no chain"}
    source.error, source.facts[question("b")] = None, True
    clock.now += SOURCE_RETRY_INTERVAL_S
    await answer(facts, question("b"))
    assert facts.silent == {}


async def test_what_is_forgotten_is_asked_anew_and_nothing_else(facts, source):
    asked = [question(key) for key in "ab"]
    source.facts = dict.fromkeys(asked, True)
    await facts.answers(asked)
    source.facts[asked[0]] = False
    facts.forget(lambda each: each == asked[0])
    assert facts.fresh(asked) is None
    assert facts.fresh(asked[1:]) is not None
    assert (await answer(facts, asked[0])).value is False
    assert source.batches[1:] == [[asked[0]]]


async def test_an_answer_on_its_way_when_it_is_forgotten_is_not_remembered(facts, source):
    source.held, source.facts[question("a")] = asyncio.Event(), True
    before = asyncio.create_task(answer(facts, question("a")))
    await turns()
    facts.forget(lambda each: True)
    held, source.held = source.held, None
    source.facts[question("a")] = False
    assert (await answer(facts, question("a"))).value is False
    source.facts[question("a")] = True
    held.set()
    assert (await before).value is True  # it was read before the change, and began before it
    assert (await answer(facts, question("a"))).value is False


async def test_what_is_not_sent_yet_when_it_is_forgotten_is_asked_once(facts, source):
    source.facts[question("a")] = True
    waiting = asyncio.create_task(answer(facts, question("a")))
    await asyncio.sleep(0)
    facts.forget(lambda each: True)
    assert (await waiting).value is True
    assert len(source.batches) == 1


@pytest.fixture
async def unwatched(clock, source):
    """Facts of which nobody tells when they change."""
    unwatched = Facts(
        {"memory": source}, BELIEVED, clock=clock, wall=clock, unwatched=lambda _: True
    )
    yield unwatched
    await unwatched.close()


async def test_an_answer_of_whose_change_nobody_tells_is_waited_for_soon(unwatched, source, clock):
    source.facts[question("a")] = True
    await answer(unwatched, question("a"))
    source.facts[question("a")] = False
    clock.now += UNWATCHED_MAX_AGE_S - 1
    assert (await answer(unwatched, question("a"))).value is True
    clock.now += 1
    assert unwatched.fresh([question("a")]) is None
    assert (await answer(unwatched, question("a"))).value is False


async def test_what_a_silent_source_said_last_counts_as_long_as_ever(unwatched, source, clock):
    source.facts[question("a")] = True
    await answer(unwatched, question("a"))
    source.error = SourceUnavailable("it is silent")
    end = clock.now + BELIEVED
    while clock.now < end:
        assert (await answer(unwatched, question("a"))).value is True
        clock.now += UNWATCHED_MAX_AGE_S
    unknown = await answer(unwatched, question("a"))
    assert (unknown.value, unknown.problem) == (None, "it is silent")
