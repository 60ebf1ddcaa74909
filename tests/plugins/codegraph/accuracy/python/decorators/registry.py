commands = {}


def command(name):
    def register(func):
        commands[name] = func
        return func

    return register
