"""Members of what is outside are noted; all indexes are made anew, to contain them."""

from plugins.codegraph.migrations.index_anew import index_anew

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    index_anew()
