"""``porch knowledge``: check, review, sync and verify."""

from __future__ import annotations

from plugins.knowledge.commands.check import CHECK
from plugins.knowledge.commands.review import REVIEW
from plugins.knowledge.commands.sync import SYNC
from plugins.knowledge.commands.verify import VERIFY

COMMANDS = (CHECK, REVIEW, SYNC, VERIFY)
