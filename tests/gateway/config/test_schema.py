import json
import os
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

from gateway.config import schema
from gateway.config.portal import load_portal
from gateway.config.tiers_file import TierRulesFile
from gateway.contract import ConfigPath, Duration, PluginConfig, SecretRef

CONFIG = Path(__file__).parents[3] / "config"


class Source(PluginConfig):
    directory: ConfigPath


class Knowledge(PluginConfig):
    sources: tuple[Source, ...] = ()
    token: SecretRef | None = None
    refresh: Duration | None = None


PLUGINS = {"knowledge": Knowledge, "my-plugin": PluginConfig}


@pytest.fixture(scope="module")
def validators():
    texts = schema.generate(PLUGINS)
    return {name: jsonschema_rs.validator_for(json.loads(text)) for name, text in texts.items()}


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("{}", True),
        ("plugins: {knowledge: {enabled: false, sources: [{directory: ./x}]}}", True),
        ("plugins: {knowledge: }", True),
        ("plugins: {knowledge: {surces: []}}", False),
        ("plugins: {knowledge: {token: env:TOKEN, refresh: 7d}}", True),
        ("plugins: {knowledge: {token: hunter2}}", False),
        ("plugins: {knowledge: {refresh: 7}}", False),
        ("plugins: {my-plugin: {required: false}}", True),
        ("plugins: {my-plugin: {any: thing}}", False),
        ("plugins: {not_installed: {any: thing}}", True),
        ("limits: {call: 30s, body: 4MiB}", True),
        ("limts: {}", False),
    ],
)
def test_the_portal_schema_accepts_what_the_portal_accepts(validators, text, valid):
    assert validators["portal.schema.json"].is_valid(yaml.safe_load(text)) is valid


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("default: members", True),
        ("items: {knowledge: open, knowledge/get_*: {tier: members, hidden: true}}", True),
        ("items: {knowledge: everyone}", False),
        ("items: {know*: open}", False),
        ("items: {knowledge: {hidden: true}}", False),
    ],
)
def test_the_tiers_schema_accepts_what_the_portal_accepts(validators, text, valid):
    assert validators["tiers.schema.json"].is_valid(yaml.safe_load(text)) is valid


@pytest.mark.parametrize("name", ["plans", "portal", "tiers"])
def test_the_shipped_files_name_their_schema_and_satisfy_it(validators, name):
    text = (CONFIG / f"{name}.yaml").read_text()
    assert text.startswith(f"# yaml-language-server: $schema=schema/{name}.schema.json\n")
    validators[f"{name}.schema.json"].validate(yaml.safe_load(text) or {})


def test_the_shipped_files_are_accepted():
    portal = load_portal(CONFIG)
    assert portal.section("knowledge").enabled
    assert TierRulesFile(portal.tiers_file).current.rules


def test_schemas_are_written_once_and_then_current(tmp_path):
    assert len(schema.stale(tmp_path, PLUGINS)) == 3
    written = schema.write(tmp_path, PLUGINS)
    assert [os.path.relpath(path, tmp_path) for path in written] == [
        "schema/plans.schema.json",
        "schema/portal.schema.json",
        "schema/tiers.schema.json",
    ]
    assert schema.stale(tmp_path, PLUGINS) == []
    assert schema.write(tmp_path, PLUGINS) == []
    assert schema.stale(tmp_path, {}) == [tmp_path / "schema" / "portal.schema.json"]
