from . import tools
from .engine import Engine


def build():
    tools.cut()
    return Engine()
