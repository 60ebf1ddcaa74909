"""How large things may be; a value beyond is refused whole, with the place named."""

NAME = 255
"""Characters of a name (of a folder's: ``FOLDER_NAME``)."""
FOLDER_NAME = 100
DESCRIPTION = 4_000
"""Characters of a description."""
CONTENT = 100_000
"""Characters of a prompt's or card's text."""
TAGS = 32
TAG = 64
"""Characters of one tag."""
STAGES = 100
STAGE_ITEMS = 200
"""Items in one stage."""
PLAN_ITEMS = 2_000
"""Steps of one plan."""
ATTACHMENTS = 20
ATTACHMENT = 1_048_576
"""Bytes of one attached file."""
KEY = 100
EXTRA = 65_536
"""Bytes of what else was said of something, as JSON."""
OPEN_RUNS = 100
"""Runs that a person may have open."""
FOLDER_DEPTH = 16
POSITION = 1_000_000
"""The last position in a folder."""
VERSION = 2_147_483_647
"""The largest number that every database takes for a version."""
