import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auth import hat_ids as hats

trees = st.integers(1, 2**32 - 1)
children = st.lists(st.integers(1, 65535), max_size=hats.LEVELS)
paths = st.builds(lambda tree, below: ".".join(map(str, (tree, *below))), trees, children)


@pytest.fixture(scope="module")
def published(test_data):
    return json.loads((test_data / "hats" / "hats.json").read_text())


def test_the_published_vectors_are_read_and_written(published):
    for vector in published["vectors"]:
        hat = int(vector["hex"], 16)
        assert hats.parse(vector["path"]) == hat
        assert hats.parse(vector["hex"]) == hat
        assert hats.parse(vector["decimal"]) == hat
        assert hats.path(hat) == vector["path"]


def test_the_published_tree_is_the_tree_of_its_hats(published):
    hat = hats.parse(f"{published['tree_id']}.3.1")
    assert hats.tree(hat) == published["tree_id"]


@settings(deadline=None)
@given(paths)
def test_a_path_comes_back_from_its_id(path):
    assert hats.path(hats.parse(path)) == path


@settings(deadline=None)
@given(paths)
def test_an_id_is_the_same_as_a_path_in_hexadecimal_and_in_decimal(path):
    hat = hats.parse(path)
    assert 0 < hat < 2**256
    assert hats.parse(f"0x{hat:064x}") == hats.parse(f"0x{hat:064X}") == hat
    assert hats.parse(str(hat)) == hat
    assert hats.tree(hat) == int(path.partition(".")[0])


@settings(deadline=None)
@given(paths, paths)
def test_different_paths_are_different_hats(one, other):
    assert (hats.parse(one) == hats.parse(other)) is (one == other)


@settings(deadline=None)
@given(st.integers(-(2**20), 2**257))
def test_any_number_is_a_hat_with_a_path_or_is_refused(number):
    try:
        path = hats.path(number)
    except ValueError:
        return
    assert hats.parse(path) == number


@settings(deadline=None)
@given(st.text(max_size=90))
def test_any_text_is_a_hat_or_is_refused(text):
    try:
        hat = hats.parse(text)
    except ValueError:
        return
    assert hats.parse(hats.path(hat)) == hat


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "30.",
        ".3",
        "30..1",
        "30.0",
        "30.0.1",
        "030.3",
        "30.03",
        " 30.3",
        "30,3",
        "٣٠.٣",
        "1e5",
        "0o17",
        "-30",
        "30.65536",
        "4294967296",
        "4294967296.1",
        "1.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1",
        "9" * 79,
        "9" * 5000,
        "30." + "9" * 5000,
        "0x1e",
        "0x" + "0" * 64,
        "0x" + "g" * 64,
        "0X0000001e00030000000000000000000000000000000000000000000000000000",
        "0x0000001e00000001000000000000000000000000000000000000000000000000",
    ],
)
def test_what_is_no_hat_is_refused(text):
    with pytest.raises(ValueError, match=r"hat|tree|level"):
        hats.parse(text)


def test_a_path_names_the_level_that_is_too_large():
    with pytest.raises(ValueError, match=r"^no level of a hat's path is above 65535$"):
        hats.parse("30.65536")


def test_a_hat_above_which_a_level_is_missing_has_no_path():
    with pytest.raises(ValueError, match="a level above a used one, is 0"):
        hats.path((30 << 224) + 1)
