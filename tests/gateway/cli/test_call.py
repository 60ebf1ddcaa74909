"""``porch call`` and ``porch tools``, with the portal opened here and with one that runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from random import Random

import pytest

from gateway.cli.options import EXIT, Setup
from gateway.cli.plugins import _plugin_rows
from tests.gateway.cli.conftest import Run, ready, served
from tests.gateway.scrubbing.fakes import made


def test_a_result_is_shown_to_a_person(porch: Run) -> None:
    result = porch("call", "search_knowledge", "query=how to sow")
    assert result.exit_code == EXIT.DONE, result.output
    assert " 1. How to sow\n" in result.output
    assert "pattern · sow" in result.output


def test_json_is_the_structured_content(porch: Run) -> None:
    result = porch("call", "search_knowledge", "query=sow", "filters.limit=1", "--json")
    assert [each["id"] for each in json.loads(result.stdout)["results"]] == ["sow"]


def test_calls_at_the_command_line_have_no_limit(porch: Run, place: Path) -> None:
    with (place / "config" / "portal.yaml").open("a") as portal:
        portal.write("limits: {calls: 1}\n")
    with served(place):
        for _ in range(3):
            result = porch("call", "search_knowledge", "query=sow")
            assert result.exit_code == EXIT.DONE, result.output


def test_a_call_above_the_tier_tells_what_it_takes(porch: Run) -> None:
    result = porch("call", "get_document", "contentType=tag", "id=garden", "--as", "open")
    assert result.exit_code == EXIT.PROBLEM
    assert result.stderr.startswith("Requires members access. Current: open.")


def test_an_unknown_tool_is_answered_with_the_nearest(porch: Run) -> None:
    result = porch("call", "serch_knowledge", "query=x")
    assert result.exit_code == EXIT.PROBLEM
    assert "did you mean search_knowledge?" in result.stderr


def test_wrong_arguments_are_told_in_words_and_as_json(porch: Run) -> None:
    result = porch("call", "search_knowledge", "quary=x")
    assert result.exit_code == EXIT.PROBLEM
    assert result.stderr.startswith("Invalid arguments.")
    error = json.loads(porch("call", "search_knowledge", "quary=x", "--json").stdout)
    assert error["error"]["code"] == "invalid_arguments"


def test_a_word_that_is_no_pair_is_a_usage_error(porch: Run) -> None:
    assert porch("call", "search_knowledge", "sow").exit_code == EXIT.USAGE


def test_tools_shows_what_a_tier_may_use(porch: Run) -> None:
    open_, members = porch("tools", "--as", "open"), porch("tools", "--as", "members")
    assert "search_knowledge query [filters]" in open_.output
    assert "get_document contentType" not in open_.output
    assert "get_document contentType id" in members.output


def test_what_a_tool_does_is_folded_to_the_terminal(
    porch: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    listed = porch("tools", "--as", "members").output.splitlines()
    does = [line for line in listed if line.startswith("      ")]
    assert "      terms, groups and projects." in does
    assert max(map(len, does)) <= 60


def test_the_examples_of_its_help_work(porch: Run) -> None:
    shown = porch("call", "--help").output
    words = [shlex.split(line) for line in shown.splitlines() if "porch call search" in line]
    assert len(words) == 2
    for _, *each in words:
        assert porch(*each).exit_code == EXIT.DONE


def test_all_adds_prompts_and_resources(porch: Run) -> None:
    listed = json.loads(porch("tools", "--all", "--json").stdout)
    assert set(listed) == {"tools", "prompts", "resources", "templates"}
    assert all(listed.values())


@pytest.mark.usefixtures("porch")
def test_a_plugin_that_a_running_portal_does_not_know_waits_for_its_next_start() -> None:
    setup = Setup(None, None)
    known = {each["name"]: each for each in _plugin_rows(setup, {"knowledge": {"state": "ok"}})}
    assert known["knowledge"]["detail"] == ""
    assert known["skills_repo"]["state"] == "not running"
    assert "Stop it, and start it again." in known["skills_repo"]["detail"]
    assert all(each["detail"] == "" for each in _plugin_rows(setup, {}))


def test_a_portal_that_runs_answers_over_its_local_socket(place: Path, porch: Run) -> None:
    with served(place) as (url, _):
        assert ready(url)
        found = porch("call", "search_knowledge", "query=sow", "--json")
        refused = porch("call", "get_document", "contentType=tag", "id=garden", "--as", "open")
        states = {
            each["name"]: each["state"] for each in json.loads(porch("plugins", "--json").stdout)
        }
    assert json.loads(found.stdout)["results"][0]["id"] == "sow"
    assert refused.stderr.startswith("Requires members access. Current: open.")
    assert states["knowledge"] == "ok"
    records = json.loads(porch("audit", "--json").stdout)
    assert {(each["person"], each["surface"]) for each in records} == {("local", "cli")}
    assert [each["outcome"] for each in records] == ["not_allowed", "ok"]


def test_what_was_redacted_is_told_on_standard_error_alone(porch: Run) -> None:
    token = made("ghp_{alnum:36}", Random(1))
    for form in ((), ("--json",)):
        called = porch("call", "search_knowledge", f"query=sow {token}", *form)
        assert called.exit_code == EXIT.DONE
        assert called.stderr.startswith("Redacted before use: GitHub personal access token")
        assert "Redacted before use" not in called.stdout
        assert token not in called.output


def test_tools_says_what_each_costs_and_what_each_way_to_tell_of_them_would(porch: Run) -> None:
    costs = json.loads(porch("tools", "--cost", "--json", "--as", "members").stdout)
    tokens = [each["tokens"] for each in costs["tools"]]
    assert tokens == sorted(tokens, reverse=True)
    assert costs["modes"]["full"] == sum(tokens)
    shown = porch("tools", "--cost", "--as", "members").output
    assert f"{costs['tools'][0]['tokens']:,}  {costs['tools'][0]['name']}" in shown
    assert "every client has the whole list" in shown
    assert "search: find_tools, call_tool and the favourites" in shown
    fewer = json.loads(porch("tools", "--cost", "--json", "--as", "open").stdout)
    assert fewer["modes"]["full"] < costs["modes"]["full"]


def test_tools_says_where_the_list_is_over_the_budget(porch: Run, place: Path) -> None:
    portal = place / "config" / "portal.yaml"
    portal.write_text(portal.read_text() + "tools: {budget: 100}\n")
    assert "over it, so the client's mode counts" in porch("tools", "--cost").output
