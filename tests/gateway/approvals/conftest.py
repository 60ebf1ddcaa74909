"""Requests over each database, and a second replica on the same one."""

from tests.gateway.identity.stores.conftest import address as address
from tests.gateway.identity.stores.conftest import clock as clock
from tests.gateway.identity.stores.conftest import migrated as migrated
from tests.gateway.identity.stores.conftest import open_replica as open_replica
from tests.gateway.identity.stores.conftest import other as other
from tests.gateway.identity.stores.conftest import replica as replica
