"""Who may decide a request: judged by the rule in force, at the moment they look or answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from auth import Identity
from auth.resolver import Resolver
from auth.rules import AccessRules
from gateway.approvals.request import ApprovalRequest
from gateway.catalog.approval_rule import CONFIRMED, ApprovalRule

Rules = Callable[[], Mapping[str, ApprovalRule]]
"""``rules()``: the rules in force, by the keys of the tools."""


class Deciders:
    """Judges people.

    Args:
        resolver: judges them by rules.
        rules: the rules in force.
        access: who is an admin, by the rules in force.
    """

    def __init__(self, resolver: Resolver, rules: Rules, access: Callable[[], AccessRules]) -> None:
        self._resolver, self._rules, self._access = resolver, rules, access

    def version(self, rule: ApprovalRule) -> str:
        """What tells a rule from every other, with the rule for admins where it asks them."""
        return rule.version(self._access().admins)

    def versions(self) -> Mapping[str, str]:
        """The versions of the rules in force, by the keys of the tools."""
        return {item: self.version(rule) for item, rule in self._rules().items()}

    def seen_by(self, identity: Identity) -> Decider:
        """Somebody who looks at requests."""
        return Decider(identity, self)

    def rule_of(self, request: ApprovalRequest) -> ApprovalRule | None:
        """The rule that asked, if it is in force still."""
        for rule in (self._rules().get(request.call.item), CONFIRMED):
            if rule is not None and self.version(rule) == request.call.rule:
                return rule
        return None

    async def matches(self, rule: ApprovalRule, identity: Identity) -> bool:
        """Whether a rule on people, or that for admins, is true of somebody; unknown is no."""
        if rule.people is None:
            return (await self._resolver.explain(identity)).caller.admin
        resolver = self._resolver.under(AccessRules(members=rule.people))
        return (await resolver.explain(identity)).members.holds == "yes"


class Decider:
    """Somebody who looks at requests; each rule is judged once.

    Args:
        identity: who, as the browser's session proves it.
        deciders: judges.
    """

    def __init__(self, identity: Identity, deciders: Deciders) -> None:
        self._identity, self._deciders = identity, deciders
        self._judged: dict[str, bool] = {}

    def is_asker(self, request: ApprovalRequest) -> bool:
        """Whether the request is their own."""
        return self._identity.person == request.call.person

    async def may_decide(self, request: ApprovalRequest) -> bool:
        """Whether their yes would count as far as the rule goes; nobody says it to their own."""
        rule = self._deciders.rule_of(request)
        if rule is None or rule.is_own or self.is_asker(request):
            return rule is not None and rule.is_own and self.is_asker(request)
        version = request.call.rule
        if version not in self._judged:
            self._judged[version] = await self._deciders.matches(rule, self._identity)
        return self._judged[version]

    async def may_see(self, request: ApprovalRequest) -> bool:
        """Whether they are shown it: it is theirs, or waits for people like them."""
        return self.is_asker(request) or await self.may_decide(request)
