"""Forms of views that change something: how they are written, and what comes back of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from gateway.catalog.views import FORM_ID, new_form_id
from gateway.contract import View, Write
from gateway.surfaces.views.address import query_of
from gateway.surfaces.views.links import Links, there

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

Mark = Callable[[str, str], str]
"""``mark(path, about)``: proves that a form for that path is one of ours, and this person's."""
_PLACE = re.compile(r"\{([\w.]+)\}")


class Goal(NamedTuple):
    """Where somebody goes once a form is done: to the page that shows a tool's answer.

    Attributes:
        tool: the tool, by the name that the plugin declares.
        arguments: what it is asked; ``{run.id}`` stands for what the form's tool answered there.
    """

    tool: str
    arguments: Mapping[str, Any]

    def reached(self, result: Any) -> Goal:
        """The goal with what was answered in its places."""
        return Goal(
            self.tool, {name: _filled(each, result) for name, each in self.arguments.items()}
        )


class Asked(NamedTuple):
    """What a form asks for: bound to its mark, so that it is what the page has shown.

    Attributes:
        write: the tool that it calls.
        goal: where it leads.
        here: what the page was asked that it stands on.
    """

    write: Write
    goal: Goal
    here: Mapping[str, Any]


def asked(view: View, about: str) -> Asked:
    """What a form is about, as :meth:`WriteForms.write` has written it.

    Raises:
        ValueError: it is not about anything that the view may change.
    """
    try:
        tool, goal, arguments, *elsewhere = json.loads(about)
    except (TypeError, ValueError):
        raise ValueError("the form does not say what it is about") from None
    here = elsewhere[0] if elsewhere else arguments
    return Asked(_declared(view, tool), Goal(goal, arguments), here)


class WriteForms:
    """Writes the forms of one view for one person.

    Args:
        view: the view.
        links: knows the plugin's tools and pages.
        here: the page itself, to which a form returns unless it says otherwise.
        mark: proves the forms of a page; None for an App, where a form is a call.
    """

    def __init__(self, view: View, links: Links, here: Goal, mark: Mark | None) -> None:
        self._view = view
        self._links = links
        self._here = here
        self._mark = mark

    def write(self, tool: str, goal: Goal | None = None, /, **given: Any) -> Markup:
        """The beginning of a form that calls a tool; the template ends it with ``</form>``.

        Args:
            tool: one of the tools that the view declares in ``writes``.
            goal: where it leads, as ``then`` says it; this very page where it is None.
            given: arguments that are not the person's to fill in.
        """
        from markupsafe import Markup

        goal = goal or self._here
        given = there(given)
        shows = Markup(" data-shows") if _declared(self._view, tool).shows else Markup("")
        start = Markup('<form method="post" action="{}" data-write="{}" data-types="{}"').format(
            self._links.page(self._view.tool), self._links.called(tool), self._links.kinds(tool)
        )
        after = Markup(' data-then="{}" data-arguments="{}">').format(
            self._links.called(goal.tool), json.dumps(goal.arguments, ensure_ascii=False)
        )
        own = [*self._proof(tool, goal), *parse_qsl(query_of(given))]
        field = Markup('<input type="hidden" name="{}" value="{}">')
        return start + shows + after + Markup("").join(field.format(*each) for each in own)

    @staticmethod
    def then(tool: str, /, **arguments: Any) -> Goal:
        """Where a form leads: to what a tool of the plugin answers, on its view's page."""
        return Goal(tool, there(arguments))

    def _proof(self, tool: str, goal: Goal) -> list[tuple[str, str]]:
        if self._mark is None:
            return []
        elsewhere = [] if goal == self._here else [self._here.arguments]
        about = json.dumps([tool, *goal, *elsewhere], separators=(",", ":"))
        path = self._links.path(self._view.tool)
        proof = self._mark(path, about)
        return [("csrf", proof), ("request", about), (FORM_ID, new_form_id())]


def said(environment: Environment, text: str, result: Any, arguments: Mapping[str, Any]) -> str:
    """What a page says when a form is done.

    Args:
        environment: the templates' own; what it writes is text, and escaped where it is shown.
        text: the declaration's.
        result: the answer's JSON values.
        arguments: what the tool was called with.
    """
    shown = environment.overlay(autoescape=False).from_string(text)
    return shown.render(result=result, arguments=arguments).strip()


def _declared(view: View, tool: str) -> Write:
    for each in view.writes:
        if each.tool == tool:
            return each
    raise ValueError(f"the view {view.name} declares no form for {tool!r} in its writes")


def _filled(value: Any, result: Any) -> Any:
    place = _PLACE.fullmatch(value) if isinstance(value, str) else None
    if place is None:
        return value
    for part in place[1].split("."):
        result = result.get(part) if isinstance(result, Mapping) else None
    return result
