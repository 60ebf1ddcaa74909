class Stage:
    def __init__(self, name):
        self.name = name

    def start(self):
        return self.log("start")

    def stop(self):
        return self.log("stop")

    def log(self, what):
        return f"{self.name} {shout(what)}"


def shout(text):
    return text.upper()
