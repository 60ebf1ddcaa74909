import pytest
from hypothesis import given
from hypothesis import strategies as st

from auth.public_addresses import is_public


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"])
def test_a_public_address_is_public(address):
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_that_is_not_public_stays_so_when_it_is_written_as_ipv6(address):
    for prefix in ("::ffff:", "64:ff9b::", "::"):
        assert not is_public(prefix + str(address)) or is_public(str(address))
