from .leaf import *
from .stars import starred

__all__ = ["starred"]
