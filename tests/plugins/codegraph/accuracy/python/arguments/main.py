"""Functions that are passed around as arguments."""

from stages import Stage, shout


def trim(text):
    return text.strip()


def lower(text):
    return text.lower()


def apply(func, text):
    return func(text)


def pipeline(text, *steps):
    for step in steps:
        text = step(text)
    return text


def forwarded(*args):
    return apply(*args)


def with_default(text, then=lower):
    return then(text)


class Report:
    def __init__(self, writer):
        self.writer = writer

    def write(self, text):
        return self.writer(text)

    def line(self, text):
        return text + "\n"

    def emit(self):
        return apply(self.line, "x")


def run(stage: Stage, fallback=None):
    stage.start()
    fallback = fallback or Stage("spare")
    fallback.stop()


apply(trim, " a ")
apply(shout, "b")
pipeline(" A ", trim, lower)
forwarded(trim, " c ")
with_default("D")
report = Report(trim)
report.write(" e ")
report.emit()
run(Stage("first"))
sorted(["b", "a"], key=lower)
