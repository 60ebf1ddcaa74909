"""The largest values that are accepted; a larger one is refused with its place."""

MAX_NAME_CHARS = 255
MAX_FOLDER_NAME_CHARS = 100
MAX_DESCRIPTION_CHARS = 4_000
MAX_CONTENT_CHARS = 100_000
"""Of the text of a prompt or a skill card."""
MAX_TAGS = 32
MAX_TAG_CHARS = 64
MAX_STAGES = 100
MAX_STAGE_ITEMS = 200
MAX_PLAN_STEPS = 2_000
MAX_ATTACHMENTS = 20
MAX_ATTACHMENT_BYTES = 1_048_576
MAX_KEY_CHARS = 100
MAX_EXTRA_BYTES = 65_536
"""Of an author's free ``extra`` values, as JSON."""
MAX_OPEN_RUNS = 100
"""Of one person."""
MAX_LINKS = 100
"""That are open at the same time, of one person."""
MAX_LINK_DAYS = 30
MAX_FOLDER_DEPTH = 16
MAX_POSITION = 1_000_000
"""The last position in a folder."""
MAX_VERSION = 2_147_483_647
"""The largest number that every database takes for a version."""
