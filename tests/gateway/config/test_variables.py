import json
from datetime import timedelta
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from gateway.config.portal import Portal, load_portal, read_environment
from gateway.config.schema import generate
from gateway.contract import PluginConfig, SecretRef
from gateway.errors import ConfigError
from gateway.services.secrets import address, resolve
from gateway.services.signing_key import signing_key


class Reader(PluginConfig):
    token: SecretRef | None = None
    max_file: int = 1
    names: tuple[str, ...] = ()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path / "config"


def written(directory: Path, text: str) -> Path:
    (directory / "portal.yaml").write_text(text)
    return directory


def problems(directory: Path) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load_portal(directory)
    return [str(problem) for problem in raised.value.problems]


def plugin_problems(portal: Portal) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        portal.plugin_config("reader", Reader)
    return [str(problem) for problem in raised.value.problems]


def test_an_option_wins_over_a_variable_that_over_the_file_and_that_over_the_default(
    directory, monkeypatch
):
    written(directory, "listen: {port: 1, host: 127.0.0.2}\nlimits: {call: 5s}\n")
    monkeypatch.setenv("PORCH_LISTEN__PORT", "2")
    monkeypatch.setenv("PORCH_LIMITS__SHUTDOWN", "7s")
    config = load_portal(directory).config
    assert (config.listen.port, config.listen.host) == (2, "127.0.0.2")
    assert (config.limits.call, config.limits.shutdown) == (timedelta(seconds=5), timedelta(0, 7))
    assert config.limits.body == 4 * 1024 * 1024
    assert load_portal(directory, {"listen": {"port": 3}}).config.listen.port == 3


def test_lists_and_mappings_are_yaml_in_brackets_and_all_else_is_text(directory, monkeypatch):
    monkeypatch.setenv("PORCH_NAME", "2026")
    monkeypatch.setenv("PORCH_ALLOWED_HOSTS", "[a.example, 'b.example:8321']")
    monkeypatch.setenv("PORCH_LIMITS__CALLS", "{open: 10 in 60s}")
    monkeypatch.setenv("PORCH_LIMITS__CALLS__MEMBERS", "none")
    monkeypatch.setenv("PORCH_PLUGINS__WORKFLOWS__ENABLED", "false")
    config = load_portal(directory).config
    assert config.name == "2026"
    assert config.allowed_hosts == ("a.example", "b.example:8321")
    assert (config.limits.calls.open, config.limits.calls.members) == ("10 in 60s", "none")
    assert not config.plugins["workflows"].enabled


def test_a_list_replaces_the_files_and_an_empty_variable_says_nothing(directory, monkeypatch):
    written(directory, "allowed_hosts: [a.example]\nname: Ours\n")
    monkeypatch.setenv("PORCH_ALLOWED_HOSTS", "[b.example]")
    monkeypatch.setenv("PORCH_NAME", "")
    config = load_portal(directory).config
    assert (config.name, config.allowed_hosts) == ("Ours", ("b.example",))


def test_what_is_wrong_in_a_variable_is_named_by_it_and_never_repeated(directory, monkeypatch):
    written(directory, "limits: {call: soon}\n")
    monkeypatch.setenv("PORCH_LISTEN__PORT", "hunter2")
    monkeypatch.setenv("PORCH_LISTNE__HOST", "hunter2")
    monkeypatch.setenv("PORCH_CHAINS", "[{id: one, rpc: [http://127.0.0.1:1]}]")
    assert problems(directory) == [
        "config/portal.yaml:1: limits.call: must be a number with its unit: 500ms, 45s, 30m, 12h "
        "or 90d",
        "environment: PORCH_CHAINS[0].id: must be a whole number",
        "environment: PORCH_LISTEN__PORT: must be a whole number",
        "environment: PORCH_LISTNE__HOST: unknown key; did you mean listen?",
    ]


def test_what_others_set_is_theirs(directory, monkeypatch):
    for name in ("PORCH_PORT", "PORCH_SERVICE_HOST", "PORCH_CACHE", "PORCH_LOG", "PORCH_TEST_DATA"):
        monkeypatch.setenv(name, "debug")
    assert load_portal(directory).config == load_portal(directory.parent / "none").config


def test_brackets_around_what_is_not_yaml_are_a_problem(directory, monkeypatch):
    monkeypatch.setenv("PORCH_ALLOWED_HOSTS", "[a: b: c]")
    assert problems(directory) == [
        "environment: PORCH_ALLOWED_HOSTS: stands in brackets and is not valid YAML"
    ]


def test_a_secret_in_a_variable_is_kept_by_reference(directory, monkeypatch):
    url = "postgresql://porch:hunter2@db.example/porch"
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", url)
    monkeypatch.setenv("PORCH_SERVICES__CACHE", "redis://redis.example:6379/0")
    monkeypatch.setenv("PORCH_SERVICES__VECTORS_KEY", "hunter3")
    monkeypatch.setenv("PORCH_PLUGINS__READER__TOKEN", "hunter4")
    portal = load_portal(directory)
    services = portal.config.services
    assert services.database == "env:PORCH_SERVICES__DATABASE"
    assert address(services.database) == url
    assert services.cache == "redis://redis.example:6379/0"
    assert services.vectors_key == "env:PORCH_SERVICES__VECTORS_KEY"
    token = portal.plugin_config("reader", Reader).token
    assert token is not None
    assert resolve(token).get_secret_value() == "hunter4"
    assert "hunter" not in repr(portal.config.services)


def test_a_reference_in_a_variable_stays_one(directory, monkeypatch):
    monkeypatch.setenv("PORCH_SERVICES__VECTORS_KEY", "file:/run/secrets/key")
    monkeypatch.setenv("PORCH_SERVICES__DATABASE", "env:OTHER")
    services = load_portal(directory).config.services
    assert (services.vectors_key, services.database) == ("file:/run/secrets/key", "env:OTHER")


def test_any_key_is_read_from_the_file_that_a_variable_names(directory, tmp_path, monkeypatch):
    for name, text in (("url", "postgresql://a:hunter2@db/p\n"), ("name", "Ours\n"), ("t", "x\n")):
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PORCH_SERVICES__DATABASE_FILE", str(tmp_path / "url"))
    monkeypatch.setenv("PORCH_NAME_FILE", str(tmp_path / "name"))
    monkeypatch.setenv("PORCH_PLUGINS__READER__TOKEN_FILE", str(tmp_path / "t"))
    portal = load_portal(directory)
    assert portal.config.name == "Ours"
    assert address(portal.config.services.database) == "postgresql://a:hunter2@db/p"
    assert portal.plugin_config("reader", Reader).token == f"file:{tmp_path / 't'}"


def test_a_key_that_ends_in_file_itself_is_a_key(directory, monkeypatch):
    monkeypatch.setenv("PORCH_PLUGINS__READER__MAX_FILE", "12")
    assert load_portal(directory).plugin_config("reader", Reader).max_file == 12


def test_no_key_that_ends_in_file_takes_a_path(directory):
    plugins = [point.load().porch_plugin() for point in entry_points(group="porch.plugins")]
    schema = json.loads(
        generate({plugin.name: plugin.config for plugin in plugins})["portal.schema.json"]
    )
    sections = [schema, *schema["$defs"].values()]
    properties = [each.get("properties", {}) for each in sections]
    keys = {key: value for each in properties for key, value in each.items()}
    endings = {key: value for key, value in keys.items() if key.endswith("_file")}
    assert endings
    assert all(value.get("format") not in {"path", "file-path"} for value in endings.values())


def test_a_problem_of_a_plugins_key_names_its_variable(directory, monkeypatch):
    monkeypatch.setenv("PORCH_PLUGINS__READER__MAX_FILE", "many")
    monkeypatch.setenv("PORCH_PLUGINS__READER__TOKNE", "hunter2")
    assert plugin_problems(load_portal(directory)) == [
        "environment: PORCH_PLUGINS__READER__MAX_FILE: must be a whole number",
        "environment: PORCH_PLUGINS__READER__TOKNE: unknown key; did you mean token?",
    ]


def test_a_file_that_cannot_be_read_or_says_nothing_is_named(directory, tmp_path, monkeypatch):
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"x" * 70_000)
    for section, name in {"a": "missing", "b": "empty", "c": "binary", "d": "large"}.items():
        monkeypatch.setenv(f"PORCH_LIMITS__{section}_FILE".upper(), str(tmp_path / name))
    assert problems(directory) == [
        f"environment: PORCH_LIMITS__A_FILE: names {tmp_path}/missing, which cannot be read: "
        "No such file or directory",
        f"environment: PORCH_LIMITS__B_FILE: names {tmp_path}/empty, which is empty",
        f"environment: PORCH_LIMITS__C_FILE: names {tmp_path}/binary, which is not UTF-8 text",
        f"environment: PORCH_LIMITS__D_FILE: names {tmp_path}/large, which is larger than 65536 "
        "bytes",
    ]


def test_a_value_and_a_file_for_one_key_are_one_too_many(directory, tmp_path, monkeypatch):
    (tmp_path / "name").write_text("Ours")
    monkeypatch.setenv("PORCH_NAME", "Theirs")
    monkeypatch.setenv("PORCH_NAME_FILE", str(tmp_path / "name"))
    assert problems(directory) == [
        "environment: PORCH_NAME_FILE: says the same as PORCH_NAME; keep one of the two"
    ]


def test_static_tokens_and_the_signing_key_are_read_from_files_too(tmp_path, monkeypatch):
    (tmp_path / "tokens").write_text("members:hunter2\n")
    (tmp_path / "key").write_text("k" * 32 + "\n")
    monkeypatch.setenv("PORCH_STATIC_TOKENS_FILE", str(tmp_path / "tokens"))
    assert read_environment().static_tokens.get_secret_value() == "members:hunter2"
    monkeypatch.setenv("PORCH_SIGNING_KEY", "k" * 32)
    by_value = signing_key(tmp_path / "data")
    monkeypatch.delenv("PORCH_SIGNING_KEY")
    monkeypatch.setenv("PORCH_SIGNING_KEY_FILE", str(tmp_path / "key"))
    assert signing_key(tmp_path / "data") == by_value
    monkeypatch.setenv("PORCH_STATIC_TOKENS_FILE", str(tmp_path / "missing"))
    with pytest.raises(ConfigError, match=r"PORCH_STATIC_TOKENS_FILE: names .*missing"):
        read_environment()
