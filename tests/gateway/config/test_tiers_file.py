import asyncio
import contextlib
import json
from typing import Any

import jsonschema_rs
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from auth import Tier
from auth.rules import AccessRules
from gateway.catalog.tier_rule import ItemKey, TierRules
from gateway.config.schema import generate
from gateway.config.tiers_file import TierRulesFile, Tiers, check_keys, parse_rules, parse_tiers
from gateway.errors import ConfigError

EXAMPLE = b"""
default: members
items:
  knowledge: open
  knowledge/get_document: members
  skills_repo/list_*: open
  skills_repo/get_*: public
"""

SEARCH = ItemKey("knowledge", "tool", "search_knowledge")
GET = ItemKey("knowledge", "tool", "get_document")
TOPIC = ItemKey("knowledge", "prompt", "research-topic")
DOCUMENT = ItemKey("knowledge", "resource", "kb://{type}/{id}")
KNOWN = {SEARCH, GET, TOPIC, DOCUMENT}


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_rules(text.encode(), "tiers.yaml")
    return [str(problem) for problem in raised.value.problems]


def test_the_documented_example_is_accepted_as_written():
    rules = parse_rules(EXAMPLE, "tiers.yaml")
    assert rules.default == Tier.MEMBERS
    assert [rule.line for rule in rules.rules] == [4, 5, 6, 7]
    assert rules.decide(SEARCH, None, Tier.OPEN).tier == Tier.OPEN
    assert rules.decide(GET, None, Tier.OPEN).tier == Tier.MEMBERS
    skill = ItemKey("skills_repo", "tool", "get_skill")
    assert rules.decide(skill, None, Tier.OPEN).tier == Tier.PUBLIC


def test_an_empty_file_names_nothing_and_defaults_to_members():
    for raw in (b"", b"items:\n", b"items: {}\n"):
        assert parse_rules(raw, "tiers.yaml") == TierRules()


def test_the_long_form_can_hide_an_item():
    rules = parse_rules(b"items: {knowledge: {tier: public, hidden: true}}", "tiers.yaml")
    decision = rules.decide(SEARCH, None, Tier.OPEN)
    assert (decision.tier, decision.hidden) == (Tier.PUBLIC, True)


def test_all_problems_are_told_at_once_and_by_line():
    text = """
defualt: open
items:
  knowledge: member
  knowledge/get: {teir: open}
  know*: open
  knowledge/Prompt:ask: open
  knowledge/x: [open]
access:
  members: {any_of: [{hatt: "30.3.1"}]}
"""
    key = "is no key; write plugin, plugin/tool, plugin/server/tool, plugin/prompt:NAME, "
    found = problems(text)
    assert [line for line in found if key not in line] == [
        "tiers.yaml:2: defualt: unknown key; did you mean default?",
        "tiers.yaml:4: items.knowledge: must be 'open', 'public' or 'members'",
        "tiers.yaml:5: items.knowledge/get.teir: unknown key; did you mean tier?",
        "tiers.yaml:5: items.knowledge/get.tier: is missing",
        "tiers.yaml:8: items.knowledge/x: must be 'open', 'public' or 'members'",
        "tiers.yaml:10: access.members.any_of[0]: unknown kind of condition; did you mean hat?",
    ]
    assert [line.partition(": is no")[0] for line in found if key in line] == [
        "tiers.yaml:6: items.know*",
        "tiers.yaml:7: items.knowledge/Prompt:ask",
    ]


def test_a_key_that_yaml_reads_as_no_text_is_refused():
    assert problems("items:\n  yes: open\n") == [
        "tiers.yaml:2: yes: is not read as text; put the key in quotes"
    ]


def test_a_key_said_twice_is_refused():
    (problem,) = problems("items:\n  knowledge: open\n  knowledge: members\n")
    assert problem.startswith("tiers.yaml:3: knowledge: is already set on line 2")


@given(st.text(max_size=120))
def test_any_text_is_rules_or_a_list_of_problems(text):
    try:
        outcome: object = parse_rules(text.encode("utf-8", "surrogatepass"), "tiers.yaml")
    except ConfigError as error:
        outcome = error.problems
    assert outcome


def test_keys_that_match_nothing_are_named_with_the_nearest_valid_one():
    raw = b"items:\n  knowledge/get_documnt: open\n  knowledge/zz*: open\n  knowledge/*: open\n"
    found = check_keys(parse_rules(raw, "tiers.yaml"), KNOWN, {"knowledge"})
    assert [str(problem) for problem in found.problems] == [
        "tiers.yaml:2: knowledge/get_documnt: matches nothing that knowledge offers; "
        "did you mean knowledge/get_document?",
        "tiers.yaml:3: knowledge/zz*: matches nothing that knowledge offers",
    ]
    assert found.notices == ()


def test_keys_of_a_plugin_that_is_not_open_are_only_notices():
    raw = b"items:\n  workflows/add_*: members\n  knowlege: open\n  knowledge: open\n"
    found = check_keys(parse_rules(raw, "tiers.yaml"), KNOWN, {"knowledge"})
    assert found.problems == ()
    assert [str(notice) for notice in found.notices] == [
        "tiers.yaml:2: workflows/add_*: has no effect: the plugin workflows is not open",
        "tiers.yaml:3: knowlege: has no effect: the plugin knowlege is not open; "
        "did you mean knowledge?",
    ]


def test_a_key_for_all_prompts_or_resources_may_wait_for_the_first_one():
    raw = b"items:\n  knowledge/prompt:*: public\n  knowledge/resource:*: public\n"
    assert check_keys(parse_rules(raw, "tiers.yaml"), {SEARCH}, {"knowledge"}).problems == ()
    raw = b"items:\n  knowledge/prompt:reserch-*: public\n"
    assert len(check_keys(parse_rules(raw, "tiers.yaml"), {SEARCH}, {"knowledge"}).problems) == 1


def test_keys_of_prompts_and_templates_are_found():
    raw = b"items:\n  knowledge/prompt:research-*: open\n  'knowledge/resource:kb://*': open\n"
    found = check_keys(parse_rules(raw, "tiers.yaml"), KNOWN, {"knowledge"})
    assert found.problems == ()


ADDRESS = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def members(condition: str) -> Any:
    """The one condition of the rule for members, as it was read."""
    text = f"access:\n  members:\n    any_of:\n    - {condition}\n"
    access: Any = parse_tiers(text.encode(), "tiers.yaml").access
    return access.members.any_of[0]


def test_the_rules_of_the_documented_example_are_read():
    access: Any = parse_tiers(
        b"""
access:
  public:  {any_of: [signed_in]}
  members: {any_of: [{hat: "30.3.1"}, {hat: "30.3.5"}, {github_org: superbenefit}]}
  admins:  {any_of: [{address: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, {github: NAME}]}
""",
        "tiers.yaml",
    ).access
    assert access.public == AccessRules().public
    assert [part.model_dump() for part in access.members.any_of] == [
        {"hat": "30.3.1"},
        {"hat": "30.3.5"},
        {"github_org": "superbenefit"},
    ]
    assert access.admins.any_of[0].address == ADDRESS


def test_a_file_without_rules_gives_public_to_who_signs_in_and_more_to_nobody():
    for raw in (b"", b"access:\n", b"access: {}\n", b"access:\n  members:\n  public:\n"):
        assert parse_tiers(raw, "tiers.yaml").access == AccessRules()


@pytest.mark.parametrize("quote", ["", '"', "'"])
def test_a_hat_or_an_address_is_what_was_written_quoted_or_not(quote):
    for path in ("30.10", "30.3.1", "30", "30.3.10"):
        assert members(f"hat: {quote}{path}{quote}").hat == path
    hat = "0x0000001e00030001000000000000000000000000000000000000000000000000"
    assert members(f"hat: {quote}{hat}{quote}").hat == "30.3.1"
    for address in (ADDRESS, ADDRESS.lower()):
        assert members(f"address: {quote}{address}{quote}").address == ADDRESS


@pytest.mark.parametrize("text", ["123", "0o17", "1e5", "yes", "no", "null", "1_000", "12e03"])
def test_a_text_that_yaml_takes_for_something_else_is_what_was_written(text):
    assert members(f"claim: {{name: level, value: {text}}}").claim.value == text
    if "_" not in text:
        assert members(f"github: {text}").github == text


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ("hat: 1e5", "hat: must be a hat's path, such as 30.3.1, or its id"),
        ("hat: 0o17", "hat: must be a hat's path, such as 30.3.1, or its id"),
        ("hat: 30.0", "hat: must be a hat's path, such as 30.3.1, or its id"),
        ("hat: yes", "hat: must be a hat's path, such as 30.3.1, or its id"),
        ("hat: null", "hat: must be a hat's path, such as 30.3.1, or its id"),
        ("hat:", "hat: must be text"),
        ("hat: 0x1e", "hat: a hat id in hexadecimal is 0x and 64 digits"),
        ("address: 0x12", "address: must be an address"),
        (f"address: {ADDRESS[:-1]}D", "address: is no address that exists: its checksum"),
        ("email: ana", "email: must be an address"),
        ("token: {chian: 10}", "token.chian: unknown key; did you mean chain?"),
        ("passport_scor", "any_of[0]: unknown kind of condition; did you mean passport_score?"),
        ("null", "any_of[0]: unknown kind of condition; valid: any_of, all_of, not"),
        ("github", "any_of[0]: needs a value, as in {github: …}"),
    ],
)
def test_a_condition_with_a_mistake_is_named_by_its_line(condition, reason):
    told = problems(f"access:\n  members:\n    any_of:\n      - {condition}\n")
    assert any(each.startswith("tiers.yaml:4: access.members.any_of[0]") for each in told)
    assert any(reason in each for each in told)


def test_a_tier_that_is_none_is_named_with_the_nearest():
    assert problems("access:\n  membres: signed_in\n") == [
        "tiers.yaml:2: access.membres: unknown key; did you mean members?"
    ]


@pytest.fixture(scope="module")
def schema():
    return jsonschema_rs.validator_for(json.loads(generate({})["tiers.schema.json"]))


@pytest.mark.parametrize(
    "condition",
    [
        "signed_in",
        "hat: 30.10",
        "hat: 30.3.1",
        f"address: {ADDRESS}",
        f"token: {{chain: 10, contract: {ADDRESS}, standard: erc20, minimum: 0.5}}",
        f"token: {{chain: 10, contract: {ADDRESS}, standard: erc1155, id: 0x1f}}",
        "github: octocat",
        "github: 583231",
        "github_org: superbenefit",
        "github_team: superbenefit/core",
        "github_age: 90d",
        'email: "*@example.org"',
        "claim: {name: level, value: 3}",
        "passport_score",
        "passport_score: 30.5",
        "not: {any_of: [signed_in, {all_of: [{hat: 30}]}]}",
    ],
)
def test_the_schema_for_editors_accepts_every_kind(schema, condition):
    assert members(condition)
    schema.validate(yaml.safe_load(f"access:\n  members:\n    any_of:\n    - {condition}\n"))


@pytest.mark.parametrize(
    "condition",
    ["hat", "{hatt: 30.1}", "{}", "{hat: 30.1, github: a}", "{all_of: []}", "[signed_in]"],
)
def test_the_schema_for_editors_refuses_what_is_no_rule(schema, condition):
    assert not schema.is_valid(yaml.safe_load(f"access: {{members: {condition}}}"))
    assert problems(f"access: {{members: {condition}}}")


def test_rules_without_end_are_refused():
    bomb = "a0: &a0 signed_in\n" + "".join(
        f"a{n}: &a{n} {{any_of: [{', '.join([f'*a{n - 1}'] * 9)}]}}\n" for n in range(1, 9)
    )
    (problem,) = [each for each in problems(f"{bomb}access: {{members: *a8}}\n") if ":10:" in each]
    assert problem.startswith("tiers.yaml:10: access: the rule for members has more than")


def test_a_rule_may_be_written_once_and_named_again():
    access: Any = parse_tiers(
        b"access:\n  members: &m {any_of: [{hat: 30.10}]}\n  admins: *m\n", "tiers.yaml"
    ).access
    assert access.admins == access.members
    assert access.members.any_of[0].hat == "30.10"


@pytest.fixture
def path(tmp_path):
    (tmp_path / "config").mkdir()
    return tmp_path / "config" / "tiers.yaml"


@contextlib.asynccontextmanager
async def watching(path):
    """A watched file and the rules it brought, newest last."""
    file, seen = TierRulesFile(path), list[Tiers]()
    task = asyncio.create_task(file.watch(seen.append, interval=0.01))
    try:
        yield file, seen
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def until(condition, tries=1000):
    for _ in range(tries):
        if condition():
            return
        await asyncio.sleep(0.02)
    pytest.fail("the file was not followed")


async def test_a_changed_file_comes_into_force_while_it_is_watched(path):
    path.write_text("items: {knowledge: members}")
    async with watching(path) as (file, seen):
        path.write_text("items: {knowledge: open}")
        await until(lambda: seen)
        assert file.tiers is seen[-1]
        assert (file.current, file.access) == (seen[-1].items, seen[-1].access)
        assert file.current.decide(SEARCH, None, Tier.OPEN).tier == Tier.OPEN


async def test_rules_on_items_and_on_people_come_into_force_together(path):
    path.write_text("items: {knowledge: members}")
    async with watching(path) as (file, seen):
        path.write_text("items: {knowledge: open}\naccess: {members: {hat: 0}}")
        await until(lambda: file.problems)
        assert file.access == AccessRules()
        assert file.current.decide(SEARCH, None, Tier.OPEN).tier == Tier.MEMBERS
        path.write_text("items: {knowledge: open}\naccess: {members: signed_in}")
        await until(lambda: seen)
        assert file.access.members.signed_in
        assert seen[-1].items.decide(SEARCH, None, Tier.OPEN).tier == Tier.OPEN


async def test_a_broken_change_keeps_the_last_good_rules_until_it_is_mended(path):
    path.write_text("items: {knowledge: members}")
    async with watching(path) as (file, seen):
        good = file.current
        path.write_text("items: {knowledge: everyone}")
        await until(lambda: file.problems)
        assert file.current is good
        assert str(file.problems[0]) == (
            "config/tiers.yaml:1: items.knowledge: must be 'open', 'public' or 'members'"
        )
        assert seen == []
        path.write_text("items: {knowledge: public}")
        await until(lambda: seen)
        assert file.problems == ()
        assert file.current.decide(SEARCH, None, Tier.OPEN).tier == Tier.PUBLIC


async def test_a_file_that_is_replaced_or_removed_is_followed(path):
    path.write_text("items: {knowledge: members}")
    async with watching(path) as (file, seen):
        good = file.current
        path.unlink()
        await until(lambda: file.problems)
        assert file.current is good
        new = path.with_name("tiers.yaml.new")
        new.write_text("items: {knowledge: open}")
        new.replace(path)
        await until(lambda: seen)
        assert file.problems == ()


async def test_a_file_that_was_not_there_counts_from_when_it_is(path):
    async with watching(path) as (file, seen):
        assert file.current.decide(SEARCH, None, Tier.OPEN).tier == Tier.MEMBERS
        path.write_text("items: {knowledge: open}")
        await until(lambda: seen)
        assert file.problems == ()


async def test_a_mended_file_that_equals_the_rules_in_force_clears_the_problems(path):
    path.write_text("items: {knowledge: open}")
    async with watching(path) as (file, seen):
        path.write_text("items: [")
        await until(lambda: file.problems)
        path.write_text("items: {knowledge: open}")
        await until(lambda: not file.problems)
        assert seen == []


def test_a_broken_file_at_start_is_an_error(path):
    path.write_text("items: [")
    with pytest.raises(ConfigError, match=r"^config/tiers.yaml:1: is not valid YAML"):
        TierRulesFile(path)


async def test_a_file_that_becomes_unreadable_keeps_the_last_good_rules(path):
    path.write_text("items: {knowledge: open}")
    async with watching(path) as (file, seen):
        path.unlink()
        path.mkdir()
        await until(lambda: file.problems)
        assert str(file.problems[0]).startswith("config/tiers.yaml: cannot be read: ")
        assert file.current.decide(SEARCH, None, Tier.OPEN).tier == Tier.OPEN
        assert seen == []


def test_a_missing_directory_gives_the_default_rules(tmp_path):
    assert TierRulesFile(tmp_path / "gone" / "tiers.yaml").current.rules == ()
