"""Tools that write: a workflow's life, a memory's, and work that is not committed yet."""

from __future__ import annotations

from typing import Any

from tests.answers.recorder import Recorder

DIFF = """\
diff --git a/src/water.py b/src/water.py
--- a/src/water.py
+++ b/src/water.py
@@ -20,3 +20,8 @@ def pour(can: Can, plants: int) -> int:
 def share(litres: int, plants: int) -> int:
     \"\"\"Divide litres among plants.\"\"\"
     return litres // plants
+
+
+def drain(can: Can) -> None:
+    \"\"\"Empty a can.\"\"\"
+    can.litres = 0
"""
STAGES = [
    {
        "name": "Dig",
        "with_review": True,
        "prompts": [
            {"name": "mark", "content": "Mark the bed."},
            {"name": "dig", "content": "Dig it over.", "description": "With a spade."},
        ],
        "skills": ["spade-work"],
    },
    {"name": "Sow", "prompts": [{"name": "sow", "content": "Sow beans."}]},
]


class _Caller:
    """Calls tools, each under a case of its own; every other call in the other era."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._count = 0

    def __call__(self, what: str, tool: str, who: str = "member", **arguments: Any) -> Any:
        self._count += 1
        ask = self._recorder.legacy if self._count % 2 else self._recorder.modern
        case = f"{self._count:02} {tool}, {what}, as {who}"
        answer = ask(case, "tools/call", {"name": tool, "arguments": arguments}, who)
        return answer.get("result", {}).get("structuredContent") or {}


def playbook(recorder: Recorder) -> None:
    """Write, edit, publish, walk and delete workflows and skill cards."""
    call = _Caller(recorder)
    files = [{"name": "checklist.md", "text": "- sharp?\n"}]
    card = call(
        "a card", "add_skill", name="Spade work", content="Push.", attachments=files, tags=["dig"]
    )
    call("a stranger", "add_skill", "open", name="Rake", content="Pull.")
    call("nothing in it", "add_skill", name="", content="")
    flow = call(
        "a workflow",
        "add_workflow",
        name="Plant beans",
        description="From an empty bed to beans.",
        tags=["beds"],
        complexity="S",
        folder="Garden work",
        stages=STAGES,
    )
    call("no card", "add_workflow", name="Bad", stages=[{"name": "A", "skills": ["nothing"]}])
    call("without stages", "add_workflow", name="Bad", stages=[])
    id_, other = flow.get("id", ""), card.get("id", "")
    call("mine", "get_available_workflows", scope="mine")
    call("not mine", "get_workflow", "public", workflow_id=id_)
    call("mine, whole", "get_workflow", workflow_id=id_, include_content=True)
    call("a card", "get_selected_skill", skill_id=other)
    call("its file", "get_attachment", skill_id=other, name="checklist.md")
    call("no such file", "get_attachment", skill_id=other, name="nothing.md")
    run = call("with a run", "select_workflow", workflow_id="plant-beans", start_run=True)
    run_id = (run.get("run") or {}).get("runId", "")
    for number in range(3):
        call(f"of a run, {number}", "get_next_step", run_id=run_id)
    call("somebody else's", "get_next_step", "other", run_id=run_id)
    call("open ones", "list_runs")
    call("done", "finish_run", run_id=run_id, note="Went well.")
    call("again", "finish_run", run_id=run_id, outcome="abandoned")
    call("finished ones", "list_runs", state="finished")
    call("an old version", "edit_workflow", workflow_id=id_, version=7, name="Plant peas")
    call("a name", "edit_workflow", workflow_id=id_, version=1, name="Plant peas")
    call("the same again", "edit_workflow", workflow_id=id_, version=2, name="Plant peas")
    call("somebody else's", "edit_workflow", "other", workflow_id=id_, version=2, name="X")
    call("versions", "get_versions", id=id_, type="WORKFLOW")
    call("a version", "restore_version", id=id_, version=2, restore=1)
    call("its card first", "publish", type="WORKFLOW", id=id_, version=3)
    call("a card", "publish", type="SKILL", id=other, version=1)
    call("below the tier", "publish", "public", type="WORKFLOW", id=id_, version=3)
    call("an old version", "publish", type="WORKFLOW", id=id_, version=3)
    version = call("its version", "get_workflow", workflow_id=id_).get("version", 0)
    call("a workflow", "publish", type="WORKFLOW", id=id_, version=version)
    call("what is public", "get_workflow", "public", workflow_id=id_)
    call("somebody else's", "add_to_library", "public", id=id_)
    call("the library", "get_available_workflows", "public", scope="library")
    call("somebody else's", "remove_from_library", "public", id=id_)
    call("not in it", "remove_from_library", "public", id=id_)
    call("one's own", "edit_skill", skill_id=other, version=2, description="Dig with a spade.")
    folder = call("one", "create_folder", name="Spring", description="What spring asks for.")
    add = [{"id": id_}, {"id": other, "type": "SKILL"}]
    key = folder.get("key", "")
    call("items", "edit_folder", folder_key=key, version=1, add=add)
    call("one", "get_by_folder", folder_key=key)
    call("one by one", "get_by_folder", folder_key=key, page=2, limit=1)
    call("away", "edit_folder", folder_key=key, version=2, is_active=False)
    call("in use", "edit_skill", skill_id=other, version=3, is_active=False)
    version = call("its version now", "get_workflow", workflow_id=id_).get("version", 0)
    call("away", "edit_workflow", workflow_id=id_, version=version, is_active=False)
    call("away", "edit_skill", skill_id=other, version=3, is_active=False)
    call("what is gone", "get_workflow", workflow_id=id_)


def memory(recorder: Recorder) -> None:
    """Remember, ask, correct, share and forget."""
    call = _Caller(recorder)
    pump = call("a fact", "remember", content="The pump was replaced in March.", tags=["pump"])
    call("a stranger", "remember", "open", content="Hello.")
    call("nothing", "remember", content="")
    call("the same", "remember", content="The pump was replaced in March.", tags=["pump"])
    call(
        "a rule",
        "remember",
        title="Watering",
        content="Water in the morning.",
        layer="procedural",
        importance=0.9,
        confidence=0.8,
        agent_id="gardener",
    )
    call("today", "remember", content="The hose leaks.", layer="session")
    call("for all", "remember", content="The gate closes at nine.", policy="public")
    call("a secret", "remember", content="The key is AKIAIOSFODNN7EXAMPLE, keep it.")
    call("for nobody known", "remember", content="X", policy="shared", allowed_teams=["nobody"])
    id_ = pump.get("id", "")
    call("the pump", "query_memory", query="pump")
    call("the pump, by another", "query_memory", "other", query="pump")
    call("of a layer", "query_memory", query="water", layers=["procedural"], limit=1)
    call("nothing", "query_memory", query="zeppelin")
    call("a stranger", "query_memory", "open", query="pump")
    call("one", "get_memory", id=id_)
    call("another's", "get_memory", "other", id=id_)
    call("from an offset", "get_memory", id=id_, offset=9)
    call("all", "list_memory")
    call("tags", "list_memory", tags=["pump"], mine=True)
    call("words", "update_memory", id=id_, content="The pump was replaced in April.", version=1)
    call("another's", "update_memory", "other", id=id_, content="No.")
    call("of one", "memory_history", id=id_)
    call("nobody", "find_people", name="ana")
    call("me", "find_people")
    waiting = call("those that wait", "list_approvals")
    requests = waiting.get("requests") or [{}]
    call("hidden", "list_approvals", "public")
    call("no such", "decide_approval", "other", id="nothing", approve=False)
    call("one", "decide_approval", "other", id=requests[0].get("id", ""), approve=False, note="No.")
    call("softly", "forget", id=id_)
    call("again", "forget", id=id_)
    call("what is gone", "get_memory", id=id_)


def workspace(recorder: Recorder) -> None:
    """Send work that is not committed, and see it in one's own answers alone."""
    call = _Caller(recorder)
    stats = call("before", "get_project_stats", repo="garden")
    sha = (stats.get("meta") or {}).get("commit", "")
    sent = {"branch": "main", "baseSha": sha, "repo": "garden"}
    call("a diff", "sync_local_diff", diff=DIFF, **sent)
    call("again", "sync_local_diff", diff=DIFF, **sent)
    call("mine", "get_function", name="drain", repo="garden")
    call("not another's", "get_function", "other", name="drain", repo="garden")
    call("no diff", "sync_local_diff", diff="nonsense", **sent)
    call("too much", "sync_local_diff", diff="+" * 60_000, **sent)
    call("none any more", "sync_local_diff", diff="", **sent)
    call("a stranger", "sync_local_diff", "open", diff=DIFF, **sent)
    call("gone", "get_function", name="drain", repo="garden")
