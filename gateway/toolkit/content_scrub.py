"""The scrubber of contents by itself, for a process of a plugin's own that needs no more.

``gateway.contract`` has the same names, and takes several times as long to load.
"""

from __future__ import annotations

from gateway.scrubbing.contents import ContentScrub
from gateway.scrubbing.scrubber import Redaction

__all__ = ["ContentScrub", "Redaction"]
