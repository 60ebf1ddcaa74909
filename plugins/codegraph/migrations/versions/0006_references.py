"""References; all indexes are made anew, to contain them."""

from plugins.codegraph.migrations.index_anew import index_anew

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    index_anew()
