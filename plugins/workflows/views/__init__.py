"""What people leaf through: the playbook's workflows, and one with its stages and steps."""

from __future__ import annotations

from gateway.contract import View, Write
from plugins.workflows.views.graph import plan

ADDED = Write("add_workflow", "It is written, and yours alone until you publish it.")
DRAFTED = Write("preview_workflow", shows=True)
PREVIEWED = Write("preview_edit", shows=True)
EDITED = Write(
    "edit_workflow",
    "{{ 'It is in your bin, until %s at least.' | format(result.restorableUntil | day) "
    "if result.done == 'deleted' else 'It is changed.' }} "
    "{{ result.warnings | join(' ') }}",
)
PUBLISHED = Write(
    "publish",
    "{{ 'Everyone sees it now.' if result.visibility == 'PUBLIC' else 'It is yours again.' }}",
)
COPIED = Write("duplicate_workflow", "This is the copy. It is yours alone until you publish it.")
BACK = Write(
    "restore_workflow",
    "It is back, and yours alone until you publish it. {{ result.warnings | join(' ') }}",
)
ERASED = Write("erase_workflow", "It is erased: {{ result.name }}.")
RESTORED = Write("restore_version", "It is as it was. {{ result.warnings | join(' ') }}")
LINKED = Write(
    "create_workflow_link",
    "The link is made, and good until {{ result.expiresAt | day }}. Copy it now: it is shown this "
    "once.",
    shown_once="{{ result.address }}",
)
UNLINKED = Write("end_workflow_link", "The link has ended: it shows nothing any more.")
BEGUN = Write("select_workflow", "{{ result.note or 'Your run has begun.' }}")
RATED = Write(
    "rate_workflow",
    "{{ 'Thank you.' if result.myRating else 'Your rating is taken back.' }}",
)
MADE = Write("create_folder", "The folder is there: {{ result.name }}.")
FILED = Write(
    "edit_folder",
    "{{ 'The folder is deleted; what was in it is not.' if result.done == 'deleted' else "
    "'It was so already.' if result.done == 'unchanged' else 'It is done.' }}",
)
KEPT = Write("add_to_library", "It is in your library.")
LEFT = Write("remove_from_library", "It is out of your library.")
MOVED = Write(
    "get_next_step",
    "{{ result.note or 'Step %s of %s.' | format(result.index + 1, result.totalSteps) }}",
)
FINISHED = Write("finish_run", "The run is finished, and stays in your list for some time.")


def views() -> list[View]:
    """The plugin's views."""
    return [
        View.beside(
            __file__,
            "workflows",
            "Workflows",
            "get_available_workflows",
            listed=True,
            asks="task",
            glance={"limit": 4},
            writes=[DRAFTED],
        ),
        View.beside(__file__, "runs", "Your runs", "list_runs", listed=True, glance={}),
        View.beside(__file__, "run", "Run", "get_run", writes=[MOVED, FINISHED]),
        View.beside(__file__, "versions", "Older versions", "get_versions", writes=[RESTORED]),
        View.beside(
            __file__,
            "workflow",
            "Workflow",
            "get_workflow",
            graph=plan,
            writes=[PREVIEWED, EDITED, RESTORED, PUBLISHED, BEGUN, KEPT, LEFT, COPIED, RATED],
        ),
        View.beside(__file__, "preview", "Preview", "preview_edit", graph=plan, writes=[EDITED]),
        View.beside(
            __file__,
            "links",
            "Your links",
            "list_workflow_links",
            writes=[LINKED, UNLINKED],
        ),
        View.beside(__file__, "shared", "A shared workflow", "open_workflow_link", graph=plan),
        View.beside(
            __file__, "new", "A new workflow", "preview_workflow", graph=plan, writes=[ADDED]
        ),
        View.beside(__file__, "bin", "Your bin", "list_bin", writes=[BACK, ERASED]),
        View.beside(__file__, "folders", "Folders", "get_by_folder", writes=[MADE, FILED]),
        View.beside(__file__, "placing", "Your folders", "list_folders", writes=[FILED]),
        View.beside(__file__, "skill-card", "Skill card", "get_selected_skill"),
    ]
