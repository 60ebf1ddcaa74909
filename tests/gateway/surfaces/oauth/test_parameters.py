"""How the parameters of OAuth requests are read."""

from __future__ import annotations

from base64 import b64encode
from urllib.parse import quote, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.surfaces.oauth.parameters import (
    MAX_CHARACTERS,
    MAX_PARAMETERS,
    BadParameters,
    read_parameters,
    with_client,
)

NAMES = st.text(min_size=1, max_size=20)
VALUES = st.text(min_size=1, max_size=50)


@given(st.dictionaries(NAMES, VALUES, max_size=MAX_PARAMETERS))
def test_what_was_sent_is_read(sent: dict[str, str]) -> None:
    assert read_parameters(urlencode(sent).encode()) == sent


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=10), VALUES, st.data())
def test_no_parameter_is_read_twice(sent: dict[str, str], other: str, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(sent)))
    pairs = data.draw(st.permutations([*sent.items(), (name, other)]))
    with pytest.raises(BadParameters):
        read_parameters(urlencode(pairs).encode())


@given(st.binary(max_size=200))
def test_anything_else_is_read_or_refused(body: bytes) -> None:
    try:
        found = read_parameters(body)
    except BadParameters:
        return
    assert all(found.values())


def test_a_parameter_without_a_value_counts_as_left_out() -> None:
    assert read_parameters(b"state=&scope&code=1&state=2") == {"code": "1", "state": "2"}


def test_there_are_limits() -> None:
    assert read_parameters(b"a=" + b"x" * MAX_CHARACTERS)
    for large in (
        b"a=" + b"x" * (MAX_CHARACTERS + 1),
        b"&".join(b"a%d=1" % n for n in range(MAX_PARAMETERS + 1)),
    ):
        with pytest.raises(BadParameters):
            read_parameters(large)


@given(client_id=st.text(st.characters(codec="ascii"), min_size=1), secret=VALUES)
def test_the_client_of_a_basic_header_is_found(client_id: str, secret: str) -> None:
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    header = "Basic " + b64encode(pair.encode()).decode()
    assert with_client({}, header) == {"client_id": client_id}
    assert with_client({"client_id": client_id}, header) == {"client_id": client_id}
    with pytest.raises(BadParameters):
        with_client({"client_id": client_id + "x"}, header)
    with pytest.raises(BadParameters):
        with_client({"client_secret": secret}, header)


@pytest.mark.parametrize(
    "header", ["", "Basic", "Basic !", "Basic Og==", "Bearer abc", "Basic /w=="]
)
def test_another_header_is_refused(header: str) -> None:
    with pytest.raises(BadParameters):
        with_client({}, header)
