"""Diffs of real git are read to the letter, and applied give the tree they were made from."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.scrubbing.scrubber import Scrubber
from plugins.codegraph.workspaces.diff import BadDiff, read, sections
from plugins.codegraph.workspaces.patch import Conflict, apply
from tests.examples import examples
from tests.plugins.codegraph.workspaces.worktree import Worktree

NAMES = ["a.py", "with space.py", "sub/b.py", 'sub/ünï "q".ts', "t\tab.go", "back\\slash.rs", "e"]
LINE = st.sampled_from(
    [b"", b"def f():", b"    return 1", b"x = 2", b"-- dashes", b"++ plus", b"@@ -1 +1 @@", b"\r",
     b"windows\r", b"\\ No newline at end of file", "grüße".encode(), b"diff --git a/x b/x"]
)  # fmt: skip
CONTENT = st.builds(
    lambda lines, end: b"\n".join(lines) + (end if lines else b""),
    st.lists(LINE, max_size=25),
    st.sampled_from([b"", b"\n"]),
)
TREE = st.dictionaries(st.sampled_from(NAMES), CONTENT, max_size=4)
FORMS = st.sampled_from(
    [
        ("diff",),
        ("-c", "diff.noprefix=true", "diff"),
        ("-c", "diff.mnemonicPrefix=true", "diff"),
        ("-c", "core.quotePath=false", "diff"),
        ("diff", "-M", "-C", "--find-copies-harder"),
        ("diff", "-U0"),
        ("diff", "-U10", "--full-index"),
        ("diff", "--no-renames", "--function-context"),
    ]
)


@pytest.fixture(scope="module")
def worktree(tmp_path_factory: pytest.TempPathFactory) -> Worktree:
    return Worktree(tmp_path_factory.mktemp("tree"))


def patched(before: Mapping[str, bytes], diff: str) -> dict[str, bytes]:
    """The tree after a diff."""
    after = dict(before)
    for section in sections(diff):
        change = read(section)
        assert not change.unreadable
        content = apply(before.get(change.old or ""), change)
        if change.old is not None and not change.copied and change.old != change.new:
            after.pop(change.old, None)
        if content is not None:
            assert change.new is not None
            after[change.new] = content
    return after


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(before=TREE, after=TREE, form=FORMS)
def test_whatever_git_says_of_a_change_gives_the_changed_tree(
    worktree: Worktree, before: dict[str, bytes], after: dict[str, bytes], form: tuple[str, ...]
) -> None:
    shutil.rmtree(worktree.root / ".git")
    worktree.git("init", "-q", "-b", "main")
    worktree.commit(before)
    worktree.put(after)
    assert patched(before, worktree.diff(*form)) == after


@settings(max_examples=examples(40), deadline=None)
@given(
    lines=st.lists(
        st.integers(0, 40).map(lambda n: f"line {n}"), min_size=1, max_size=20, unique=True
    ),
    at=st.integers(0, 19),
    above=st.integers(1, 9),
)
def test_a_change_is_found_again_where_the_file_grew_above_it(
    lines: list[str], at: int, above: int
) -> None:
    at %= len(lines)
    context = [f" {each}" for each in lines]
    context[at : at + 1] = [f"-{lines[at]}", "+changed"]
    diff = f"diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,{len(lines)} +1,{len(lines)} @@\n"
    (section,) = sections(diff + "\n".join(context) + "\n")
    grown = [f"new {n}" for n in range(above)]
    expected = [*grown, *lines[:at], "changed", *lines[at + 1 :]]
    text = lambda some: ("\n".join(some) + "\n").encode()  # noqa: E731
    assert apply(text([*grown, *lines]), read(section)) == text(expected)


def only(diff: str) -> bytes | None:
    """The file of a diff of one file, applied to nothing."""
    (section,) = sections(diff)
    return apply(None, read(section))


HEAD = "diff --git a/f.py b/f.py\nindex 1111111..2222222 100644\n--- a/f.py\n+++ b/f.py\n"


def change(hunk: str) -> str:
    return HEAD + hunk


def test_a_change_that_fits_at_two_places_is_a_conflict() -> None:
    (section,) = sections(change("@@ -5 +5 @@\n-x = 1\n+x = 2\n"))
    with pytest.raises(Conflict, match="stand at 2 places"):
        apply(b"x = 1\ny\nx = 1\n", read(section))


def test_a_change_whose_lines_are_gone_is_a_conflict_that_names_the_line() -> None:
    (section,) = sections(change("@@ -5,2 +5,2 @@\n y\n-x = 1\n+x = 2\n"))
    with pytest.raises(Conflict, match="line 5: the lines around the change are not in the file"):
        apply(b"z\n", read(section))


def test_a_change_that_the_file_already_has_leaves_it_as_it_is() -> None:
    (section,) = sections(change("@@ -1,2 +1,2 @@\n a\n-x = 1\n+x = 2\n"))
    assert apply(b"a\nx = 2\n", read(section)) == b"a\nx = 2\n"


def test_a_line_without_its_secret_still_fits_and_the_file_keeps_what_it_had() -> None:
    hunk = "@@ -1,2 +1,3 @@\n key = '[REDACTED]'\n+more = 1\n b\n"
    (section,) = sections(change(hunk))
    assert apply(b"key = 'abc'\nb\n", read(section)) == b"key = 'abc'\nmore = 1\nb\n"


def test_a_diff_without_its_private_key_is_applied_as_the_portal_hands_it_on() -> None:
    begin, end = (f"-----{word} RSA PRIVATE {'KEY'}-----" for word in ("BEGIN", "END"))
    body = [hex(n**40)[2:66] for n in range(1_000, 1_006)]
    key = "".join(f"+{line}\n" for line in (begin, *body, end))
    hunk = f'@@ -1,2 +1,12 @@\n a = 1\n+K = """\n{key}+"""\n b = 2\n'
    scrubbed, found = Scrubber().text(change(hunk), "diff")
    assert [each.rule for each in found] == ["private-key"]
    (section,) = sections(scrubbed)
    after = apply(b"a = 1\nb = 2\n", read(section))
    assert after is not None
    assert after.startswith(b'a = 1\nK = """\n[REDACTED]\n')
    assert after.endswith(b'"""\nb = 2\n')


def test_a_diff_that_came_through_a_windows_terminal_is_read() -> None:
    diff = change("@@ -1,2 +1,2 @@\n a\n-b\n+c\n").replace("\n", "\r\n")
    (section,) = sections(diff)
    assert apply(b"a\nb\n", read(section)) == b"a\nc\n"


def test_a_file_with_windows_line_ends_keeps_them_where_the_diff_lost_them() -> None:
    (section,) = sections(change("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"))
    assert apply(b"a\r\nb\r\n", read(section)) == b"a\r\nc\r\n"


def test_binaries_links_submodules_and_unmerged_files_say_why_they_are_not_read() -> None:
    diff = (
        "diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n"
        "diff --git a/l b/l\nnew file mode 120000\nindex 0..1\n--- /dev/null\n+++ b/l\n"
        "@@ -0,0 +1 @@\n+target\n\\ No newline at end of file\n"
        "diff --git a/m b/m\nindex 1..2 160000\n--- a/m\n+++ b/m\n@@ -1 +1 @@\n"
        "-Subproject commit 1\n+Subproject commit 2\n"
        "diff --cc u.py\nindex 1,2..0\n--- a/u.py\n+++ b/u.py\n"
        "@@@ -1,1 -1,1 +1,5 @@@\n++<<<<<<< ours\n"
    )
    found = {each.path: read(each).unreadable for each in sections(diff)}
    assert found == {
        "i.png": "it is binary",
        "l": "it is a symbolic link",
        "m": "it is a submodule",
        "u.py": "it has unmerged changes",
    }


def test_a_file_that_only_becomes_executable_is_unchanged() -> None:
    (section,) = sections("diff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n")
    assert (section.old, section.new) == ("run me", "run me")
    assert apply(b"x\n", read(section)) == b"x\n"


@pytest.mark.parametrize(
    ("diff", "said"),
    [
        ("hello\n", "Line 1 is no part of a git diff: 'hello'"),
        (change("@@ -1,3 +1,3 @@\n a\n"), r"Line 6 \(f.py\) ends in the middle of a hunk"),
        (change("@@ -1 +1 @@\n*a\n"), r"Line 6 \(f.py\) is no line of a hunk"),
        (change("@@ -1 +1,2 @@\n-a\n-b\n+c\n+d\n"), r"Line 7 \(f.py\) is one more than"),
        (change("what\n"), r"Line 5 \(f.py\) is no part of a file's header"),
        ("diff --git a b c\n", "Line 1 names no file"),
    ],
)
def test_what_git_did_not_write_is_refused_with_its_line(diff: str, said: str) -> None:
    with pytest.raises(BadDiff, match=said):
        for section in sections(diff):
            read(section)


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet=' +-@\\\nab/\r"0123,dif gt', max_size=200), st.booleans())
def test_no_text_makes_the_reader_fail_otherwise(text: str, headed: bool) -> None:
    try:
        for section in sections(HEAD + text if headed else text):
            apply(b"a\nb\n", read(section))
    except (BadDiff, Conflict):
        pass


def test_nothing_is_a_diff_of_no_files() -> None:
    assert sections("") == [] == sections("\n")


def test_a_new_file_is_its_lines(tmp_path: Path) -> None:
    worktree = Worktree(tmp_path)
    worktree.commit({"a": b"1\n"})
    worktree.put({"a": b"1\n", "n/new file.py": b"def f():\n    pass"})
    assert only(worktree.diff()) == b"def f():\n    pass"
