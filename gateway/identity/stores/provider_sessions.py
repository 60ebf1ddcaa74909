"""Which rows came of a sign-in at a provider that has ended there."""

from __future__ import annotations

from sqlalchemy import ColumnElement, Table, and_, func, or_, select

from auth.callers import SignedOut
from gateway.identity.stores.tables import accounts


def came_of(table: Table, who: SignedOut) -> ColumnElement[bool]:
    """The sessions or grants that came of what ended.

    Where only the session is told, it is one of that issuer: another's may be called the same. Of
    an account, what has no session noted ends too, and of its person what has no account noted:
    they were begun before either was, and may have come of it.

    Args:
        table: of sessions or of grants.
        who: whom the provider has signed out.
    """
    if who.account is None:
        prefix = f"oidc:{who.issuer}#"
        return and_(table.c.sid == who.sid, func.substr(table.c.account, 1, len(prefix)) == prefix)
    owner = select(accounts.c.person).where(accounts.c.subject == who.account)
    theirs = table.c.account == who.account
    if who.sid is not None:
        theirs = and_(theirs, or_(table.c.sid == who.sid, table.c.sid.is_(None)))
    return or_(theirs, and_(table.c.account.is_(None), table.c.person.in_(owner)))
