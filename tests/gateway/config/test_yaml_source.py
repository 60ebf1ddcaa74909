import pytest

from gateway.config.yaml_source import parse_yaml, read_yaml
from gateway.contract.suggestions import unknown
from gateway.errors import ConfigError


def problems(raw: bytes) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_yaml(raw, "portal.yaml")
    return [str(problem) for problem in raised.value.problems]


def test_an_empty_file_is_an_empty_mapping():
    for raw in (b"", b"# only a comment\n", b"---\n", b"null\n"):
        assert parse_yaml(raw, "portal.yaml").data == {}


def test_every_key_and_list_element_has_its_line():
    source = parse_yaml(b"a: 1\nb:\n  c:\n    - x\n    - d: 2\n", "portal.yaml")
    assert source.line(("a",)) == 1
    assert source.line(("b", "c")) == 3
    assert source.line(("b", "c", 1)) == 5
    assert source.line(("b", "c", 1, "d")) == 5


def test_the_line_of_what_is_missing_is_its_parents():
    source = parse_yaml(b"a: 1\nb:\n  c: 2\n", "portal.yaml")
    assert source.line(("b", "nothing")) == 2
    assert source.line(("nothing",)) == 1


def test_scalars_can_be_read_as_they_were_written():
    source = parse_yaml(b"address: 0x00ff\nversion: 30.10\nlist: [1_000]\nmap: {}\n", "p.yaml")
    assert source.data["address"] == 255
    assert source.raw(("address",)) == "0x00ff"
    assert source.raw(("version",)) == "30.10"
    assert source.raw(("list", 0)) == "1_000"
    assert source.raw(("map",)) is None
    assert source.raw(("nothing",)) is None


def test_a_part_can_be_read_with_every_scalar_as_it_was_written():
    source = parse_yaml(
        b"""
base: &base {x: 0x1F, y: 1_000}
part:
  <<: *base
  y: 30.10
  list: [1e5, 0o17, yes, "no", 'null', ~, 30.3.1, 2026-01-02]
  nothing:
  empty: ""
  folded: >-
    two
    words
  again: *base
""",
        "p.yaml",
    )
    assert source.texts(("part",)) == {
        "x": "0x1F",
        "y": "30.10",
        "list": ["1e5", "0o17", "yes", "no", "null", "~", "30.3.1", "2026-01-02"],
        "nothing": None,
        "empty": "",
        "folded": "two words",
        "again": {"x": "0x1F", "y": "1_000"},
    }
    assert source.texts(("part", "list", 0)) == "1e5"
    assert source.texts(("gone",)) is None
    assert parse_yaml(b"", "p.yaml").texts(()) is None


def test_broken_yaml_is_named_by_its_line():
    assert problems(b"a: 1\nb: [1, 2\nc: 3\n")[0].startswith("portal.yaml:3: is not valid YAML: ")
    assert problems(b"a: 1\n\tb: 2\n")[0].startswith("portal.yaml:2: is not valid YAML: ")


def test_a_key_said_twice_is_refused_at_any_depth():
    assert problems(b"a: 1\nb:\n  c: 1\n  c: 2\na: 3\n") == [
        "portal.yaml:4: c: is already set on line 3; keep one of the two",
        "portal.yaml:5: a: is already set on line 1; keep one of the two",
    ]


def test_bytes_that_are_not_utf8_are_named_by_their_line():
    assert problems(b"a: 1\nb: \xff\xfe\n") == ["portal.yaml:2: is not UTF-8 text"]


def test_a_byte_order_mark_is_no_part_of_the_first_key():
    assert parse_yaml(b"\xef\xbb\xbfa: 1\n", "portal.yaml").data == {"a": 1}


def test_a_control_character_is_named_by_its_line():
    assert problems(b"a: 1\nb: x\x00y\n") == ["portal.yaml:2: the character '\\x00' is not allowed"]


def test_a_root_that_is_no_mapping_is_refused():
    assert problems(b"- a\n- b\n")[0].startswith("portal.yaml:1: must be a mapping")
    assert problems(b"just words\n")[0].startswith("portal.yaml:1: must be a mapping")


def test_a_key_that_is_no_word_is_refused():
    assert problems(b"a: 1\n? [x, y]\n: 2\n") == ["portal.yaml:2: a key must be a plain word"]


def test_a_structure_that_holds_itself_is_refused():
    assert problems(b"a: &a\n  b: *a\n") == ["portal.yaml:1: holds itself through its own anchor"]


def test_nesting_without_end_is_refused():
    assert len(problems(b"a: " + b"[" * 20_000)) == 1


def test_a_date_that_does_not_exist_is_refused():
    assert problems(b"a: 2026-02-31\n")[0].startswith("portal.yaml:1: holds a value")


def test_a_tag_that_would_run_code_is_refused():
    assert problems(b"a: !!python/object/apply:os.getcwd []\n")[0].startswith("portal.yaml:1: ")


def test_merge_keys_keep_the_line_of_what_they_bring():
    source = parse_yaml(b"base: &b\n  x: 1\nuse:\n  <<: *b\n  y: 2\n", "portal.yaml")
    assert source.data["use"] == {"x": 1, "y": 2}
    assert source.line(("use", "x")) == 2


def test_a_file_that_is_not_there_is_a_problem_without_a_line(tmp_path):
    with pytest.raises(ConfigError, match=r"^gone.yaml: cannot be read: No such file"):
        read_yaml(tmp_path / "gone.yaml", "gone.yaml")


def test_an_unknown_name_is_answered_with_the_nearest_or_with_all():
    assert unknown("databse", ["database", "cache"]) == "unknown key; did you mean database?"
    assert unknown("zzz", ["database", "cache"]) == "unknown key; valid: cache, database"
    assert unknown("zzz", []) == "unknown key"
