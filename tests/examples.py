"""How many examples a property tries: few in the ordinary run, many in a thorough one."""

from __future__ import annotations

import os
import random

from hypothesis import HealthCheck, settings

ORDINARY, THOROUGH = 15, 200
"""Examples of a property that does not say how many it needs."""
_FEWEST = 10
"""What a property says it needs is cut to no fewer than these."""

IS_THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def examples(count: int, ordinary: int | None = None) -> int:
    """How many examples a property tries that needs a number of its own.

    Args:
        count: how many are enough to trust it.
        ordinary: how many the ordinary run tries, where each takes a second or so.
    """
    if IS_THOROUGH:
        return 2 * count
    return ordinary or max(min(count, _FEWEST), count // 4)


def times(thorough: int, ordinary: int) -> int:
    """How often something is repeated that chance decides, such as a kill at some moment."""
    return thorough if IS_THOROUGH else ordinary


def seed(ordinary: int) -> int:
    """What decides where chance does: another one each time where a test is repeated at length."""
    return random.randrange(10**6) if IS_THOROUGH else ordinary


def load_profile() -> None:
    """Set what holds for properties that do not say otherwise.

    CI tries the same examples each time, so that what fails there fails again at a desk; a desk
    and a thorough run try new ones.
    """
    settings.register_profile(
        "porch",
        deadline=None,  # a busy machine is no counterexample
        suppress_health_check=[HealthCheck.too_slow],
        max_examples=THOROUGH if IS_THOROUGH else ORDINARY,
        derandomize=bool(os.environ.get("CI")) and not IS_THOROUGH,
    )
    settings.load_profile("porch")
