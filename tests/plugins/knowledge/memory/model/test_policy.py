import pytest

from plugins.knowledge.memory.model.policy import AccessPolicy, AccessPolicyConfig, readers


@pytest.mark.parametrize(
    ("policy", "beside"),
    [
        ("private", set()),
        ("restricted", {"person:ben", "person:cy"}),
        ("shared", {"group:garden"}),
        ("organization", {"tier:members"}),
        ("public", {"tier:public"}),
    ],
)
def test_who_reads_an_entry_beside_its_owner(policy: str, beside: set[str]) -> None:
    access = AccessPolicyConfig(
        policy=AccessPolicy(policy), approved_users=("ben", "cy"), allowed_teams=("garden",)
    )
    assert readers("ana", access) == {"person:ana", *beside}
