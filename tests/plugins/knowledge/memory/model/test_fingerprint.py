import pytest

from plugins.knowledge.memory.model.fingerprint import fingerprint


@pytest.mark.parametrize("same", ["The  Sky\nis blue", "the sky is BLUE", " the sky is blue "])
def test_spacing_and_case_make_no_other_content(same: str) -> None:
    assert fingerprint(same) == fingerprint("the sky is blue")


def test_other_words_have_another_fingerprint() -> None:
    assert fingerprint("the sky is blue") != fingerprint("the sky is grey")
    assert fingerprint("theskyisblue") != fingerprint("the sky is blue")


def test_a_fingerprint_is_the_same_in_every_version_since_databases_keep_it() -> None:
    assert fingerprint("the sky is blue") == "590a6a3caeb7a72eb1d40779fde203d4"
