class Job:
    def __init__(self, name):
        self.name = name

    def run(self):
        return self.done()

    def done(self):
        return self.name


JOBS = {"first": Job("first"), "second": Job("second")}


def lookup(name) -> Job:
    return JOBS[name]
