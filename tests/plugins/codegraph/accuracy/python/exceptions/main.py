"""Errors, their handlers and what is cleaned up."""

from contextlib import contextmanager, suppress


class AppError(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code

    def explain(self):
        return self.hint()

    def hint(self):
        return "app"


class NotFound(AppError):
    def hint(self):
        return "missing"


class Refused(AppError):
    def retry(self):
        return cleanup()


def fail(kind):
    if kind == "missing":
        raise NotFound("x")
    raise Refused("y", code=2)


def handle(kind):
    try:
        fail(kind)
    except NotFound as error:
        error.explain()
    except (Refused, ValueError) as error:
        error.retry()
    finally:
        cleanup()


def nested():
    try:
        try:
            fail("missing")
        except AppError as error:
            raise wrap(error) from error
    except RuntimeError:
        recover()
    else:
        never()


def wrap(error):
    return RuntimeError(str(error))


def recover():
    return 0


def never():
    return 1


def cleanup():
    return None


@contextmanager
def opened(name):
    session = Session(name)
    try:
        yield session
    finally:
        session.close()


class Session:
    def __init__(self, name):
        self.name = name

    def send(self):
        return self.name

    def close(self):
        cleanup()


def use():
    with opened("a") as session:
        session.send()
    with suppress(AppError):
        fail("refused")


handle("missing")
handle("refused")
nested()
use()
