from .builder import build
from .engine import Engine as Engine
