"""What only running the program tells: open is better than wrong."""


class Handler:
    def do_get(self):
        return 1

    def do_post(self):
        return 2

    def dispatch(self, verb):
        return getattr(self, "do_" + verb)()

    def fixed(self):
        return getattr(self, "do_get")()


def setup():
    return "setup"


def teardown():
    return "teardown"


def by_global(name):
    return globals()[name]()


def by_eval():
    return eval("setup()")


class Plain:
    pass


def patched():
    Plain.run = setup
    plain = Plain()
    plain.stop = teardown
    plain.run2 = setup
    return plain.stop()


class Proxy:
    def __init__(self, target):
        self._target = target

    def __getattr__(self, name):
        return getattr(self._target, name)


def proxied():
    return Proxy(Handler()).do_get()


def by_type():
    made = type("Made", (Handler,), {})
    return made().do_post()


Handler().dispatch("get")
Handler().dispatch("post")
Handler().fixed()
by_global("setup")
by_global("teardown")
by_eval()
patched()
proxied()
by_type()
