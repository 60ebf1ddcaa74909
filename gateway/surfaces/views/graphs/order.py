"""The arrows of a graph without circles: the layout needs them all in one direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Arrow = tuple[int, int]


def forward(count: int, arrows: Iterable[Arrow]) -> list[tuple[Arrow, bool]]:
    """Turn around the arrows that close a circle.

    A depth-first search leaves every node after all that it leads to, but for the arrows that lead
    back; so all arrows that run against that order are turned, and what remains has no circle.

    Args:
        count: how many nodes there are, numbered from 0; the first ones come first.
        arrows: from one number to another, none of them to the node itself.

    Returns:
        Each arrow as it runs in the picture, and whether it was turned for it.
    """
    given = list(arrows)
    after: list[list[int]] = [[] for _ in range(count)]
    for source, target in given:
        after[source].append(target)
    left = _left(after)
    return [
        ((source, target), False) if left[source] > left[target] else ((target, source), True)
        for source, target in given
    ]


def _left(after: Sequence[Sequence[int]]) -> list[int]:
    """When a depth-first search leaves each node."""
    left = [-1] * len(after)
    seen = [False] * len(after)
    at = 0
    for start in range(len(after)):
        if seen[start]:
            continue
        seen[start] = True
        stack = [(start, iter(after[start]))]
        while stack:
            node, rest = stack[-1]
            following = next((each for each in rest if not seen[each]), None)
            if following is None:
                left[node] = at
                at += 1
                stack.pop()
            else:
                seen[following] = True
                stack.append((following, iter(after[following])))
    return left
