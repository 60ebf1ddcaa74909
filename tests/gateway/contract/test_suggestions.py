from gateway.contract.suggestions import near


def test_the_likest_names_come_first_and_capitals_do_not_count():
    names = ["water-plants", "Water-Plant", "mend-roof", "pay-rent"]
    assert near("WATER-PLANT", names) == ["Water-Plant", "water-plants"]
    assert near("water-plants", names, 1) == ["water-plants"]


def test_what_is_like_nothing_has_no_near_name():
    assert near("xyz", ["water-plants"]) == []
    assert near("", ["water-plants"]) == []
    assert near("x" * 100_000, ["water-plants"]) == []
