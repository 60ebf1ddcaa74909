from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.config.portal import Portal, load_portal, read_environment
from gateway.contract import ConfigPath, PluginConfig, SecretRef
from gateway.contract.config_types import Duration
from gateway.errors import ConfigError

EXAMPLE = """
name: Our portal
public_url: http://127.0.0.1:8321        # also sets the allowed hosts; trusted_proxies: [...]
services: {database: sqlite, vectors: embedded, objects: ./data/objects, cache: memory,
           embedding: embedded}
plugins:
  knowledge: {sources: [{directory: ./content}]}
  workflows: {enabled: false}
"""


class Source(PluginConfig):
    directory: ConfigPath


class Knowledge(PluginConfig):
    sources: tuple[Source, ...] = ()
    webhook_secret: SecretRef | None = None
    refresh: Duration = timedelta(days=7)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "config").mkdir()
    return tmp_path / "config"


def load(directory: Path, text: str) -> Portal:
    (directory / "portal.yaml").write_text(text)
    return load_portal(directory)


def problems(directory: Path, text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        load(directory, text)
    return [str(problem) for problem in raised.value.problems]


def plugin_problems(directory: Path, text: str) -> list[str]:
    portal = load(directory, text)
    with pytest.raises(ConfigError) as raised:
        portal.plugin_config("knowledge", Knowledge)
    return [str(problem) for problem in raised.value.problems]


def test_an_empty_file_and_no_file_are_a_working_portal(directory):
    assert load_portal(directory).config == load(directory, "").config
    config = load_portal(directory).config
    assert config.url == "http://127.0.0.1:8321"
    assert config.services.database == "sqlite"
    assert config.limits.body == 4 * 1024 * 1024
    assert config.audit.retention == timedelta(days=90)


def test_the_documented_example_is_accepted_as_written(directory):
    portal = load(directory, EXAMPLE)
    assert portal.config.name == "Our portal"
    assert portal.config.services.objects == str(directory.parent / "data/objects")
    assert not portal.section("workflows").enabled
    knowledge = portal.plugin_config("knowledge", Knowledge)
    assert knowledge.sources[0].directory == directory.parent / "content"


def test_sections_whose_lines_are_all_comments_count_as_empty(directory):
    portal = load(directory, "services:\n  # database: sqlite\nplugins:\n  knowledge:\n")
    assert portal.section("knowledge").enabled
    portal = load(directory, "plugins:\n  knowledge:\n    sources:\n")
    assert portal.plugin_config("knowledge", Knowledge) == Knowledge()


def test_an_unknown_key_is_told_even_where_it_is_empty(directory):
    assert problems(directory, "lisen:\n") == [
        "config/portal.yaml:1: lisen: unknown key; did you mean listen?"
    ]


def test_a_misspelled_key_of_the_gateway_in_a_plugins_section_is_recognised(directory):
    assert plugin_problems(directory, "plugins: {knowledge: {enabld: false}}") == [
        "config/portal.yaml:1: plugins.knowledge.enabld: unknown key; did you mean enabled?"
    ]


def test_a_file_that_cannot_be_read_is_a_problem(directory):
    (directory / "portal.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"^config/portal.yaml: cannot be read: Is a directory"):
        load_portal(directory)


def test_all_problems_are_told_at_once_and_by_line(directory):
    text = "publc_url: x\nservices:\n  databse: sqlite\nlisten: {port: 99999}\nlimits: 3\n"
    assert problems(directory, text) == [
        "config/portal.yaml:1: publc_url: unknown key; did you mean public_url?",
        "config/portal.yaml:3: services.databse: unknown key; did you mean database?",
        "config/portal.yaml:4: listen.port: must be less than or equal to 65535",
        "config/portal.yaml:5: limits: must be a mapping of keys to values",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("name: 30.10", "name: must be text; if it looks like a number or a date, put it in"),
        ("name: ''", "name: string should have at least 1 character"),
        ("allowed_hosts: one", "allowed_hosts: must be a list"),
        ("public_url: portal.example", "public_url: must be a whole address, such as https://"),
        ("public_url: https://a:b@c", "public_url: must be scheme, host, port and path only"),
        ("trusted_proxies: [here]", "trusted_proxies[0]: value is not a valid IPv4 or IPv6"),
        ("limits: {call: 30}", "limits.call: must be a number with its unit: 500ms, 45s, 30m"),
        ("limits: {body: lots}", "limits.body: must be a size, such as 4MiB"),
        ("log: {level: loud}", "log.level: must be 'debug', 'info', 'warning' or 'error'"),
        ("plugins: {a: {enabled: maybe}}", "plugins.a.enabled: must be true or false"),
        ("plugins: {a: 3}", "plugins.a: must be a mapping of keys to values"),
        ("plugins: {a: {alias: {b: 'c d'}}}", "plugins.a.alias.b: string should match pattern"),
    ],
)
def test_a_wrong_value_is_answered_with_what_to_write(directory, text, problem):
    assert problems(directory, text)[0].startswith(f"config/portal.yaml:1: {problem}")


def test_a_plugins_own_keys_are_checked_by_line(directory):
    text = """
plugins:
  knowledge:
    required: false
    surces: []
    sources:
      - directory: ./content
      - directry: ./more
    refresh: soon
"""
    assert plugin_problems(directory, text) == [
        "config/portal.yaml:5: plugins.knowledge.surces: unknown key; did you mean sources?",
        "config/portal.yaml:8: plugins.knowledge.sources[1].directory: is missing",
        "config/portal.yaml:8: plugins.knowledge.sources[1].directry: "
        "unknown key; did you mean directory?",
        "config/portal.yaml:9: plugins.knowledge.refresh: "
        "must be a number with its unit: 500ms, 45s, 30m, 12h or 90d",
    ]


@pytest.mark.parametrize("value", ["hunter2", "'env:'", "env:NOT-A-NAME", "12345", "[env:A]"])
def test_a_secret_written_as_a_value_is_refused_and_never_repeated(directory, value):
    text = f"plugins:\n  knowledge:\n    webhook_secret: {value}\n"
    (problem,) = plugin_problems(directory, text)
    assert problem == (
        "config/portal.yaml:3: plugins.knowledge.webhook_secret: a secret is never written here; "
        "write env:NAME or file:PATH and keep it there"
    )


@pytest.mark.parametrize("value", ["env:HOOK_SECRET", "file:/run/secrets/hook", "file:./hook"])
def test_a_reference_to_a_secret_is_kept_as_written(directory, value):
    portal = load(directory, f"plugins: {{knowledge: {{webhook_secret: '{value}'}}}}")
    assert portal.plugin_config("knowledge", Knowledge).webhook_secret == value


def test_an_address_with_a_password_is_refused_and_never_repeated(directory):
    (problem,) = problems(directory, "services: {database: 'postgresql://me:hunter2@db/porch'}")
    assert "holds a password" in problem
    assert "hunter2" not in problem
    config = load(directory, "services: {database: env:DATABASE_URL, cache: redis://c}").config
    assert (config.services.database, config.services.cache) == ("env:DATABASE_URL", "redis://c")


def test_a_configuration_error_has_no_cause_that_holds_values(directory):
    (directory / "portal.yaml").write_text("services: {database: 'postgresql://me:hunter2@db'}")
    with pytest.raises(ConfigError) as raised:
        load_portal(directory)
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


def test_command_line_values_win_over_the_file(directory):
    (directory / "portal.yaml").write_text("name: Ours\nlisten: {host: 0.0.0.0, port: 1}\n")
    config = load_portal(directory, {"listen": {"port": 9000}}).config
    assert (config.name, config.listen.host, config.listen.port) == ("Ours", "0.0.0.0", 9000)


def test_a_plugin_that_is_not_installed_is_named_unless_it_is_disabled(directory):
    portal = load(directory, "plugins:\n  knowlege: {}\n  workflows: {enabled: false}\n")
    assert [str(problem) for problem in portal.unknown_plugins({"knowledge"})] == [
        "config/portal.yaml:2: plugins.knowlege: unknown plugin; did you mean knowledge?"
    ]


def test_hosts_and_origins_follow_the_public_url(directory):
    config = load(directory, "public_url: https://p.example/\nlisten: {host: 0.0.0.0}\n").config
    assert config.hosts == {"p.example"}
    assert config.origins == {"https://p.example", "http://p.example"}
    more = load(directory, "allowed_hosts: [inner:1]\nallowed_origins: [https://app]\n").config
    assert {"inner:1", "127.0.0.1:8321", "localhost:*"} <= more.hosts
    assert "https://app" in more.origins


@pytest.mark.parametrize("url", ["https://p.example:443", "https://p.example"])
def test_the_port_that_a_scheme_implies_is_left_out_of_the_host(directory, url):
    config = load(directory, f"public_url: {url}\nlisten: {{host: 0.0.0.0}}\n").config
    assert config.hosts == {"p.example"}


def test_a_byte_size_and_a_duration_are_read_in_their_units(directory):
    config = load(directory, "limits: {body: 1MiB, call: 500ms}\naudit: {retention: 2.5d}").config
    assert config.limits.body == 1024 * 1024
    assert config.limits.call == timedelta(milliseconds=500)
    assert config.audit.retention == timedelta(hours=60)


@given(st.text(max_size=200))
def test_any_text_is_a_portal_or_a_list_of_problems(tmp_path_factory, text):
    directory = tmp_path_factory.mktemp("any")
    (directory / "portal.yaml").write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        outcome: object = load_portal(directory).config
    except ConfigError as error:
        outcome = error.problems
    assert outcome


def test_the_environment_gives_the_settings_of_the_process(monkeypatch):
    monkeypatch.setenv("PORCH_CONFIG", "/etc/porch")
    monkeypatch.setenv("PORCH_STATIC_TOKENS", "members:abc")
    environment = read_environment()
    assert environment.config == Path("/etc/porch")
    assert environment.static_tokens.get_secret_value() == "members:abc"
    assert "abc" not in repr(environment)


def test_a_wrong_environment_variable_is_named_without_its_value(monkeypatch):
    monkeypatch.setenv("PORCH_LOG", "hunter2")
    with pytest.raises(ConfigError) as raised:
        read_environment()
    assert str(raised.value).startswith("environment: PORCH_LOG: must be 'debug', ")
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "section",
    [
        "accept: [{issuer: https://a.example, audience: x}, "
        "{issuer: https://a.example, audience: y}]",
        "oidc: [{name: Our ID, issuer: https://a.example, client_id: x}, "
        "{name: our-id, issuer: https://b.example, client_id: x}]",
    ],
)
def test_an_issuer_or_a_provider_that_stands_twice_is_refused_with_its_line(directory, section):
    (directory / "portal.yaml").write_text(f"sign_in:\n  {section}\n")
    with pytest.raises(ConfigError, match=r"config/portal.yaml:2: sign_in\.\w+: says \S+ twice"):
        load_portal(directory)


def test_a_chain_that_stands_twice_is_refused_with_its_line(directory):
    text = "chains:\n  - {id: 10, rpc: [env:ONE]}\n  - {id: 10, rpc: [env:OTHER]}\n"
    assert problems(directory, text) == [
        "config/portal.yaml:1: chains: says 10 twice; keep one of the two"
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("sign_in: {tokens: {session: 0s}}", "must be from 1s to 3650d"),
        ("sign_in: {tokens: {refresh: 9999999d}}", "must be from 1s to 3650d"),
        ("sign_in: {tokens: {access: 31d}}", "must be at most 30d"),
        ("sign_in: {oidc: [{name: A, issuer: http://a.example, client_id: x}]}", "https"),
        ("sign_in: {tokens: {grant: 0s}}", "must be from 1s to 3650d"),
        ("roles: {claims: 59m}", "must be from 1h to 3650d"),
        ("roles: {claims: 3651d}", "must be from 1h to 3650d"),
        ("sign_in: {oidc: [{name: A, issuer: 'https://a.example/#b', client_id: x}]}", "fragment"),
        ("sign_in: {accept: [{issuer: 'https://a.example?b', audience: x}]}", "query"),
        ("sign_in: {cloudflare_access: {team: http://t.example, audience: x}}", "https"),
        ("sign_in: {wallet: {chains: [0]}}", "greater than or equal to 1"),
        ("chains: [{id: 10, rpc: [optimism]}]", "must be a whole address"),
    ],
)
def test_what_nobody_could_sign_in_with_or_read_is_refused_at_the_start(directory, text, reason):
    (problem,) = problems(directory, text)
    assert reason in problem
