"""The command: every help text, what reads, what writes, and mistakes with file and line."""

from __future__ import annotations

from tests.answers.recorder import Recorder

COMMANDS = """
check
plugins
plugins --json
tools
tools --as open
tools --as public --all
tools --json --as open
tools --as nobody
call search_knowledge query=soil --json
call search_knowledge query=soil filters.tags=water filters.limit=1 --as open
call get_document contentType=pattern id=composting --as open
call get_document contentType=pattern id=composting
call list_groups
call no_such_tool
call search_knowledge
call search_knowledge query
call get_callers name=share depth=5 repo=garden --json
explain --as anonymous --tool search_knowledge
explain --as anonymous --tool get_document
explain --as public --tool publish --json
explain --as members
explain --as github:nobody
explain --as anonymous --item nothing
tiers diff proposal.yaml
tiers diff proposal.yaml --json
tiers diff nothing.yaml
tiers diff broken/config/tiers.yaml
token create --tier members --name ci --expires 90d
token create --tier members --name ci
token create --tier members --name Ci!
token create --tier public --name bot --tool no_such_tool
token list
token list --json
token revoke ci
token revoke ci --config nowhere
people list
people list --json
people show github:nobody
people sign-out github:nobody
audit --limit 0
audit --tool no_such_tool
schema --check
codegraph list --json
codegraph index nothing
codegraph remove nothing
knowledge verify
knowledge verify --json
skills check
skills check --json
workflows export out
workflows import out
workflows import nothing
no-such-command
check --no-such-option
--version
""".strip().splitlines()
IN_BROKEN = ["check", "check --json", "tools", "serve --port 0"]
HELPS = """
audit
call
check
codegraph
codegraph add
codegraph index
codegraph list
codegraph onboard
codegraph remove
explain
knowledge
knowledge check
knowledge sync
knowledge verify
new-plugin
people
people delete
people list
people show
people sign-out
people unlink
plugins
schema
serve
skills
skills check
skills index
skills install
tiers
tiers diff
token
token create
token list
token revoke
tools
usage
usage budgets
usage grant
workflows
workflows export
workflows import
""".strip().splitlines()


def record(recorder: Recorder) -> None:
    """Commands beside the portal that runs, and in directories with mistakes."""
    recorder.commands(
        [
            *((".", line) for line in COMMANDS),
            (".", "--help"),
            *((".", f"{line} --help") for line in HELPS),
            *((where, line) for where in ("broken", "unreadable") for line in IN_BROKEN),
        ]
    )
