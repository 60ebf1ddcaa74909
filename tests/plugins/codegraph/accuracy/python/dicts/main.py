"""Tables of functions and of objects."""

from collections import defaultdict

from jobs import JOBS, Job, lookup


def start():
    return "start"


def stop():
    return "stop"


def pause():
    return "pause"


ACTIONS = {"start": start, "stop": stop}
ACTIONS["pause"] = pause


def by_key():
    ACTIONS["start"]()
    return ACTIONS["pause"]()


def by_variable(name):
    return ACTIONS[name]()


def by_get(name):
    action = ACTIONS.get(name, start)
    return action()


def local_table():
    table = {}
    table["a"] = stop
    table["a"]()
    nested = {"x": {"y": start}}
    return nested["x"]["y"]()


def all_of_them():
    for name, action in ACTIONS.items():
        action()


def jobs():
    JOBS["first"].run()
    for job in JOBS.values():
        job.done()
    lookup("first").run()


def grouped():
    groups = defaultdict(list)
    groups["a"].append(Job("a"))
    made = dict(one=Job("one"))
    return made["one"].done(), groups["a"][0].run()


class Cache:
    def __init__(self):
        self.entries: dict[str, Job] = {}

    def put(self, name):
        self.entries[name] = Job(name)

    def run(self, name):
        if name in self.entries:
            self.entries[name].run()
        return self.entries.get(name).done()


by_key()
by_variable("start")
by_variable("stop")
by_variable("pause")
by_get("start")
by_get("stop")
by_get("pause")
local_table()
all_of_them()
jobs()
grouped()
cache = Cache()
cache.put("j")
cache.run("j")
