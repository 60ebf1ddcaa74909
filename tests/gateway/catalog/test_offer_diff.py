"""What is told of a new offer is where what it shows differs, and nothing else."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from auth import Tier
from gateway.catalog import offer_diff as differences
from gateway.catalog.offer_diff import changes
from gateway.catalog.skills import skill_item
from gateway.contract import Change, Skill, SkillFile

SAID = st.sampled_from(["Says this.", "Says that."])
CONTENT = st.integers(0, 2)
FILES = st.dictionaries(st.sampled_from(["a.md", "b/c.md"]), CONTENT, max_size=2)
SKILLS = st.dictionaries(st.sampled_from(["bake", "sew", "mend"]), st.tuples(SAID, CONTENT, FILES))


async def _read(path, caller):
    return b""


def _items(skills):
    return [_item(name, *what) for name, what in skills.items()]


def _item(name, said, body, files):
    held = {"SKILL.md": body, **files}
    listed = [SkillFile(path, str(number) * 64, number + 1) for path, number in held.items()]
    skill = Skill(f"house/{name}", {"name": name, "description": said}, listed, _read)
    return skill_item("shelf", skill)


def _listed(skills):
    return {name: (said, set(files)) for name, (said, _, files) in skills.items()}


def _held(skills):
    return {
        f"skill://house/{name}/{path}": number
        for name, (_, body, files) in skills.items()
        for path, number in {"SKILL.md": body, **files}.items()
    }


@settings(deadline=None)
@given(SKILLS, SKILLS)
def test_a_list_is_told_of_where_it_changes_and_a_file_where_its_content_does(old, new):
    told = changes("shelf", _items(old), _items(new))
    lists = [Change("shelf", "resources")] * (_listed(old) != _listed(new))
    before, after = _held(old), _held(new)
    updated = [uri for uri in before.keys() & after.keys() if before[uri] != after[uri]]
    assert told == lists + [Change("shelf", "resource", uri) for uri in sorted(updated)]


def test_another_tier_changes_who_sees_it_in_the_list():
    item = _item("bake", "Bakes.", 0, {})
    members = replace(item, declared=replace(item.declared, tier=Tier.MEMBERS))
    assert changes("shelf", [item], [members]) == [Change("shelf", "resources")]


def test_very_many_changed_files_are_told_as_one_list(monkeypatch):
    monkeypatch.setattr(differences, "MAX_ANNOUNCED_FILES", 1)
    old, new = ([_item(n, "x", body, {}) for n in ("bake", "sew")] for body in (0, 1))
    assert Counter(each.kind for each in changes("shelf", old, new)) == {"resources": 1}
