"""The pages that members see: rendered here, without a build step, and working without scripts.

Only the wallet needs a script, for it lives in the browser. The session's cookie counts on these
pages alone.
"""

from gateway.surfaces.pages.pages import Pages
from gateway.surfaces.pages.parts import PageParts

__all__ = ["PageParts", "Pages"]
