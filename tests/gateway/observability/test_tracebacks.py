"""Tracebacks are short, and come once in a while."""

from gateway.observability.tracebacks import MAX_FRAMES, QUIET_SECONDS, Tracebacks, shortened


def deeper(depth: int) -> int:
    return deeper(depth + 1) + 1


def raised(work: object) -> BaseException:
    try:
        work()  # type: ignore[operator]
    except BaseException as error:
        return error
    raise AssertionError


def test_of_a_recursion_the_last_calls_are_shown() -> None:
    text = shortened(raised(lambda: deeper(0)))
    assert text.count("in deeper") <= MAX_FRAMES
    assert "RecursionError: maximum recursion depth exceeded" in text
    assert len(text.splitlines()) < 4 * MAX_FRAMES


def test_what_caused_an_error_is_shown_too() -> None:
    def work() -> None:
        try:
            raise OSError("the disk is away")
        except OSError as error:
            raise ValueError("no garden") from error

    text = shortened(raised(work))
    assert text.index("ValueError: no garden") < text.index("OSError: the disk is away")


def test_the_same_traceback_is_shown_once_in_a_while_and_counted_meanwhile() -> None:
    now = 0.0
    tracebacks = Tracebacks(lambda: now)

    def fail() -> float:
        return 1 / 0

    assert "in fail" in str(tracebacks.fields("garden/look", raised(fail))["exception"])
    for _ in range(3):
        assert tracebacks.fields("garden/look", raised(fail)) == {
            "error": "ZeroDivisionError: division by zero"
        }
    assert "exception" in tracebacks.fields("garden/dig", raised(fail)), "another item's is news"
    now = QUIET_SECONDS + 1
    again = tracebacks.fields("garden/look", raised(fail))
    assert again["times_since_last_traceback"] == 3
    assert "exception" in again
