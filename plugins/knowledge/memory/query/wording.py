"""Since when entries say what they say, where a question asks for what held before that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from plugins.knowledge.memory.model.query_context import Question
from plugins.knowledge.memory.model.record import NOBODY, Record
from plugins.knowledge.memory.model.responses import Standing
from plugins.knowledge.memory.store.reads import Reads, Version


async def reworded(reads: Reads, records: Iterable[Record], question: Question) -> dict[str, str]:
    """What to say of entries that said something else at the moment which a question asks for.

    Args:
        reads: the entries' versions.
        records: answers.
        question: who asks, and for which moment.

    Returns:
        It by the entries' ids; "" where there is nothing to say.
    """
    moment = question.entry_filter.as_of
    if moment is None:
        return {}
    said: dict[str, str] = {}
    for each in records:
        if each.owner != NOBODY and each.updated is not None and each.updated > moment:
            versions = await reads.versions(each.id, question.keys)
            said[each.id] = _in_words(each, versions, moment)
    return said


def _in_words(record: Record, versions: Sequence[Version], moment: datetime) -> str:
    """What to say of an entry that was written later than at a moment; "" where that is nothing."""
    then = _version_at(versions, moment)
    if not versions or (then is not None and _content(then) == record.content):
        return ""
    known = then is not None and then.fields is not None
    before = f", memory_history has what it said on {moment:%Y-%m-%d}" if known else ""
    return f"worded so since {_since(versions, record):%Y-%m-%d}{before}"


def with_wording(standing: Standing | None, said: str | None) -> Standing | None:
    """What is said of whether an entry holds, with since when it says so."""
    if not said:
        return standing
    known = standing or Standing(holds=True, text="")
    return known.model_copy(update={"text": "; ".join(filter(None, (known.text, said)))})


def _version_at(versions: Sequence[Version], moment: datetime) -> Version | None:
    """The version that stood at a moment, or the first one, which stands for the time before it.

    None where the caller may not read it: of those that they may, the next one does not follow it.
    """
    first = versions[-1] if versions and versions[-1].number == 1 else None
    place = next((at for at, each in enumerate(versions) if each.at <= moment), None)
    if place is None:
        return first
    then = versions[place]
    is_it = place > 0 and versions[place - 1].number == then.number + 1
    return then if is_it else None


def _since(versions: Sequence[Version], record: Record) -> datetime:
    """When an entry came to say what it says, as far as the caller may read its versions."""
    since = record.changed
    for each in versions:
        if _content(each) != record.content:
            break
        since = each.at
    return since


def _content(version: Version) -> str | None:
    """What a version said; None where that is not kept."""
    return None if version.fields is None else version.fields["content"]
